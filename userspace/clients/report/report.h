/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * asahi-report: what its parts share. Each part looks at one thing, prints what it
 * has found on the page, and adds a finding for what is wrong there.
 */
#ifndef CLIENT_REPORT_H
#define CLIENT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define REPORT_FINDINGS	64

/**
 * struct report - a report in the making; one thread
 * @root: what stands before each path that is read, "" for this machine
 * @dir: folder that becomes the archive
 * @page: the page for people, a stream into memory
 * @finding: what is wrong and what to do, a paragraph each, in order of discovery
 * @findings: how many there are
 * @copy_calibration: whether the archive gets the calibration regions themselves
 * @gpu: path of the GPU's node in the device tree without @root, or NULL
 * @bound: whether this driver serves a device
 */
struct report {
	const char *root;
	const char *dir;
	FILE *page;
	char *finding[REPORT_FINDINGS];
	unsigned int findings;
	bool copy_calibration;
	char *gpu;
	bool bound;
};

/* What the parts do. None of them fails: what cannot be had is said on the page. */

/** report_tree() - the GPU's node in the device tree, its regions, the boot loader */
void report_tree(struct report *report);

/** report_driver() - kernel, module, and what is bound to the GPU; after report_tree() */
void report_driver(struct report *report);

/** report_device() - what the driver says of the device through its render node */
void report_device(struct report *report);

/** report_logs() - kernel log, debugfs and core dumps into the archive; after report_driver() */
void report_logs(struct report *report);

/** report_calibration() - checksums of the calibration regions; after report_tree() */
void report_calibration(struct report *report);

/* Output */

/**
 * report_heading() - begin a part of the page
 * @title: its name
 */
void report_heading(struct report *report, const char *title);

/**
 * report_fact() - a line of the page
 * @name: of the fact, at most 20 characters
 * @format: its value; unprintable characters become "?"
 */
__attribute__((format(printf, 3, 4)))
void report_fact(struct report *report, const char *name, const char *format, ...);

/**
 * report_finding() - add what is wrong, what was expected, and what to do
 * @format: whole sentences
 *
 * More than REPORT_FINDINGS of them are left out.
 */
__attribute__((format(printf, 2, 3)))
void report_finding(struct report *report, const char *format, ...);

/* Files */

/**
 * report_read() - the contents of a file below the root
 * @path: absolute path
 * @size: bytes, may be NULL
 *
 * At most 32 MiB: what is longer is cut off there. Return: the contents with a zero
 * behind them, to be freed; NULL with errno.
 */
char *report_read(struct report *report, const char *path, size_t *size);

/**
 * report_line() - the first line of a file below the root
 *
 * Return: as report_read(), without the end of the line.
 */
char *report_line(struct report *report, const char *path);

/**
 * report_find() - files by a pattern
 * @pattern: absolute path as of glob(7)
 *
 * Return: paths without the root, sorted, with NULL behind the last, to be freed with
 * report_free_paths(); NULL if there are none.
 */
char **report_find(struct report *report, const char *pattern);

/** report_free_paths() - free the result of report_find() */
void report_free_paths(char **paths);

/**
 * report_open() - make a file of the archive
 * @name: relative path; folders are made
 *
 * Return: the file, or NULL after a message on the standard error output.
 */
FILE *report_open(struct report *report, const char *name);

/**
 * report_copy() - copy a file into the archive
 * @path: absolute path below the root
 * @name: its name in the archive
 *
 * Return: whether it was read; if not, the page says why.
 */
bool report_copy(struct report *report, const char *path, const char *name);

/* Device tree */

/**
 * report_cells() - the cells of a property
 * @path: of the property
 * @cell: at least @count of them, in the processor's order
 *
 * Return: how many cells it has, which may be more than @count; 0 if it is not there.
 */
size_t report_cells(struct report *report, const char *path, uint32_t *cell, size_t count);

/**
 * struct report_region - memory that the boot loader leaves for the GPU
 * @name: as in "memory-region-names"
 * @base: physical address
 * @size: bytes
 */
struct report_region {
	char name[32];
	uint64_t base;
	uint64_t size;
};

/**
 * report_regions() - the regions of the GPU's node
 * @region: at least @count of them
 *
 * Return: how many were found, at most @count.
 */
unsigned int report_regions(struct report *report, struct report_region *region,
			    unsigned int count);

#endif /* CLIENT_REPORT_H */

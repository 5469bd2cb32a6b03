// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * asahi-report: the calibration regions, through /dev/mem. By default only their
 * checksums leave the machine: two machines of one kind can be compared by them.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"

#define CALIBRATION_REGIONS	6
#define CALIBRATION_MAX_SIZE	(1U << 20)

/*
 * Only these hold calibration; the others change while the GPU runs. Their names become those
 * of files, so no other name is taken.
 */
static bool calibration_is_wanted(const struct report_region *region)
{
	return !strcmp(region->name, "hw-cal-a") || !strcmp(region->name, "hw-cal-b") ||
	       !strcmp(region->name, "globals");
}

/* A file in place of the device may be shorter than what is mapped of it. */
static bool calibration_is_there(int fd, const struct report_region *region)
{
	struct stat st;

	if (fstat(fd, &st))
		return false;
	errno = ERANGE;
	return !S_ISREG(st.st_mode) || (region->base <= (uint64_t)st.st_size &&
					region->size <= (uint64_t)st.st_size - region->base);
}

/*
 * The kernel maps memory that is no RAM of its own as device memory, which takes
 * aligned words only. Return: a copy to be freed, or NULL with errno.
 */
static uint32_t *calibration_read(struct report *report, const struct report_region *region)
{
	const volatile uint32_t *map;
	uint32_t *copy;
	char *path;
	int fd;

	if (asprintf(&path, "%s/dev/mem", report->root) < 0)
		return NULL;
	fd = open(path, O_RDONLY | O_SYNC | O_CLOEXEC);
	free(path);
	if (fd < 0)
		return NULL;
	map = MAP_FAILED;
	if (calibration_is_there(fd, region))
		map = mmap(NULL, region->size, PROT_READ, MAP_SHARED, fd, region->base);
	close(fd);
	if (map == MAP_FAILED)
		return NULL;
	copy = calloc(1, region->size);
	for (size_t i = 0; copy && i < region->size / 4; i++)
		copy[i] = map[i];
	munmap((void *)map, region->size);
	return copy;
}

static bool calibration_is_zero(const uint32_t *words, size_t size)
{
	for (size_t i = 0; i < size / 4; i++) {
		if (words[i])
			return false;
	}
	return true;
}

/* Of the file in the archive, by the distribution's program */
static void calibration_print_sum(struct report *report, const char *name)
{
	char sum[65] = "", *command;
	FILE *program;

	if (asprintf(&command, "sha256sum '%s/%s'", report->dir, name) < 0)
		return;
	program = popen(command, "r");
	free(command);
	if (program) {
		if (fscanf(program, "%64[0-9a-f]", sum) != 1)
			sum[0] = '\0';
		pclose(program);
	}
	report_fact(report, "SHA-256", "%s", *sum ? sum : "sha256sum cannot be run");
}

static void calibration_save(struct report *report, const struct report_region *region)
{
	uint32_t *words = calibration_read(report, region);
	char *name, *path;
	FILE *file;

	if (!words) {
		report_fact(report, region->name, "/dev/mem: %s", strerror(errno));
		return;
	}
	report_fact(report, region->name, "%#" PRIx64 " bytes%s", region->size,
		    calibration_is_zero(words, region->size) ? ", all of them 0" : "");
	if (calibration_is_zero(words, region->size))
		report_finding(report, "The calibration region \"%s\" is all zeroes: the boot loader has not "
			       "filled it in. Update m1n1 to 1.6 or later.", region->name);
	if (asprintf(&name, "calibration/%s.bin", region->name) >= 0) {
		file = report_open(report, name);
		if (file) {
			fwrite(words, 1, region->size, file);
			fclose(file);
			calibration_print_sum(report, name);
		}
		if (!report->copy_calibration && asprintf(&path, "%s/%s", report->dir, name) >= 0) {
			unlink(path);
			free(path);
		}
		free(name);
	}
	free(words);
}

void report_calibration(struct report *report)
{
	struct report_region region[CALIBRATION_REGIONS];
	unsigned int count = report_regions(report, region, CALIBRATION_REGIONS);

	if (!count)
		return;
	report_heading(report, "Calibration");
	for (unsigned int i = 0; i < count; i++) {
		if (!calibration_is_wanted(&region[i]))
			continue;
		if (!region[i].size || region[i].size > CALIBRATION_MAX_SIZE || region[i].size % 4)
			report_fact(report, region[i].name, "%#" PRIx64 " bytes: not read", region[i].size);
		else
			calibration_save(report, &region[i]);
	}
}

/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_DEVICE_H
#define VAGX_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "boot.h"
#include "firmware/firmware.h"
#include "jit/jit.h"
#include "sanitizer/sanitizer.h"

struct vagx_mem;
struct vagx_report;
struct vagx_soc;

/*
 * The virtual machine's view of the GPU: one PCI function with the register
 * blocks behind it, and the coprocessor and units behind those.
 */
struct vagx_device;

struct vagx_device_config {
	struct vagx_report *report;
	const struct vagx_soc *soc;
	const char *firmware;		/* ABI, "13.5" */
	struct vagx_boot_config boot;	/* report, soc and firmware are filled in */
	unsigned int cores;		/* threads that run shaders */
	struct vagx_jit_config jit;	/* what runs shaders */
	struct vagx_sanitizer_config sanitizer;	/* what checks them */
	unsigned int unkind;		/* seed of what shaders find unwritten; 0: the usual */
	unsigned int job_timeout_ms;	/* 0: default */
	unsigned int halt_delay_ms;	/* at most; 0: halts before it tells */
	unsigned int event_delay_ms;	/* at most; from stamps to their event */
	unsigned int doorbell_delay_ms;	/* at most; at the ring of some doorbells */
	bool serial;			/* one command at a time */
	bool unfair;			/* rings have unlike shares of their pipe */
	bool statistics;		/* are written all the time */
	bool late_threshold;		/* of a notifier is no violation */
	bool fault_bits;		/* of the fault register vary */
	bool keep_holes;		/* TLBs keep that nothing was mapped */
	bool write_back;		/* stores of jobs come to memory late */
	unsigned int tvb_pages;		/* of a vertex buffer; 0: all */
	bool tvb_grow;			/* ask for more of them */
	FILE *dump;			/* of commands, or NULL; borrowed */
	const char *trace;		/* path of a trace of the units, or NULL */
	unsigned int mailbox_delay_ms;	/* now and then a message waits, at most that long */
	uint64_t seed;			/* of what happens at random; not 0 */
	enum vagx_power_off power_off;	/* what becomes of dirty cache lines */
	const char *control;		/* path of the control socket, or NULL */
	/* Obeys a line of the control socket: vagx_command(). MMIO thread. */
	void (*command)(struct vagx_device *device, char *line, char *answer, size_t size);
	const char *tlbi;		/* path of the socket for QEMU's plugin, or NULL */
	bool no_exec;
	bool poison;			/* find memory that nobody has cleared */
};

/**
 * vagx_device_new() - build everything, with all threads asleep
 *
 * Return: the device, or NULL after an error message.
 */
struct vagx_device *vagx_device_new(const struct vagx_device_config *config);
void vagx_device_free(struct vagx_device *device);

/* Places in shaders that the sanitizer has reported */
uint64_t vagx_device_findings(struct vagx_device *device);

/**
 * vagx_device_serve() - speak vfio-user until the client leaves
 * @fd: connected socket, owned from now on
 * @signal_fd: signalfd: any signal ends the service
 *
 * Return: 0, or a negative errno when the connection broke.
 */
int vagx_device_serve(struct vagx_device *device, int fd, int signal_fd);

/* Effects of the control socket's commands. MMIO thread. */

/* The coprocessor crashes as it does on its own, if its CPU runs; -ENODEV if not */
int vagx_device_crash(struct vagx_device *device, const char *text);

/* The coprocessor stops to empty its FIFO, or empties it again */
void vagx_device_hold_mailbox(struct vagx_device *device, bool on);

/* The firmware sends messages behind its answers to changes of power */
void vagx_device_set_chatter(struct vagx_device *device, bool on);

/* The @n-th message to the guest from now on gets lost; 0: none */
void vagx_device_drop_message(struct vagx_device *device, unsigned int n);

/* The @n-th message to the guest comes @ms milliseconds late, those behind it later; 0: none */
void vagx_device_delay_message(struct vagx_device *device, unsigned int n, unsigned int ms);

/* The power domain is cut for a moment without a message to the guest */
void vagx_device_power_loss(struct vagx_device *device);

/* As vagx_fw_inject() */
int vagx_device_inject(struct vagx_device *device,
		       const struct vagx_fw_injection *what);

/* KEY=VALUE... in one line, for people and tests */
#define VAGX_DEVICE_STATUS	768
void vagx_device_status(struct vagx_device *device, char *text, size_t size);

/* As vagx_fw_at_rest() */
int vagx_device_at_rest(struct vagx_device *device, bool closed, char *text, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_DEVICE_H
#define VAGX_DEVICE_H

#include <stdbool.h>

#include "boot.h"
#include "sgx.h"

struct vagx_mem;
struct vagx_report;

/*
 * The virtual machine's view of the GPU: one PCI function with the register
 * blocks behind it, and the coprocessor and units behind those.
 */
struct vagx_device;

struct vagx_device_config {
	struct vagx_report *report;
	struct vagx_gpu_id id;
	const char *firmware;		/* ABI, "13.5" */
	unsigned int oas_bits;
	struct vagx_boot_config boot;	/* report and id are filled in */
	unsigned int cores;		/* threads that run shaders */
	unsigned int job_timeout_ms;	/* 0: default */
	unsigned int mailbox_delay_ms;	/* messages wait that long */
	bool no_exec;
};

/**
 * vagx_device_new() - build everything, with all threads asleep
 *
 * Return: the device, or NULL after an error message.
 */
struct vagx_device *vagx_device_new(const struct vagx_device_config *config);
void vagx_device_free(struct vagx_device *device);

/**
 * vagx_device_serve() - speak vfio-user until the client leaves
 * @fd: connected socket, owned from now on
 * @signal_fd: signalfd: SIGUSR1 makes the coprocessor crash, any other
 *             signal ends the service
 *
 * Return: 0, or a negative errno when the connection broke.
 */
int vagx_device_serve(struct vagx_device *device, int fd, int signal_fd);

#endif

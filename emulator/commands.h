/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_COMMANDS_H
#define VAGX_COMMANDS_H

#include <stddef.h>

struct vagx_device;

/**
 * vagx_command() - obey one line of the control socket
 * @device: whom it concerns
 * @line: WORD [ARGUMENT]..., is modified
 * @answer: "ok" with what there is to tell, or "error" with the reason
 * @size: of @answer, with its 0
 *
 * MMIO thread. Documentation/project/vagx.rst lists the commands.
 */
void vagx_command(struct vagx_device *device, char *line, char *answer,
		  size_t size);

#endif

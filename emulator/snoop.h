/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_SNOOP_H
#define VAGX_SNOOP_H

struct vagx_report;
struct vagx_uat;

/*
 * Hears of the guest's TLB invalidations, from QEMU's plugin (emulator/plugin) over a
 * Unix stream socket, on a thread of its own. Each is done at the next barrier of its processor.
 * While the plugin is connected, and only then, the MMU keeps translations.
 */
struct vagx_snoop;

/**
 * vagx_snoop_new() - listen
 * @path: of the socket; an old one is replaced
 *
 * Return: the snoop, or NULL with errno set.
 */
struct vagx_snoop *vagx_snoop_new(const char *path, struct vagx_uat *uat,
				  struct vagx_report *report);
/* Ends the connection and removes the socket; NULL is allowed */
void vagx_snoop_free(struct vagx_snoop *snoop);

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_LISTEN_H
#define VAGX_LISTEN_H

/**
 * vagx_listen() - listen on a Unix stream socket
 * @path: where; a socket that an earlier run left there is replaced, anything
 *	else is in the way
 * @backlog: connections that may wait
 *
 * Return: the descriptor, closed on exec, or -1 with errno set.
 */
int vagx_listen(const char *path, int backlog);

/* Connects to one. Return: the descriptor, or -1 with errno set. */
int vagx_connect(const char *path);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What the library's tests have in common: a device of the shim's, whose calls
 * are remembered, and nothing left of it at the end of each test.
 */
#ifndef FIXTURE_H
#define FIXTURE_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "asahi_drmif.h"
#include "asahi_shim.h"

#define PAGE		ASAHI_PAGE_SIZE
#define MS		INT64_C(1000000)

/* Longer than any wait that is meant to end */
#define LONG_TIME	(INT64_C(20000) * MS)

/* The state of a test: what it asked for, NULL for the rest. */
struct fixture {
	struct asahi_device *dev;
	int fd;
	struct asahi_vm *vm;
	struct asahi_queue *queue;
	struct asahi_submit *submit;
};

int open_device(void **state);
int open_vm(void **state);
int open_queue(void **state);
/* Gives all of it back. Fails if the process still has anything. */
int close_all(void **state);

/* Prints what the process has. Return: its number. */
unsigned int count_objects(void);

/* A sync object of the file. */
uint32_t new_syncobj(const struct fixture *f);
void destroy_syncobj(const struct fixture *f, uint32_t syncobj);

/* Signals a sync object from another thread, in a while. */
struct later;
struct later *signal_later(const struct fixture *f, uint32_t syncobj);
void later_join(struct later *later);

int64_t now_ns(void);

/* Adds a command that is well-formed and means nothing. */
void add_command(const struct fixture *f);

#define BARE_TEST(test)		cmocka_unit_test_setup_teardown(test, NULL, close_all)
#define DEVICE_TEST(test)	cmocka_unit_test_setup_teardown(test, open_device, close_all)
#define VM_TEST(test)		cmocka_unit_test_setup_teardown(test, open_vm, close_all)
#define QUEUE_TEST(test)	cmocka_unit_test_setup_teardown(test, open_queue, close_all)

#endif /* FIXTURE_H */

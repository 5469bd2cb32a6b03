/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
/*
 * The switch of generated defects: DEFECT(n) is true where defect n is on. The number is a
 * parameter of the module, and ASAHI_DEFECT in a program's environment. A run that records
 * says of each place once that it was reached: the driver in the kernel's log, programs in
 * the file that ASAHI_DEFECT_LOG names.
 */
#ifndef ASAHI_DEFECT_H
#define ASAHI_DEFECT_H

#ifdef __KERNEL__

#define DEFECT_RECORD (~0u)

extern unsigned int asahi_defect;
void asahi_defect_reached(unsigned int number);

static inline __attribute__((unused)) _Bool defect_is_on(unsigned int number)
{
	if (__builtin_expect(asahi_defect == DEFECT_RECORD, 0))
		asahi_defect_reached(number);
	return asahi_defect == number;
}

#else

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Each source has these for itself: whatever it is linked into, nothing else is needed. */
static unsigned int defect_number;
static const char *defect_log;

/* The shim has its own open() and write(). */
static __attribute__((noinline, cold, unused)) void defect_reached(unsigned int number)
{
	static unsigned char seen[1 << 16];
	int length, fd, error = errno;
	char line[16];

	if (!__atomic_exchange_n(&seen[number & 0xffff], 1, __ATOMIC_RELAXED)) {
		length = snprintf(line, sizeof(line), "%u\n", number);
		/* O_WRONLY, O_CREAT and O_APPEND */
		fd = syscall(SYS_openat, -100, defect_log, 02101, 0666);
		if (fd >= 0) {
			if (syscall(SYS_write, fd, line, length) < 0)
				abort();
			syscall(SYS_close, fd);
		}
	}
	errno = error;
}

static __attribute__((constructor(101))) void defect_read(void)
{
	const char *number = getenv("ASAHI_DEFECT"), *log = getenv("ASAHI_DEFECT_LOG");

	defect_number = number ? strtoul(number, NULL, 10) : 0;
	defect_log = log ? strdup(log) : NULL;
}

static inline __attribute__((unused)) _Bool defect_is_on(unsigned int number)
{
	if (__builtin_expect(defect_log != NULL, 0))
		defect_reached(number);
	return defect_number == number;
}

#endif

#define DEFECT(number) __builtin_expect(defect_is_on(number), 0)

#endif

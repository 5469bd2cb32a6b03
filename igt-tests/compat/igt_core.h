/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * As much of the interface of IGT GPU Tools as the tests here use, so that they
 * build and run where IGT cannot be had. Written from the interface alone.
 *
 * Blocks are loops that run once at most. A check that fails inside of one
 * leaves it by longjmp(), so local variables that are changed inside a block and
 * used behind it are volatile or static, as in IGT.
 */
#ifndef IGT_CORE_H
#define IGT_CORE_H

#include <errno.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define IGT_EXIT_SUCCESS	0
#define IGT_EXIT_SKIP		77
#define IGT_EXIT_INVALID	79
#define IGT_EXIT_FAILURE	98
#define IGT_EXIT_ABORT		112

#define igt_noreturn __attribute__((noreturn))
#define igt_format(f, a) __attribute__((format(printf, f, a)))

/* Functions for the macros below; not for use in tests. */
extern sigjmp_buf igt_compat_jump;
void igt_compat_init(int argc, char **argv);
igt_noreturn void igt_compat_exit(void);
bool igt_compat_fixture(void);
void igt_compat_fixture_end(void);
bool igt_compat_subtest(const char *name);
int igt_compat_group(void);
bool igt_compat_group_end(int *state);
bool igt_compat_fork(void);
igt_noreturn void igt_compat_child_end(void);
igt_noreturn void igt_compat_skip(const char *where, const char *check,
				  const char *fmt, ...) igt_format(3, 4);
igt_noreturn void igt_compat_fail(const char *where, int line,
				  const char *check, const char *fmt, ...)
	igt_format(4, 5);

/* igt_main - body of a test program, as in "int igt_main() { ... }" */
#define igt_main()							\
	main(int argc, char **argv);					\
	static void igt_compat_body(void);				\
	int main(int argc, char **argv)					\
	{								\
		igt_compat_init(argc, argv);				\
		igt_compat_body();					\
		igt_compat_exit();					\
	}								\
	static void igt_compat_body(void)

/* igt_fixture - what subtests need; not run when they are only listed */
#define igt_fixture()							\
	for (; igt_compat_fixture() &&					\
	       !sigsetjmp(igt_compat_jump, 1); igt_compat_fixture_end())

/* igt_subtest - runs unless the command line has selected others */
#define igt_subtest(name)						\
	for (; igt_compat_subtest(name) &&				\
	       !sigsetjmp(igt_compat_jump, 1); igt_success())

#define igt_subtest_f(fmt, ...)						\
	for (char igt_name[128];					\
	     snprintf(igt_name, sizeof(igt_name), fmt, ##__VA_ARGS__),	\
	     igt_compat_subtest(igt_name) &&				\
	     !sigsetjmp(igt_compat_jump, 1); igt_success())

/* igt_subtest_group - a fixture inside that skips does so for the group only */
#define igt_subtest_group()						\
	for (int igt_state = igt_compat_group();			\
	     !igt_compat_group_end(&igt_state);)

#define igt_describe(text)
#define igt_describe_f(fmt, ...)

/* igt_fork - run the block in @count children; @child numbers them */
#define igt_fork(child, count)						\
	for (int child = 0; child < (int)(count); child++)		\
		for (; igt_compat_fork(); igt_compat_child_end())

/* igt_waitchildren - wait for them; fails if one of them has failed */
void igt_waitchildren(void);
/* igt_waitchildren_timeout - and if they take longer than that */
void igt_waitchildren_timeout(int seconds, const char *reason);

/* igt_fork_helper - run the block in a process that does not count */
struct igt_helper_process {
	bool running;
	bool use_SIGKILL;
	pid_t pid;
	int id;
};
bool __igt_fork_helper(struct igt_helper_process *proc);
#define igt_fork_helper(proc)						\
	for (; __igt_fork_helper(proc); igt_compat_child_end())
int igt_wait_helper(struct igt_helper_process *proc);
void igt_stop_helper(struct igt_helper_process *proc);

igt_noreturn void igt_success(void);

void igt_info(const char *fmt, ...) igt_format(1, 2);
void igt_warn(const char *fmt, ...) igt_format(1, 2);
#define igt_debug(...) do { } while (0)

#define igt_skip(...) igt_compat_skip(__func__, "", __VA_ARGS__)
#define igt_require(expr) igt_require_f(expr, "\n")
#define igt_require_f(expr, ...)					\
	do {								\
		if (!(expr))						\
			igt_compat_skip(__func__, #expr, __VA_ARGS__);	\
	} while (0)
#define igt_skip_on(expr) igt_require(!(expr))
#define igt_skip_on_f(expr, ...) igt_require_f(!(expr), __VA_ARGS__)

#define igt_assert(expr) igt_assert_f(expr, "\n")
#define igt_assert_f(expr, ...)						\
	do {								\
		if (!(expr))						\
			igt_compat_fail(__func__, __LINE__, #expr,	\
					__VA_ARGS__);			\
	} while (0)
#define igt_fail_on(expr) igt_assert(!(expr))
#define igt_fail_on_f(expr, ...) igt_assert_f(!(expr), __VA_ARGS__)

#define igt_compat_compare(a, op, b)					\
	do {								\
		long long igt_a = (long long)(a);			\
		long long igt_b = (long long)(b);			\
		if (!(igt_a op igt_b))					\
			igt_compat_fail(__func__, __LINE__,		\
					#a " " #op " " #b,		\
					"%lld and %lld\n", igt_a,	\
					igt_b);				\
	} while (0)
#define igt_compat_compare_u64(a, op, b)				\
	do {								\
		unsigned long long igt_a = (a);				\
		unsigned long long igt_b = (b);				\
		if (!(igt_a op igt_b))					\
			igt_compat_fail(__func__, __LINE__,		\
					#a " " #op " " #b,		\
					"0x%llx and 0x%llx\n", igt_a,	\
					igt_b);				\
	} while (0)
#define igt_assert_eq(a, b) igt_compat_compare(a, ==, b)
#define igt_assert_eq_u32(a, b) igt_compat_compare_u64(a, ==, b)
#define igt_assert_eq_u64(a, b) igt_compat_compare_u64(a, ==, b)
#define igt_assert_neq(a, b) igt_compat_compare(a, !=, b)
#define igt_assert_neq_u32(a, b) igt_compat_compare_u64(a, !=, b)
#define igt_assert_neq_u64(a, b) igt_compat_compare_u64(a, !=, b)
#define igt_assert_lt(a, b) igt_compat_compare(a, <, b)
#define igt_assert_lte(a, b) igt_compat_compare(a, <=, b)
#define igt_assert_lt_u64(a, b) igt_compat_compare_u64(a, <, b)
#define igt_assert_lte_u64(a, b) igt_compat_compare_u64(a, <=, b)
#define igt_assert_fd(fd) igt_assert_f((fd) >= 0, "a file descriptor\n")

/* igt_nsec_elapsed - since the first call with this @start, zero before it */
uint64_t igt_nsec_elapsed(struct timespec *start);

/* igt_until_timeout - repeat the block for so many seconds */
double igt_compat_now(void);
#define igt_until_timeout(seconds)					\
	for (double igt_end = igt_compat_now() + (seconds);		\
	     igt_compat_now() < igt_end;)

#endif

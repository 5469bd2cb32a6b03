// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The mutexes of unit tests. A thread that unlocks a mutex that it does not hold, or locks one
 * that it holds, ends the program. So a lock or an unlock that is missing shows in every test
 * that runs over it, whatever other threads do. These functions are linked into each unit test,
 * where they take the place of libc's. None of the mutexes is recursive. The thread sanitizer
 * has functions of its own.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifndef __SANITIZE_THREAD__

#define MAX_HELD	64

typedef int mutex_function(pthread_mutex_t *mutex);

/* What this thread holds. It goes on to do so while it waits for a condition. */
static _Thread_local pthread_mutex_t *held[MAX_HELD];
static _Thread_local unsigned int num_held;

static void *held_find_function(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (!function)
		abort();
	return function;
}

static void held_fail(const char *what)
{
	fprintf(stderr, "a thread %s\n", what);
	abort();
}

/* The index of a mutex in @held, or @num_held */
static unsigned int held_find(const pthread_mutex_t *mutex)
{
	unsigned int i = 0;

	while (i < num_held && held[i] != mutex)
		i++;
	return i;
}

static void held_add(pthread_mutex_t *mutex)
{
	if (num_held == MAX_HELD)
		held_fail("holds too many mutexes");
	held[num_held++] = mutex;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	static _Atomic(mutex_function *) function;
	int err;

	if (held_find(mutex) < num_held)
		held_fail("locks a mutex that it holds");
	if (!function)
		function = held_find_function("pthread_mutex_lock");
	err = function(mutex);
	if (!err)
		held_add(mutex);
	return err;
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	static _Atomic(mutex_function *) function;
	int err;

	if (!function)
		function = held_find_function("pthread_mutex_trylock");
	err = function(mutex);
	if (!err)
		held_add(mutex);
	return err;
}

int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until)
{
	typedef int function_type(pthread_mutex_t *mutex, clockid_t clock,
				  const struct timespec *until);
	static _Atomic(function_type *) function;
	int err;

	if (!function)
		function = held_find_function("pthread_mutex_clocklock");
	err = function(mutex, clock, until);
	if (!err)
		held_add(mutex);
	return err;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	static _Atomic(mutex_function *) function;
	const unsigned int at = held_find(mutex);

	if (at == num_held)
		held_fail("unlocks a mutex that it does not hold");
	held[at] = held[--num_held];
	if (!function)
		function = held_find_function("pthread_mutex_unlock");
	return function(mutex);
}

#endif /* __SANITIZE_THREAD__ */

// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Threads as fibers, see fibers.h. A mutex is libc's own, and is taken when nobody has it:
 * libc sees one thread. A fiber that waits has the address of what it waits for.
 */
#include "fibers.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "fuzz.h"

#ifdef HAS_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#define FIBERS		64
#define STACK_SIZE	(512u << 10)
#define NEVER		UINT64_MAX
/* When a run begins, in ns; and what each look at the clock takes */
#define BEGINNING	1000000000000ULL
#define LOOK		200
/* A fiber that has been switched to so often in one run is in a loop without end */
#define ENOUGH		2000000u

struct fiber {
	ucontext_t context;
	void *(*start)(void *arg);
	void *arg;
	void *result;
	void *stack;
	const void *waits_for;
	uint64_t until;
	bool exists, done, woken;
	void *fake_stack;
	const void *bottom;
	size_t size;
};

static struct fiber fibers[FIBERS];
static unsigned int current, last, switches, used;
static bool active;
static uint64_t now, state;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
			  void *(*start)(void *arg), void *arg);
int __real_pthread_join(pthread_t thread, void **result);
int __real_pthread_setname_np(pthread_t thread, const char *name);
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __real_pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
				   const struct timespec *until);
int __real_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int __real_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
				  const struct timespec *until);
int __real_pthread_cond_signal(pthread_cond_t *cond);
int __real_pthread_cond_broadcast(pthread_cond_t *cond);
int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __real_nanosleep(const struct timespec *time, struct timespec *left);
int __real_usleep(useconds_t us);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
			  void *(*start)(void *arg), void *arg);
int __wrap_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_setname_np(pthread_t thread, const char *name);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
				   const struct timespec *until);
int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
				  const struct timespec *until);
int __wrap_pthread_cond_signal(pthread_cond_t *cond);
int __wrap_pthread_cond_broadcast(pthread_cond_t *cond);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap_usleep(useconds_t us);

static uint32_t chance(uint32_t n)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)((state >> 32) * n >> 32);
}

static uint64_t ns_of(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
}

/* To be called when a fiber goes on, with what it has left to the sanitizer */
static void arrive(void *fake_stack)
{
#ifdef HAS_ASAN
	__sanitizer_finish_switch_fiber(fake_stack, &fibers[last].bottom, &fibers[last].size);
#endif
	/* The sanitizer clears a stack that it sees here, with what it knows of it */
	fibers[current].context.uc_stack.ss_size = 0;
}

static void switch_to(unsigned int next)
{
	struct fiber *from = &fibers[current], *to = &fibers[next];

	if (next == current)
		return;
	FUZZ_CHECK(++switches < ENOUGH);
	last = current;
	current = next;
#ifdef HAS_ASAN
	__sanitizer_start_switch_fiber(from->done ? NULL : &from->fake_stack, to->bottom,
				       to->size);
#endif
	FUZZ_CHECK(!swapcontext(&from->context, &to->context));
	arrive(from->fake_stack);
}

static bool is_ready(const struct fiber *fiber)
{
	return fiber->exists && !fiber->done && (fiber->woken || fiber->until <= now);
}

/* Return: a fiber that may go on, by chance, or FIBERS */
static unsigned int choose(void)
{
	unsigned int ready = 0, chosen = FIBERS, i;

	for (i = 0; i < used; i++) {
		if (is_ready(&fibers[i]) && !chance(++ready))
			chosen = i;
	}
	return chosen;
}

static uint64_t next_moment(void)
{
	uint64_t first = NEVER;
	unsigned int i;

	for (i = 0; i < used; i++) {
		if (fibers[i].exists && !fibers[i].done && fibers[i].until < first)
			first = fibers[i].until;
	}
	return first;
}

/* Waits until somebody wakes @on, or for a moment. Return: whether it was woken. */
static bool wait_for(const void *on, uint64_t until)
{
	struct fiber *self = &fibers[current];
	unsigned int next;

	self->waits_for = on;
	self->until = until;
	self->woken = false;
	while ((next = choose()) == FIBERS) {
		now = next_moment();
		/* Nobody can ever wake one of them */
		FUZZ_CHECK(now != NEVER);
	}
	switch_to(next);
	self->waits_for = NULL;
	self->until = NEVER;
	return self->woken;
}

static void wake(const void *what, unsigned int most)
{
	unsigned int i;

	for (i = 0; i < used && most; i++) {
		if (!fibers[i].exists || fibers[i].waits_for != what || fibers[i].woken)
			continue;
		fibers[i].woken = true;
		most--;
	}
}

static void take(pthread_mutex_t *mutex)
{
	while (pthread_mutex_trylock(mutex))
		wait_for(mutex, NEVER);
}

static void run_fiber(void)
{
	struct fiber *self = &fibers[current];

	arrive(NULL);
	self->result = self->start(self->arg);
	self->done = true;
	wake(self, FIBERS);
	wait_for(NULL, NEVER);
	FUZZ_CHECK(false);
}

void fuzz_fibers_begin(uint64_t seed)
{
	FUZZ_CHECK(!active);
	memset(&fibers[0], 0, sizeof(fibers[0]));
	fibers[0].exists = true;
	fibers[0].until = NEVER;
	current = 0;
	used = 1;
	switches = 0;
	now = BEGINNING;
	state = seed;
	active = true;
}

void fuzz_fibers_end(void)
{
	unsigned int i;

	FUZZ_CHECK(active && !current);
	for (i = 1; i < FIBERS; i++)
		FUZZ_CHECK(!fibers[i].exists);
	active = false;
}

void fuzz_fibers_sleep(uint64_t ns)
{
	wait_for(NULL, now + ns);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
			  void *(*start)(void *arg), void *arg)
{
	struct fiber *fiber;
	unsigned int i;

	if (!active)
		return __real_pthread_create(thread, attr, start, arg);
	for (i = 1; i < FIBERS && fibers[i].exists; i++)
		;
	FUZZ_CHECK(i < FIBERS);
	used = i < used ? used : i + 1;
	fiber = &fibers[i];
	if (!fiber->stack)
		fiber->stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FUZZ_CHECK(fiber->stack != MAP_FAILED);
#ifdef HAS_ASAN
	/* The one before it has not returned from its last function */
	__asan_unpoison_memory_region(fiber->stack, STACK_SIZE);
#endif
	*fiber = (struct fiber){
		.start = start, .arg = arg, .stack = fiber->stack, .bottom = fiber->stack,
		.size = STACK_SIZE, .exists = true, .woken = true, .until = NEVER,
	};
	FUZZ_CHECK(!getcontext(&fiber->context));
	fiber->context.uc_stack.ss_sp = fiber->stack;
	fiber->context.uc_stack.ss_size = STACK_SIZE;
	makecontext(&fiber->context, run_fiber, 0);
	*thread = i;
	return 0;
}

int __wrap_pthread_join(pthread_t thread, void **result)
{
	struct fiber *fiber;

	if (!active)
		return __real_pthread_join(thread, result);
	FUZZ_CHECK(thread && thread < FIBERS && fibers[thread].exists);
	fiber = &fibers[thread];
	while (!fiber->done)
		wait_for(fiber, NEVER);
	fiber->exists = false;
	if (result)
		*result = fiber->result;
	return 0;
}

int __wrap_pthread_setname_np(pthread_t thread, const char *name)
{
	return active ? 0 : __real_pthread_setname_np(thread, name);
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (!active)
		return __real_pthread_mutex_lock(mutex);
	if (!chance(8))
		wait_for(NULL, now);
	take(mutex);
	return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	int err = __real_pthread_mutex_unlock(mutex);

	if (active)
		wake(mutex, FIBERS);
	return err;
}

int __wrap_pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
				   const struct timespec *until)
{
	if (!active)
		return __real_pthread_mutex_clocklock(mutex, clock, until);
	while (pthread_mutex_trylock(mutex)) {
		if (!wait_for(mutex, ns_of(until)))
			return ETIMEDOUT;
	}
	return 0;
}

static int cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t until)
{
	bool woken;

	__wrap_pthread_mutex_unlock(mutex);
	woken = wait_for(cond, until);
	take(mutex);
	return woken ? 0 : ETIMEDOUT;
}

int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	return active ? cond_wait(cond, mutex, NEVER) : __real_pthread_cond_wait(cond, mutex);
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
				  const struct timespec *until)
{
	return active ? cond_wait(cond, mutex, ns_of(until)) :
			__real_pthread_cond_timedwait(cond, mutex, until);
}

int __wrap_pthread_cond_signal(pthread_cond_t *cond)
{
	if (!active)
		return __real_pthread_cond_signal(cond);
	wake(cond, 1);
	return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *cond)
{
	if (!active)
		return __real_pthread_cond_broadcast(cond);
	wake(cond, FIBERS);
	return 0;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	if (!active)
		return __real_clock_gettime(clock, time);
	now += LOOK;
	time->tv_sec = (time_t)(now / 1000000000);
	time->tv_nsec = (long)(now % 1000000000);
	return 0;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
	if (!active)
		return __real_nanosleep(time, left);
	fuzz_fibers_sleep(ns_of(time));
	return 0;
}

int __wrap_usleep(useconds_t us)
{
	if (!active)
		return __real_usleep(us);
	fuzz_fibers_sleep(us * 1000ULL);
	return 0;
}

// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "asahi/asahi_compute.h"
#include "igt.h"

/**
 * TEST: asahi fuzz
 * Description: Random ioctls from several threads that share one file. Most
 *	arguments are nearly right, so that they come far. There is no right answer
 *	but that the kernel survives (its log is for others to read), that the device
 *	still works, and that nothing is left behind.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: uapi
 * Functionality: arguments
 * Test category: stress test
 *
 * SUBTEST: ioctls
 * Description: Random ioctls come to their end. ASAHI_FUZZ_SECONDS and
 *	ASAHI_FUZZ_SEED in the environment change how long and which.
 *
 * SUBTEST: beside
 * Description: Another client works while what they left is open.
 *
 * SUBTEST: afterwards
 * Description: And when it is closed.
 */

#define THREADS		4
#define SECONDS		5
#define SEED		20260601
#define PAGE		IGT_ASAHI_PAGE
#define MAX_BINDS	6
#define MAX_SYNCS	4
#define CMDBUF_BYTES	1024
#define HANDLES		24
/* Bytes; all odd sizes that are larger are 2 GiB at least */
#define MAX_OBJECT	(64ull << 20)

static struct drm_asahi_params_global fuzz_params;
static int fuzz_fd;
static uint64_t fuzz_deadline_ms;
static uint64_t fuzz_seed;
static atomic_ulong fuzz_calls, fuzz_successes;

struct rng {
	uint64_t state;
};

static uint64_t fuzz_next(struct rng *r)
{
	/* xorshift64 */
	r->state ^= r->state << 13;
	r->state ^= r->state >> 7;
	r->state ^= r->state << 17;
	return r->state;
}

static uint64_t fuzz_below(struct rng *r, uint64_t end)
{
	return (fuzz_next(r) >> 16) % end;
}

/* True once in n times. */
static bool fuzz_one_in(struct rng *r, unsigned int n)
{
	return !fuzz_below(r, n);
}

static uint64_t fuzz_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Values that are near the edges of something */

static uint64_t fuzz_odd_value(struct rng *r)
{
	static const uint64_t values[] = {
		0, 1, 2, 3, 7, 8, 0xfff, 0x1000, 0x3fff, 0x4000, 0x4001,
		0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff,
		0x100000000, 0x7fffff8000, 0x8000000000, 1ull << 63,
		UINT64_MAX - 0x3fff, UINT64_MAX,
	};

	return values[fuzz_below(r, ARRAY_SIZE(values))];
}

/* Mostly zero, as padding and unused fields are. */
static uint32_t fuzz_zero(struct rng *r)
{
	return fuzz_one_in(r, 50) ? fuzz_odd_value(r) : 0;
}

static uint32_t fuzz_some_id(struct rng *r)
{
	return fuzz_one_in(r, 30) ? fuzz_odd_value(r) : 1 + fuzz_below(r, 8);
}

static uint32_t fuzz_some_handle(struct rng *r)
{
	return fuzz_one_in(r, 30) ? fuzz_odd_value(r) : 1 + fuzz_below(r, HANDLES);
}

static uint64_t fuzz_some_size(struct rng *r)
{
	return fuzz_one_in(r, 20) ? fuzz_odd_value(r) : PAGE << fuzz_below(r, 7);
}

/* Few addresses, so that ranges meet; across a table of 32 MiB now and then. */
static uint64_t fuzz_some_addr(struct rng *r)
{
	if (fuzz_one_in(r, 20))
		return fuzz_odd_value(r);
	return 0x100000000ULL + fuzz_below(r, 4) * (32ULL << 20) -
	       8 * PAGE + fuzz_below(r, 24) * PAGE;
}

static void fuzz_count(int ret)
{
	atomic_fetch_add(&fuzz_calls, 1);
	if (!ret)
		atomic_fetch_add(&fuzz_successes, 1);
}

static void fuzz_call(unsigned long request, void *arg)
{
	fuzz_count(drmIoctl(fuzz_fd, request, arg));
}

/* The ioctls: nothing here asserts, for threads must not. */

static void fuzz_get_params(struct rng *r)
{
	uint8_t buf[1024];
	struct drm_asahi_get_params args = {
		.param_group = fuzz_zero(r),
		.pad = fuzz_zero(r),
		.pointer = fuzz_one_in(r, 10) ? fuzz_odd_value(r) : (uintptr_t)buf,
		.size = fuzz_below(r, sizeof(buf)),
	};

	fuzz_call(DRM_IOCTL_ASAHI_GET_PARAMS, &args);
}

static void fuzz_vm_create(struct rng *r)
{
	struct drm_asahi_vm_create args = {
		.kernel_start = fuzz_params.vm_end - fuzz_params.vm_kernel_min_size,
		.kernel_end = fuzz_params.vm_end,
		.pad = fuzz_zero(r),
	};

	if (fuzz_one_in(r, 10))
		args.kernel_start = fuzz_some_addr(r);
	if (fuzz_one_in(r, 10))
		args.kernel_end = fuzz_some_addr(r);
	fuzz_call(DRM_IOCTL_ASAHI_VM_CREATE, &args);
}

static void fuzz_vm_destroy(struct rng *r)
{
	struct drm_asahi_vm_destroy args = {
		.vm_id = fuzz_some_id(r),
		.pad = fuzz_zero(r),
	};

	fuzz_call(DRM_IOCTL_ASAHI_VM_DESTROY, &args);
}

/*
 * The first use of an object pins all of its memory, so two of 2 or 4 GiB are more than the
 * machine has: these become sizes that are refused.
 */
static uint64_t fuzz_object_size(struct rng *r)
{
	uint64_t size = fuzz_some_size(r);

	return size > MAX_OBJECT && size <= 1ull << 32 ? size << 8 : size;
}

static void fuzz_gem_create(struct rng *r)
{
	struct drm_asahi_gem_create args = {
		.size = fuzz_object_size(r),
		.flags = fuzz_one_in(r, 20) ? fuzz_odd_value(r) : fuzz_below(r, 4),
		.pad = fuzz_zero(r),
	};

	if (args.flags & DRM_ASAHI_GEM_VM_PRIVATE || fuzz_one_in(r, 20))
		args.vm_id = fuzz_some_id(r);
	fuzz_call(DRM_IOCTL_ASAHI_GEM_CREATE, &args);
	/* not more than the handles that fuzz_some_handle() knows */
	if (args.handle > HANDLES)
		drmCloseBufferHandle(fuzz_fd, args.handle);
}

static void fuzz_gem_close(struct rng *r)
{
	fuzz_count(drmCloseBufferHandle(fuzz_fd, fuzz_some_handle(r)));
}

static void fuzz_mmap(struct rng *r)
{
	struct drm_asahi_gem_mmap_offset args = {
		.handle = fuzz_some_handle(r),
		.flags = fuzz_zero(r),
	};
	uint8_t *map;

	fuzz_call(DRM_IOCTL_ASAHI_GEM_MMAP_OFFSET, &args);
	if (!args.offset)
		return;
	map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fuzz_fd,
		   args.offset);
	if (map == MAP_FAILED)
		return;
	map[fuzz_below(r, PAGE)] = 1;
	munmap(map, PAGE);
}

static struct drm_asahi_gem_bind_op fuzz_random_op(struct rng *r)
{
	struct drm_asahi_gem_bind_op op = {
		.flags = 1 + fuzz_below(r, 15),
		.handle = fuzz_some_handle(r),
		.offset = fuzz_one_in(r, 3) ? fuzz_below(r, 4) * PAGE : 0,
		.range = fuzz_some_size(r),
		.addr = fuzz_some_addr(r),
	};

	if (fuzz_one_in(r, 3))
		op = (struct drm_asahi_gem_bind_op){
			.flags = DRM_ASAHI_BIND_UNBIND,
			.range = fuzz_some_size(r),
			.addr = fuzz_some_addr(r),
		};
	if (fuzz_one_in(r, 50))
		op.flags = fuzz_odd_value(r);
	return op;
}

static void fuzz_vm_bind(struct rng *r)
{
	struct drm_asahi_gem_bind_op ops[MAX_BINDS];
	struct drm_asahi_vm_bind args = {
		.vm_id = fuzz_some_id(r),
		.num_binds = fuzz_one_in(r, 50) ? fuzz_odd_value(r) : fuzz_below(r, MAX_BINDS),
		.stride = fuzz_one_in(r, 50) ? fuzz_odd_value(r) : sizeof(ops[0]),
		.pad = fuzz_zero(r),
		.userptr = fuzz_one_in(r, 50) ? fuzz_odd_value(r) : (uintptr_t)ops,
	};
	unsigned int i;

	for (i = 0; i < MAX_BINDS; i++)
		ops[i] = fuzz_random_op(r);
	fuzz_call(DRM_IOCTL_ASAHI_VM_BIND, &args);
}

static void fuzz_bind_object(struct rng *r)
{
	struct drm_asahi_gem_bind_object args = {
		.op = fuzz_below(r, 3),
		.flags = fuzz_below(r, 4),
		.handle = fuzz_some_handle(r),
		.vm_id = fuzz_zero(r),
		.range = fuzz_some_size(r),
		.object_handle = fuzz_below(r, 16),
		.pad = fuzz_zero(r),
	};

	if (fuzz_one_in(r, 2)) {
		args.op = DRM_ASAHI_BIND_OBJECT_OP_BIND;
		args.flags = DRM_ASAHI_BIND_OBJECT_USAGE_TIMESTAMPS;
	}
	fuzz_call(DRM_IOCTL_ASAHI_GEM_BIND_OBJECT, &args);
}

static void fuzz_queue_create(struct rng *r)
{
	struct drm_asahi_queue_create args = {
		.flags = fuzz_zero(r),
		.vm_id = fuzz_some_id(r),
		.priority = fuzz_below(r, 5),
		.usc_exec_base = 0x100000000ULL,
	};

	fuzz_call(DRM_IOCTL_ASAHI_QUEUE_CREATE, &args);
}

static void fuzz_queue_destroy(struct rng *r)
{
	struct drm_asahi_queue_destroy args = {
		.queue_id = fuzz_some_id(r),
		.pad = fuzz_zero(r),
	};

	fuzz_call(DRM_IOCTL_ASAHI_QUEUE_DESTROY, &args);
}

static void fuzz_syncobj(struct rng *r)
{
	uint32_t handle;

	if (fuzz_one_in(r, 2)) {
		fuzz_count(drmSyncobjDestroy(fuzz_fd, fuzz_some_id(r)));
		return;
	}
	if (drmSyncobjCreate(fuzz_fd, fuzz_below(r, 2), &handle))
		return;
	if (handle > 8)
		drmSyncobjDestroy(fuzz_fd, handle);
}

static void fuzz_prime(struct rng *r)
{
	uint32_t handle;
	int prime;

	if (drmPrimeHandleToFD(fuzz_fd, fuzz_some_handle(r), DRM_CLOEXEC | DRM_RDWR,
			       &prime))
		return;
	fuzz_count(drmPrimeFDToHandle(fuzz_fd, prime, &handle));
	close(prime);
}

static uint16_t fuzz_some_barrier(struct rng *r)
{
	return fuzz_one_in(r, 3) ? fuzz_below(r, 4) : DRM_ASAHI_BARRIER_NONE;
}

/*
 * A stream that is unmapped faults, and a stream of zeroes launches what is
 * at the USC base, and faults as well, or comes to its end.
 */
static size_t fuzz_random_payload(struct rng *r, uint16_t type, uint8_t *p)
{
	struct drm_asahi_cmd_compute compute = {
		.flags = fuzz_zero(r),
		.cdm_ctrl_stream_base = fuzz_some_addr(r),
		.cdm_ctrl_stream_end = fuzz_some_addr(r),
	};
	size_t i;

	memset(p, 0, 256);
	switch (type) {
	case DRM_ASAHI_CMD_COMPUTE:
		memcpy(p, &compute, sizeof(compute));
		if (fuzz_one_in(r, 20))
			p[fuzz_below(r, 256)] = fuzz_next(r);
		return fuzz_one_in(r, 10) ? fuzz_below(r, 256) : sizeof(compute);
	case DRM_ASAHI_CMD_RENDER:
		return fuzz_one_in(r, 2) ? 256 : sizeof(struct drm_asahi_cmd_render);
	default:
		for (i = 0; i < 256; i++)
			p[i] = fuzz_one_in(r, 20) ? fuzz_next(r) : 0;
		return fuzz_below(r, 5) * sizeof(struct drm_asahi_attachment) +
		       (fuzz_one_in(r, 20) ? 4 : 0);
	}
}

static size_t fuzz_random_cmdbuf(struct rng *r, uint8_t *buf)
{
	unsigned int commands = fuzz_below(r, 3) + 1;
	uint8_t *p = buf;

	while (commands--) {
		struct drm_asahi_cmd_header header = {
			.cmd_type = DRM_ASAHI_CMD_COMPUTE,
			.vdm_barrier = fuzz_some_barrier(r),
			.cdm_barrier = fuzz_some_barrier(r),
		};

		if (fuzz_one_in(r, 4))
			header.cmd_type = fuzz_below(r, 6);
		header.size = fuzz_random_payload(r, header.cmd_type,
						  p + sizeof(header));
		if (fuzz_one_in(r, 50))
			header.size = fuzz_odd_value(r);
		memcpy(p, &header, sizeof(header));
		p += sizeof(header) + (header.size < 256 ? header.size : 256);
	}
	return p - buf;
}

static void fuzz_submit(struct rng *r)
{
	struct drm_asahi_sync syncs[MAX_SYNCS];
	uint8_t cmdbuf[CMDBUF_BYTES];
	struct drm_asahi_submit args = {
		.syncs = fuzz_one_in(r, 50) ? fuzz_odd_value(r) : (uintptr_t)syncs,
		.cmdbuf = fuzz_one_in(r, 50) ? fuzz_odd_value(r) : (uintptr_t)cmdbuf,
		.flags = fuzz_zero(r),
		.queue_id = fuzz_some_id(r),
		.in_sync_count = fuzz_one_in(r, 4) ? fuzz_below(r, 2) : 0,
		.out_sync_count = fuzz_below(r, 3),
		.pad = fuzz_zero(r),
	};
	unsigned int i;

	for (i = 0; i < MAX_SYNCS; i++)
		syncs[i] = (struct drm_asahi_sync){
			.sync_type = fuzz_one_in(r, 20) ? fuzz_odd_value(r) : fuzz_below(r, 2),
			.handle = fuzz_some_id(r),
			.timeline_value = fuzz_below(r, 3),
		};
	args.cmdbuf_size = fuzz_random_cmdbuf(r, cmdbuf);
	if (fuzz_one_in(r, 50))
		args.cmdbuf_size = fuzz_odd_value(r);
	if (fuzz_one_in(r, 50))
		args.in_sync_count = fuzz_odd_value(r);
	if (fuzz_one_in(r, 50))
		args.out_sync_count = fuzz_odd_value(r);
	fuzz_call(DRM_IOCTL_ASAHI_SUBMIT, &args);
}

/* Bytes of no meaning for any ioctl number, with any size and direction. */
static void fuzz_anything(struct rng *r)
{
	uint8_t arg[512];
	size_t i;

	for (i = 0; i < sizeof(arg); i++)
		arg[i] = fuzz_one_in(r, 3) ? fuzz_next(r) : 0;
	fuzz_call(_IOC(fuzz_below(r, 4), DRM_IOCTL_BASE,
		       DRM_COMMAND_BASE + fuzz_below(r, 16), fuzz_below(r, sizeof(arg))),
		  arg);
}

static void *fuzz(void *arg)
{
	static void (*const ioctls[])(struct rng *) = {
		fuzz_get_params, fuzz_vm_create, fuzz_vm_destroy,
		fuzz_gem_create, fuzz_gem_create, fuzz_gem_close,
		fuzz_mmap, fuzz_vm_bind, fuzz_vm_bind, fuzz_vm_bind,
		fuzz_vm_bind, fuzz_bind_object, fuzz_queue_create,
		fuzz_queue_destroy, fuzz_syncobj, fuzz_prime, fuzz_submit,
		fuzz_submit, fuzz_submit, fuzz_anything,
	};
	struct rng r = { fuzz_seed + (uintptr_t)arg * 0x9e3779b97f4a7c15ULL };

	while (fuzz_now_ms() < fuzz_deadline_ms)
		ioctls[fuzz_below(&r, ARRAY_SIZE(ioctls))](&r);
	return NULL;
}

static void fuzz_run_threads(void)
{
	pthread_t threads[THREADS];
	uintptr_t i;

	for (i = 0; i < THREADS; i++)
		igt_assert_eq(pthread_create(&threads[i], NULL, fuzz, (void *)(i + 1)), 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static unsigned long long fuzz_from_environment(const char *name, unsigned long long otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

static void fuzz_test_ioctls(void)
{
	const unsigned int seconds = fuzz_from_environment("ASAHI_FUZZ_SECONDS", SECONDS);

	fuzz_seed = fuzz_from_environment("ASAHI_FUZZ_SEED", SEED);
	igt_info("%u seconds, seed %llu\n", seconds, (unsigned long long)fuzz_seed);
	fuzz_deadline_ms = fuzz_now_ms() + seconds * 1000ULL;
	fuzz_run_threads();
	igt_info("%lu ioctls, %lu did something\n", fuzz_calls, fuzz_successes);
	igt_assert_lt(100, fuzz_successes);
}

/* A new client's work. */
static void fuzz_test_works(int other)
{
	struct asahi_client *client = igt_asahi_client_open(other);
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT, 1);

	igt_assert_eq(igt_asahi_run(client, &store), 0);
}

int igt_main()
{
	int other;

	igt_fixture() {
		other = drm_open_driver_render(DRIVER_ASAHI);
		igt_asahi_get_params(other, 0, &fuzz_params, sizeof(fuzz_params), 0);
		fuzz_fd = drm_reopen_driver(other);
	}

	igt_describe("Random ioctls come to their end.");
	igt_subtest("ioctls") {
		fuzz_test_ioctls();
	}

	igt_describe("Another client works with them open, and afterwards.");
	igt_subtest("beside") {
		fuzz_test_works(other);
	}
	igt_fixture() {
		igt_asahi_clients_close();
		drm_close_driver(fuzz_fd);
	}
	igt_subtest("afterwards") {
		fuzz_test_works(other);
	}

	igt_fixture() {
		igt_asahi_clients_close();
		drm_close_driver(other);
	}
}

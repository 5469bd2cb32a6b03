// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <string.h>
#include <unistd.h>

#include "asahi/asahi_render.h"
#include "igt.h"
#include "igt_syncobj.h"

/**
 * TEST: asahi exec render
 * Description: Renders beside each other and beside compute work: order, slots,
 *	priorities, memory, vertex buffers that grow, and blame when one fails.
 * Nothing is drawn.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Command submission
 * Functionality: render commands
 * Test category: functionality test
 *
 * SUBTEST: barriers
 * Description: Renders and compute work that wait for each other, within a SUBMIT and
 *	across several of them.
 *
 * SUBTEST: more-than-slots
 * Description: More address spaces than the MMU has contexts, and more queues than the
 *	firmware has slots for vertex buffers, all with renders at once.
 *
 * SUBTEST: growing
 * Description: Framebuffers of growing size, many at once.
 *
 * SUBTEST: fault-in-vertex-work
 * Description: A control stream that is not there; another client's renders go on.
 *
 * SUBTEST: fault-in-the-middle
 * Description: The same between other renders of its queue, which then goes on.
 *
 * SUBTEST: bind-in-flight
 * Description: Memory that fragment work writes to is replaced while it runs, and unbound.
 *
 * SUBTEST: priorities
 * Description: Renders with all priorities that the driver allows, and with others.
 *
 * SUBTEST: priorities-unprivileged
 * Description: Without CAP_SYS_NICE only the lower two.
 *
 * SUBTEST: too-large
 * Description: Scenes that need more memory than one may have; the queue does what it
 *	did before.
 *
 * SUBTEST: no-room
 * Description: Scenes that need more memory than their address space has.
 */

#define BIND_RW		(DRM_ASAHI_BIND_READ | DRM_ASAHI_BIND_WRITE)
#define COMMANDS	64
#define CLIENTS		70
#define ROUNDS		4

/* Return: what SUBMIT says */
static int exec_render_submit_to(struct asahi_client *client, uint32_t queue, const void *commands,
				 size_t size, uint32_t out)
{
	const struct drm_asahi_sync sync = { .handle = out };
	struct drm_asahi_submit args = {
		.syncs = (uintptr_t)&sync,
		.out_sync_count = 1,
		.cmdbuf = (uintptr_t)commands,
		.cmdbuf_size = size,
		.queue_id = queue,
	};

	return drmIoctl(client->fd, DRM_IOCTL_ASAHI_SUBMIT, &args) ? -errno : 0;
}

/* Alternately a render and compute work, each waiting for all that was before it. */
static size_t exec_render_mix(struct asahi_client *client, uint8_t *buffer)
{
	struct asahi_render render = igt_asahi_render(client, 256);
	struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT, 1);
	uint8_t *pos = buffer;
	unsigned int i;

	for (i = 0; i < COMMANDS / 2; i++) {
		render.header.vdm_barrier = i;
		render.header.cdm_barrier = i;
		store.header.vdm_barrier = i + 1;
		store.header.cdm_barrier = i;
		pos = (uint8_t *)memcpy(pos, &render, sizeof(render)) + sizeof(render);
		pos = (uint8_t *)memcpy(pos, &store, sizeof(store)) + sizeof(store);
	}
	return pos - buffer;
}

static void exec_render_test_barriers(struct asahi_client *client)
{
	static _Alignas(8) uint8_t buffer[COMMANDS * sizeof(struct asahi_render)];
	const size_t size = exec_render_mix(client, buffer);
	uint32_t sync[ROUNDS];
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		sync[i] = syncobj_create(client->fd, 0);
		igt_assert_eq(exec_render_submit_to(client, client->queue, buffer, size, sync[i]),
			      0);
	}
	for (i = 0; i < ROUNDS; i++)
		igt_assert_eq(igt_asahi_wait(client->fd, sync[i]), 0);
	igt_assert_eq_u32(client->words[ASAHI_RESULT], 1);
}

static void exec_render_test_more_than_slots(struct asahi_client *client)
{
	static struct asahi_client *clients[CLIENTS];
	static uint32_t second[CLIENTS], sync[ROUNDS][CLIENTS][2];
	unsigned int i, round;

	for (i = 0; i < CLIENTS; i++) {
		clients[i] = igt_asahi_client_open(client->fd);
		second[i] = igt_asahi_queue_create(clients[i]->fd, clients[i]->vm,
						   DRM_ASAHI_PRIORITY_LOW, 0);
	}
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < CLIENTS; i++) {
			const struct asahi_render render = igt_asahi_render(clients[i], 64);

			sync[round][i][0] = syncobj_create(clients[i]->fd, 0);
			sync[round][i][1] = syncobj_create(clients[i]->fd, 0);
			igt_assert_eq(exec_render_submit_to(clients[i], clients[i]->queue, &render,
							    sizeof(render), sync[round][i][0]), 0);
			igt_assert_eq(exec_render_submit_to(clients[i], second[i], &render,
							    sizeof(render), sync[round][i][1]),
				      0);
		}
	}
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < CLIENTS; i++) {
			igt_assert_eq(igt_asahi_wait(clients[i]->fd, sync[round][i][0]), 0);
			igt_assert_eq(igt_asahi_wait(clients[i]->fd, sync[round][i][1]), 0);
		}
	}
	for (i = 0; i < CLIENTS; i++)
		igt_asahi_client_close(clients[i]);
}

static void exec_render_test_growing(struct asahi_client *client)
{
	static const unsigned int sizes[] = { 64, 4096, 1024, 6144, 8192, 64 };
	uint32_t sync[ARRAY_SIZE(sizes)];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		const struct asahi_render render = igt_asahi_render(client, sizes[i]);

		sync[i] = syncobj_create(client->fd, 0);
		igt_assert_eq(exec_render_submit_to(client, client->queue, &render, sizeof(render),
						    sync[i]),
			      0);
	}
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		igt_assert_eq(igt_asahi_wait(client->fd, sync[i]), 0);
}

static struct asahi_render exec_render_bad_render(struct asahi_client *client)
{
	struct asahi_render render = igt_asahi_render(client, 64);

	render.render.vdm_ctrl_stream_base = ASAHI_UNMAPPED;
	return render;
}

/* Nothing is drawn: this program runs where no shader is executed, too. */
static void exec_render_assert_runs(struct asahi_client *client, uint32_t queue)
{
	const struct asahi_render render = igt_asahi_render(client, 64);
	const uint32_t sync = syncobj_create(client->fd, 0);

	igt_assert_eq(exec_render_submit_to(client, queue, &render, sizeof(render), sync), 0);
	igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
}

static void exec_render_test_fault(struct asahi_client *client)
{
	struct asahi_client *other = igt_asahi_client_open(client->fd);
	const struct asahi_render good = igt_asahi_render(other, 1024),
				  bad = exec_render_bad_render(client);
	const uint32_t queue = igt_asahi_queue_create(client->fd, client->vm,
						      DRM_ASAHI_PRIORITY_MEDIUM, 0);
	const uint32_t fault = syncobj_create(client->fd, 0);
	uint32_t sync[ROUNDS];
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		sync[i] = syncobj_create(other->fd, 0);
		igt_assert_eq(
			exec_render_submit_to(other, other->queue, &good, sizeof(good), sync[i]),
			0);
		if (i == 1)
			igt_assert_eq(
				exec_render_submit_to(client, queue, &bad, sizeof(bad), fault), 0);
	}
	igt_assert_eq(igt_asahi_wait(client->fd, fault), -EIO);
	for (i = 0; i < ROUNDS; i++)
		igt_asahi_assert_bystander(igt_asahi_wait(other->fd, sync[i]));
	exec_render_assert_runs(client, queue);
	exec_render_assert_runs(other, other->queue);
	exec_render_assert_runs(client, client->queue);
	igt_asahi_queue_destroy(client->fd, queue, 0);
	igt_asahi_client_close(other);
}

/*
 * All three are submitted before the first can begin. Fragment work of the first may be
 * running when vertex work of the second faults. Both are in the VM context that the
 * fault names, which is all that the driver knows, so the first may be held guilty, too.
 */
static void exec_render_test_fault_in_the_middle(struct asahi_client *client)
{
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 1);
	struct asahi_render good = igt_asahi_render(client, 1024),
			    bad = exec_render_bad_render(client);
	const uint32_t queue = igt_asahi_queue_create(client->fd, client->vm,
						      DRM_ASAHI_PRIORITY_MEDIUM, 0);
	uint32_t sync[3];
	unsigned int i;
	int err;

	good.header.cdm_barrier = 0;
	bad.header.cdm_barrier = 0;
	igt_asahi_submit(client->fd, queue, &gate, 1, &(struct asahi_sync){ .out = 0 });
	for (i = 0; i < 3; i++) {
		const struct asahi_render *render = i == 1 ? &bad : &good;

		sync[i] = syncobj_create(client->fd, 0);
		igt_assert_eq(
			exec_render_submit_to(client, queue, render, sizeof(*render), sync[i]), 0);
	}
	client->words[ASAHI_GATE] = 1;
	err = igt_asahi_wait(client->fd, sync[0]);
	if (err != -EIO)
		igt_asahi_assert_bystander(err);
	igt_assert_eq(igt_asahi_wait(client->fd, sync[1]), -EIO);
	igt_assert_eq(igt_asahi_wait(client->fd, sync[2]), -ECANCELED);
	exec_render_assert_runs(client, queue);
	exec_render_assert_runs(client, client->queue);
	igt_asahi_queue_destroy(client->fd, queue, 0);
}

/* Return: the fence of a render that writes to @addr when the gate opens, and has begun */
static uint32_t exec_render_begin_write(struct asahi_client *client, uint64_t addr, uint32_t value)
{
	const struct asahi_times times = igt_asahi_times_create(client);
	const uint32_t sync = syncobj_create(client->fd, 0);
	struct asahi_render render = igt_asahi_render(client, 64);

	client->words[ASAHI_GATE] = 0;
	igt_asahi_render_write(client, &render, igt_asahi_word_addr(client, ASAHI_GATE), addr,
			       value);
	render.render.ts_frag.start.handle = times.object;
	igt_assert_eq(igt_asahi_submit_render(client, client->queue, &render, sync), 0);
	igt_asahi_time_comes(&times, 0);
	return sync;
}

static void exec_render_test_bind_in_flight(struct asahi_client *client)
{
	const uint64_t addr = ASAHI_FREE_START;
	uint32_t *map[2], handle[2], sync;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		handle[i] = igt_asahi_gem_create(client->fd, IGT_ASAHI_PAGE, 0, 0, 0);
		map[i] = igt_asahi_gem_mmap(client->fd, handle[i], IGT_ASAHI_PAGE);
	}
	igt_asahi_vm_bind_one(client->fd, client->vm, BIND_RW, handle[0], 0, IGT_ASAHI_PAGE, addr,
			      0);
	sync = exec_render_begin_write(client, addr, 5);
	igt_asahi_vm_bind_one(client->fd, client->vm, BIND_RW, handle[1], 0, IGT_ASAHI_PAGE, addr,
			      0);
	client->words[ASAHI_GATE] = 1;
	igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
	igt_assert_eq_u32(*map[0], 0);
	igt_assert_eq_u32(*map[1], 5);

	sync = exec_render_begin_write(client, addr, 6);
	igt_asahi_vm_bind_one(client->fd, client->vm, DRM_ASAHI_BIND_UNBIND, 0, 0,
			      IGT_ASAHI_PAGE, addr, 0);
	client->words[ASAHI_GATE] = 1;
	igt_assert_eq(igt_asahi_wait(client->fd, sync), -EIO);
	igt_assert_eq_u32(*map[0], 0);
	igt_assert_eq_u32(*map[1], 5);
}

static void exec_render_try_priority(struct asahi_client *client, uint32_t priority, int err)
{
	const uint32_t queue = igt_asahi_queue_create(client->fd, client->vm, priority, err);

	if (err)
		return;
	exec_render_assert_runs(client, queue);
	igt_asahi_queue_destroy(client->fd, queue, 0);
}

static void exec_render_test_priorities(struct asahi_client *client)
{
	const int privileged = igt_asahi_allows("priority") ? 0 : EOPNOTSUPP;

	exec_render_try_priority(client, DRM_ASAHI_PRIORITY_LOW, 0);
	exec_render_try_priority(client, DRM_ASAHI_PRIORITY_MEDIUM, 0);
	exec_render_try_priority(client, DRM_ASAHI_PRIORITY_HIGH, privileged);
	exec_render_try_priority(client, DRM_ASAHI_PRIORITY_REALTIME, privileged);
	exec_render_try_priority(client, DRM_ASAHI_PRIORITY_REALTIME + 1, EINVAL);
	exec_render_try_priority(client, UINT32_MAX, EINVAL);
}

static void exec_render_test_priorities_unprivileged(struct asahi_client *client)
{
	igt_fork(child, 1) {
		igt_drop_root();
		exec_render_try_priority(client, DRM_ASAHI_PRIORITY_LOW, 0);
		exec_render_try_priority(client, DRM_ASAHI_PRIORITY_MEDIUM, 0);
		exec_render_try_priority(client, DRM_ASAHI_PRIORITY_HIGH, EPERM);
		exec_render_try_priority(client, DRM_ASAHI_PRIORITY_REALTIME, EPERM);
		exec_render_try_priority(client, DRM_ASAHI_PRIORITY_REALTIME + 1, EINVAL);
	}
	igt_waitchildren();
}

/* 2048 layers of the largest size would take 11 GB for their tilemap alone. */
static void exec_render_test_too_large(struct asahi_client *client)
{
	struct asahi_render render = igt_asahi_render(client, 16384);

	exec_render_assert_runs(client, client->queue);
	for (render.render.layers = 2048; render.render.layers > 512; render.render.layers /= 2) {
		igt_assert_eq(igt_asahi_submit_render(client, client->queue, &render, 0), -ENOMEM);
		exec_render_assert_runs(client, client->queue);
	}
}

/* An address space with the least room for the kernel */
static uint32_t exec_render_narrow_vm(int fd)
{
	struct drm_asahi_params_global params;
	struct drm_asahi_vm_create args = { .pad = 0 };

	igt_asahi_get_params(fd, 0, &params, sizeof(params), 0);
	args.kernel_end = params.vm_end;
	args.kernel_start = (params.vm_end - params.vm_kernel_min_size) & ~(IGT_ASAHI_PAGE - 1);
	do_ioctl(fd, DRM_IOCTL_ASAHI_VM_CREATE, &args);
	return args.vm_id;
}

/*
 * The limit for a scene is larger than what such an address space has. The queue goes
 * on, and so do others when the buffer that could not grow is gone.
 */
static void exec_render_test_no_room(struct asahi_client *client)
{
	const uint32_t vm = exec_render_narrow_vm(client->fd);
	const uint32_t queue =
		igt_asahi_queue_create(client->fd, vm, DRM_ASAHI_PRIORITY_MEDIUM, 0);
	const uint32_t handle = igt_asahi_gem_create(client->fd, IGT_ASAHI_PAGE, 0, 0, 0);
	uint32_t *stream = igt_asahi_gem_mmap(client->fd, handle, IGT_ASAHI_PAGE);
	struct asahi_render render = igt_asahi_render(client, 64);
	unsigned int i;

	stream[0] = 6u << 29;
	igt_asahi_vm_bind_one(client->fd, vm, DRM_ASAHI_BIND_READ, handle, 0, IGT_ASAHI_PAGE,
			      ASAHI_FREE_START, 0);
	render.render.vdm_ctrl_stream_base = ASAHI_FREE_START;
	for (i = 0; i < ROUNDS; i++) {
		struct asahi_render large = render;

		igt_assert_eq(igt_asahi_run_render(client, queue, &render), 0);
		large.render.width_px = 8192;
		large.render.height_px = 8192;
		large.render.layers = 2048;
		igt_assert_eq(igt_asahi_submit_render(client, queue, &large, 0), -ENOSPC);
	}
	igt_assert_eq(igt_asahi_run_render(client, queue, &render), 0);
	igt_asahi_queue_destroy(client->fd, queue, 0);
	exec_render_assert_runs(client, client->queue);
}

static const struct {
	const char *name;
	const char *text;
	void (*run)(struct asahi_client *client);
} exec_render_tests[] = {
	{"barriers", "Renders and compute work that wait for each other.",
	 exec_render_test_barriers},
	{"more-than-slots", "More renders at once than there are slots.",
	 exec_render_test_more_than_slots},
	{"growing", "Framebuffers of growing size, many at once.", exec_render_test_growing},
	{"fault-in-vertex-work", "A control stream that is not there.", exec_render_test_fault},
	{"fault-in-the-middle", "The same between other renders of its queue.",
	 exec_render_test_fault_in_the_middle},
	{"bind-in-flight", "What fragment work writes to goes while it runs.",
	 exec_render_test_bind_in_flight},
	{"priorities", "All priorities that the driver allows, and others.",
	 exec_render_test_priorities},
	{"priorities-unprivileged", "Without CAP_SYS_NICE only the lower two.",
	 exec_render_test_priorities_unprivileged},
	{"too-large", "More memory than a scene may have.", exec_render_test_too_large},
	{"no-room", "More memory than the address space has.", exec_render_test_no_room},
};

int igt_main()
{
	unsigned int i;
	int fd;

	igt_fixture() {
		fd = drm_open_driver_render(DRIVER_ASAHI);
	}

	for (i = 0; i < ARRAY_SIZE(exec_render_tests); i++) {
		igt_describe(exec_render_tests[i].text);
		igt_subtest(exec_render_tests[i].name) {
			exec_render_tests[i].run(igt_asahi_client_open(fd));
		}
		igt_fixture() {
			igt_asahi_clients_close();
		}
	}

	igt_fixture() {
		drm_close_driver(fd);
	}
}

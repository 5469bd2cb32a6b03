// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "asahi/asahi_compute.h"
#include "igt.h"
#include "igt_syncobj.h"
#include "sw_sync.h"

/**
 * TEST: asahi exec chain
 * Description: A thousand jobs, or as many as the variable ASAHI_LINKS of the environment
 *	says, each of which waits for the one before it. Each adds 1 to what the one before
 *	has written, and writes it to another place: one that runs too early, or not at all,
 *	leaves a sum that is too small.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Command submission
 * Functionality: synchronization
 * Test category: functionality test
 *
 * SUBTEST: binary-%s
 * Description: One sync object that each job waits for and then signals, %arg[1]; one queue
 *	and address spaces only.
 *
 * SUBTEST: timeline-%s
 * Description: Each job waits for a point of a timeline and signals the next, %arg[1].
 *
 * SUBTEST: sync-file-%s
 * Description: Each job's fence is handed on as a sync file, %arg[1]; files and processes
 *	only.
 * arg[1]:
 * @one-queue: in one queue
 * @queues: in turn in four queues of an address space
 * @vms: in turn in four address spaces
 * @files: in turn in four open files
 * @processes: in turn in four processes
 *
 * SUBTEST: behind-a-fault-%s
 * Description: A job that waits for one that faults, %arg[1], runs, and gets no error.
 * arg[1]:
 * @queues: in another queue of its address space
 * @vms: in another address space
 * @files: in another open file
 */

#define MEMBERS		4
#define PATIENCE_S	60

/* Each job reads one of these floats and writes the next. */
#define CELLS		3
#define CELL_BYTES	64
#define ONE		CELLS
#define CELL_ADDR(n)	(ASAHI_FREE_START + (n) * CELL_BYTES)
#define UNWRITTEN	-1.0f

/* Jobs of a chain */
static unsigned int exec_chain_links = 1000;

/**
 * struct member - what every fourth job is submitted with
 * @fd: file
 * @queue: queue
 * @sync: sync object of this file that jobs wait for
 * @add: commands, by the cell that they read
 */
struct member {
	int fd;
	uint32_t queue;
	uint32_t sync;
	struct asahi_command add[CELLS];
};

/**
 * struct chain - a test
 * @client: client that has the memory
 * @timeline: user space's, of the fence that the first link waits for
 * @handle: the cells' buffer
 * @cells: the same for the CPU
 * @members: members
 * @count: how many of them there are
 */
struct chain {
	struct asahi_client *client;
	int timeline;
	uint32_t handle;
	volatile float *cells;
	struct member members[MEMBERS];
	unsigned int count;
};

enum kind {
	BINARY,
	TIMELINE,
	SYNC_FILE,
};

static const char *const exec_chain_kind_names[] = { "binary", "timeline", "sync-file" };

static volatile float *exec_chain_cell(struct chain *chain, unsigned int index)
{
	return chain->cells + index * CELL_BYTES / sizeof(float);
}

static struct asahi_command exec_chain_add_command(struct asahi_client *client, unsigned int from)
{
	const uint64_t uniforms[] = {
		CELL_ADDR(from), CELL_ADDR(ONE), CELL_ADDR((from + 1) % CELLS),
	};
	const struct asahi_dispatch dispatch = {
		.shader = IGT_ASAHI_SHADER_VECADD,
		.uniforms = uniforms,
		.uniform_bytes = sizeof(uniforms),
		.global = { 1, 1, 1 },
		.local = { 32, 1, 1 },
	};

	return igt_asahi_command(client, &dispatch, 1);
}

static void exec_chain_map_cells(int fd, uint32_t vm, uint32_t cells)
{
	igt_asahi_vm_bind_one(fd, vm, DRM_ASAHI_BIND_READ | DRM_ASAHI_BIND_WRITE, cells, 0,
			      IGT_ASAHI_PAGE, ASAHI_FREE_START, 0);
}

static void exec_chain_member_init(struct member *member, struct asahi_client *client)
{
	unsigned int i;

	*member = (struct member){
		.fd = client->fd,
		.queue = igt_asahi_queue_create(client->fd, client->vm,
						DRM_ASAHI_PRIORITY_MEDIUM, 0),
	};
	for (i = 0; i < CELLS; i++)
		member->add[i] = exec_chain_add_command(client, i);
}

static void exec_chain_begin(struct chain *chain, struct asahi_client *client)
{
	unsigned int i;

	igt_require_sw_sync();
	*chain = (struct chain){ .client = client, .timeline = sw_sync_timeline_create() };
	chain->handle = igt_asahi_gem_create(client->fd, IGT_ASAHI_PAGE, 0, 0, 0);
	chain->cells = igt_asahi_gem_mmap(client->fd, chain->handle, IGT_ASAHI_PAGE);
	for (i = 0; i < CELLS; i++)
		*exec_chain_cell(chain, i) = i ? UNWRITTEN : 0;
	*exec_chain_cell(chain, ONE) = 1;
	exec_chain_map_cells(client->fd, client->vm, chain->handle);
}

static void exec_chain_end(struct chain *chain)
{
	munmap((void *)chain->cells, IGT_ASAHI_PAGE);
	close(chain->timeline);
}

/* Members of a chain */

static void exec_chain_one_queue(struct chain *chain)
{
	exec_chain_member_init(&chain->members[chain->count++], chain->client);
}

static void exec_chain_queues(struct chain *chain)
{
	while (chain->count < MEMBERS)
		exec_chain_one_queue(chain);
}

/* Objects of the client's are private to its address space: another one has copies. */
static struct asahi_client exec_chain_other_vm(const struct asahi_client *client)
{
	struct asahi_client other = *client;

	other.vm = igt_asahi_vm_create(client->fd);
	other.arena.handle = igt_asahi_gem_create(client->fd, client->arena.size, 0, 0, 0);
	other.arena.map = igt_asahi_gem_mmap(client->fd, other.arena.handle, client->arena.size);
	memcpy(other.arena.map, client->arena.map, client->arena.size);
	igt_asahi_vm_bind_one(client->fd, other.vm, DRM_ASAHI_BIND_READ, other.arena.handle, 0,
			      client->arena.size, client->arena.addr, 0);
	return other;
}

static void exec_chain_vms(struct chain *chain)
{
	exec_chain_one_queue(chain);
	while (chain->count < MEMBERS) {
		struct asahi_client other = exec_chain_other_vm(chain->client);

		exec_chain_map_cells(other.fd, other.vm, chain->handle);
		exec_chain_member_init(&chain->members[chain->count++], &other);
		munmap(other.arena.map, other.arena.size);
	}
}

static void exec_chain_add_file(struct chain *chain, int dmabuf)
{
	struct asahi_client *other = igt_asahi_client_open(chain->client->fd);

	exec_chain_map_cells(other->fd, other->vm, prime_fd_to_handle(other->fd, dmabuf));
	exec_chain_member_init(&chain->members[chain->count++], other);
}

static void exec_chain_files(struct chain *chain)
{
	const int dmabuf = prime_handle_to_fd(chain->client->fd, chain->handle);

	exec_chain_one_queue(chain);
	while (chain->count < MEMBERS)
		exec_chain_add_file(chain, dmabuf);
	close(dmabuf);
}

enum who {
	ONE_QUEUE,
	QUEUES,
	VMS,
	FILES,
};

static const struct {
	const char *name;
	void (*add)(struct chain *chain);
} exec_chain_whos[] = {
	[ONE_QUEUE] = { "one-queue", exec_chain_one_queue },
	[QUEUES] = { "queues", exec_chain_queues },
	[VMS] = { "vms", exec_chain_vms },
	[FILES] = { "files", exec_chain_files },
};

/* The chain */

static void exec_chain_submit_link(struct member *member, enum kind kind, unsigned int link)
{
	const bool points = kind == TIMELINE;

	igt_asahi_submit(member->fd, member->queue, &member->add[link % CELLS], 1,
			 &(struct asahi_sync){ .in = member->sync,
					       .in_point = points ? link + 1 : 0,
					       .out = member->sync,
					       .out_point = points ? link + 2 : 0 });
}

/* The first link waits for a fence of user space's: work would time out meanwhile. */
static void exec_chain_late_start(struct chain *chain, enum kind kind, uint32_t sync)
{
	const int fd = chain->client->fd;
	const uint32_t late = igt_asahi_late_fence(fd, chain->timeline);
	int file;

	if (kind == TIMELINE) {
		syncobj_binary_to_timeline(fd, sync, 1, late);
		return;
	}
	file = syncobj_handle_to_fd(fd, late, DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE);
	syncobj_import_sync_file(fd, sync, file);
	close(file);
}

static uint32_t exec_chain_same_syncobj(int from, uint32_t sync, int to)
{
	const int fd = syncobj_handle_to_fd(from, sync, 0);
	const uint32_t handle = syncobj_fd_to_handle(to, fd, 0);

	close(fd);
	return handle;
}

/* All members have the same sync object, or one of their own each. */
static uint32_t exec_chain_share_syncobj(struct chain *chain, enum kind kind)
{
	const uint32_t sync = syncobj_create(chain->client->fd, 0);
	unsigned int i;

	for (i = 0; i < chain->count; i++)
		chain->members[i].sync = kind == SYNC_FILE ?
			syncobj_create(chain->members[i].fd, 0) :
			exec_chain_same_syncobj(chain->client->fd, sync, chain->members[i].fd);
	return sync;
}

static int exec_chain_export_file(int fd, uint32_t sync)
{
	return syncobj_handle_to_fd(fd, sync, DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE);
}

static void exec_chain_pass_on(int from, uint32_t sync, const struct member *to)
{
	const int file = exec_chain_export_file(from, sync);

	syncobj_import_sync_file(to->fd, to->sync, file);
	close(file);
}

/* Nothing runs before the late fence has signalled. */
static void exec_chain_check_waits(struct chain *chain)
{
	usleep(50000);
	igt_assert(*exec_chain_cell(chain, 1) == UNWRITTEN &&
		   *exec_chain_cell(chain, 2) == UNWRITTEN);
	sw_sync_timeline_inc(chain->timeline, 1);
}

static void exec_chain_check_sum(struct chain *chain)
{
	const float sum = *exec_chain_cell(chain, exec_chain_links % CELLS);

	igt_assert_f(sum == exec_chain_links, "the sum is %g\n", sum);
}

static void exec_chain_test_chain(struct asahi_client *client, enum kind kind, enum who who)
{
	struct chain chain;
	struct member *member, *last = chain.members;
	unsigned int i;
	uint32_t sync;

	exec_chain_begin(&chain, client);
	exec_chain_whos[who].add(&chain);
	sync = exec_chain_share_syncobj(&chain, kind);
	exec_chain_late_start(&chain, kind, sync);
	if (kind == SYNC_FILE)
		exec_chain_pass_on(client->fd, sync, &chain.members[0]);
	for (i = 0; i < exec_chain_links; i++, last = member) {
		member = &chain.members[i % chain.count];
		if (i && kind == SYNC_FILE)
			exec_chain_pass_on(last->fd, last->sync, member);
		exec_chain_submit_link(member, kind, i);
	}
	exec_chain_check_waits(&chain);
	igt_assert_eq(igt_asahi_wait(last->fd, last->sync), 0);
	exec_chain_check_sum(&chain);
	exec_chain_end(&chain);
}

/* Processes */

/**
 * struct ring - what processes hand on to each other
 * @chain: the test
 * @dmabuf: the cells' buffer
 * @syncobj: file of the sync object that they share
 * @kind: how they wait
 * @to: sockets on which process n gets what it waits for, and the parent at last
 * @hold: pipe that the parent closes when all is over
 */
struct ring {
	struct chain *chain;
	int dmabuf;
	int syncobj;
	enum kind kind;
	int to[MEMBERS + 1][2];
	int hold[2];
};

static void exec_chain_set_control(struct msghdr *msg, char *control, size_t size,
				   struct iovec *iov)
{
	*msg = (struct msghdr){
		.msg_iov = iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = size,
	};
}

static void exec_chain_send_file(int socket, int file)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec iov = { control, 1 };
	struct cmsghdr *cmsg;
	struct msghdr msg;

	exec_chain_set_control(&msg, control, sizeof(control), &iov);
	cmsg = CMSG_FIRSTHDR(&msg);
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &file, sizeof(file));
	igt_assert_eq(sendmsg(socket, &msg, 0), 1);
	close(file);
}

static int exec_chain_receive_file(int socket)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	char c;
	struct iovec iov = { &c, 1 };
	struct msghdr msg;
	int file;

	exec_chain_set_control(&msg, control, sizeof(control), &iov);
	igt_assert_eq(recvmsg(socket, &msg, 0), 1);
	igt_assert(msg.msg_controllen);
	memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(file));
	return file;
}

/* Until another process has submitted what signals a point */
static void exec_chain_wait_available(struct member *member, uint64_t point)
{
	struct timespec now;
	int64_t end;

	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec * 1000000000LL + now.tv_nsec + ASAHI_PATIENCE_NS;
	igt_assert(syncobj_timeline_wait(member->fd, &member->sync, &point, 1, end,
					 DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE, NULL));
}

static void exec_chain_process_link(struct ring *ring, struct member *member, unsigned int link)
{
	int file;

	if (ring->kind == TIMELINE) {
		exec_chain_wait_available(member, link + 1);
		exec_chain_submit_link(member, TIMELINE, link);
		return;
	}
	file = exec_chain_receive_file(ring->to[link % MEMBERS][1]);
	syncobj_import_sync_file(member->fd, member->sync, file);
	close(file);
	exec_chain_submit_link(member, SYNC_FILE, link);
	file = exec_chain_export_file(member->fd, member->sync);
	exec_chain_send_file(
		ring->to[link + 1 == exec_chain_links ? MEMBERS : (link + 1) % MEMBERS][0], file);
}

/* It stays until the end: closing its file would cancel what waits. */
static void exec_chain_process(struct ring *ring, unsigned int number)
{
	struct chain *chain = ring->chain;
	struct member *member = &chain->members[0];
	unsigned int i;
	char c;

	close(ring->hold[1]);
	exec_chain_add_file(chain, ring->dmabuf);
	member->sync = ring->kind == TIMELINE ?
		syncobj_fd_to_handle(member->fd, ring->syncobj, 0) : syncobj_create(member->fd, 0);
	for (i = number; i < exec_chain_links; i += MEMBERS)
		exec_chain_process_link(ring, member, i);
	igt_assert_eq(read(ring->hold[0], &c, 1), 0);
}

static void exec_chain_ring_open(struct ring *ring)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	unsigned int i;

	igt_assert_eq(pipe(ring->hold), 0);
	for (i = 0; i <= MEMBERS; i++) {
		igt_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ring->to[i]), 0);
		igt_assert_eq(setsockopt(ring->to[i][1], SOL_SOCKET, SO_RCVTIMEO, &patience,
					 sizeof(patience)), 0);
	}
}

static void exec_chain_ring_close(struct ring *ring)
{
	unsigned int i;

	close(ring->hold[0]);
	close(ring->dmabuf);
	close(ring->syncobj);
	for (i = 0; i <= MEMBERS; i++) {
		close(ring->to[i][0]);
		close(ring->to[i][1]);
	}
}

/* The parent waits for the last link's fence. */
static void exec_chain_finish_ring(struct ring *ring, uint32_t sync)
{
	struct member last = { .fd = ring->chain->client->fd, .sync = sync };
	const uint64_t point = exec_chain_links + 1;
	uint32_t fence = syncobj_create(last.fd, 0);
	int file;

	if (ring->kind == TIMELINE) {
		exec_chain_wait_available(&last, point);
		exec_chain_check_waits(ring->chain);
		syncobj_timeline_to_binary(last.fd, fence, sync, point, 0);
	} else {
		file = exec_chain_receive_file(ring->to[MEMBERS][1]);
		exec_chain_check_waits(ring->chain);
		syncobj_import_sync_file(last.fd, fence, file);
		close(file);
	}
	igt_assert_eq(igt_asahi_wait(last.fd, fence), 0);
}

static void exec_chain_test_processes(struct asahi_client *client, enum kind kind)
{
	const uint32_t sync = syncobj_create(client->fd, 0);
	struct chain chain;
	struct ring ring = { .chain = &chain, .kind = kind };

	exec_chain_begin(&chain, client);
	exec_chain_late_start(&chain, kind, sync);
	exec_chain_ring_open(&ring);
	ring.dmabuf = prime_handle_to_fd(client->fd, chain.handle);
	ring.syncobj = syncobj_handle_to_fd(client->fd, sync, 0);
	igt_fork(child, MEMBERS) {
		exec_chain_process(&ring, child);
	}
	if (kind == SYNC_FILE)
		exec_chain_send_file(ring.to[0][0], exec_chain_export_file(client->fd, sync));
	exec_chain_finish_ring(&ring, sync);
	close(ring.hold[1]);
	igt_waitchildren();
	exec_chain_ring_close(&ring);
	exec_chain_check_sum(&chain);
	exec_chain_end(&chain);
}

/* Links that fail */

/* The fence that is waited for has an error; that is its owner's affair. */
static void exec_chain_test_behind_a_fault(struct asahi_client *client, enum who who)
{
	const struct asahi_command bad = igt_asahi_store(client, ASAHI_UNMAPPED, 1);
	uint32_t sync = syncobj_create(client->fd, 0), fault = syncobj_create(client->fd, 0);
	struct chain chain;
	unsigned int i;

	exec_chain_begin(&chain, client);
	exec_chain_whos[who].add(&chain);
	exec_chain_late_start(&chain, SYNC_FILE, sync);
	igt_asahi_submit(client->fd, client->queue, &bad, 1,
			 &(struct asahi_sync){ .in = sync, .out = fault });
	for (i = 0; i < chain.count; i++) {
		struct member *member = &chain.members[i];

		member->sync = syncobj_create(member->fd, 0);
		exec_chain_pass_on(i ? chain.members[i - 1].fd : client->fd,
				   i ? chain.members[i - 1].sync : fault, member);
		exec_chain_submit_link(member, BINARY, i);
	}
	exec_chain_check_waits(&chain);
	igt_assert_eq(igt_asahi_wait(client->fd, fault), -EIO);
	for (i = 0; i < chain.count; i++)
		igt_assert_eq(igt_asahi_wait(chain.members[i].fd, chain.members[i].sync), 0);
	igt_assert(*exec_chain_cell(&chain, chain.count % CELLS) == chain.count);
	exec_chain_end(&chain);
}

static const struct {
	enum kind kind;
	enum who who;
} exec_chain_chains[] = {
	{ BINARY, ONE_QUEUE },
	{ BINARY, VMS },
	{ TIMELINE, ONE_QUEUE },
	{ TIMELINE, QUEUES },
	{ TIMELINE, VMS },
	{ TIMELINE, FILES },
	{ SYNC_FILE, FILES },
};

int igt_main()
{
	unsigned int i;
	int kind, fd;

	igt_fixture() {
		const char *text = getenv("ASAHI_LINKS");

		if (text)
			exec_chain_links = strtoul(text, NULL, 0);
		fd = drm_open_driver_render(DRIVER_ASAHI);
	}

	igt_describe("A thousand jobs, each of which waits for the one before it.");
	for (i = 0; i < ARRAY_SIZE(exec_chain_chains); i++) {
		igt_subtest_f("%s-%s", exec_chain_kind_names[exec_chain_chains[i].kind],
			      exec_chain_whos[exec_chain_chains[i].who].name)
		{
			exec_chain_test_chain(igt_asahi_client_open(fd), exec_chain_chains[i].kind,
					      exec_chain_chains[i].who);
		}
		igt_fixture() {
			igt_asahi_clients_close();
		}
	}

	igt_describe("The same in several processes.");
	for (kind = TIMELINE; kind <= SYNC_FILE; kind++) {
		igt_subtest_f("%s-processes", exec_chain_kind_names[kind]) {
			exec_chain_test_processes(igt_asahi_client_open(fd), kind);
		}
		igt_fixture() {
			igt_asahi_clients_close();
		}
	}

	igt_describe("The first of a chain faults, and the others run.");
	for (i = QUEUES; i < ARRAY_SIZE(exec_chain_whos); i++) {
		igt_subtest_f("behind-a-fault-%s", exec_chain_whos[i].name) {
			exec_chain_test_behind_a_fault(igt_asahi_client_open(fd), i);
		}
		igt_fixture() {
			igt_asahi_clients_close();
		}
	}

	igt_fixture() {
		drm_close_driver(fd);
	}
}

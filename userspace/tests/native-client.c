// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * native-client LIBRARY - computes through a native context of a virglrenderer.
 *
 * It plays a guest and its monitor in one process, without a machine and without Mesa, so that
 * it runs on the driver in our own guest, too. Prints TAP. A library without native contexts of
 * this driver is skipped (status 77).
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <drm/asahi_drm.h>

#include "agx_isa.h"
#include "agx_packets.h"
#include "native-host.h"

#define GIB		(UINT64_C(1) << 30)
#define BUFFER_BYTES	0x10000
#define WORDS		1000
#define ADDEND		5
#define RING		(DRM_ASAHI_PRIORITY_MEDIUM + 1)
/* What the guest asks of a buffer: to be mapped, and to be exported */
#define SHARED		3

enum { EXIT_SKIP = 77 };

/* How a job uses a buffer that others have */
enum { NATIVE_READS = 1, NATIVE_WRITES = 2 };

struct client {
	struct native_host host;
	struct drm_asahi_params_global params;
	uint32_t vm;
	uint32_t queue;
	/* programs and their words, at the base of the queue's programs; a stream; numbers */
	struct native_blob code;
	struct native_blob stream;
	struct native_blob data;
	uint32_t stream_bytes;
	uint32_t blobs;
};

static const char program_text[] =
	"mov r2, thread_in_grid_x\n"
	"load r3, du0, r2, i32, x, a\n"
	"wait a\n"
	"iadd r4, r3, u2\n"
	"store r4, du0, r2, i32, x, a\n"
	"stop\n";

struct uniforms {
	uint64_t data;
	uint32_t addend;
};

/* Requests */

#define HEAD(what, bytes)	.head = { .kind = NATIVE_##what, .size = (bytes) }

static bool get_params(struct client *client)
{
	struct {
		struct native_request head;
		struct drm_asahi_get_params args;
	} request = {
		HEAD(GET_PARAMS, sizeof(request)),
		.args = { .size = sizeof(client->params) },
	};
	const volatile int32_t *answer = native_request(&client->host, &request.head,
							8 + sizeof(client->params));

	if (!answer || answer[0])
		return false;
	memcpy(&client->params, (const void *)(answer + 1), sizeof(client->params));
	return true;
}

/* An ioctl without pointers; @args is what it returns. */
static bool simple_ioctl(struct client *client, uint32_t number, void *args, uint32_t size)
{
	struct {
		struct native_request head;
		uint32_t number;
		uint8_t args[64];
	} request = {
		HEAD(IOCTL, offsetof(__typeof__(request), args) + size),
		.number = number,
	};
	const volatile int32_t *answer;

	memcpy(request.args, args, size);
	answer = native_request(&client->host, &request.head, 8 + size);
	if (!answer || answer[0])
		return false;
	memcpy(args, (const void *)(answer + 1), size);
	return true;
}

static bool new_buffer(struct client *client, uint64_t addr, struct native_blob *blob)
{
	struct {
		struct native_request head;
		uint32_t flags;
		uint32_t bind_flags;
		uint32_t vm;
		uint32_t blob;
		uint64_t size;
		uint64_t addr;
	} request = {
		HEAD(GEM_NEW, sizeof(request)),
		.flags = DRM_ASAHI_GEM_WRITEBACK,
		.bind_flags = DRM_ASAHI_BIND_READ | DRM_ASAHI_BIND_WRITE,
		.vm = client->vm,
		.blob = ++client->blobs,
		.size = BUFFER_BYTES,
		.addr = addr,
	};

	return native_request(&client->host, &request.head, 0) && !native_errors(&client->host) &&
	       !native_blob_new(&client->host, request.blob, BUFFER_BYTES, SHARED, blob);
}

static bool bind(struct client *client, uint32_t resource, uint64_t addr)
{
	struct {
		struct native_request head;
		uint32_t vm;
		uint32_t stride;
		uint32_t count;
		/* not aligned */
		uint8_t ops[sizeof(struct drm_asahi_gem_bind_op)];
	} request = {
		HEAD(VM_BIND, sizeof(request)),
		.vm = client->vm,
		.stride = sizeof(request.ops),
		.count = 1,
	};
	const struct drm_asahi_gem_bind_op op = {
		.flags = DRM_ASAHI_BIND_READ,
		.handle = resource,
		.range = BUFFER_BYTES,
		.addr = addr,
	};

	memcpy(request.ops, &op, sizeof(op));
	return native_request(&client->host, &request.head, 0);
}

/* @use: of the numbers, NATIVE_READS and so on */
static bool submit(struct client *client, uint64_t stream, uint32_t use)
{
	struct {
		struct native_request head;
		uint32_t flags;
		uint32_t queue;
		uint32_t commands_size;
		uint32_t num_shared;
		struct drm_asahi_cmd_header header;
		struct drm_asahi_cmd_compute compute;
		uint32_t shared[2];
	} request = {
		HEAD(SUBMIT, sizeof(request)),
		.queue = client->queue,
		.commands_size = sizeof(request.header) + sizeof(request.compute),
		.num_shared = 1,
		.header = {
			.cmd_type = DRM_ASAHI_CMD_COMPUTE,
			.size = sizeof(request.compute),
			.vdm_barrier = DRM_ASAHI_BARRIER_NONE,
			.cdm_barrier = DRM_ASAHI_BARRIER_NONE,
		},
		.compute = {
			.cdm_ctrl_stream_base = stream,
			.cdm_ctrl_stream_end = stream + client->stream_bytes,
		},
		.shared = { client->data.resource, use },
	};

	return native_request(&client->host, &request.head, 0);
}

/* The work: each thread adds to one number */

static uint64_t code_addr(const struct client *client)
{
	return (client->params.vm_start + 4 * GIB - 1) & ~(4 * GIB - 1);
}

static uint64_t stream_addr(const struct client *client)
{
	return code_addr(client) + 4 * GIB;
}

static uint64_t data_addr(const struct client *client)
{
	return stream_addr(client) + GIB;
}

/* Puts the program at the begin of the code, its uniforms and its words behind it. */
static bool put_work(struct client *client)
{
	static const struct { uint32_t uniforms, words; } at = { 0x1000, 0x2000 };
	const struct uniforms uniforms = { data_addr(client), ADDEND };
	struct agx_cdm_launch launch = agx_cdm_launch_default();
	struct agx_writer words, stream;
	struct agx_program code;
	uint8_t *map = client->code.map;

	if (agx_isa_assemble(program_text, "native-client", &code, stderr))
		return false;
	memcpy(map, code.code, code.size);
	free(code.code);
	memcpy(map + at.uniforms, &uniforms, sizeof(uniforms));
	agx_writer_init(&words, map + at.words, 512);
	agx_put(&words, usc_uniform, .size = sizeof(uniforms) / 2,
		.buffer = code_addr(client) + at.uniforms);
	agx_put(&words, usc_shared);
	agx_put(&words, usc_shader);
	agx_put(&words, usc_registers, .register_count = 10);
	agx_put(&words, usc_no_preshader);

	agx_writer_init(&stream, client->stream.map, BUFFER_BYTES);
	launch.pipeline = at.words;
	launch.counts.uniform_registers = sizeof(uniforms) / 2;
	launch.mode = AGX_CDM_MODE_DIRECT;
	agx_writer_put(&stream, AGX_PACKET_cdm_launch, &launch);
	if (client->params.gpu_generation >= 14 && client->params.num_clusters_total > 1)
		agx_put(&stream, cdm_launch_g14x);
	agx_put(&stream, cdm_global_size, .x = WORDS, .y = 1, .z = 1);
	agx_put(&stream, cdm_local_size, .x = 64, .y = 1, .z = 1);
	agx_put(&stream, cdm_stream_terminate);
	client->stream_bytes = stream.used;
	return !words.error && !stream.error;
}

static bool open_client(struct client *client, uint32_t context)
{
	struct drm_asahi_vm_create vm = { .kernel_start = 0 };
	struct drm_asahi_queue_create queue = { .priority = DRM_ASAHI_PRIORITY_MEDIUM };

	*client = (struct client){ .vm = 0 };
	if (native_context_new(&client->host, context) || !get_params(client))
		return false;
	vm.kernel_end = client->params.vm_end;
	vm.kernel_start = (vm.kernel_end - client->params.vm_kernel_min_size) & ~UINT64_C(0x3fff);
	if (!simple_ioctl(client, DRM_IOCTL_ASAHI_VM_CREATE, &vm, sizeof(vm)))
		return false;
	client->vm = vm.vm_id;
	queue.vm_id = vm.vm_id;
	queue.usc_exec_base = code_addr(client);
	if (!simple_ioctl(client, DRM_IOCTL_ASAHI_QUEUE_CREATE, &queue, sizeof(queue)))
		return false;
	client->queue = queue.queue_id;
	return new_buffer(client, code_addr(client), &client->code) &&
	       new_buffer(client, stream_addr(client), &client->stream) &&
	       new_buffer(client, data_addr(client), &client->data) && put_work(client);
}

static void put_numbers(uint32_t *numbers, uint32_t first)
{
	uint32_t i;

	for (i = 0; i < WORDS; i++)
		numbers[i] = first + i;
}

static bool has_numbers(const uint32_t *numbers, uint32_t first)
{
	uint32_t i;

	for (i = 0; i < WORDS && numbers[i] == first + i; i++)
		continue;
	if (i < WORDS)
		printf("# number %u is %u instead of %u\n", i, numbers[i], first + i);
	return i == WORDS;
}

/* Cases */

static bool computes(struct client *client)
{
	put_numbers(client->data.map, 7000);
	return submit(client, stream_addr(client), 0) && native_fence(&client->host, RING) &&
	       has_numbers(client->data.map, 7000 + ADDEND);
}

/* Many, of which each one takes what the one before it has left */
static bool computes_in_order(struct client *client)
{
	uint32_t i;

	put_numbers(client->data.map, 0);
	for (i = 0; i < 50; i++)
		if (!submit(client, stream_addr(client), 0))
			return false;
	return native_fence(&client->host, RING) &&
	       has_numbers(client->data.map, 50 * ADDEND);
}

/* The guest is another process than its monitor: it writes, and sees what the GPU has written. */
static int be_the_guest(int fd, int from, int to)
{
	uint32_t *numbers = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	char byte = 0;

	if (numbers == MAP_FAILED)
		return 2;
	put_numbers(numbers, 90);
	if (write(to, &byte, 1) != 1 || read(from, &byte, 1) != 1)
		return 3;
	return has_numbers(numbers, 90 + ADDEND) ? 0 : 1;
}

static bool shares_with_a_process(struct client *client)
{
	int fd = native_blob_export(&client->data), to_guest[2], to_host[2], status = -1;
	bool done = false;
	char byte = 0;
	pid_t pid;

	if (fd < 0 || pipe(to_guest) || pipe(to_host))
		return false;
	if (lseek(fd, 0, SEEK_END) != BUFFER_BYTES)
		printf("# the DMA buffer has another size\n");
	pid = fork();
	if (!pid)
		_exit(be_the_guest(fd, to_guest[0], to_host[1]));
	/* A guest that ends early leaves nobody who could write. */
	close(to_host[1]);
	if (read(to_host[0], &byte, 1) == 1)
		done = submit(client, stream_addr(client), 0) &&
		       native_fence(&client->host, RING) && write(to_guest[1], &byte, 1) == 1;
	close(to_guest[1]);
	waitpid(pid, &status, 0);
	if (status)
		printf("# the guest's status is 0x%x\n", status);
	close(to_guest[0]);
	close(to_host[0]);
	close(fd);
	return done && !status;
}

/* A compositor waits for what the guest has drawn by the DMA buffer alone. */
static bool leaves_fences_in_buffers(struct client *client)
{
	int fd = native_blob_export(&client->data);
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	bool done;

	if (fd < 0)
		return false;
	put_numbers(client->data.map, 300);
	done = submit(client, stream_addr(client), NATIVE_READS | NATIVE_WRITES) &&
	       submit(client, stream_addr(client), NATIVE_READS | NATIVE_WRITES) &&
	       poll(&pfd, 1, 60000) == 1 && has_numbers(client->data.map, 300 + 2 * ADDEND);
	close(fd);
	return done && native_fence(&client->host, RING);
}

/* What a guest asks for wrongly is counted; its later requests are done. */
static bool counts_errors(struct client *client)
{
	uint32_t errors = native_errors(&client->host);

	return bind(client, 0x7777, data_addr(client) + GIB) &&
	       native_errors(&client->host) == errors + 1 &&
	       bind(client, client->data.resource, data_addr(client) + GIB) &&
	       native_errors(&client->host) == errors + 1;
}

/* A job that fails ends, too; nothing is known of it but that it has ended. */
static bool ends_bad_jobs(struct client *client)
{
	return submit(client, data_addr(client) + 100 * GIB, 0) &&
	       native_fence(&client->host, RING) && computes(client);
}

/* A guest's process ends as it is, with jobs on their way; another one goes on. */
static bool outlives_another(struct client *client)
{
	struct client other;
	int i;

	if (!open_client(&other, 2))
		return false;
	for (i = 0; i < 20; i++)
		if (!submit(&other, stream_addr(&other), 0))
			return false;
	native_context_free(&other.host);
	return computes(client);
}

static const struct {
	const char *name;
	bool (*run)(struct client *client);
} cases[] = {
	{ "a guest computes", computes },
	{ "jobs run in their order", computes_in_order },
	{ "another process writes and reads a buffer", shares_with_a_process },
	{ "a buffer has the fences of its jobs", leaves_fences_in_buffers },
	{ "a wrong request is counted", counts_errors },
	{ "a job that fails ends", ends_bad_jobs },
	{ "a guest that ends leaves others alone", outlives_another },
};

int main(int argc, char **argv)
{
	const unsigned int count = sizeof(cases) / sizeof(cases[0]);
	struct native_caps caps;
	struct client client;
	unsigned int i, failed = 0;
	int err;

	if (argc != 2) {
		fprintf(stderr, "usage: %s LIBRARY\n", argv[0]);
		return EXIT_FAILURE;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	err = native_host_open(argv[1], &caps);
	if (err) {
		printf("1..0 # SKIP no native contexts: %s\n", strerror(-err));
		return EXIT_SKIP;
	}
	printf("# wire format %u, driver %u.%u\n", caps.wire_format_version, caps.version_major,
	       caps.version_minor);
	if (!open_client(&client, 1)) {
		printf("not ok 1 - a context opens\n1..1\n");
		return EXIT_FAILURE;
	}
	printf("ok 1 - a context opens\n");
	for (i = 0; i < count; i++) {
		bool done = cases[i].run(&client);

		printf("%sok %u - %s\n", done ? "" : "not ", i + 2, cases[i].name);
		failed += !done;
	}
	native_context_free(&client.host);
	native_host_close();
	printf("1..%u\n", count + 1);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

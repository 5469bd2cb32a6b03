// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * endure: a client that lives on, whatever happens to the device below it. One
 * address space, some queues, several jobs in flight on each of them, and each
 * result is checked. When work is lost, its fence has to say so, and its queue to
 * go on; nothing is ever made anew.
 *
 * Ends with a signal (SIGTERM), or when the device is gone. One that was given up
 * has to take work all the same, and to lose it. Exit status: 0, 3 if the device is
 * gone, 1 for anything that is wrong.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <xf86drm.h>

#include "compute.h"

#define MAX_QUEUES	16
#define MAX_DEPTH	16
#define MAX_THREADS	16384

/* Pixels of a tile in each direction, and more bytes than a program's words have */
#define TILE		32
#define PROGRAM_BYTES	64

/* Nothing that a job may meet takes longer. */
#define PATIENCE_NS	(INT64_C(120) * 1000000000)
#define STATUS_NS	UINT64_C(100000000)

#define MAX_REST_MS	1000

#define EXIT_GONE	3

struct slot {
	struct compute_buffer out;
	struct compute_stream stream;
	struct drm_asahi_cmd_compute cmd;
	struct drm_asahi_cmd_render render;
	uint32_t first_word;
	uint32_t syncobj;
	bool busy;
};

struct lane {
	struct asahi_queue *queue;
	struct slot slots[MAX_DEPTH];
	/* jobs that were cancelled */
	unsigned int lost;
};

static struct client {
	struct compute gpu;
	/* of compute work, and of fragment work */
	struct compute_program fill;
	struct compute_program gate;
	struct lane lanes[MAX_QUEUES];
	unsigned int queues;
	unsigned int depth;
	uint32_t threads;
	unsigned int rest_ms;
	bool renders;
	bool churn;
	bool guilty_ok;
	const char *status;
	/* what happened so far */
	unsigned int done;
	unsigned int guilty;
	uint64_t last_done_ns;
	uint64_t gap_ns;
	uint64_t next_status_ns;
} endure_client = {
	.queues = 2,
	.depth = 2,
	.threads = 2048,
};

static volatile sig_atomic_t endure_ended;

static void endure_on_signal(int signum)
{
	(void)signum;
	endure_ended = 1;
}

static uint64_t endure_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int endure_wrong(const char *what, int err)
{
	fprintf(stderr, "endure: %s: %s\n", what,
		err ? strerror(-err) : "success");
	return err == -ENODEV ? err : -EILSEQ;
}

static unsigned int endure_sum_of_lost(void)
{
	unsigned int i, lost = 0;

	for (i = 0; i < endure_client.queues; i++)
		lost += endure_client.lanes[i].lost;
	return lost;
}

static void endure_print_status(FILE *fp)
{
	fprintf(fp, "done=%u lost=%u guilty=%u gap_ms=%" PRIu64 "\n", endure_client.done,
		endure_sum_of_lost(), endure_client.guilty, endure_client.gap_ns / 1000000);
}

/* For whoever watches: replaced as a whole, so that it is never half. */
static void endure_write_status(void)
{
	char path[256];
	FILE *fp;

	if (!endure_client.status || endure_now_ns() < endure_client.next_status_ns)
		return;
	snprintf(path, sizeof(path), "%s.new", endure_client.status);
	fp = fopen(path, "w");
	if (!fp)
		return;
	endure_print_status(fp);
	fclose(fp);
	rename(path, endure_client.status);
	endure_client.next_status_ns = endure_now_ns() + STATUS_NS;
}

/* Return: where the words of a program that writes the slot's first word are */
static int endure_program_new(const struct slot *slot, uint64_t *addr)
{
	const struct asahi_vm *vm = endure_client.gpu.vm;
	/* the gate is the word to be written, which is not 0: it is open */
	uint64_t uniforms[3] = { 0, slot->out.addr, slot->first_word };
	struct agx_writer w;
	uint64_t data = 0;
	void *map = compute_code_alloc(&endure_client.gpu, sizeof(uniforms), &data);
	void *words = compute_code_alloc(&endure_client.gpu, PROGRAM_BYTES, addr);

	if (!map || !words)
		return -ENOSPC;
	uniforms[0] = data + 2 * sizeof(*uniforms);
	memcpy(map, uniforms, sizeof(uniforms));
	agx_writer_init(&w, words, PROGRAM_BYTES);
	agx_put(&w, usc_uniform, .size = sizeof(uniforms) / 2, .buffer = data);
	agx_put(&w, usc_shared, .uses_shared_memory = true,
		.layout = AGX_SHARED_LAYOUT_32X32, .sample_stride_in_8_bytes = 1,
		.bytes_per_threadgroup = TILE * TILE * 8);
	agx_put(&w, usc_shader, .code = endure_client.gate.code);
	agx_put(&w, usc_registers, .register_count = endure_client.gate.registers);
	agx_put(&w, usc_fragment_properties, .early_z = true);
	agx_put(&w, usc_no_preshader);
	*addr -= asahi_vm_usc_base(vm);
	return w.error;
}

/* It draws nothing; its fragment work begins with a program that writes a word. */
static int endure_render_new(struct slot *slot)
{
	uint64_t stream = 0, program = 0;
	struct agx_writer w;
	void *map = compute_code_alloc(&endure_client.gpu, 64, &stream);
	int err = map ? endure_program_new(slot, &program) : -ENOSPC;

	if (err)
		return err;
	agx_writer_init(&w, map, 64);
	agx_put(&w, vdm_stream_terminate);
	slot->render = (struct drm_asahi_cmd_render){
		.flags = DRM_ASAHI_RENDER_PROCESS_EMPTY_TILES,
		.vdm_ctrl_stream_base = stream,
		.ppp_ctrl = 0x202,
		.ppp_multisamplectl = 0x88,
		.isp_bgobjvals = 0x300,
		.width_px = TILE,
		.height_px = TILE,
		.layers = 1,
		.utile_width_px = TILE,
		.utile_height_px = TILE,
		.samples = 1,
		.sample_size_B = 8,
		.bg = { .usc = program | 4, .rsrc_spec = 0xffff1012 },
	};
	slot->render.partial_bg = slot->render.bg;
	return w.error;
}

static int endure_slot_new(struct slot *slot, unsigned int number)
{
	struct {
		uint64_t dst;
		uint32_t value;
	} uniforms;
	struct compute_dispatch dispatch = {
		.program = &endure_client.fill,
		.uniforms = &uniforms,
		.uniform_bytes = sizeof(uniforms),
		.global = { endure_client.threads, 1, 1 },
		.local = { 64, 1, 1 },
	};
	int err = compute_buffer_new(&endure_client.gpu, endure_client.threads * 4, &slot->out);

	if (!err)
		err = compute_stream_new(&endure_client.gpu, &slot->stream);
	if (err)
		return err;
	slot->first_word = 0x10000 * (number + 1);
	err = endure_client.renders ? endure_render_new(slot) : 0;
	if (err)
		return err;
	uniforms.dst = slot->out.addr;
	uniforms.value = slot->first_word;
	compute_stream_dispatch(&slot->stream, &dispatch);
	err = compute_stream_end(&slot->stream, &slot->cmd);
	if (!err && drmSyncobjCreate(asahi_device_fd(endure_client.gpu.dev), 0,
				     &slot->syncobj))
		err = -errno;
	return err;
}

static int endure_client_open(void)
{
	unsigned int i, j;
	int err = compute_open(&endure_client.gpu, NULL);

	if (err)
		return err;
	err = compute_program_load(&endure_client.gpu, "fill", &endure_client.fill);
	if (!err)
		err = compute_program_load(&endure_client.gpu, "gate", &endure_client.gate);
	for (i = 0; i < endure_client.queues && !err; i++) {
		err = asahi_queue_new(endure_client.gpu.vm, DRM_ASAHI_PRIORITY_MEDIUM,
				      &endure_client.lanes[i].queue);
		for (j = 0; j < endure_client.depth && !err; j++)
			err = endure_slot_new(&endure_client.lanes[i].slots[j],
					      i * MAX_DEPTH + j);
	}
	endure_client.last_done_ns = endure_now_ns();
	return err;
}

static int endure_check_result(struct slot *slot)
{
	const uint32_t *words = slot->out.map;
	uint32_t i;

	for (i = 0; i < (endure_client.renders ? 1 : endure_client.threads); i++) {
		if (words[i] == slot->first_word + i)
			continue;
		fprintf(stderr, "endure: word %u is %08x, not %08x\n", i,
			words[i], slot->first_word + i);
		return -EILSEQ;
	}
	return 0;
}

static void endure_count_done(void)
{
	uint64_t now = endure_now_ns();

	if (now - endure_client.last_done_ns > endure_client.gap_ns)
		endure_client.gap_ns = now - endure_client.last_done_ns;
	endure_client.last_done_ns = now;
	endure_client.done++;
}

static int endure_finish(struct lane *lane, struct slot *slot)
{
	int err = asahi_fence_wait(endure_client.gpu.dev, slot->syncobj, PATIENCE_NS);

	slot->busy = false;
	switch (err) {
	case 0:
		err = endure_check_result(slot);
		if (!err)
			endure_count_done();
		return err;
	case -ECANCELED:
		lane->lost++;
		return 0;
	case -EIO:
	case -ETIMEDOUT:
		endure_client.guilty++;
		return endure_client.guilty_ok ? 0 : endure_wrong("a job", err);
	default:
		return endure_wrong("a job", err);
	}
}

static int endure_flush(struct lane *lane, struct slot *slot)
{
	struct asahi_submit *submit;
	int err = asahi_submit_new(lane->queue, &submit);

	if (err)
		return err;
	if (endure_client.renders)
		asahi_submit_render(submit, &slot->render, ASAHI_BARRIER_NONE);
	else
		asahi_submit_compute(submit, &slot->cmd, ASAHI_BARRIER_NONE);
	asahi_submit_signal(submit, slot->syncobj, 0);
	err = asahi_submit_flush(submit);
	asahi_submit_free(submit);
	return err;
}

/* Of a device that is unbound not even the DRM core answers any more. */
static bool endure_is_unbound(void)
{
	uint64_t value;

	return drmGetCap(asahi_device_fd(endure_client.gpu.dev), DRM_CAP_SYNCOBJ, &value) &&
	       errno == ENODEV;
}

/* A SUBMIT never fails for what has become of earlier work, or of the GPU. */
static int endure_submit(struct lane *lane, struct slot *slot)
{
	int err;

	memset(slot->out.map, 0, endure_client.threads * 4);
	err = endure_flush(lane, slot);
	if (err == -ENODEV && !endure_is_unbound()) {
		endure_wrong("a SUBMIT to a device that is bound", err);
		return -EILSEQ;
	}
	if (err)
		return endure_wrong("a SUBMIT", err);
	slot->busy = true;
	return 0;
}

/*
 * The device has gone. As long as it is bound each queue still takes work, whose fence
 * signals soon, and nothing new can be made.
 */
static int endure_check_gone(void)
{
	struct asahi_vm *vm;
	unsigned int i;
	int err;

	for (i = 0; i < endure_client.queues; i++) {
		struct lane *lane = &endure_client.lanes[i];
		struct slot *slot = &lane->slots[0];

		err = endure_submit(lane, slot);
		if (!err)
			err = asahi_fence_wait(endure_client.gpu.dev, slot->syncobj, PATIENCE_NS);
		if (err != -ENODEV)
			return err == -EILSEQ ? err : endure_wrong("work for a lost device", err);
	}
	err = asahi_vm_new(endure_client.gpu.dev, &vm);
	return err == -ENODEV ? err : endure_wrong("an address space of a lost device", err);
}

/* Objects come and go beside the work. */
static int endure_churn(void)
{
	struct compute_buffer buffer;
	struct asahi_queue *queue;
	struct asahi_vm *vm;
	int err = compute_buffer_new(&endure_client.gpu, 8 * ASAHI_PAGE_SIZE, &buffer);

	if (err)
		return err;
	err = asahi_vm_new(endure_client.gpu.dev, &vm);
	if (!err) {
		err = asahi_queue_new(vm, DRM_ASAHI_PRIORITY_LOW, &queue);
		if (!err)
			asahi_queue_unref(queue);
		asahi_vm_unref(vm);
	}
	compute_buffer_free(&endure_client.gpu, &buffer);
	return err;
}

static int endure_round_of_work(unsigned int number)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < endure_client.queues && !err; i++) {
		struct lane *lane = &endure_client.lanes[i];
		struct slot *slot = &lane->slots[number % endure_client.depth];

		if (slot->busy)
			err = endure_finish(lane, slot);
		if (!err)
			err = endure_submit(lane, slot);
	}
	if (!err && endure_client.churn && number % 8 == 0) {
		err = endure_churn();
		if (err)
			err = endure_wrong("an object", err);
	}
	return err;
}

static int endure_drain(void)
{
	unsigned int i, j;
	int err = 0;

	for (i = 0; i < endure_client.queues; i++)
		for (j = 0; j < endure_client.depth && !err; j++)
			if (endure_client.lanes[i].slots[j].busy)
				err = endure_finish(&endure_client.lanes[i],
						    &endure_client.lanes[i].slots[j]);
	return err;
}

static void endure_rest(void)
{
	const struct timespec rest = {
		.tv_sec = endure_client.rest_ms / 1000,
		.tv_nsec = endure_client.rest_ms % 1000 * 1000000,
	};

	if (endure_client.rest_ms)
		nanosleep(&rest, NULL);
}

static int endure_run(void)
{
	unsigned int number;
	int err = endure_client_open();

	for (number = 0; !endure_ended && !err; number++) {
		err = endure_round_of_work(number);
		endure_write_status();
		endure_rest();
	}
	if (!err)
		err = endure_drain();
	return err == -ENODEV ? endure_check_gone() : err;
}

static void endure_usage(void)
{
	fputs("usage: endure [OPTION]...\n"
	      "  --queues=N      queues (2)\n"
	      "  --depth=N       jobs in flight on each (2)\n"
	      "  --threads=N     threads of a job, a word each (2048)\n"
	      "  --rest=MS       milliseconds without a new job after one on each queue (0)\n"
	      "  --renders       jobs are renders that write one word\n"
	      "  --churn         make and destroy objects meanwhile\n"
	      "  --guilty        a job may be found guilty\n"
	      "  --status=FILE   what happened so far, ten times a second\n",
	      stderr);
	exit(2);
}

static unsigned int endure_number_of(const char *text, unsigned int most)
{
	unsigned long n = strtoul(text, NULL, 0);

	if (!n || n > most)
		endure_usage();
	return n;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "queues", required_argument, NULL, 'q' },
		{ "depth", required_argument, NULL, 'd' },
		{ "threads", required_argument, NULL, 't' },
		{ "rest", required_argument, NULL, 'm' },
		{ "renders", no_argument, NULL, 'R' },
		{ "churn", no_argument, NULL, 'c' },
		{ "guilty", no_argument, NULL, 'r' },
		{ "status", required_argument, NULL, 's' },
		{ NULL, 0, NULL, 0 },
	};
	const struct sigaction action = { .sa_handler = endure_on_signal };
	int c, err;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'q':
			endure_client.queues = endure_number_of(optarg, MAX_QUEUES);
			break;
		case 'd':
			endure_client.depth = endure_number_of(optarg, MAX_DEPTH);
			break;
		case 't':
			endure_client.threads = endure_number_of(optarg, MAX_THREADS);
			break;
		case 'm':
			endure_client.rest_ms = endure_number_of(optarg, MAX_REST_MS);
			break;
		case 'R':
			endure_client.renders = true;
			break;
		case 'c':
			endure_client.churn = true;
			break;
		case 'r':
			endure_client.guilty_ok = true;
			break;
		case 's':
			endure_client.status = optarg;
			break;
		default:
			endure_usage();
		}
	}
	sigaction(SIGTERM, &action, NULL);
	err = endure_run();
	endure_print_status(stdout);
	if (err == -ENODEV)
		return EXIT_GONE;
	if (!err && !endure_client.done)
		err = endure_wrong("no job was done", 0);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

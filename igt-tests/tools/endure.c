// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * endure: a client that lives on, whatever happens to the device below it. One
 * address space, some queues, several jobs in flight on each of them, and each
 * result is checked. When work is lost, its queue has to say so once, and then
 * to go on; nothing is ever made anew.
 *
 * Ends with a signal (SIGTERM), or when the device is gone. Exit status: 0, 3
 * if the device is gone, 1 for anything that is wrong.
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
#define PATIENCE_NS	(INT64_C(60) * 1000000000)
#define STATUS_NS	UINT64_C(100000000)

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
	/* jobs that were cancelled, and times that a SUBMIT said so */
	unsigned int lost;
	unsigned int reported;
	/* jobs lost since the last report */
	unsigned int owed;
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
	bool renders;
	bool churn;
	bool renew;
	const char *status;
	/* what happened so far */
	unsigned int done;
	unsigned int guilty;
	unsigned int renewed;
	uint64_t last_done_ns;
	uint64_t gap_ns;
	uint64_t next_status_ns;
} client = {
	.queues = 2,
	.depth = 2,
	.threads = 2048,
};

static volatile sig_atomic_t ended;

static void on_signal(int signum)
{
	(void)signum;
	ended = 1;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int wrong(const char *what, int err)
{
	fprintf(stderr, "endure: %s: %s\n", what,
		err ? strerror(-err) : "success");
	return err == -ENODEV ? err : -EILSEQ;
}

static void sums(unsigned int *lost, unsigned int *reported)
{
	unsigned int i;

	*lost = *reported = 0;
	for (i = 0; i < client.queues; i++) {
		*lost += client.lanes[i].lost;
		*reported += client.lanes[i].reported;
	}
}

static void print_status(FILE *fp)
{
	unsigned int lost, reported;

	sums(&lost, &reported);
	fprintf(fp, "done=%u lost=%u reported=%u guilty=%u renewed=%u gap_ms=%" PRIu64 "\n",
		client.done, lost, reported, client.guilty, client.renewed,
		client.gap_ns / 1000000);
}

/* For whoever watches: replaced as a whole, so that it is never half. */
static void write_status(void)
{
	char path[256];
	FILE *fp;

	if (!client.status || now_ns() < client.next_status_ns)
		return;
	snprintf(path, sizeof(path), "%s.new", client.status);
	fp = fopen(path, "w");
	if (!fp)
		return;
	print_status(fp);
	fclose(fp);
	rename(path, client.status);
	client.next_status_ns = now_ns() + STATUS_NS;
}

/* Return: where the words of a program that writes the slot's first word are */
static int program_new(const struct slot *slot, uint64_t *addr)
{
	const struct asahi_vm *vm = client.gpu.vm;
	/* the gate is the word to be written, which is not 0: it is open */
	uint64_t uniforms[3] = { 0, slot->out.addr, slot->first_word };
	struct agx_writer w;
	uint64_t data = 0;
	void *map = compute_code_alloc(&client.gpu, sizeof(uniforms), &data);
	void *words = compute_code_alloc(&client.gpu, PROGRAM_BYTES, addr);

	if (!map || !words)
		return -ENOSPC;
	uniforms[0] = data + 2 * sizeof(*uniforms);
	memcpy(map, uniforms, sizeof(uniforms));
	agx_writer_init(&w, words, PROGRAM_BYTES);
	agx_put(&w, usc_uniform, .size = sizeof(uniforms) / 2, .buffer = data);
	agx_put(&w, usc_shared, .uses_shared_memory = true,
		.layout = AGX_SHARED_LAYOUT_32X32, .sample_stride_in_8_bytes = 1,
		.bytes_per_threadgroup = TILE * TILE * 8);
	agx_put(&w, usc_shader, .code = client.gate.code);
	agx_put(&w, usc_registers, .register_count = client.gate.registers);
	agx_put(&w, usc_fragment_properties, .early_z = true);
	agx_put(&w, usc_no_preshader);
	*addr -= asahi_vm_usc_base(vm);
	return w.error;
}

/* It draws nothing; its fragment work begins with a program that writes a word. */
static int render_new(struct slot *slot)
{
	uint64_t stream = 0, program = 0;
	struct agx_writer w;
	void *map = compute_code_alloc(&client.gpu, 64, &stream);
	int err = map ? program_new(slot, &program) : -ENOSPC;

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

static int slot_new(struct slot *slot, unsigned int number)
{
	struct {
		uint64_t dst;
		uint32_t value;
	} uniforms;
	struct compute_dispatch dispatch = {
		.program = &client.fill,
		.uniforms = &uniforms,
		.uniform_bytes = sizeof(uniforms),
		.global = { client.threads, 1, 1 },
		.local = { 64, 1, 1 },
	};
	int err = compute_buffer_new(&client.gpu, client.threads * 4, &slot->out);

	if (!err)
		err = compute_stream_new(&client.gpu, &slot->stream);
	if (err)
		return err;
	slot->first_word = 0x10000 * (number + 1);
	err = client.renders ? render_new(slot) : 0;
	if (err)
		return err;
	uniforms.dst = slot->out.addr;
	uniforms.value = slot->first_word;
	compute_stream_dispatch(&slot->stream, &dispatch);
	err = compute_stream_end(&slot->stream, &slot->cmd);
	if (!err && drmSyncobjCreate(asahi_device_fd(client.gpu.dev), 0,
				     &slot->syncobj))
		err = -errno;
	return err;
}

static int client_open(void)
{
	unsigned int i, j;
	int err = compute_open(&client.gpu, NULL);

	if (err)
		return err;
	err = compute_program_load(&client.gpu, "fill", &client.fill);
	if (!err)
		err = compute_program_load(&client.gpu, "gate", &client.gate);
	for (i = 0; i < client.queues && !err; i++) {
		err = asahi_queue_new(client.gpu.vm, DRM_ASAHI_PRIORITY_MEDIUM,
				      &client.lanes[i].queue);
		for (j = 0; j < client.depth && !err; j++)
			err = slot_new(&client.lanes[i].slots[j],
				       i * MAX_DEPTH + j);
	}
	client.last_done_ns = now_ns();
	return err;
}

static int check_result(struct slot *slot)
{
	const uint32_t *words = slot->out.map;
	uint32_t i;

	for (i = 0; i < (client.renders ? 1 : client.threads); i++) {
		if (words[i] == slot->first_word + i)
			continue;
		fprintf(stderr, "endure: word %u is %08x, not %08x\n", i,
			words[i], slot->first_word + i);
		return -EILSEQ;
	}
	return 0;
}

static void count_done(void)
{
	uint64_t now = now_ns();

	if (now - client.last_done_ns > client.gap_ns)
		client.gap_ns = now - client.last_done_ns;
	client.last_done_ns = now;
	client.done++;
}

/* A queue whose work was found guilty takes no more: only where that may be. */
static int renew(struct lane *lane)
{
	if (!client.renew)
		return wrong("a queue is guilty", -EIO);
	asahi_queue_unref(lane->queue);
	lane->queue = NULL;
	lane->owed = 0;
	client.renewed++;
	return asahi_queue_new(client.gpu.vm, DRM_ASAHI_PRIORITY_MEDIUM,
			       &lane->queue);
}

static int finish(struct lane *lane, struct slot *slot)
{
	int err = asahi_fence_wait(client.gpu.dev, slot->syncobj, PATIENCE_NS);

	slot->busy = false;
	switch (err) {
	case 0:
		err = check_result(slot);
		if (!err)
			count_done();
		return err;
	case -ECANCELED:
		lane->lost++;
		lane->owed++;
		return 0;
	case -EIO:
	case -ETIMEDOUT:
		client.guilty++;
		/* the next SUBMIT tells whether it is the queue's end */
		return client.renew ? 0 : wrong("a job", err);
	default:
		return wrong("a job", err);
	}
}

static int flush(struct lane *lane, struct slot *slot)
{
	struct asahi_submit *submit;
	int err = asahi_submit_new(lane->queue, &submit);

	if (err)
		return err;
	if (client.renders)
		asahi_submit_render(submit, &slot->render, ASAHI_BARRIER_NONE);
	else
		asahi_submit_compute(submit, &slot->cmd, ASAHI_BARRIER_NONE);
	asahi_submit_signal(submit, slot->syncobj, 0);
	err = asahi_submit_flush(submit);
	asahi_submit_free(submit);
	return err;
}

static bool lane_busy(const struct lane *lane)
{
	unsigned int i;

	for (i = 0; i < client.depth; i++)
		if (lane->slots[i].busy)
			return true;
	return false;
}

/*
 * A SUBMIT says ECANCELED once when work was lost: never without that, and never
 * again unless there was more in flight. A queue that has nothing in flight and
 * whose loss was not reported yet has to report it now.
 */
static int submit(struct lane *lane, struct slot *slot)
{
	int err;

	memset(slot->out.map, 0, client.threads * 4);
	err = flush(lane, slot);
	if (err == -EIO) {
		err = renew(lane);
		if (!err)
			err = flush(lane, slot);
	} else if (err == -ECANCELED) {
		if (!lane->owed && !lane_busy(lane))
			return wrong("a SUBMIT although nothing was lost", err);
		lane->reported++;
		lane->owed = 0;
		err = flush(lane, slot);
		/* what was in flight may have been lost meanwhile, too */
		if (err == -ECANCELED && lane_busy(lane))
			return 0;
	} else if (!err && lane->owed && client.depth == 1 && !client.renew) {
		return wrong("a SUBMIT after work was lost", err);
	}
	if (err)
		return wrong("a SUBMIT", err);
	slot->busy = true;
	return 0;
}

/* Objects come and go beside the work. */
static int churn(void)
{
	struct compute_buffer buffer;
	struct asahi_queue *queue;
	struct asahi_vm *vm;
	int err = compute_buffer_new(&client.gpu, 8 * ASAHI_PAGE_SIZE, &buffer);

	if (err)
		return err;
	err = asahi_vm_new(client.gpu.dev, &vm);
	if (!err) {
		err = asahi_queue_new(vm, DRM_ASAHI_PRIORITY_LOW, &queue);
		if (!err)
			asahi_queue_unref(queue);
		asahi_vm_unref(vm);
	}
	compute_buffer_free(&client.gpu, &buffer);
	return err;
}

static int round_of_work(unsigned int number)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < client.queues && !err; i++) {
		struct lane *lane = &client.lanes[i];
		struct slot *slot = &lane->slots[number % client.depth];

		if (slot->busy)
			err = finish(lane, slot);
		if (!err)
			err = submit(lane, slot);
	}
	if (!err && client.churn && number % 8 == 0) {
		err = churn();
		if (err)
			err = wrong("an object", err);
	}
	return err;
}

static int drain(void)
{
	unsigned int i, j;
	int err = 0;

	for (i = 0; i < client.queues; i++)
		for (j = 0; j < client.depth && !err; j++)
			if (client.lanes[i].slots[j].busy)
				err = finish(&client.lanes[i],
					     &client.lanes[i].slots[j]);
	return err;
}

/* A queue has reported no more often than it lost work. */
static int check_reports(void)
{
	unsigned int i;

	for (i = 0; i < client.queues; i++) {
		const struct lane *lane = &client.lanes[i];

		if (lane->reported <= lane->lost)
			continue;
		fprintf(stderr, "endure: queue %u: %u jobs lost, reported %u times\n",
			i, lane->lost, lane->reported);
		return -EILSEQ;
	}
	return 0;
}

static int run(void)
{
	unsigned int number;
	int err = client_open();

	for (number = 0; !ended && !err; number++) {
		err = round_of_work(number);
		write_status();
	}
	if (!err)
		err = drain();
	return err ? err : check_reports();
}

static void usage(void)
{
	fputs("usage: endure [OPTION]...\n"
	      "  --queues=N      queues (2)\n"
	      "  --depth=N       jobs in flight on each (2)\n"
	      "  --threads=N     threads of a job, a word each (2048)\n"
	      "  --renders       jobs are renders that write one word\n"
	      "  --churn         make and destroy objects meanwhile\n"
	      "  --renew         a queue that was found guilty is made anew\n"
	      "  --status=FILE   what happened so far, ten times a second\n",
	      stderr);
	exit(2);
}

static unsigned int number_of(const char *text, unsigned int most)
{
	unsigned long n = strtoul(text, NULL, 0);

	if (!n || n > most)
		usage();
	return n;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "queues", required_argument, NULL, 'q' },
		{ "depth", required_argument, NULL, 'd' },
		{ "threads", required_argument, NULL, 't' },
		{ "renders", no_argument, NULL, 'R' },
		{ "churn", no_argument, NULL, 'c' },
		{ "renew", no_argument, NULL, 'r' },
		{ "status", required_argument, NULL, 's' },
		{ NULL, 0, NULL, 0 },
	};
	const struct sigaction action = { .sa_handler = on_signal };
	int c, err;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'q':
			client.queues = number_of(optarg, MAX_QUEUES);
			break;
		case 'd':
			client.depth = number_of(optarg, MAX_DEPTH);
			break;
		case 't':
			client.threads = number_of(optarg, MAX_THREADS);
			break;
		case 'R':
			client.renders = true;
			break;
		case 'c':
			client.churn = true;
			break;
		case 'r':
			client.renew = true;
			break;
		case 's':
			client.status = optarg;
			break;
		default:
			usage();
		}
	}
	sigaction(SIGTERM, &action, NULL);
	err = run();
	print_status(stdout);
	if (err == -ENODEV)
		return EXIT_GONE;
	if (!err && !client.done)
		err = wrong("no job was done", 0);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

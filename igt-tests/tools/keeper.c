// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * keeper: a client that knows what is in its buffers, whatever happens to their memory.
 * Buffers come and go, are written and read by CPU and GPU, by two mappings of the CPU each,
 * and are bound in two address spaces, which come and go as well, also while work is in
 * flight. Each page that is looked at has to be what was written last.
 *
 * When work is lost nobody knows whether it has written, so its page is written anew; and
 * when the device is gone, nothing is said of that page. When there is no memory for something
 * it is not done.
 *
 * Ends with a signal (SIGTERM), or when the device is gone; all buffers are looked at then.
 * Exit status: 0, 3 if the device is gone, 1 for anything that is wrong.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <xf86drm.h>

#include "compute.h"

#define VMS		2
#define BUFFERS		10
/* Pages of a buffer, at most; one in so many has 32 MiB, which can be in one piece. */
#define MOST_PAGES	64
#define LARGE_PAGES	2048
#define LARGE_EACH	64
#define PAGE_WORDS	(ASAHI_PAGE_SIZE / sizeof(uint32_t))
/* Words of a page that are written: the first ones. */
#define WORDS		64
/* What a page begins with of which nothing is known. */
#define UNKNOWN		1

#define STATUS_NS	UINT64_C(100000000)
#define EXIT_GONE	3

/**
 * struct kept - a buffer
 * @bo: its object
 * @pages: pages of it
 * @map: two mappings for the CPU: of the device, and of the exported buffer
 * @first: first word of each page; the next ones count from there
 * @addr: where it is bound in each address space, or 0
 */
struct kept {
	struct asahi_bo *bo;
	uint32_t pages;
	volatile uint32_t *map[2];
	uint32_t *first;
	uint64_t addr[VMS];
};

/**
 * struct space - an address space with what work needs
 * @gpu: the address space, its queue and code
 * @fill: writes words
 * @peek: copies the first word of each page
 * @stream: commands
 * @out: where words are copied to
 * @code_used: what programs take of the code
 */
struct space {
	struct compute gpu;
	struct compute_program fill;
	struct compute_program peek;
	struct compute_stream stream;
	struct compute_buffer out;
	uint64_t code_used;
};

static struct keeper {
	struct compute gpu;
	struct space space[VMS];
	struct kept kept[BUFFERS];
	const char *status;
	uint32_t next_value;
	unsigned int seed;
	/* what happened so far */
	unsigned int done;
	unsigned int lost;
	unsigned int refused;
	uint64_t next_status_ns;
} keeper;

static volatile sig_atomic_t keeper_ended;

static void keeper_on_signal(int signum)
{
	(void)signum;
	keeper_ended = 1;
}

static uint64_t keeper_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void keeper_print_status(FILE *fp)
{
	fprintf(fp, "done=%u lost=%u refused=%u gap_ms=0\n", keeper.done, keeper.lost,
		keeper.refused);
}

/* For whoever watches: replaced as a whole, so that it is never half. */
static void keeper_write_status(void)
{
	char path[256];
	FILE *fp;

	if (!keeper.status || keeper_now_ns() < keeper.next_status_ns)
		return;
	snprintf(path, sizeof(path), "%s.new", keeper.status);
	fp = fopen(path, "w");
	if (!fp)
		return;
	keeper_print_status(fp);
	fclose(fp);
	rename(path, keeper.status);
	keeper.next_status_ns = keeper_now_ns() + STATUS_NS;
}

static unsigned int keeper_random(unsigned int below)
{
	return rand_r(&keeper.seed) % below;
}

static int keeper_wrong(const char *what, int err)
{
	fprintf(stderr, "keeper: %s: %s\n", what, strerror(-err));
	return err;
}

/* What there was no memory for, and work that was lost, is nothing that is wrong. */
static int keeper_forgive(int err)
{
	if (err == -ENOMEM) {
		keeper.refused++;
		return 0;
	}
	if (err == -ECANCELED) {
		keeper.lost++;
		return 0;
	}
	return err;
}

static int keeper_check_words(const struct kept *kept, unsigned int map, uint32_t page)
{
	const volatile uint32_t *words = kept->map[map] + page * PAGE_WORDS;

	for (uint32_t i = 0; i < WORDS && kept->first[page] != UNKNOWN; i++) {
		if (words[i] == (kept->first[page] ? kept->first[page] + i : 0))
			continue;
		fprintf(stderr, "keeper: word %u of page %u of %u is %08x, not %08x + %u\n", i,
			page, kept->pages, words[i], kept->first[page], i);
		return -EILSEQ;
	}
	return 0;
}

static int keeper_check_buffer(const struct kept *kept)
{
	int err = 0;

	for (uint32_t page = 0; page < kept->pages && !err; page++)
		err = keeper_check_words(kept, page % 2, page);
	return err;
}

static int keeper_check_all(void)
{
	int err = 0;

	for (unsigned int i = 0; i < BUFFERS && !err; i++)
		if (keeper.kept[i].bo)
			err = keeper_check_buffer(&keeper.kept[i]);
	return err;
}

static uint32_t keeper_new_value(void)
{
	keeper.next_value += WORDS;
	return keeper.next_value;
}

static void keeper_cpu_write(struct kept *kept, unsigned int map, uint32_t page)
{
	volatile uint32_t *words = kept->map[map] + page * PAGE_WORDS;

	kept->first[page] = keeper_new_value();
	for (uint32_t i = 0; i < WORDS; i++)
		words[i] = kept->first[page] + i;
}

/* The GPU was to write a value to a page, and this came of it. */
static int keeper_note_work(struct kept *kept, uint32_t page, uint32_t value, int err)
{
	switch (err) {
	case 0:
		keeper.done++;
		kept->first[page] = value;
		return keeper_check_words(kept, keeper_random(2), page);
	case -ECANCELED:
		keeper_cpu_write(kept, keeper_random(2), page);
		break;
	case -ENODEV:
		kept->first[page] = UNKNOWN;
	}
	return err;
}

/* Buffers */

static int keeper_map_exported(struct kept *kept)
{
	void *map;
	int err, fd;

	err = asahi_bo_export(kept->bo, &fd);
	if (err)
		return err;
	map = mmap(NULL, (size_t)kept->pages * ASAHI_PAGE_SIZE, PROT_READ | PROT_WRITE,
		   MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		err = -errno;
	else
		kept->map[1] = map;
	close(fd);
	return err;
}

/* Closing its last handle unbinds it. */
static void keeper_drop(struct kept *kept)
{
	for (unsigned int i = 0; i < VMS; i++)
		if (kept->addr[i])
			asahi_vm_free(keeper.space[i].gpu.vm, kept->addr[i],
				      (uint64_t)kept->pages * ASAHI_PAGE_SIZE);
	if (kept->map[1])
		munmap((void *)kept->map[1], (size_t)kept->pages * ASAHI_PAGE_SIZE);
	asahi_bo_unref(kept->bo);
	free(kept->first);
	*kept = (struct kept){ .bo = NULL };
}

static int keeper_make(struct kept *kept)
{
	const uint32_t flags = keeper_random(2) ? DRM_ASAHI_GEM_WRITEBACK : 0;
	void *map;
	int err;

	kept->pages = keeper_random(LARGE_EACH) ? 1 + keeper_random(MOST_PAGES) : LARGE_PAGES;
	kept->first = calloc(kept->pages, sizeof(*kept->first));
	if (!kept->first)
		return -ENOMEM;
	err = asahi_bo_new(keeper.gpu.dev, (uint64_t)kept->pages * ASAHI_PAGE_SIZE, flags, NULL,
			   &kept->bo);
	if (!err)
		err = asahi_bo_map(kept->bo, &map);
	if (!err) {
		kept->map[0] = map;
		err = keeper_map_exported(kept);
	}
	if (err)
		keeper_drop(kept);
	return err;
}

/* Address spaces */

static int keeper_bind(unsigned int number, struct kept *kept)
{
	int err;

	if (!kept->addr[number])
		return asahi_vm_map(keeper.space[number].gpu.vm, ASAHI_HEAP_MAIN, kept->bo,
				    DRM_ASAHI_BIND_READ | DRM_ASAHI_BIND_WRITE,
				    &kept->addr[number]);

	err = asahi_vm_unmap(keeper.space[number].gpu.vm, kept->bo, kept->addr[number]);
	if (!err)
		kept->addr[number] = 0;
	return err;
}

static int keeper_open(unsigned int number)
{
	struct space *space = &keeper.space[number];
	int err = compute_open_beside(&space->gpu, &keeper.gpu);

	if (err)
		return err;
	err = compute_program_load(&space->gpu, "fill", &space->fill);
	if (!err)
		err = compute_program_load(&space->gpu, "peek", &space->peek);
	if (!err)
		err = compute_buffer_new(&space->gpu, LARGE_PAGES * sizeof(uint32_t), &space->out);
	if (!err)
		err = compute_stream_new(&space->gpu, &space->stream);
	space->code_used = space->gpu.code_used;
	return err;
}

/* Its buffers go last: work may be in flight that uses them, and they are not unbound. */
static void keeper_close(unsigned int number)
{
	struct space *space = &keeper.space[number];

	asahi_queue_unref(space->gpu.queue);
	asahi_vm_unref(space->gpu.vm);
	asahi_bo_unref(space->stream.buffer.bo);
	asahi_bo_unref(space->out.bo);
	asahi_bo_unref(space->gpu.code.bo);
	asahi_device_unref(space->gpu.dev);
	*space = (struct space){ .code_used = 0 };
	for (unsigned int i = 0; i < BUFFERS; i++)
		keeper.kept[i].addr[number] = 0;
}

static int keeper_reopen(unsigned int number)
{
	int err;

	keeper_close(number);
	err = keeper_open(number);
	if (err)
		keeper_close(number);
	return err;
}

/* Work */

static void keeper_begin(struct space *space)
{
	space->gpu.code_used = space->code_used;
	agx_writer_init(&space->stream.writer, space->stream.buffer.map,
			space->stream.buffer.size);
	space->stream.error = 0;
}

static void keeper_put_fill(struct space *space, uint64_t addr, uint32_t value)
{
	const struct {
		uint64_t dst;
		uint32_t value;
	} uniforms = { addr, value };
	const struct compute_dispatch dispatch = {
		.program = &space->fill,
		.uniforms = &uniforms,
		.uniform_bytes = sizeof(uniforms),
		.global = { WORDS, 1, 1 },
		.local = { WORDS, 1, 1 },
	};

	keeper_begin(space);
	compute_stream_dispatch(&space->stream, &dispatch);
}

static int keeper_gpu_write(unsigned int number, struct kept *kept, uint32_t page)
{
	struct space *space = &keeper.space[number];
	uint32_t value = keeper_new_value();
	int err;

	keeper_put_fill(space, kept->addr[number] + (uint64_t)page * ASAHI_PAGE_SIZE, value);
	err = compute_stream_run(&space->stream);
	return keeper_note_work(kept, page, value, err);
}

static int keeper_check_copies(const struct kept *kept, const volatile uint32_t *words)
{
	for (uint32_t page = 0; page < kept->pages; page++) {
		if (words[page] == kept->first[page])
			continue;
		fprintf(stderr, "keeper: the GPU reads %08x from page %u of %u, not %08x\n",
			words[page], page, kept->pages, kept->first[page]);
		return -EILSEQ;
	}
	return 0;
}

static int keeper_gpu_check(unsigned int number, const struct kept *kept)
{
	struct space *space = &keeper.space[number];
	const uint64_t uniforms[] = { kept->addr[number], space->out.addr };
	const struct compute_dispatch dispatch = {
		.program = &space->peek,
		.uniforms = uniforms,
		.uniform_bytes = sizeof(uniforms),
		.global = { kept->pages, 1, 1 },
		.local = { 32, 1, 1 },
	};
	int err;

	memset(space->out.map, 0xff, space->out.size);
	keeper_begin(space);
	compute_stream_dispatch(&space->stream, &dispatch);
	err = compute_stream_run(&space->stream);
	if (err)
		return err;
	keeper.done++;
	return keeper_check_copies(kept, space->out.map);
}

/* The address space goes at once, its work when it is done: that still writes. */
static int keeper_leave(struct space *space, uint32_t syncobj)
{
	struct drm_asahi_cmd_compute cmd;
	struct asahi_submit *submit;
	int err;

	err = compute_stream_end(&space->stream, &cmd);
	if (!err)
		err = asahi_submit_new(space->gpu.queue, &submit);
	if (err)
		return err;
	asahi_submit_compute(submit, &cmd, ASAHI_BARRIER_NONE);
	asahi_submit_signal(submit, syncobj, 0);
	err = asahi_submit_flush(submit);
	asahi_submit_free(submit);
	if (err)
		return err;
	asahi_queue_unref(space->gpu.queue);
	asahi_vm_unref(space->gpu.vm);
	space->gpu.queue = NULL;
	space->gpu.vm = NULL;
	return asahi_fence_wait(keeper.gpu.dev, syncobj, COMPUTE_TIMEOUT_NS);
}

static int keeper_leave_work(unsigned int number, struct kept *kept, uint32_t page)
{
	const uint64_t addr = kept->addr[number] + (uint64_t)page * ASAHI_PAGE_SIZE;
	const int fd = asahi_device_fd(keeper.gpu.dev);
	const uint32_t value = keeper_new_value();
	uint32_t syncobj;
	int err;

	if (drmSyncobjCreate(fd, 0, &syncobj))
		return -errno;
	keeper_put_fill(&keeper.space[number], addr, value);
	err = keeper_leave(&keeper.space[number], syncobj);
	drmSyncobjDestroy(fd, syncobj);
	err = keeper_forgive(keeper_note_work(kept, page, value, err));
	return err ? err : keeper_reopen(number);
}

/* One thing, chosen at random; of those for which something is missing, that is made. */
static int keeper_do_something(void)
{
	const unsigned int number = keeper_random(VMS);
	struct kept *kept = &keeper.kept[keeper_random(BUFFERS)];
	uint32_t page;

	if (!keeper.space[number].code_used)
		return keeper_reopen(number);
	if (!kept->bo)
		return keeper_make(kept);
	page = keeper_random(kept->pages);
	switch (keeper_random(16)) {
	case 0:
		keeper_drop(kept);
		return 0;
	case 1:
		return keeper_bind(number, kept);
	case 2:
	case 3:
		keeper_cpu_write(kept, keeper_random(2), page);
		return 0;
	case 4:
		return keeper_check_buffer(kept);
	case 5:
	case 6:
	case 7:
		return keeper_check_words(kept, keeper_random(2), page);
	case 8:
		return keeper_random(4) ? 0 : keeper_reopen(number);
	case 9:
		if (kept->addr[number])
			return keeper_leave_work(number, kept, page);
		break;
	case 10:
	case 11:
	case 12:
		if (kept->addr[number])
			return keeper_gpu_check(number, kept);
		break;
	default:
		if (kept->addr[number])
			return keeper_gpu_write(number, kept, page);
	}
	return keeper_bind(number, kept);
}

static int keeper_run(void)
{
	int err = compute_open(&keeper.gpu, NULL);

	while (!keeper_ended && !err) {
		err = keeper_forgive(keeper_do_something());
		keeper_write_status();
	}
	/* Contents outlive the device. */
	if (!err || err == -ENODEV) {
		const int wrong = keeper_check_all();

		return wrong ? wrong : err;
	}
	return keeper_wrong("something fails", err);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 'S' },
		{ "status", required_argument, NULL, 's' },
		{ NULL, 0, NULL, 0 },
	};
	const struct sigaction action = { .sa_handler = keeper_on_signal };
	int c, err;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'S':
			keeper.seed = strtoul(optarg, NULL, 0);
			break;
		case 's':
			keeper.status = optarg;
			break;
		default:
			fputs("usage: keeper [--seed=N] [--status=FILE]\n", stderr);
			return 2;
		}
	}
	sigaction(SIGTERM, &action, NULL);
	err = keeper_run();
	keeper_print_status(stdout);
	if (err == -ENODEV)
		return EXIT_GONE;
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * A client that hands in nonsense: a compute job that is right, with its
 * streams, words, shaders, sizes and page tables spoilt, before and while it
 * runs. It may end as it likes, but it ends, and the next job is run as ever.
 * Seeded, so that a failure can be repeated: STREAM_SEED=n runs one round.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "helpers.h"

#include "agx_isa.h"
#include "agx_packets.h"
#include "gpu/gpu.h"

#define ROUNDS		3000
#define SLOT		5
#define USC_BASE	0x1100000000ULL
#define STREAM_VA	0x1500000000ULL
#define DATA_VA		0x1600000000ULL
#define THREADS		128

/* In the pages at USC_BASE and STREAM_VA */
#define WORDS		0x40
#define SHADER		0x1000
#define PRESHADER	0x2000
#define SECOND		0x1000
#define SIZES		0x2000
#define UNIFORMS	0x3000

/* Where something is worth being spoilt */
struct place {
	uint64_t gpa;
	size_t size;
};

#define PLACES		16
/* Processor time after which a job is cancelled: one that is spoilt may never end */
#define SPOILT_NS	10000000
/* One that is right does, even on a slow machine */
#define RIGHT_NS	5000000000

struct test {
	struct machine *m;
	struct vagx_gpu *gpu;
	/* A mapping of our own: the guest's processors share no code with us */
	uint8_t *ram;
	uint8_t *right;
	size_t used;
	uint64_t usc, stream, data;
	size_t stream_size;
	struct place place[PLACES];
	unsigned int places, tables;	/* the first @places are no page tables */
	uint64_t random;

	pthread_mutex_t lock;
	pthread_cond_t over;
	struct vagx_job *job;
	bool runs;
	bool spoil_on;
	uint64_t patience_ns;
};

/* xorshift64 */
static uint32_t next(struct test *t)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return t->random >> 16;
}

static uint8_t *host(struct test *t, uint64_t gpa)
{
	return t->ram + (gpa - TEST_RAM);
}

static void add_table(struct test *t, uint64_t gpa, size_t size)
{
	assert_true(t->places + t->tables < PLACES);
	t->place[t->places + t->tables++] = (struct place){ gpa, size };
}

static void add_place(struct test *t, uint64_t gpa, size_t size)
{
	assert_int_equal(t->tables, 0);
	add_table(t, gpa, size);
	t->tables--;
	t->places++;
}

static void put_code(struct test *t, uint64_t gpa, const char *text)
{
	struct agx_program program;

	if (agx_isa_assemble(text, "program", &program, stderr))
		fail_msg("the program can't be assembled");
	memcpy(host(t, gpa), program.code, program.size);
	add_place(t, gpa, program.size);
	free(program.code);
}

static void put_shaders(struct test *t)
{
	/* A bit of everything; thread n stores 3 n + u8 after a loop */
	put_code(t, t->usc + SHADER,
		 "mov r1, thread_in_grid_x\n"
		 "mov r3, thread_in_threadgroup_x\n"
		 "ldimm r0l, 0\n"
		 "ldimm r2, 0\n"
		 "again:\n"
		 "iadd r2, r2, r1\n"
		 "iadd r4, r2, r1\n"
		 "if r1, 0, 1, ieq\n"
		 "  ldimm r4, 0\n"
		 "pop_exec 1\n"
		 "shl r5l, r3, 2\n"
		 "lstore r4, r5l, 0, i32, x\n"
		 "barrier\n"
		 "lload r6, r5l, 0, i32, x\n"
		 "stack_store r6, 0, i32, x, a\n"
		 "stack_load r7, 0, i32, x, a\n"
		 "wait a\n"
		 "iadd r7, r7, r1\n"
		 "iadd r7, r7, u8\n"
		 "store r7, du0, r1, i32, x, a\n"
		 "load r8, du0, r1, i32, x, a\n"
		 "wait a\n"
		 "ldimm r10, 1\n"
		 "atomic _, r10, du0, 0x400, add, a\n"
		 "jmp_none again\n"
		 "stop\n");
	put_code(t, t->usc + PRESHADER,
		 "load r2, du2, 0, i32, x, a\n"
		 "wait a\n"
		 "mov u8, r2\n"
		 "stop\n");
}

static void put_words(struct test *t)
{
	struct agx_writer w;

	agx_writer_init(&w, host(t, t->usc + WORDS), 0x400);
	agx_put(&w, usc_uniform, .start = 0, .size = 8, .buffer = STREAM_VA + UNIFORMS);
	agx_put(&w, usc_shared, .uses_shared_memory = true,
		.layout = AGX_SHARED_LAYOUT_VERTEX_COMPUTE, .sample_count = 1,
		.bytes_per_threadgroup = 256);
	agx_put(&w, usc_shader, .code = SHADER);
	agx_put(&w, usc_registers, .register_count = 32);
	agx_put(&w, usc_preshader, .code = PRESHADER);
	assert_int_equal(w.error, 0);
	add_place(t, t->usc + WORDS, w.used);
}

static void put_stream(struct test *t)
{
	uint64_t *uniforms = (uint64_t *)host(t, t->stream + UNIFORMS);
	uint32_t *sizes = (uint32_t *)host(t, t->stream + SIZES);
	struct agx_writer w;

	agx_writer_init(&w, host(t, t->stream), SECOND);
	agx_put(&w, cdm_launch, .mode = AGX_CDM_MODE_DIRECT, .pipeline = WORDS,
		.counts.preshader_registers = 16);
	agx_put(&w, cdm_global_size, .x = THREADS, .y = 1, .z = 1);
	agx_put(&w, cdm_local_size, .x = 32, .y = 1, .z = 1);
	agx_put(&w, cdm_stream_link, .target = STREAM_VA + SECOND, .with_return = true);
	agx_put(&w, cdm_barrier);
	agx_put(&w, cdm_stream_terminate);
	assert_int_equal(w.error, 0);
	t->stream_size = w.used;
	add_place(t, t->stream, w.used);

	agx_writer_init(&w, host(t, t->stream + SECOND), SIZES - SECOND);
	agx_put(&w, cdm_launch, .mode = AGX_CDM_MODE_INDIRECT_GLOBAL, .pipeline = WORDS,
		.counts.preshader_registers = 16);
	agx_put(&w, cdm_indirect, .address = STREAM_VA + SIZES);
	agx_put(&w, cdm_local_size, .x = 64, .y = 1, .z = 1);
	agx_put(&w, cdm_stream_return);
	assert_int_equal(w.error, 0);
	add_place(t, t->stream + SECOND, w.used);

	sizes[0] = THREADS / 64;
	sizes[1] = sizes[2] = 1;
	add_place(t, t->stream + SIZES, 12);
	uniforms[0] = DATA_VA;
	uniforms[1] = DATA_VA + 0x2000;
	add_place(t, t->stream + UNIFORMS, 16);
	*(uint32_t *)host(t, t->data + 0x2000) = 1000;
}

static void add_tables(struct test *t)
{
	static const uint64_t vas[] = { USC_BASE, STREAM_VA, DATA_VA };

	for (unsigned int i = 0; i < 3; i++) {
		uint64_t *entry = machine_entry(t->m, SLOT, vas[i]);
		uint8_t *base = machine_host(t->m, TEST_RAM);

		add_table(t, TEST_RAM + ((uint8_t *)entry - base), 8);
	}
	add_table(t, TEST_TTBS + SLOT * 16, 8);
	add_table(t, VAGX_PTE_PA(*(uint64_t *)host(t, TEST_TTBS + SLOT * 16)), 16);
}

static uint64_t map_page(struct test *t, uint64_t va)
{
	uint64_t gpa = machine_page(t->m);

	machine_map(t->m, SLOT, va, machine_pte(gpa, AGX_PROT_GPU_SHARED_RW));
	return gpa;
}

static int setup(void **state)
{
	struct test *t = calloc(1, sizeof(*t));
	struct vagx_gpu_config gpu = { .cores = 3 };
	pthread_condattr_t attr;

	t->m = machine_new();
	t->ram = mmap(NULL, TEST_RAM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, t->m->fd, 0);
	assert_ptr_not_equal(t->ram, MAP_FAILED);
	gpu.uat = t->m->uat;
	gpu.report = t->m->report;
	t->gpu = vagx_gpu_new(&gpu);
	assert_non_null(t->gpu);
	pthread_mutex_init(&t->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&t->over, &attr);
	pthread_condattr_destroy(&attr);

	t->usc = map_page(t, USC_BASE);
	t->stream = map_page(t, STREAM_VA);
	t->data = map_page(t, DATA_VA);
	put_shaders(t);
	put_words(t);
	put_stream(t);
	add_tables(t);
	t->used = t->m->next - TEST_RAM;
	t->right = malloc(t->used);
	memcpy(t->right, t->ram, t->used);
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct test *t = *state;

	vagx_gpu_free(t->gpu);
	munmap(t->ram, TEST_RAM_SIZE);
	machine_free(t->m);
	pthread_cond_destroy(&t->over);
	pthread_mutex_destroy(&t->lock);
	free(t->right);
	free(t);
	return 0;
}

static void spoil(struct test *t)
{
	static const uint32_t nice[] = {
		0, 1, 2, 0x1f, 0x20, 0x40, 0x3ff, 0x400, 0x7fff, 0x8000, 0xffff,
		0x7fffffff, 0x80000000, UINT32_MAX, 0x20000000, 0x60000000,
		0x00004000, 0x80000003,
	};
	bool table = !(next(t) % 16);
	const struct place *to = table ? &t->place[t->places + next(t) % t->tables] :
					 &t->place[next(t) % t->places];
	const struct place *from = &t->place[next(t) % t->places];
	uint8_t *p = host(t, to->gpa) + next(t) % to->size;
	uint32_t value;

	switch (next(t) % 4) {
	case 0:
	case 1:
		*p ^= 1 << next(t) % 8;
		break;
	case 2:
		value = nice[next(t) % (sizeof(nice) / sizeof(nice[0]))];
		memcpy(p, &value, sizeof(value));
		break;
	default:
		memmove(p, host(t, from->gpa) + next(t) % from->size, 1 + next(t) % 8);
	}
}

/* Spoils on while the job runs, and has it cancelled when it takes too long */
static void *watch(void *arg)
{
	struct test *t = arg;
	struct timespec until;

	pthread_mutex_lock(&t->lock);
	while (t->runs) {
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += 100000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&t->over, &t->lock, &until);
		if (t->runs && t->spoil_on)
			spoil(t);
		if (t->runs && vagx_job_cpu_ns(t->job) > t->patience_ns)
			vagx_job_cancel(t->job);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

static enum vagx_gpu_status run(struct test *t, bool spoil_on, uint64_t patience_ns)
{
	const struct vagx_compute_registers registers = {
		.cdm_base = STREAM_VA,
		.cdm_end = STREAM_VA + t->stream_size,
		.usc_base = USC_BASE,
	};
	struct vagx_uat_fault fault;
	enum vagx_gpu_status status;
	unsigned int unit;
	pthread_t thread;

	t->job = vagx_job_new(t->gpu, SLOT);
	assert_non_null(t->job);
	t->runs = true;
	t->spoil_on = spoil_on;
	t->patience_ns = patience_ns;
	assert_int_equal(pthread_create(&thread, NULL, watch, t), 0);
	status = vagx_job_compute(t->job, &registers, &fault, &unit);
	pthread_mutex_lock(&t->lock);
	t->runs = false;
	pthread_cond_signal(&t->over);
	pthread_mutex_unlock(&t->lock);
	pthread_join(thread, NULL);
	vagx_job_free(t->job);
	if (status == VAGX_GPU_FAULT && getenv("STREAM_VERBOSE"))
		print_message("# %s at %#llx, %s, unit %#x\n", vagx_access_name(fault.access),
			      (unsigned long long)fault.va, vagx_fault_reason_name(fault.reason),
			      unit);
	return status;
}

static void run_right(struct test *t)
{
	const uint32_t *data = (uint32_t *)host(t, t->data);

	memcpy(t->ram, t->right, t->used);
	assert_int_equal(run(t, false, RIGHT_NS), VAGX_GPU_DONE);
	for (unsigned int i = 0; i < THREADS; i++)
		assert_int_equal(data[i], 3 * i + 1000);
	assert_int_equal(data[0x400], 2 * THREADS);
}

static void a_job_that_is_right(void **state)
{
	struct test *t = *state;

	run_right(t);
	for (unsigned int i = 0; i < VAGX_RULE_COUNT; i++)
		assert_int_equal(vagx_report_count(t->m->report, i), 0);
}

static unsigned int round_of(struct test *t, unsigned int seed)
{
	t->random = seed * 0x9e3779b97f4a7c15 + 1;
	memcpy(t->ram, t->right, t->used);
	for (unsigned int i = 0; i < 1 + seed % 5; i++)
		spoil(t);
	return run(t, seed % 3 == 0, SPOILT_NS);
}

static void jobs_that_are_spoilt(void **state)
{
	const char *only = getenv("STREAM_SEED");
	unsigned int ended[3] = { 0 };
	struct test *t = *state;

	if (only) {
		round_of(t, atoi(only));
		return;
	}
	for (unsigned int seed = 1; seed <= ROUNDS; seed++) {
		ended[round_of(t, seed)]++;
		if (seed % 8 == 0)
			run_right(t);
	}
	print_message("# %u done, %u faults, %u cancelled\n", ended[VAGX_GPU_DONE],
		      ended[VAGX_GPU_FAULT], ended[VAGX_GPU_CANCELLED]);
	assert_true(ended[VAGX_GPU_DONE] && ended[VAGX_GPU_FAULT]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_job_that_is_right, setup, teardown),
		cmocka_unit_test_setup_teardown(jobs_that_are_spoilt, setup, teardown),
	};

	return cmocka_run_group_tests_name("streams", tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Command streams, shader words and the spreading of work, with recording
 * cores in place of the real ones and an array in place of the MMU.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agx_packets.h"
#include "agx_stream.h"
#include "gpu/core.h"
#include "gpu/gpu.h"
#include "gpu/pattern.h"
#include "report.h"
#include "uat.h"

#define SLOT		3
#define OTHER_SLOT	4
#define SLOTS		5
#define USC_BASE	0x1100000000ULL
#define STREAM_VA	0x2000000000ULL
#define SECOND_VA	0x2000002000ULL
#define DATA_VA		0x2000003000ULL
#define MEMORY_SIZE	0x10000
#define SHADER		0x12340
#define MAX_GROUPS	65536
#define CORES		4

/* Two mapped areas: shader words at USC_BASE, everything else at STREAM_VA. */
static uint8_t usc_memory[MEMORY_SIZE];
static uint8_t memory[MEMORY_SIZE];

static bool rule_was_broken[VAGX_RULES_AND_CLAUSES];

/* What the fake cores saw and what they shall do */
static struct {
	pthread_mutex_t lock;
	struct vagx_launch launch;
	unsigned int launches;
	unsigned int groups;
	unsigned int preshaders;
	uint64_t last_serial;
	bool seen[MAX_GROUPS];
	/* numbers of groups as they came */
	uint32_t order[MAX_GROUPS];
	unsigned int extent[3];
	int fail_with;
	uint32_t fail_group;
	/* groups of that context sleep, or burn time, until they are cancelled */
	atomic_bool hang[SLOTS], burn[SLOTS];
	/* for so long all cores have rested */
	atomic_uint_fast64_t rested_ns;
	/* groups of that context that were begun, also by others than the job's own core */
	atomic_uint begun[SLOTS], helped[SLOTS];
} record = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct vagx_gpu *gpu;
static struct vagx_report *report;
static FILE *null_stream;
static struct vagx_uat_fault fault;
static unsigned int unit;

/* cmocka's assertions end a thread that is not the test's without a word */
#define EXPECT(condition)							\
	((condition) ? (void)0 :						\
	 (fprintf(stderr, "%s: %s\n", __func__, #condition), abort()))

/* In place of the MMU */

static uint8_t *host_of(uint64_t va, size_t len)
{
	if (va >= USC_BASE && va + len <= USC_BASE + MEMORY_SIZE)
		return usc_memory + (va - USC_BASE);
	if (va >= STREAM_VA && va + len <= STREAM_VA + MEMORY_SIZE)
		return memory + (va - STREAM_VA);
	return NULL;
}

int vagx_uat_read(struct vagx_uat *uat, unsigned int slot, uint64_t va,
		  void *buf, size_t len, enum vagx_agent agent,
		  struct vagx_uat_fault *f)
{
	uint8_t *host = host_of(va, len);

	EXPECT(slot == SLOT || slot == OTHER_SLOT);
	EXPECT(agent == VAGX_AGENT_GPU);
	if (!host) {
		*f = (struct vagx_uat_fault){
			.va = va,
			.slot = slot,
			.access = VAGX_READ,
			.reason = VAGX_FAULT_UNMAPPED,
		};
		return -EFAULT;
	}
	memcpy(buf, host, len);
	return 0;
}

/* The entries of the cache stay empty */
void *vagx_tlb_ptr_slow(struct vagx_tlb *tlb, uint64_t va, size_t len, enum vagx_access access,
			struct vagx_uat_fault *f)
{
	uint8_t *host = host_of(va, len);

	EXPECT(tlb->slot == SLOT || tlb->slot == OTHER_SLOT);
	EXPECT(access == VAGX_READ);
	if (!host)
		*f = (struct vagx_uat_fault){
			.va = va,
			.slot = tlb->slot,
			.access = access,
			.reason = VAGX_FAULT_UNMAPPED,
		};
	return host;
}

void vagx_tlb_init(struct vagx_tlb *tlb, struct vagx_uat *uat,
		   unsigned int slot, enum vagx_agent agent)
{
	tlb->slot = slot;
	tlb->written = NULL;
}

struct vagx_written {
	unsigned int slot;
};

static atomic_int written_alive;

struct vagx_written *vagx_written_new(struct vagx_uat *uat, unsigned int slot)
{
	struct vagx_written *written = calloc(1, sizeof(*written));

	EXPECT(written);
	written->slot = slot;
	atomic_fetch_add(&written_alive, 1);
	return written;
}

void vagx_written_free(struct vagx_written *written)
{
	atomic_fetch_sub(&written_alive, 1);
	free(written);
}

const char *vagx_fault_reason_name(enum vagx_fault_reason reason)
{
	return "reason";
}

const char *vagx_access_name(enum vagx_access access)
{
	return "access";
}

bool vagx_uat_find(struct vagx_uat *uat, unsigned int slot, uint64_t va, bool up,
		   struct vagx_uat_range *range)
{
	return false;
}

bool vagx_pte_allows(uint64_t pte, enum vagx_agent agent, enum vagx_access access)
{
	return false;
}

/* In place of the cores */

struct vagx_core {
	struct vagx_core_config config;
	struct vagx_core_stats stats;
};

struct vagx_core *vagx_core_new(const struct vagx_core_config *config)
{
	struct vagx_core *core = calloc(1, sizeof(*core));

	if (core)
		core->config = *config;
	return core;
}

struct vagx_jit *vagx_jit_new(const struct vagx_jit_config *choice, struct vagx_report *log)
{
	return NULL;
}

void vagx_jit_free(struct vagx_jit *jit)
{
}

/* No sanitizer, either */
struct vagx_sanitizer *vagx_sanitizer_new(const struct vagx_sanitizer_config *config,
					  struct vagx_report *log)
{
	return NULL;
}

void vagx_sanitizer_free(struct vagx_sanitizer *sanitizer)
{
}

uint64_t vagx_sanitizer_count(struct vagx_sanitizer *sanitizer)
{
	return 0;
}

struct vagx_programs *vagx_programs_new(void)
{
	return calloc(1, 1);
}

void vagx_programs_free(struct vagx_programs *programs)
{
	free(programs);
}

void vagx_core_free(struct vagx_core *core)
{
	free(core);
}

static void record_launch(const struct vagx_launch *launch)
{
	if (launch->serial == record.last_serial)
		return;
	EXPECT(launch->serial);
	record.last_serial = launch->serial;
	record.launch = *launch;
	record.launches++;
}

static int run_group(struct vagx_core *core, const struct vagx_launch *launch, uint32_t n,
		     struct vagx_uat_fault *f)
{
	int err = 0;

	/* whatever the core did before, its translations are the job's */
	EXPECT(core->config.tlb->slot == launch->vm_slot);
	EXPECT(core->config.tlb->written && core->config.tlb->written->slot == launch->vm_slot);
	atomic_fetch_add(&record.begun[launch->vm_slot], 1);
	if (core->config.index)
		atomic_fetch_add(&record.helped[launch->vm_slot], 1);

	pthread_mutex_lock(&record.lock);
	record_launch(launch);
	EXPECT(n < MAX_GROUPS);
	if (launch->vm_slot == SLOT) {
		EXPECT(!record.seen[n]);
		record.seen[n] = true;
	}
	record.order[record.groups++ % MAX_GROUPS] = n;
	core->stats.instructions += 10;
	if (record.fail_with && n == record.fail_group) {
		err = record.fail_with;
		*f = (struct vagx_uat_fault){
			.va = 0xbad000,
			.slot = launch->vm_slot,
			.access = VAGX_WRITE,
			.reason = VAGX_FAULT_READ_ONLY,
		};
	}
	pthread_mutex_unlock(&record.lock);

	while (!err && (record.hang[launch->vm_slot] ||
			record.burn[launch->vm_slot])) {
		if (atomic_load(launch->stop))
			err = -ECANCELED;
		if (!record.burn[launch->vm_slot])
			usleep(100);
	}
	core->stats.groups += !err;
	return err;
}

int vagx_core_run_groups(struct vagx_core *core, const struct vagx_launch *launch,
			 const uint32_t group[3], unsigned int count, struct vagx_uat_fault *f)
{
	uint32_t n = group[0] + record.extent[0] * (group[1] + record.extent[1] * group[2]);
	int err = 0;

	for (; !err && count; count--)
		err = run_group(core, launch, n++, f);
	return err;
}

int vagx_core_run_preshader(struct vagx_core *core, struct vagx_launch *launch,
			    struct vagx_uat_fault *f)
{
	if (!launch->preshader_va)
		return 0;
	record.preshaders++;
	launch->uniforms[100] = 0x1234;
	if (launch->preshader_va == USC_BASE + 0xdead) {
		*f = (struct vagx_uat_fault){ .va = 0xdead, .slot = SLOT };
		return -EFAULT;
	}
	return 0;
}

void vagx_core_settle(struct vagx_core *core)
{
}

const char *vagx_core_error(const struct vagx_core *core)
{
	return "what went wrong";
}

void vagx_core_describe_failure(const struct vagx_core *core, const struct vagx_launch *launch,
				FILE *file)
{
	fputs("\n where it was", file);
}

void vagx_core_get_stats(const struct vagx_core *core,
			 struct vagx_core_stats *stats)
{
	*stats = core->stats;
}

uint64_t vagx_core_rested_ns(const struct vagx_core *core)
{
	(void)core;
	return atomic_load(&record.rested_ns);
}

/* The fixture: a GPU, and writers for its streams and words */

static struct agx_writer stream, second, words;

/* Codes that no unit's number is */
static const struct vagx_gpu_units units = { .code = { 0x11, 0x22, 0x33 } };

static struct vagx_gpu *make_gpu(bool no_exec)
{
	const struct vagx_gpu_config config = {
		.report = report,
		.units = &units,
		.cores = CORES,
		.no_exec = no_exec,
		.soft_faults = true,
	};

	return vagx_gpu_new(&config);
}

static int setup(void **state)
{
	struct vagx_report_config config = { .level = VAGX_LOG_DEBUG };

	null_stream = fopen("/dev/null", "w");
	config.stream = null_stream;
	report = vagx_report_new(&config);
	gpu = make_gpu(false);

	memset(memory, 0, sizeof(memory));
	memset(usc_memory, 0, sizeof(usc_memory));
	agx_writer_init(&stream, memory, SECOND_VA - STREAM_VA);
	agx_writer_init(&second, memory + (SECOND_VA - STREAM_VA),
			DATA_VA - SECOND_VA);
	agx_writer_init(&words, usc_memory + 0x40, 0x8000);

	record.launches = 0;
	record.groups = 0;
	record.preshaders = 0;
	record.last_serial = 0;
	record.fail_with = 0;
	record.fail_group = 0;
	memset(record.hang, 0, sizeof(record.hang));
	memset(record.burn, 0, sizeof(record.burn));
	record.rested_ns = 0;
	memset(record.begun, 0, sizeof(record.begun));
	memset(record.helped, 0, sizeof(record.helped));
	memset(record.seen, 0, sizeof(record.seen));
	memset(record.extent, 0, sizeof(record.extent));
	fault = (struct vagx_uat_fault){ .va = 0 };
	unit = 0;
	return !gpu || !report;
}

static int teardown(void **state)
{
	unsigned int i;

	for (i = 0; i < VAGX_RULES_AND_CLAUSES; i++) {
		if (vagx_report_count(report, i))
			rule_was_broken[i] = true;
	}
	vagx_gpu_free(gpu);
	vagx_report_free(report);
	fclose(null_stream);
	assert_int_equal(atomic_load(&written_alive), 0);
	return stream.error || second.error || words.error;
}

static uint64_t broken(enum vagx_rule rule)
{
	return vagx_report_count(report, rule);
}

static struct vagx_job *new_job(struct vagx_gpu *g, unsigned int slot)
{
	struct vagx_job *job = vagx_job_new(g, slot);

	assert_non_null(job);
	return job;
}

static enum vagx_gpu_status run_job(struct vagx_job *job)
{
	const struct vagx_compute_registers registers = {
		.cdm_base = STREAM_VA,
		.cdm_end = STREAM_VA + stream.used,
		.usc_base = USC_BASE,
	};

	return vagx_job_compute(job, &registers, &fault, &unit);
}

static enum vagx_gpu_status run_on(struct vagx_gpu *g)
{
	struct vagx_job *job = new_job(g, SLOT);
	enum vagx_gpu_status status = run_job(job);

	vagx_job_free(job);
	return status;
}

static enum vagx_gpu_status run(void)
{
	return run_on(gpu);
}

static void put_words(void)
{
	agx_put(&words, usc_shared);
	agx_put(&words, usc_shader, .code = SHADER);
	agx_put(&words, usc_registers, .register_count = 24);
	agx_put(&words, usc_no_preshader);
}

static void put_launch(struct agx_writer *w, enum agx_cdm_mode mode)
{
	agx_put(w, cdm_launch, .mode = mode, .pipeline = 0x40);
}

static void put_direct(struct agx_writer *w, uint32_t global, uint32_t local)
{
	put_launch(w, AGX_CDM_MODE_DIRECT);
	agx_put(w, cdm_global_size, .x = global, .y = 1, .z = 1);
	agx_put(w, cdm_local_size, .x = local, .y = 1, .z = 1);
	record.extent[0] = local ? (global + local - 1) / local : 0;
	record.extent[1] = 1;
}

/* Groups of launches that follow each other may be alike. */
static void expect_groups_again(void)
{
	memset(record.seen, 0, sizeof(record.seen));
}

static void expect_malformed(uint64_t va, unsigned int of_unit)
{
	assert_int_equal(run(), VAGX_GPU_FAULT);
	assert_int_equal(fault.va, va);
	assert_int_equal(fault.slot, SLOT);
	assert_int_equal(fault.access, VAGX_READ);
	assert_int_equal(fault.reason, VAGX_FAULT_NO_ACCESS);
	assert_int_equal(unit, units.code[of_unit]);
}

static void expect_unmapped(uint64_t va, unsigned int of_unit)
{
	assert_int_equal(run(), VAGX_GPU_FAULT);
	assert_int_equal(fault.va, va);
	assert_int_equal(fault.reason, VAGX_FAULT_UNMAPPED);
	assert_int_equal(unit, units.code[of_unit]);
}

/* Launches */

static void test_direct(void **state)
{
	struct vagx_gpu_stats stats;

	put_words();
	put_launch(&stream, AGX_CDM_MODE_DIRECT);
	agx_put(&stream, cdm_global_size, .x = 100, .y = 20, .z = 7);
	agx_put(&stream, cdm_local_size, .x = 8, .y = 4, .z = 2);
	agx_put(&stream, cdm_stream_terminate);
	record.extent[0] = 13;
	record.extent[1] = 5;

	assert_int_equal(run(), VAGX_GPU_DONE);
	assert_int_equal(record.launches, 1);
	assert_int_equal(record.groups, 13 * 5 * 4);
	assert_int_equal(record.launch.code_va, USC_BASE + SHADER);
	assert_int_equal(record.launch.preshader_va, 0);
	assert_int_equal(record.launch.regs, 24);
	assert_int_equal(record.launch.shared_size, 0);
	assert_int_equal(record.launch.vm_slot, SLOT);
	assert_true(record.launch.soft_faults);
	assert_int_equal(record.launch.grid[0], 100);
	assert_int_equal(record.launch.grid[1], 20);
	assert_int_equal(record.launch.grid[2], 7);
	assert_int_equal(record.launch.local[2], 2);

	vagx_gpu_get_stats(gpu, &stats);
	assert_int_equal(stats.jobs, 1);
	assert_int_equal(stats.launches, 1);
	assert_int_equal(stats.groups, 13 * 5 * 4);
	assert_int_equal(stats.instructions, 13 * 5 * 4 * 10);
	assert_false(vagx_report_failed(report));
}

static void test_indirect_global(void **state)
{
	const uint32_t counts[3] = { 5, 3, 2 };

	put_words();
	memcpy(memory + (DATA_VA - STREAM_VA), counts, sizeof(counts));
	put_launch(&stream, AGX_CDM_MODE_INDIRECT_GLOBAL);
	agx_put(&stream, cdm_indirect, .address = DATA_VA);
	agx_put(&stream, cdm_local_size, .x = 16, .y = 2, .z = 1);
	agx_put(&stream, cdm_stream_terminate);
	memcpy(record.extent, counts, sizeof(counts));

	assert_int_equal(run(), VAGX_GPU_DONE);
	assert_int_equal(record.groups, 30);
	assert_int_equal(record.launch.grid[0], 80);
	assert_int_equal(record.launch.grid[1], 6);
	assert_int_equal(record.launch.grid[2], 2);
	assert_int_equal(record.launch.local[0], 16);
}

static void test_indirect_local(void **state)
{
	const uint32_t sizes[6] = { 70, 2, 1, 64, 1, 1 };

	put_words();
	memcpy(memory + (DATA_VA - STREAM_VA), sizes, sizeof(sizes));
	put_launch(&stream, AGX_CDM_MODE_INDIRECT_LOCAL);
	agx_put(&stream, cdm_indirect, .address = DATA_VA);
	agx_put(&stream, cdm_stream_terminate);
	record.extent[0] = 2;
	record.extent[1] = 2;

	assert_int_equal(run(), VAGX_GPU_DONE);
	assert_int_equal(record.groups, 4);
	assert_int_equal(record.launch.grid[0], 70);
	assert_int_equal(record.launch.local[0], 64);
}

/* Runs a grid on one core. Return: a hash of the order of its groups, each of which is there. */
static uint32_t run_in_order(uint32_t seed, uint32_t count)
{
	const struct vagx_gpu_config config = {
		.report = report,
		.units = &units,
		.cores = 1,
		.seed = seed,
	};
	struct vagx_gpu *alone = vagx_gpu_new(&config);
	uint32_t hash = 0, i;

	assert_non_null(alone);
	stream.used = 0;
	put_direct(&stream, 8 * count, 8);
	agx_put(&stream, cdm_stream_terminate);
	record.extent[0] = count;
	record.extent[1] = 1;
	record.groups = 0;
	expect_groups_again();
	assert_int_equal(run_on(alone), VAGX_GPU_DONE);
	assert_int_equal(record.groups, count);
	for (i = 0; i < count; i++) {
		assert_true(record.seen[i]);
		hash = hash * 0x9e3779b1u + record.order[i];
	}
	vagx_gpu_free(alone);
	return hash;
}

/* The seed chooses an order of threadgroups: the same in each run */
static void test_order(void **state)
{
	static const uint32_t counts[] = { 1, 2, 7, 8, 9, 64, 100, MAX_GROUPS };
	uint32_t first, seed, i, different;

	put_words();
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		first = run_in_order(0, counts[i]);
		different = 0;
		for (seed = 0; seed < 10; seed++) {
			uint32_t hash = run_in_order(seed, counts[i]);

			different += hash != first;
			assert_int_equal(run_in_order(seed, counts[i]), hash);
		}
		assert_true(counts[i] == 1 ? !different : different);
	}
}

static void test_empty_grid(void **state)
{
	put_words();
	put_direct(&stream, 0, 64);
	agx_put(&stream, cdm_stream_terminate);
	assert_int_equal(run(), VAGX_GPU_DONE);
	assert_int_equal(record.groups, 0);
}

static void test_words(void **state)
{
	const uint16_t low[3] = { 1, 2, 3 };
	const uint16_t high[2] = { 0xaaaa, 0xbbbb };
	uint32_t garbage;

	memcpy(memory + (DATA_VA - STREAM_VA), low, sizeof(low));
	memcpy(memory + (DATA_VA - STREAM_VA) + 8, high, sizeof(high));
	agx_put(&words, usc_uniform, .start = 4, .size = 3, .buffer = DATA_VA);
	agx_put(&words, usc_uniform_high, .start = 254, .size = 2,
		.buffer = DATA_VA + 8);
	agx_put(&words, usc_texture, .count = 1, .buffer = DATA_VA);
	agx_put(&words, usc_sampler, .count = 1, .buffer = DATA_VA);
	agx_put(&words, usc_shared, .uses_shared_memory = true,
		.layout = AGX_SHARED_LAYOUT_32X16, .sample_count = 2,
		.sample_stride_in_8_bytes = 2, .bytes_per_threadgroup = 1000);
	agx_put(&words, usc_shader, .code = SHADER);
	agx_put(&words, usc_registers, .register_count = 256);
	agx_put(&words, usc_preshader, .code = 0x777);
	agx_put(&stream, cdm_launch, .pipeline = 0x40,
		.counts.preshader_registers = 33);
	agx_put(&stream, cdm_global_size);
	agx_put(&stream, cdm_local_size);
	agx_put(&stream, cdm_stream_terminate);

	assert_int_equal(run(), VAGX_GPU_DONE);
	assert_int_equal(record.preshaders, 1);
	assert_int_equal(record.launch.preshader_va, USC_BASE + 0x777);
	assert_int_equal(record.launch.preshader_regs, 48);
	assert_int_equal(record.launch.uniforms[4], 1);
	assert_int_equal(record.launch.uniforms[6], 3);
	/* those that no word binds are garbage */
	garbage = vagx_pattern(0, VAGX_PATTERN_UNIFORMS, 6);
	assert_int_equal(record.launch.uniforms[7], garbage >> 16);
	garbage = vagx_pattern(0, VAGX_PATTERN_UNIFORMS, 508);
	assert_int_equal(record.launch.uniforms[508], garbage & 0xffff);
	assert_int_equal(record.launch.uniforms[509], garbage >> 16);
	/* the preshader's */
	assert_int_equal(record.launch.uniforms[100], 0x1234);
	assert_int_equal(record.launch.uniforms[510], 0xaaaa);
	assert_int_equal(record.launch.uniforms[511], 0xbbbb);
	assert_int_equal(record.launch.shared_size, 1024);
	assert_int_equal(record.launch.sample_stride, 16);
	assert_int_equal(record.launch.tile_width, 32);
	assert_int_equal(record.launch.tile_height, 16);
	assert_int_equal(record.launch.tile_samples, 2);
	assert_int_equal(record.launch.regs, 256);
}

static void test_no_exec(void **state)
{
	struct vagx_gpu *idle = make_gpu(true);
	struct vagx_gpu_stats stats;

	put_words();
	put_direct(&stream, 1000, 10);
	agx_put(&stream, cdm_stream_terminate);
	assert_int_equal(run_on(idle), VAGX_GPU_DONE);
	assert_int_equal(record.groups, 0);
	vagx_gpu_get_stats(idle, &stats);
	assert_int_equal(stats.launches, 1);
	vagx_gpu_free(idle);
}

/* Where streams go */

static void test_links(void **state)
{
	put_words();
	agx_put(&stream, cdm_stream_link, .target = SECOND_VA,
		.with_return = true);
	agx_put(&stream, cdm_barrier);
	agx_put(&stream, cdm_stream_link, .target = SECOND_VA + 0x100);
	put_direct(&second, 64, 1);
	agx_put(&second, cdm_stream_return);
	second.used = 0x100;
	agx_put(&second, cdm_stream_terminate);

	assert_int_equal(run(), VAGX_GPU_DONE);
	assert_int_equal(record.groups, 64);
}

static void test_barrier_returns(void **state)
{
	agx_put(&stream, cdm_stream_link, .target = SECOND_VA,
		.with_return = true);
	agx_put(&stream, cdm_stream_terminate);
	agx_put(&second, cdm_barrier, .returns = true);
	assert_int_equal(run(), VAGX_GPU_DONE);
}

static void test_call_depth(void **state)
{
	unsigned int i;

	for (i = 0; i < 16; i++) {
		agx_put(&stream, cdm_stream_link, .with_return = true,
			.target = STREAM_VA + (i + 1) * 16);
		agx_put(&stream, cdm_stream_return);
	}
	/* the innermost returns; the outermost return has nowhere to go */
	agx_put(&stream, cdm_stream_return);
	expect_malformed(STREAM_VA + 8, VAGX_GPU_UNIT_CDM_CS);
	assert_int_equal(broken(VAGX_CLAUSE_CDM_CALL_DEPTH_return), 1);

	stream.used = 16 * 16;
	agx_put(&stream, cdm_stream_link, .with_return = true,
		.target = STREAM_VA);
	expect_malformed(STREAM_VA + 16 * 16, VAGX_GPU_UNIT_CDM_CS);
	assert_int_equal(broken(VAGX_CLAUSE_CDM_CALL_DEPTH_deep), 1);
	assert_int_equal(broken(VAGX_RULE_CDM_CALL_DEPTH), 2);
}

static void test_unknown_blocks(void **state)
{
	unsigned int type;

	for (type = 5; type < 8; type++) {
		const uint32_t word = type << 29;

		memcpy(memory, &word, sizeof(word));
		stream.used = 4;
		expect_malformed(STREAM_VA, VAGX_GPU_UNIT_CDM_CS);
	}
	assert_int_equal(broken(VAGX_RULE_CDM_UNKNOWN_BLOCK), 3);

	/* mode 3 */
	memcpy(memory, "\0\0\0\x18", 4);
	expect_malformed(STREAM_VA, VAGX_GPU_UNIT_CDM_CS);
	assert_int_equal(broken(VAGX_CLAUSE_CDM_UNKNOWN_BLOCK_type), 4);

	stream.used = 0;
	agx_put(&stream, cdm_stream_link, .target = SECOND_VA + 2);
	expect_malformed(SECOND_VA + 2, VAGX_GPU_UNIT_CDM_CS);
	assert_int_equal(broken(VAGX_CLAUSE_CDM_UNKNOWN_BLOCK_alignment), 1);
	assert_int_equal(broken(VAGX_RULE_CDM_UNKNOWN_BLOCK), 5);
}

static void test_reserved_bits(void **state)
{
	agx_put(&stream, cdm_barrier);
	agx_put(&stream, cdm_stream_terminate);
	memory[3] |= 2;
	assert_int_equal(run(), VAGX_GPU_DONE);
	assert_int_equal(broken(VAGX_RULE_CDM_RESERVED_BITS), 1);
}

static void test_past_end(void **state)
{
	agx_put(&stream, cdm_barrier);
	agx_put(&stream, cdm_stream_terminate);
	/* the end may be in front of the last block, or behind it */
	stream.used -= 8;
	assert_int_equal(run(), VAGX_GPU_DONE);
	assert_int_equal(broken(VAGX_RULE_CDM_PAST_END), 0);

	stream.used -= 4;
	assert_int_equal(run(), VAGX_GPU_DONE);
	assert_int_equal(broken(VAGX_RULE_CDM_PAST_END), 1);
}

/* Launches of some GPUs have two more words, which others take for sizes */
static void test_long_launch(void **state)
{
	const struct vagx_gpu_config config = {
		.report = report,
		.units = &units,
		.cores = CORES,
		.stream_features = AGX_STREAM_G14X,
	};
	struct vagx_gpu *long_gpu = vagx_gpu_new(&config);

	assert_non_null(long_gpu);
	put_words();
	put_launch(&stream, AGX_CDM_MODE_DIRECT);
	agx_put(&stream, cdm_launch_g14x);
	agx_put(&stream, cdm_global_size, .x = 64, .y = 1, .z = 1);
	agx_put(&stream, cdm_local_size, .x = 32, .y = 1, .z = 1);
	agx_put(&stream, cdm_stream_terminate);
	assert_int_equal(run_on(long_gpu), VAGX_GPU_DONE);
	assert_int_equal(record.groups, 2);
	assert_int_equal(broken(VAGX_RULE_CDM_RESERVED_BITS), 0);
	assert_int_equal(run(), VAGX_GPU_FAULT);
	assert_int_equal(broken(VAGX_RULE_CDM_BAD_SIZE), 1);

	stream.used = 0;
	put_launch(&stream, AGX_CDM_MODE_DIRECT);
	agx_put(&stream, cdm_global_size, .x = 64, .y = 1, .z = 1);
	agx_put(&stream, cdm_local_size, .x = 32, .y = 1, .z = 1);
	agx_put(&stream, cdm_stream_terminate);
	assert_int_equal(run_on(long_gpu), VAGX_GPU_FAULT);
	assert_int_equal(broken(VAGX_RULE_CDM_RESERVED_BITS), 2);
	assert_int_equal(record.groups, 2);
	vagx_gpu_free(long_gpu);
}

static void expect_bad_size(enum vagx_rule clause)
{
	uint64_t before = broken(VAGX_RULE_CDM_BAD_SIZE), same = broken(clause);

	expect_malformed(STREAM_VA, VAGX_GPU_UNIT_CDM_CS);
	assert_int_equal(broken(VAGX_RULE_CDM_BAD_SIZE), before + 1);
	assert_int_equal(broken(clause), same + 1);
	stream.used = 0;
}

static void test_bad_sizes(void **state)
{
	const uint32_t huge[3] = { 0x10000000, 1, 1 };

	put_words();
	put_direct(&stream, 1, 0);
	expect_bad_size(VAGX_CLAUSE_CDM_BAD_SIZE_none);
	put_direct(&stream, 1, 1025);
	expect_bad_size(VAGX_CLAUSE_CDM_BAD_SIZE_dimension);
	put_launch(&stream, AGX_CDM_MODE_DIRECT);
	agx_put(&stream, cdm_global_size);
	agx_put(&stream, cdm_local_size, .x = 1024, .y = 2, .z = 1);
	expect_bad_size(VAGX_CLAUSE_CDM_BAD_SIZE_threads);
	put_launch(&stream, AGX_CDM_MODE_DIRECT);
	agx_put(&stream, cdm_global_size);
	agx_put(&stream, cdm_local_size, .x = 65536, .y = 65536, .z = 65536);
	expect_bad_size(VAGX_CLAUSE_CDM_BAD_SIZE_dimension);
	memcpy(memory + (DATA_VA - STREAM_VA), huge, sizeof(huge));
	put_launch(&stream, AGX_CDM_MODE_INDIRECT_GLOBAL);
	agx_put(&stream, cdm_indirect, .address = DATA_VA);
	agx_put(&stream, cdm_local_size, .x = 16, .y = 1, .z = 1);
	expect_bad_size(VAGX_CLAUSE_CDM_BAD_SIZE_grid);
	assert_int_equal(record.groups, 0);
}

/* Shader words that are wrong */

static void expect_bad_words(uint64_t offset, enum vagx_rule rule)
{
	put_direct(&stream, 1, 1);
	agx_put(&stream, cdm_stream_terminate);
	expect_malformed(USC_BASE + offset, VAGX_GPU_UNIT_CDM);
	assert_int_equal(broken(rule), 1);
	assert_int_equal(record.groups, 0);
}

/* Puts words of a shader with so many registers and bytes of shared memory, and a launch */
static void put_limits(unsigned int registers, unsigned int bytes, unsigned int threads)
{
	stream.used = 0;
	words.used = 0;
	if (bytes)
		agx_put(&words, usc_shared, .uses_shared_memory = true,
			.layout = AGX_SHARED_LAYOUT_VERTEX_COMPUTE, .bytes_per_threadgroup = bytes);
	agx_put(&words, usc_shader, .code = SHADER);
	agx_put(&words, usc_registers, .register_count = registers);
	agx_put(&words, usc_no_preshader);
	put_direct(&stream, threads, threads);
	agx_put(&stream, cdm_stream_terminate);
	record.extent[0] = record.extent[1] = 1;
	expect_groups_again();
}

static void expect_over_limits(enum vagx_rule clause)
{
	uint64_t before = broken(VAGX_RULE_CDM_OVER_LIMITS), same = broken(clause);

	expect_malformed(STREAM_VA, VAGX_GPU_UNIT_CDM);
	assert_int_equal(broken(VAGX_RULE_CDM_OVER_LIMITS), before + 1);
	assert_int_equal(broken(clause), same + 1);
}

/* A threadgroup needs registers and local memory that a core has */
static void test_limits(void **state)
{
	static const struct {
		unsigned int registers, threads;
	} most[] = {
		{ 8, 1024 }, { 104, 1024 }, { 112, 896 }, { 120, 832 }, { 128, 832 }, { 136, 768 },
		{ 144, 704 }, { 152, 640 }, { 160, 640 }, { 168, 576 }, { 184, 576 }, { 192, 512 },
		{ 208, 512 }, { 216, 448 }, { 232, 448 }, { 240, 384 }, { 256, 384 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(most) / sizeof(most[0]); i++) {
		put_limits(most[i].registers, 0, most[i].threads);
		assert_int_equal(run(), VAGX_GPU_DONE);
		if (most[i].threads == 1024)
			continue;
		put_limits(most[i].registers, 0, most[i].threads + 1);
		expect_over_limits(VAGX_CLAUSE_CDM_OVER_LIMITS_registers);
	}
	put_limits(8, 32768, 1024);
	assert_int_equal(run(), VAGX_GPU_DONE);
	assert_int_equal(record.launch.shared_size, 32768);
	put_limits(8, 32768 + 256, 1);
	expect_over_limits(VAGX_CLAUSE_CDM_OVER_LIMITS_memory);
}

static void test_unknown_word(void **state)
{
	usc_memory[0x40] = 0x77;
	expect_bad_words(0x40, VAGX_RULE_USC_UNKNOWN_WORD);
}

static void test_word_reserved_bits(void **state)
{
	put_words();
	usc_memory[0x41] |= 2;
	put_direct(&stream, 1, 1);
	agx_put(&stream, cdm_stream_terminate);
	assert_int_equal(run(), VAGX_GPU_DONE);
	assert_int_equal(broken(VAGX_RULE_USC_RESERVED_BITS), 1);
}

static void test_bad_preshader_word(void **state)
{
	agx_put(&words, usc_shader, .code = SHADER);
	agx_put(&words, usc_preshader, .code = 0);
	usc_memory[0x40 + 6 + 1] = 1;
	expect_bad_words(0x46, VAGX_RULE_USC_RESERVED_BITS);
}

static void test_no_shader(void **state)
{
	agx_put(&words, usc_no_preshader);
	expect_bad_words(0x40, VAGX_CLAUSE_USC_NO_SHADER_none);
}

static void test_two_shaders(void **state)
{
	agx_put(&words, usc_shader, .code = SHADER);
	agx_put(&words, usc_shader, .code = SHADER);
	agx_put(&words, usc_no_preshader);
	expect_bad_words(0x46, VAGX_CLAUSE_USC_NO_SHADER_twice);
}

static void test_uniform_range(void **state)
{
	agx_put(&words, usc_uniform_high, .start = 255, .size = 2,
		.buffer = DATA_VA);
	put_words();
	expect_bad_words(0x40, VAGX_RULE_USC_UNIFORM_RANGE);
}

static void test_texture_range(void **state)
{
	agx_put(&words, usc_texture, .start = 127, .count = 2, .buffer = DATA_VA);
	put_words();
	expect_bad_words(0x40, VAGX_CLAUSE_USC_TEXTURE_RANGE_texture);
}

static void test_sampler_range(void **state)
{
	agx_put(&words, usc_sampler, .start = 16, .count = 2, .buffer = DATA_VA);
	put_words();
	expect_bad_words(0x40, VAGX_CLAUSE_USC_TEXTURE_RANGE_sampler);
}

static void test_endless_words(void **state)
{
	unsigned int i;

	for (i = 0; i < 4096; i++)
		agx_put(&words, usc_shared);
	expect_bad_words(0x40 + 2048 * 4, VAGX_RULE_USC_ENDLESS);
}

/* Addresses where nothing is */

static void test_unmapped(void **state)
{
	agx_put(&stream, cdm_stream_link, .target = 0x4000);
	expect_unmapped(0x4000, VAGX_GPU_UNIT_CDM_CS);

	stream.used = 0;
	put_launch(&stream, AGX_CDM_MODE_INDIRECT_GLOBAL);
	agx_put(&stream, cdm_indirect, .address = 0x8000);
	agx_put(&stream, cdm_local_size);
	expect_unmapped(0x8000, VAGX_GPU_UNIT_CDM_CS);

	stream.used = 0;
	agx_put(&stream, cdm_launch, .pipeline = 0x1000000);
	agx_put(&stream, cdm_global_size);
	agx_put(&stream, cdm_local_size);
	expect_unmapped(USC_BASE + 0x1000000, VAGX_GPU_UNIT_CDM);

	stream.used = 0;
	agx_put(&words, usc_uniform, .size = 1, .buffer = 0xc000);
	put_direct(&stream, 1, 1);
	expect_unmapped(0xc000, VAGX_GPU_UNIT_CDM);
}

/* What cores report */

static void test_shader_fault(void **state)
{
	put_words();
	put_direct(&stream, 60000, 1);
	put_direct(&stream, 1, 1);
	agx_put(&stream, cdm_stream_terminate);
	record.extent[0] = 60000;
	record.fail_with = -EFAULT;
	record.fail_group = 17;

	assert_int_equal(run(), VAGX_GPU_FAULT);
	assert_int_equal(fault.va, 0xbad000);
	assert_int_equal(fault.access, VAGX_WRITE);
	assert_int_equal(fault.reason, VAGX_FAULT_READ_ONLY);
	assert_int_equal(unit, units.code[VAGX_GPU_UNIT_USC]);
	/* the second launch never began */
	assert_int_equal(record.launches, 1);

	/* and the next job is not concerned */
	record.fail_with = 0;
	expect_groups_again();
	stream.used = 0;
	put_direct(&stream, 8, 1);
	agx_put(&stream, cdm_stream_terminate);
	record.groups = 0;
	assert_int_equal(run(), VAGX_GPU_DONE);
	assert_int_equal(record.groups, 8);
}

static void test_shader_failed(void **state)
{
	put_words();
	put_direct(&stream, 4, 1);
	agx_put(&stream, cdm_stream_terminate);
	record.fail_with = -EILSEQ;
	assert_int_equal(run(), VAGX_GPU_FAULT);
	assert_int_equal(fault.va, USC_BASE + SHADER);
	assert_int_equal(fault.access, VAGX_EXEC);
	assert_int_equal(unit, units.code[VAGX_GPU_UNIT_USC]);
	assert_int_equal(broken(VAGX_RULE_USC_SHADER_FAILED), 1);
}

static void test_preshader_fault(void **state)
{
	agx_put(&words, usc_shader, .code = SHADER);
	agx_put(&words, usc_preshader, .code = 0xdead);
	put_direct(&stream, 4, 1);
	agx_put(&stream, cdm_stream_terminate);
	assert_int_equal(run(), VAGX_GPU_FAULT);
	assert_int_equal(fault.va, 0xdead);
	assert_int_equal(record.groups, 0);
}

/* Jobs on threads of their own */

struct runner {
	pthread_t thread;
	struct vagx_job *job;
	enum vagx_gpu_status status;
	atomic_bool over;
};

static void *run_thread(void *arg)
{
	const struct vagx_compute_registers registers = {
		.cdm_base = STREAM_VA,
		.cdm_end = STREAM_VA + stream.used,
		.usc_base = USC_BASE,
	};
	struct vagx_uat_fault runner_fault;
	struct runner *runner = arg;
	unsigned int runner_unit;

	runner->status = vagx_job_compute(runner->job, &registers,
					  &runner_fault, &runner_unit);
	atomic_store(&runner->over, true);
	return NULL;
}

static void start(struct runner *runner, unsigned int slot)
{
	runner->job = new_job(gpu, slot);
	atomic_store(&runner->over, false);
	assert_int_equal(pthread_create(&runner->thread, NULL, run_thread,
					runner), 0);
}

static enum vagx_gpu_status finish(struct runner *runner)
{
	pthread_join(runner->thread, NULL);
	vagx_job_free(runner->job);
	return runner->status;
}

static enum vagx_gpu_status run_and_cancel(void)
{
	struct vagx_gpu_stats stats;
	struct runner runner;

	start(&runner, SLOT);
	do {
		usleep(1000);
		vagx_gpu_get_stats(gpu, &stats);
	} while (!stats.jobs);
	usleep(5000);
	assert_false(atomic_load(&runner.over));
	vagx_job_cancel(runner.job);
	return finish(&runner);
}

static void test_cancel_stream(void **state)
{
	agx_put(&stream, cdm_stream_link, .target = STREAM_VA);
	assert_int_equal(run_and_cancel(), VAGX_GPU_CANCELLED);
}

static void test_cancel_shader(void **state)
{
	put_words();
	put_direct(&stream, 64, 1);
	agx_put(&stream, cdm_stream_terminate);
	atomic_store(&record.hang[SLOT], true);
	assert_int_equal(run_and_cancel(), VAGX_GPU_CANCELLED);
	/* one for each core */
	assert_true(record.groups <= CORES);

	/* the next job does not notice */
	atomic_store(&record.hang[SLOT], false);
	expect_groups_again();
	assert_int_equal(run(), VAGX_GPU_DONE);
}

/* Who cancels need not know whether the job has begun. */
static void test_cancel_early(void **state)
{
	struct vagx_job *job = new_job(gpu, SLOT);

	put_words();
	put_direct(&stream, 64, 1);
	agx_put(&stream, cdm_stream_terminate);
	vagx_job_cancel(job);
	assert_int_equal(run_job(job), VAGX_GPU_CANCELLED);
	vagx_job_free(job);
	assert_int_equal(record.groups, 0);
}

static void wait_begun(unsigned int slot, unsigned int count)
{
	while (atomic_load(&record.begun[slot]) < count)
		usleep(1000);
}

/*
 * A job that keeps every core busy and never ends: jobs of other contexts go
 * on all the same, end as they do, and nobody notices who is cancelled.
 */
static void test_side_by_side(void **state)
{
	struct runner stuck, other;

	put_words();
	put_direct(&stream, 64, 1);
	agx_put(&stream, cdm_stream_terminate);
	atomic_store(&record.hang[OTHER_SLOT], true);
	start(&stuck, OTHER_SLOT);
	wait_begun(OTHER_SLOT, CORES);

	assert_int_equal(run(), VAGX_GPU_DONE);
	assert_int_equal(atomic_load(&record.begun[SLOT]), 64);
	assert_false(atomic_load(&stuck.over));

	/* another one that is stuck: one ends, the other does not */
	atomic_store(&record.hang[SLOT], true);
	expect_groups_again();
	start(&other, SLOT);
	wait_begun(SLOT, 65);
	vagx_job_cancel(other.job);
	assert_int_equal(finish(&other), VAGX_GPU_CANCELLED);
	usleep(5000);
	assert_false(atomic_load(&stuck.over));
	vagx_job_cancel(stuck.job);
	assert_int_equal(finish(&stuck), VAGX_GPU_CANCELLED);
}

/* A core that was in one context has nothing of it left in the next one. */
static void test_contexts_in_turn(void **state)
{
	unsigned int i;

	put_words();
	put_direct(&stream, 64, 1);
	agx_put(&stream, cdm_stream_terminate);
	for (i = 0; i < 8; i++) {
		struct vagx_job *job = new_job(gpu, i % 2 ? SLOT : OTHER_SLOT);

		expect_groups_again();
		assert_int_equal(run_job(job), VAGX_GPU_DONE);
		vagx_job_free(job);
	}
	assert_int_equal(record.groups, 8 * 64);
}

/* While cores work */
static void set_failure(int err, uint32_t group)
{
	pthread_mutex_lock(&record.lock);
	memset(record.seen, 0, sizeof(record.seen));
	record.fail_with = err;
	record.fail_group = group;
	pthread_mutex_unlock(&record.lock);
}

/* One job's fault is not another one's. */
static void test_fault_beside(void **state)
{
	struct runner beside;

	put_words();
	put_direct(&stream, 64, 1);
	agx_put(&stream, cdm_stream_terminate);
	atomic_store(&record.hang[OTHER_SLOT], true);
	start(&beside, OTHER_SLOT);
	wait_begun(OTHER_SLOT, CORES);
	set_failure(-EFAULT, 63);
	assert_int_equal(run(), VAGX_GPU_FAULT);
	set_failure(0, 0);
	atomic_store(&record.hang[OTHER_SLOT], false);
	assert_int_equal(finish(&beside), VAGX_GPU_DONE);
	assert_int_equal(atomic_load(&record.begun[OTHER_SLOT]), 64);
}

/* Cores that are not needed by one job help the others. */
static void test_cores_are_shared(void **state)
{
	struct runner runner[2];
	unsigned int i;

	put_words();
	put_direct(&stream, 64, 1);
	agx_put(&stream, cdm_stream_terminate);
	atomic_store(&record.hang[OTHER_SLOT], true);
	for (i = 0; i < 2; i++)
		start(&runner[i], OTHER_SLOT);
	/* both jobs' own threads, and all the others */
	wait_begun(OTHER_SLOT, CORES + 1);
	assert_int_equal(atomic_load(&record.helped[OTHER_SLOT]), CORES - 1);
	atomic_store(&record.hang[OTHER_SLOT], false);
	for (i = 0; i < 2; i++)
		assert_int_equal(finish(&runner[i]), VAGX_GPU_DONE);
}

/* A job's age is what has been executed of it, not how long it has been there. */
static void test_cpu_time(void **state)
{
	struct runner runner;
	uint64_t slept;

	put_words();
	put_direct(&stream, 64, 1);
	agx_put(&stream, cdm_stream_terminate);
	atomic_store(&record.hang[SLOT], true);
	start(&runner, SLOT);
	wait_begun(SLOT, CORES);
	usleep(100000);
	slept = vagx_job_cpu_ns(runner.job);
	assert_true(slept < 50000000);

	/* a shader that waits for memory is executed, too */
	atomic_store(&record.rested_ns, 1000000000);
	assert_in_range(vagx_job_cpu_ns(runner.job), slept + 1000000000, slept + 1500000000);
	slept += 1000000000;
	atomic_store(&record.burn[SLOT], true);
	while (vagx_job_cpu_ns(runner.job) < slept + 20000000)
		usleep(1000);
	vagx_job_cancel(runner.job);
	assert_int_equal(finish(&runner), VAGX_GPU_CANCELLED);
}

static void test_bad_config(void **state)
{
	struct vagx_gpu_config config = { .cores = 0 };

	assert_null(vagx_gpu_new(&config));
	assert_int_equal(errno, EINVAL);
	config.cores = VAGX_GPU_MAX_CORES + 1;
	assert_null(vagx_gpu_new(&config));
	assert_int_equal(errno, EINVAL);
}

static void test_unit_names(void **state)
{
	assert_string_not_equal(vagx_gpu_unit_name(VAGX_GPU_UNIT_USC),
				vagx_gpu_unit_name(VAGX_GPU_UNIT_CDM));
	assert_string_equal(vagx_gpu_unit_name(0xff), "unknown");
}

/* Last: each of our rules, and each clause, was broken by one of the tests before. */
static void test_all_rules(void **state)
{
	static const enum vagx_rule rules[] = {
#define VAGX_RULE(id, severity, source, text) VAGX_RULE_##id,
#define VAGX_CLAUSE(id, name, text) VAGX_CLAUSE_##id##_##name,
#include "gpu/rules_gpu.def"
#undef VAGX_RULE
#undef VAGX_CLAUSE
	};
	size_t i;

	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (!rule_was_broken[rules[i]])
			fail_msg("no test breaks %s",
				 vagx_rule_info(rules[i])->id);
	}
}

#define GPU_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		GPU_TEST(test_direct),
		GPU_TEST(test_indirect_global),
		GPU_TEST(test_indirect_local),
		GPU_TEST(test_order),
		GPU_TEST(test_empty_grid),
		GPU_TEST(test_words),
		GPU_TEST(test_no_exec),
		GPU_TEST(test_links),
		GPU_TEST(test_barrier_returns),
		GPU_TEST(test_call_depth),
		GPU_TEST(test_unknown_blocks),
		GPU_TEST(test_reserved_bits),
		GPU_TEST(test_past_end),
		GPU_TEST(test_long_launch),
		GPU_TEST(test_bad_sizes),
		GPU_TEST(test_limits),
		GPU_TEST(test_unknown_word),
		GPU_TEST(test_word_reserved_bits),
		GPU_TEST(test_bad_preshader_word),
		GPU_TEST(test_no_shader),
		GPU_TEST(test_two_shaders),
		GPU_TEST(test_uniform_range),
		GPU_TEST(test_texture_range),
		GPU_TEST(test_sampler_range),
		GPU_TEST(test_endless_words),
		GPU_TEST(test_unmapped),
		GPU_TEST(test_shader_fault),
		GPU_TEST(test_shader_failed),
		GPU_TEST(test_preshader_fault),
		GPU_TEST(test_cancel_stream),
		GPU_TEST(test_cancel_shader),
		GPU_TEST(test_cancel_early),
		GPU_TEST(test_side_by_side),
		GPU_TEST(test_contexts_in_turn),
		GPU_TEST(test_fault_beside),
		GPU_TEST(test_cores_are_shared),
		GPU_TEST(test_cpu_time),
		cmocka_unit_test(test_bad_config),
		cmocka_unit_test(test_unit_names),
		cmocka_unit_test(test_all_rules),
	};

	return cmocka_run_group_tests_name("gpu", tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/* Copyright (C) 2026 The asahi driver authors */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agx_isa.h"
#include "core_fixture.h"
#include "jit/jit.h"
#include "report.h"


uint8_t *fixture_data;
uint8_t *fixture_const;
static uint8_t *code;
/* How much of it is not 0xff, at most */
static size_t code_used;

uint64_t fixture_hole;
bool fixture_of_stage;
const char *fixture_prologue;
FILE *fixture_log;

static bool inside(uint64_t va, size_t len, uint64_t start, size_t size)
{
	return va - start < size && len <= size - (va - start);
}

static uint8_t *area(uint64_t va, size_t len, enum vagx_access access)
{
	if (inside(va, len, CODE_VA, CODE_SIZE) && access == VAGX_EXEC)
		return code + (va - CODE_VA);
	if (inside(va, len, DATA_VA, DATA_SIZE))
		return fixture_data + (va - DATA_VA);
	if (inside(va, len, CONST_VA, VAGX_UAT_PAGE_SIZE) &&
	    access == VAGX_READ)
		return fixture_const + (va - CONST_VA);
	return NULL;
}

/* In place of the MMU; the entries of the cache stay empty */
void *vagx_tlb_ptr_slow(struct vagx_tlb *tlb, uint64_t va, size_t len,
			enum vagx_access access, struct vagx_uat_fault *fault)
{
	bool there = !fixture_hole || va + len <= fixture_hole ||
		     va >= fixture_hole + VAGX_UAT_PAGE_SIZE;
	uint8_t *p = there ? area(va, len, access) : NULL;

	if (!p)
		*fault = (struct vagx_uat_fault){
			.va = va,
			.slot = tlb->slot,
			.access = access,
			.reason = VAGX_FAULT_UNMAPPED,
		};
	return p;
}

/* No trace of programs: they are here */
bool vagx_log_enabled(const struct vagx_report *report,
		      enum vagx_log_level level)
{
	return fixture_log && level < VAGX_LOG_TRACE;
}

void vagx_log(struct vagx_report *report, enum vagx_log_level level,
	      const char *fmt, ...)
{
	va_list args;

	if (!fixture_log)
		return;
	va_start(args, fmt);
	vfprintf(fixture_log, fmt, args);
	va_end(args);
	fputc('\n', fixture_log);
}

/* The mode that the environment names: tests run once in each */
static struct vagx_jit *new_jit(void)
{
	const char *name = getenv("FIXTURE_JIT");
	struct vagx_jit_config config;

	if (!vagx_jit_parse(name ? name : "off", &config))
		fail_msg("FIXTURE_JIT=%s is no mode", name);
	return vagx_jit_new(&config, NULL);
}

int fixture_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct vagx_programs *programs = vagx_programs_new();
	struct vagx_core_config config = {
		.index = 3,
		.tlb = &f->tlb,
		.programs = programs,
		.jit = new_jit(),
	};

	fixture_hole = 0;
	fixture_data = aligned_alloc(VAGX_UAT_PAGE_SIZE, DATA_SIZE);
	fixture_const = aligned_alloc(VAGX_UAT_PAGE_SIZE, VAGX_UAT_PAGE_SIZE);
	code = aligned_alloc(VAGX_UAT_PAGE_SIZE, CODE_SIZE);
	code_used = CODE_SIZE;
	memset(fixture_data, 0xcc, DATA_SIZE);
	memset(fixture_const, 0, VAGX_UAT_PAGE_SIZE);
	f->programs = programs;
	f->config = config;
	f->core = vagx_core_new(&config);
	f->launch.code_va = CODE_VA;
	f->launch.vm_slot = 5;
	f->launch.stop = &f->stop;
	fixture_uniform64(f, 0, DATA_VA);
	fixture_uniform64(f, 4, CONST_VA);
	*state = f;
	return !f->core;
}

int fixture_teardown(void **state)
{
	struct fixture *f = *state;

	vagx_core_free(f->core);
	vagx_programs_free(f->programs);
	vagx_jit_free(f->config.jit);
	free(f);
	free(fixture_data);
	free(fixture_const);
	free(code);
	return 0;
}

void fixture_code(struct fixture *f, const char *text)
{
	struct agx_program program;

	if (agx_isa_assemble(text, "program", &program, stderr))
		fail_msg("the program can't be assembled");
	fixture_bytes(f, program.code, program.size);
	free(program.code);
}

void fixture_bytes(struct fixture *f, const void *bytes, size_t size)
{
	assert_true(size <= CODE_SIZE);
	/* Whatever runs into this stops with an error */
	memset(code, 0xff, code_used);
	code_used = size;
	memcpy(code, bytes, size);
	f->launch.serial++;
}

/* Names of what the interpreter runs */
static const char *const semantics[] = {
#define AGX_INSTRUCTION(id, name, short_length, long_length, length_bit,	\
			fixed, fields, semantics_)				\
	[AGX_OP_##id] = #semantics_,
#include "agx_isa.def"
};

static bool accesses_memory(const char *name)
{
	return strstr(name, "load") || strstr(name, "store") ||
	       strstr(name, "atomic") || strstr(name, "stack");
}

/* Of these, each fails outside of its stage */
static bool is_of_stage(const char *name)
{
	return strstr(name, "var") || strstr(name, "iter") || strstr(name, "tile") ||
	       !strcmp(name, "ldcf") || !strcmp(name, "sample_mask") ||
	       !strcmp(name, "zs_emit") || strstr(name, "image_write") ||
	       strstr(name, "texture") || strstr(name, "sampler");
}

/* Every other program has no access to memory, which mostly fails */
static bool is_wanted(const struct agx_instr *instr, unsigned int seed)
{
	const char *name = semantics[instr->op];

	if (!strcmp(name, "unsupported") || !strcmp(name, "trap") ||
	    !strcmp(name, "jmp_reg") || !strcmp(name, "call_reg") ||
	    !strcmp(name, "stop") || (is_of_stage(name) && !fixture_of_stage))
		return false;
	return seed % 2 || !accesses_memory(name);
}

/* Jumps go forward, or some programs had no end */
static void tame(struct agx_instr *instr, unsigned int random_number)
{
	if (instr->op == AGX_OP_JMP_ANY || instr->op == AGX_OP_JMP_NONE ||
	    instr->op == AGX_OP_CALL)
		instr->mod[AGX_MOD_OFFSET] = 6 + random_number % 32;
}

void fixture_random_code(struct fixture *f, unsigned int seed)
{
	uint8_t bytes[AGX_ISA_MAX_LENGTH];
	unsigned int size, end, i;
	struct agx_instr instr;
	int length;

	fixture_code(f, fixture_prologue ? fixture_prologue : "");
	size = (unsigned int)code_used;
	end = size + 400;
	srandom(seed);
	code_used = VAGX_UAT_PAGE_SIZE;
	while (size < end) {
		for (i = 0; i < sizeof(bytes); i++)
			bytes[i] = random() >> 8;
		length = agx_isa_decode(bytes, sizeof(bytes), &instr);
		if (length < 0 || !is_wanted(&instr, seed))
			continue;
		tame(&instr, random());
		length = agx_isa_encode(&instr, code + size);
		size += length;
	}
	code[size] = 0x88;
	code[size + 1] = 0;
}

void fixture_uniform64(struct fixture *f, unsigned int half, uint64_t value)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		f->launch.uniforms[half + i] = value >> i * 16;
	vagx_launch_set_uniforms(&f->launch, half, 4);
}

int fixture_run(struct fixture *f, const char *text, unsigned int threads)
{
	fixture_code(f, text);
	return fixture_run_again(f, threads);
}

int fixture_run_groups(struct fixture *f, unsigned int threads, unsigned int groups)
{
	static const uint32_t group[3];
	unsigned int i;
	int err;

	for (i = 0; i < 3; i++) {
		f->launch.grid[i] = i ? 1 : threads * groups;
		f->launch.local[i] = i ? 1 : threads;
	}
	err = vagx_core_run_groups(f->core, &f->launch, group, groups, &f->fault);
	vagx_core_settle(f->core);
	return err;
}

int fixture_run_again(struct fixture *f, unsigned int threads)
{
	return fixture_run_groups(f, threads, 1);
}

int fixture_agrees(struct fixture *f, int err)
{
	if (err == -EPROTO)
		fail_msg("%s", vagx_core_error(f->core));
	return err;
}

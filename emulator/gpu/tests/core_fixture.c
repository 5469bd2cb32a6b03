// SPDX-License-Identifier: MIT
/* Copyright (C) 2026 The asahi driver authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agx_isa.h"
#include "core_fixture.h"

#define CODE_PAGES	2
#define CODE_SIZE	(CODE_PAGES * VAGX_UAT_PAGE_SIZE)

uint8_t *fixture_data;
uint8_t *fixture_const;
static uint8_t *code;

static uint8_t *area(uint64_t va, size_t len, enum vagx_access access)
{
	if (va >= CODE_VA && va + len <= CODE_VA + CODE_SIZE &&
	    access == VAGX_EXEC)
		return code + (va - CODE_VA);
	if (va >= DATA_VA && va + len <= DATA_VA + DATA_SIZE)
		return fixture_data + (va - DATA_VA);
	if (va >= CONST_VA && va + len <= CONST_VA + VAGX_UAT_PAGE_SIZE &&
	    access == VAGX_READ)
		return fixture_const + (va - CONST_VA);
	return NULL;
}

/* In place of the MMU; the entries of the cache stay empty */
void *vagx_tlb_ptr_slow(struct vagx_tlb *tlb, uint64_t va, size_t len,
			enum vagx_access access, struct vagx_uat_fault *fault)
{
	uint8_t *p = area(va, len, access);

	if (!p)
		*fault = (struct vagx_uat_fault){
			.va = va,
			.slot = tlb->slot,
			.access = access,
			.reason = VAGX_FAULT_UNMAPPED,
		};
	return p;
}

int fixture_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct vagx_core_config config = {
		.index = 3,
		.tlb = &f->tlb,
		.stop = &f->stop,
	};

	fixture_data = aligned_alloc(VAGX_UAT_PAGE_SIZE, DATA_SIZE);
	fixture_const = aligned_alloc(VAGX_UAT_PAGE_SIZE, VAGX_UAT_PAGE_SIZE);
	code = aligned_alloc(VAGX_UAT_PAGE_SIZE, CODE_SIZE);
	memset(fixture_data, 0xcc, DATA_SIZE);
	memset(fixture_const, 0, VAGX_UAT_PAGE_SIZE);
	f->core = vagx_core_new(&config);
	f->launch.code_va = CODE_VA;
	f->launch.vm_slot = 5;
	fixture_uniform64(f, 0, DATA_VA);
	fixture_uniform64(f, 4, CONST_VA);
	*state = f;
	return !f->core;
}

int fixture_teardown(void **state)
{
	struct fixture *f = *state;

	vagx_core_free(f->core);
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
	assert_true(program.size <= CODE_SIZE);
	/* Whatever runs into this stops with an error */
	memset(code, 0xff, CODE_SIZE);
	memcpy(code, program.code, program.size);
	free(program.code);
	f->launch.serial++;
}

void fixture_uniform64(struct fixture *f, unsigned int half, uint64_t value)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		f->launch.uniforms[half + i] = value >> i * 16;
}

int fixture_run(struct fixture *f, const char *text, unsigned int threads)
{
	static const uint32_t group[3];
	unsigned int i;

	fixture_code(f, text);
	for (i = 0; i < 3; i++) {
		f->launch.grid[i] = i ? 1 : threads;
		f->launch.local[i] = i ? 1 : threads;
	}
	return vagx_core_run_group(f->core, &f->launch, group, &f->fault);
}

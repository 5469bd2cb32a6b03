// SPDX-License-Identifier: MIT
/* Copyright (C) 2026 The asahi driver authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "jit_fixture.h"

struct fixture *jit_begin_config(const struct vagx_jit_config *config)
{
	struct fixture *f;
	void *state;

	assert_int_equal(fixture_setup(&state), 0);
	f = state;
	vagx_core_free(f->core);
	vagx_jit_free(f->config.jit);
	f->config.jit = vagx_jit_new(config, NULL);
	f->core = vagx_core_new(&f->config);
	assert_non_null(f->core);
	return f;
}

bool jit_has_mode(const char *mode)
{
	struct vagx_jit_config config;

	return vagx_jit_parse(mode, &config);
}

struct fixture *jit_begin(const char *mode)
{
	struct vagx_jit_config config = { .mode = VAGX_JIT_OFF };

	assert_true(vagx_jit_parse(mode, &config));
	return jit_begin_config(&config);
}

void jit_end(struct fixture *f)
{
	void *state = f;

	fixture_teardown(&state);
}

struct vagx_jit_stats jit_stats(struct fixture *f)
{
	struct vagx_jit_stats stats;

	vagx_jit_get_stats(f->config.jit, &stats);
	return stats;
}

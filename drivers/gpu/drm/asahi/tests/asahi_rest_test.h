/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What tests expect of blocks that have nothing to do.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_REST_TEST_H
#define ASAHI_REST_TEST_H

#include <kunit/test.h>

#include <drm/drm_print.h>

#include "asahi_block.h"
#include "asahi_rest.h"

static inline void rest_printfn(struct drm_printer *p, struct va_format *vaf)
{
	kunit_err((struct kunit *)p->arg, "%pV", vaf);
}

/* A look at one block or table, each line of which is a failure of the test. */
static inline struct drm_printer rest_printer(struct kunit *test)
{
	return (struct drm_printer) { .printfn = rest_printfn, .arg = test };
}

/* Nothing is looked at without CONFIG_DRM_ASAHI_DEBUG. */
static inline void expect_at_rest(struct kunit *test, const struct asahi_block *block,
				  struct asahi_device *adev, unsigned int levels)
{
	struct drm_printer p = rest_printer(test);
	struct asahi_rest rest = { .levels = levels, .name = block->name, .p = &p };

	if (block->at_rest)
		block->at_rest(adev, &rest);
	KUNIT_EXPECT_EQ(test, rest.broken, 0);
}

#endif

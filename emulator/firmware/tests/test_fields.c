// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The table of firmware structures, against itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../fields.h"

static void test_bounds(void **state)
{
	for (unsigned int i = 0; i < FW_FIELD_COUNT; i++) {
		const struct fw_field_desc *field = &fw_fields[i];

		assert_true(field->count > 0);
		for (unsigned int abi = 0; abi < FW_ABI_COUNT; abi++) {
			if (field->offset[abi] == FW_ABSENT)
				continue;
			if (field->offset[abi] + fw_field_size(i) >
			    fw_structs[field->structure].size[abi])
				fail_msg("%s.%s ends behind its structure",
					 fw_structs[field->structure].name, field->name);
		}
	}
}

/* No two fields of a structure share a byte, and no two have one name */
static void test_overlaps(void **state)
{
	for (unsigned int i = 0; i < FW_FIELD_COUNT; i++) {
		for (unsigned int j = i + 1; j < FW_FIELD_COUNT; j++) {
			const struct fw_field_desc *a = &fw_fields[i], *b = &fw_fields[j];

			if (a->structure != b->structure)
				continue;
			assert_string_not_equal(a->name, b->name);
			for (unsigned int abi = 0; abi < FW_ABI_COUNT; abi++) {
				if (a->offset[abi] == FW_ABSENT || b->offset[abi] == FW_ABSENT)
					continue;
				if (a->offset[abi] < b->offset[abi] + fw_field_size(j) &&
				    b->offset[abi] < a->offset[abi] + fw_field_size(i))
					fail_msg("%s: %s and %s overlap",
						 fw_structs[a->structure].name, a->name, b->name);
			}
		}
	}
}

static void test_sources(void **state)
{
	for (unsigned int i = 0; i < FW_STRUCT_COUNT; i++)
		assert_true(strstr(fw_structs[i].source, ".py") ||
			    strstr(fw_structs[i].source, ".rs"));
	for (unsigned int i = 0; i < FW_FIELD_COUNT; i++)
		assert_true(strstr(fw_fields[i].source, ".py") ||
			    strstr(fw_fields[i].source, ".rs"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_overlaps),
		cmocka_unit_test(test_sources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

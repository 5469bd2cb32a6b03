// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The driver's firmware structures against the emulator's table. They were
 * written by different hands from different references, so that they agree is
 * evidence; and shifting any offset on either side has to be noticed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "layout.h"

#define STRUCT_MAX 0x20000
#define ALL_STRUCTS FW_STRUCT_COUNT

static const struct layout *const layouts[] = {
	&layout_g13_12_3,
	&layout_g14g_12_4,
	&layout_g13_13_5,
	&layout_g14g_13_5,
	&layout_g14x_13_5,
};

#define LAYOUTS (sizeof(layouts) / sizeof(layouts[0]))

/* A comparison under way: both sides as copies that a test may spoil */
struct comparison {
	const struct layout *layout;
	struct layout_item *items;
	uint32_t offset[FW_FIELD_COUNT];
	uint32_t size[FW_STRUCT_COUNT];
	unsigned int used[FW_FIELD_COUNT];
	uint8_t *covered;
	bool loud;
	unsigned int differences;
};

struct extent {
	size_t start;
	size_t end;
	const char *name;
	bool any;
};

static void differ(struct comparison *comparison, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void differ(struct comparison *comparison, const char *fmt, ...)
{
	va_list args;

	comparison->differences++;
	if (!comparison->loud)
		return;
	va_start(args, fmt);
	print_error("%s: ", comparison->layout->name);
	vprint_error(fmt, args);
	print_error("\n");
	va_end(args);
}

/* The next piece of one side of a span: it begins where the one before ended */
static void extend(struct comparison *comparison, struct extent *extent, size_t offset, size_t size,
		   const char *name)
{
	if (!extent->any) {
		extent->start = offset;
		extent->name = name;
		extent->any = true;
	} else if (offset != extent->end) {
		differ(comparison, "%s is at %#zx, not behind %s", name, offset, extent->name);
	}
	extent->end = offset + size;
}

static void cover(struct comparison *comparison, const struct layout_item *group,
		  const struct layout_item *item)
{
	for (size_t i = item->offset; i < item->offset + item->size; i++) {
		if (i >= group->size) {
			differ(comparison, "%s ends behind its structure", item->name);
			return;
		}
		if (comparison->covered[i]++ && group->coverage == LAYOUT_FULL) {
			differ(comparison, "%s overlaps another member at %#zx", item->name, i);
			return;
		}
	}
}

static size_t compare_span(struct comparison *comparison, const struct layout_item *group, size_t i)
{
	bool start_only = comparison->items[i].kind == LAYOUT_IS_START;
	struct extent driver = { 0 }, table = { 0 };

	for (i++; i < comparison->layout->count; i++) {
		const struct layout_item *item = &comparison->items[i];

		if (item->kind == LAYOUT_IS_DRIVER) {
			extend(comparison, &driver, item->offset, item->size, item->name);
			cover(comparison, group, item);
		} else if (item->kind == LAYOUT_IS_TABLE) {
			comparison->used[item->id]++;
			if (comparison->offset[item->id] == FW_ABSENT)
				differ(comparison, "%s does not exist", item->name);
			extend(comparison, &table, comparison->offset[item->id],
			       fw_field_size(item->id), item->name);
		} else {
			break;
		}
	}
	if (!driver.any || !table.any)
		differ(comparison, "%s has no counterpart", driver.any ? driver.name : table.name);
	else if (driver.start != table.start || (!start_only && driver.end != table.end))
		differ(comparison, "%s %#zx to %#zx, %s %#zx to %#zx", driver.name, driver.start,
		       driver.end, table.name, table.start, table.end);
	return i;
}

static void finish_group(struct comparison *comparison, const struct layout_item *group)
{
	if (group->coverage != LAYOUT_FULL)
		return;
	if (group->size != comparison->size[group->id])
		differ(comparison, "%s has %#zx bytes, %s %#x", group->name, group->size,
		       fw_structs[group->id].name, comparison->size[group->id]);
	for (size_t i = 0; i < group->size; i++) {
		if (comparison->covered[i])
			continue;
		differ(comparison, "%s: nothing is said about %#zx", group->name, i);
		break;
	}
	for (unsigned int i = 0; i < FW_FIELD_COUNT; i++) {
		bool exists =
			fw_fields[i].structure == group->id && comparison->offset[i] != FW_ABSENT;

		if (exists && comparison->used[i] != 1)
			differ(comparison, "%s.%s is compared %u times", fw_structs[group->id].name,
			       fw_fields[i].name, comparison->used[i]);
	}
}

/* Where the group that begins at @i ends */
static size_t skip_group(const struct comparison *comparison, size_t i)
{
	do {
		i++;
	} while (i < comparison->layout->count && comparison->items[i].kind != LAYOUT_IS_GROUP);
	return i;
}

/* Compares the groups of structure @only, or with ALL_STRUCTS each group. */
static void compare(struct comparison *comparison, unsigned int only)
{
	const struct layout_item *group = NULL;
	size_t i = 0;

	comparison->differences = 0;
	while (i < comparison->layout->count) {
		const struct layout_item *item = &comparison->items[i];

		/* One difference is enough when nobody reads them. */
		if (comparison->differences && !comparison->loud)
			return;

		switch (item->kind) {
		case LAYOUT_IS_GROUP:
			if (only != ALL_STRUCTS && item->id != only) {
				i = skip_group(comparison, i);
				break;
			}
			if (group)
				finish_group(comparison, group);
			group = item;
			assert_true(group->size <= STRUCT_MAX);
			memset(comparison->covered, 0, group->size);
			memset(comparison->used, 0, sizeof(comparison->used));
			i++;
			break;
		case LAYOUT_IS_PAD:
			cover(comparison, group, item);
			i++;
			break;
		default:
			i = compare_span(comparison, group, i);
			break;
		}
	}
	assert_non_null(group);
	finish_group(comparison, group);
	if (comparison->layout->hwdata_a_size != comparison->size[FW_S_HwDataA])
		differ(comparison, "HwDataA has %#zx bytes, not %#x",
		       comparison->layout->hwdata_a_size, comparison->size[FW_S_HwDataA]);
}

static void start(struct comparison *comparison, const struct layout *layout)
{
	memset(comparison, 0, sizeof(*comparison));
	comparison->layout = layout;
	comparison->items = malloc(layout->count * sizeof(*layout->items));
	comparison->covered = malloc(STRUCT_MAX);
	assert_non_null(comparison->items);
	assert_non_null(comparison->covered);
	memcpy(comparison->items, layout->items, layout->count * sizeof(*layout->items));
	for (unsigned int i = 0; i < FW_FIELD_COUNT; i++)
		comparison->offset[i] = fw_fields[i].offset[layout->abi];
	for (unsigned int i = 0; i < FW_STRUCT_COUNT; i++)
		comparison->size[i] = fw_structs[i].size[layout->abi];
}

static void stop(struct comparison *comparison)
{
	free(comparison->items);
	free(comparison->covered);
}

static void test_equal(void **state)
{
	unsigned int differences = 0;

	for (unsigned int i = 0; i < LAYOUTS; i++) {
		struct comparison comparison;

		start(&comparison, layouts[i]);
		comparison.loud = true;
		compare(&comparison, ALL_STRUCTS);
		stop(&comparison);
		differences += comparison.differences;
	}
	assert_int_equal(differences, 0);
}

static void expect_difference(struct comparison *comparison, unsigned int only, const char *name)
{
	compare(comparison, only);
	if (!comparison->differences)
		fail_msg("%s: %s was shifted and nothing was noticed", comparison->layout->name,
			 name);
}

/* Both to a neighbouring byte and to a neighbouring word: the latter keeps alignment */
static const int shifts[] = { 1, -1, 4, -4 };

static void test_shifted_driver(void **state)
{
	struct comparison comparison;
	unsigned int mutations = 0;

	for (unsigned int l = 0; l < LAYOUTS; l++) {
		unsigned int group = ALL_STRUCTS;

		start(&comparison, layouts[l]);
		for (size_t i = 0; i < layouts[l]->count; i++) {
			struct layout_item *item = &comparison.items[i];
			size_t saved = item->offset;

			if (item->kind == LAYOUT_IS_GROUP)
				group = item->id;
			if (item->kind != LAYOUT_IS_DRIVER && item->kind != LAYOUT_IS_PAD)
				continue;
			for (unsigned int s = 0; s < 4; s++, mutations++) {
				item->offset = saved + shifts[s];
				expect_difference(&comparison, group, item->name);
			}
			item->offset = saved;
		}
		stop(&comparison);
	}
	print_message("# %u shifts on the driver's side\n", mutations);
}

/* Rows of structures that are compared as a whole, and whatever else is named */
static bool is_compared(const struct layout *layout, unsigned int field)
{
	for (size_t i = 0; i < layout->count; i++) {
		const struct layout_item *item = &layout->items[i];

		if (item->kind == LAYOUT_IS_TABLE && item->id == field)
			return true;
		if (item->kind == LAYOUT_IS_GROUP && item->coverage == LAYOUT_FULL &&
		    item->id == fw_fields[field].structure)
			return fw_fields[field].offset[layout->abi] != FW_ABSENT;
	}
	return false;
}

static void test_shifted_table(void **state)
{
	struct comparison comparison;
	unsigned int mutations = 0;

	for (unsigned int l = 0; l < LAYOUTS; l++) {
		start(&comparison, layouts[l]);
		for (unsigned int i = 0; i < FW_FIELD_COUNT; i++) {
			uint32_t saved = comparison.offset[i];

			if (!is_compared(layouts[l], i))
				continue;
			for (unsigned int s = 0; s < 4; s++, mutations++) {
				comparison.offset[i] = saved + shifts[s];
				expect_difference(&comparison, fw_fields[i].structure, fw_fields[i].name);
			}
			comparison.offset[i] = saved;
		}
		stop(&comparison);
	}
	print_message("# %u shifts on the table's side\n", mutations);
}

static void test_resized(void **state)
{
	struct comparison comparison;

	for (unsigned int l = 0; l < LAYOUTS; l++) {
		start(&comparison, layouts[l]);
		for (size_t i = 0; i < layouts[l]->count; i++) {
			struct layout_item *item = &comparison.items[i];

			if (item->kind != LAYOUT_IS_GROUP || item->coverage != LAYOUT_FULL)
				continue;
			item->size += 4;
			expect_difference(&comparison, item->id, item->name);
			item->size -= 4;
			comparison.size[item->id] += 4;
			expect_difference(&comparison, item->id, item->name);
			comparison.size[item->id] -= 4;
		}
		stop(&comparison);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal),
		cmocka_unit_test(test_shifted_driver),
		cmocka_unit_test(test_shifted_table),
		cmocka_unit_test(test_resized),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Rules about many words of a structure: words.def has each word that the firmware compares, and
 * the rule that it breaks when one bit of it is another. With WORDS_LIST in the environment the
 * program prints that list, as the firmware has it now.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rig_render.h"

#define WIDTH	200
#define HEIGHT	100

/**
 * struct words - structures that are good, but for one word
 * @rig: driver's side
 * @queue: of compute
 * @command: of it
 * @renderer: two queues
 * @render: two commands
 */
struct words {
	struct rig *rig;
	struct rig_queue queue;
	struct rig_command command;
	struct rig_renderer renderer;
	struct rig_render render;
};

static struct rig_ptr at_offset(struct rig_ptr at, uint32_t offset)
{
	return (struct rig_ptr){ .va = at.va + offset, .host = at.host + offset };
}

/* Where a structure is; all but InitData's exist only after the boot */
static struct rig_ptr words_find(struct words *w, enum fw_struct_id type)
{
	struct rig_ptr compute = w->command.command, vertex = w->render.vertex.command,
		       fragment = w->render.fragment.command;

	switch (type) {
	case FW_S_InitData:
		return w->rig->init;
	case FW_S_UatLevelInfo:
		return sub(w->rig->init, FW_InitData_uat_level_info, type, 1);
	case FW_S_QueueInfo:
		return w->queue.info;
	case FW_S_JobList:
		return w->queue.list;
	case FW_S_GpuContextData:
		return w->queue.context;
	case FW_S_RunCompute:
		return compute;
	case FW_S_ComputeInfo:
		return sub(compute, FW_RunCompute_compute_info, type, 0);
	case FW_S_JobMeta:
		return sub(compute, FW_RunCompute_job_meta, type, 0);
	case FW_S_StartCompute:
		return w->command.sequence;
	case FW_S_Timestamp:
		return at_offset(w->command.sequence, fw_structs[FW_S_StartCompute].size[RIG_ABI]);
	case FW_S_FinalizeCompute:
		return at_offset(w->command.sequence, w->command.finalize);
	case FW_S_RunVertex:
		return vertex;
	case FW_S_TilingParameters:
		return sub(vertex, FW_RunVertex_tiling_params, type, 0);
	case FW_S_TaStruct2:
		return sub(vertex, FW_RunVertex_struct_2, type, 0);
	case FW_S_StartVertex:
		return w->render.vertex.sequence;
	case FW_S_FinalizeVertex:
		return at_offset(w->render.vertex.sequence, w->render.vertex.finalize);
	case FW_S_RunFragment:
		return fragment;
	case FW_S_FragmentStruct1:
		return sub(fragment, FW_RunFragment_struct_1, type, 0);
	case FW_S_FragmentStruct2:
		return sub(fragment, FW_RunFragment_struct_2, type, 0);
	case FW_S_StartFragment:
		return w->render.fragment.sequence;
	case FW_S_FinalizeFragment:
		return at_offset(w->render.fragment.sequence, w->render.fragment.finalize);
	default:
		return (struct rig_ptr){ 0 };
	}
}

static bool is_of_rendering(enum fw_struct_id type)
{
	switch (type) {
	case FW_S_RunVertex:
	case FW_S_TilingParameters:
	case FW_S_TaStruct2:
	case FW_S_StartVertex:
	case FW_S_FinalizeVertex:
	case FW_S_RunFragment:
	case FW_S_FragmentStruct1:
	case FW_S_FragmentStruct2:
	case FW_S_StartFragment:
	case FW_S_FinalizeFragment:
		return true;
	default:
		return false;
	}
}

static bool is_of_initdata(enum fw_struct_id type)
{
	return type == FW_S_InitData || type == FW_S_UatLevelInfo;
}

static void words_flip(struct words *w, enum fw_field_id field, unsigned int index)
{
	struct rig_ptr at = words_find(w, fw_fields[field].structure);
	size_t size = fw_kind_size(fw_fields[field].kind);
	uint64_t value = 0;

	memcpy(&value, at.host + fw_fields[field].offset[RIG_ABI] + index * size, size);
	put_at(at, field, index, value ^ 1);
}

/* Boots and submits work, all of which is good but for one bit of a word */
static struct words *words_run(enum fw_field_id field, unsigned int index)
{
	enum fw_struct_id type = fw_fields[field].structure;
	struct words *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->rig = rig_new();
	if (is_of_initdata(type))
		words_flip(w, field, index);
	rig_boot(w->rig);
	if (is_of_rendering(type)) {
		rig_renderer_new(w->rig, &w->renderer, 10, 8);
		rig_render_new(w->rig, &w->renderer, &w->render, WIDTH, HEIGHT);
		words_flip(w, field, index);
		rig_render_submit(w->rig, &w->renderer, &w->render);
	} else if (!is_of_initdata(type)) {
		rig_queue_new(w->rig, &w->queue, 2, 6);
		rig_compute_new(w->rig, &w->queue, &w->command);
		words_flip(w, field, index);
		rig_submit(w->rig, &w->queue, w->command.command.va);
	}
	return w;
}

static void words_free(struct words *w)
{
	rig_free(w->rig);
	free(w);
}

/* Rules that are about many words; others have their own provocations */
static const enum vagx_rule words_rules[] = {
	VAGX_RULE_FW_INIT_VERSION,    VAGX_RULE_FW_INIT_UAT_LEVELS,
	VAGX_CLAUSE_FW_QUEUE_INFO_word, VAGX_RULE_FW_QUEUE_JOBLIST,
	VAGX_RULE_FW_QUEUE_CONTEXT,   VAGX_RULE_FW_QUEUE_PRIORITY,
	VAGX_RULE_FW_COMMAND_INFO,    VAGX_RULE_FW_COMMAND_SEQUENCE,
	VAGX_RULE_FW_MSEQ_POINTER,    VAGX_RULE_FW_MSEQ_FIELD,
	VAGX_CLAUSE_FW_RENDER_TILING_word,
};

#define RULES	(sizeof(words_rules) / sizeof(words_rules[0]))

struct word {
	enum fw_field_id field;
	unsigned int index;
	enum vagx_rule rule;
};

#define WORD(structure, field, index, rule) { FW_##structure##_##field, index, VAGX_##rule },
static const struct word words[] = {
#include "words.def"
};
#undef WORD

#define WORDS	(sizeof(words) / sizeof(words[0]))

static void test_word(void **state)
{
	const struct word *word = *state;
	struct words *w = words_run(word->field, word->index);

	assert_true(rig_wait_rule(w->rig, word->rule));
	words_free(w);
}

/* Every rule of those is here */
static void test_all_rules(void **state)
{
	for (unsigned int i = 0; i < RULES; i++) {
		bool found = false;

		for (unsigned int n = 0; n < WORDS && !found; n++)
			found = words[n].rule == words_rules[i];
		if (!found)
			fail_msg("%s has no word", vagx_rule_info(words_rules[i])->id);
	}
}

static bool is_over(struct rig *rig, const void *arg)
{
	const unsigned int *naps = arg;

	(*(unsigned int *)naps)++;
	return *naps > 120 || vagx_fw_is_crashed(rig->fw);
}

static void list_word(enum fw_field_id field, unsigned int index)
{
	struct words *w = words_run(field, index);
	unsigned int naps = 0;

	rig_wait(w->rig, is_over, &naps);
	for (unsigned int i = 0; i < RULES; i++) {
		const char *id = vagx_rule_info(words_rules[i])->id, *colon = strchr(id, ':');

		if (!vagx_report_count(w->rig->report, words_rules[i]))
			continue;
		printf("WORD(%s, %s, %u, %s%.*s%s%s)\n",
		       fw_structs[fw_fields[field].structure].name, fw_fields[field].name, index,
		       colon ? "CLAUSE_" : "RULE_", colon ? (int)(colon - id) : (int)strlen(id),
		       id, colon ? "_" : "", colon ? colon + 1 : "");
	}
	words_free(w);
}

static int list_words(void)
{
	for (unsigned int field = 0; field < FW_FIELD_COUNT; field++) {
		const struct fw_field_desc *desc = &fw_fields[field];
		bool known = is_of_rendering(desc->structure) || is_of_initdata(desc->structure);

		known |= desc->structure == FW_S_QueueInfo || desc->structure == FW_S_JobList ||
			 desc->structure == FW_S_GpuContextData ||
			 desc->structure == FW_S_RunCompute ||
			 desc->structure == FW_S_ComputeInfo || desc->structure == FW_S_JobMeta ||
			 desc->structure == FW_S_StartCompute ||
			 desc->structure == FW_S_Timestamp ||
			 desc->structure == FW_S_FinalizeCompute;
		if (!known || desc->kind == FW_KIND_RAW || desc->offset[RIG_ABI] == FW_ABSENT)
			continue;
		for (unsigned int i = 0; i < desc->count && i < 4; i++)
			list_word(field, i);
	}
	return 0;
}

int main(void)
{
	static struct CMUnitTest tests[WORDS + 1];
	static char names[WORDS][96];

	if (getenv("WORDS_LIST"))
		return list_words();
	for (unsigned int i = 0; i < WORDS; i++) {
		const struct fw_field_desc *desc = &fw_fields[words[i].field];

		snprintf(names[i], sizeof(names[i]), "%s by %s.%s %u",
			 vagx_rule_info(words[i].rule)->id, fw_structs[desc->structure].name,
			 desc->name, words[i].index);
		tests[i].name = names[i];
		tests[i].test_func = test_word;
		tests[i].initial_state = (void *)&words[i];
	}
	tests[WORDS] = (struct CMUnitTest)cmocka_unit_test(test_all_rules);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_FW_PROVOKE_H
#define VAGX_FW_PROVOKE_H

#include "rig.h"

/* What test_rules.c, provoke_boot.c and provoke_commands.c share */

enum outcome { GOES_ON, CRASHES };

/**
 * struct provocation - breaks a clause of a rule
 * @rule: the clause, or a rule that has none
 * @name: of the test
 * @provoke: breaks it
 * @outcome: what becomes of the firmware
 * @soc: on which SoC; NULL is an M1
 * @timeout_ms: of jobs, as in struct rig_options
 * @also: what else is broken by that, up to VAGX_KEPT
 */
struct provocation {
	enum vagx_rule rule;
	const char *name;
	void (*provoke)(struct rig *rig);
	enum outcome outcome;
	const char *soc;
	unsigned int timeout_ms;
	const enum vagx_rule *also;
};

/* What cannot be left out when this is provoked */
#define ALSO(...) .also = (const enum vagx_rule[]){ __VA_ARGS__, VAGX_KEPT }

#define PROVOKE(rule_, name_, outcome_, ...) \
	{ .rule = VAGX_RULE_##rule_, .name = #name_, .provoke = provoke_##name_, \
	  .outcome = outcome_, __VA_ARGS__ }
#define CLAUSE(rule_, clause, name_, outcome_, ...) \
	{ .rule = VAGX_CLAUSE_##rule_##_##clause, .name = #name_, .provoke = provoke_##name_, \
	  .outcome = outcome_, __VA_ARGS__ }

void flip(struct rig_ptr at, enum fw_field_id field);
void clear_pte(struct rig *rig, uint64_t va);
void make_cached(struct rig *rig, uint64_t va);
struct rig_ptr info_of(struct rig_command *command);
struct rig_ptr meta_of(struct rig_command *command);
struct rig_ptr finalize_of(struct rig_command *command);
/* Sends RecoverChannel */
void recover(struct rig *rig, struct rig_queue *queue, uint32_t value);

/* Boots, and runs one compute command after @change had a look at it */
void run_changed(struct rig *rig, void (*change)(struct rig *rig, struct rig_queue *queue,
						 struct rig_command *command));

/* A provocation by a change of one command */
#define CHANGED(name)                                                       \
	static void change_##name(struct rig *rig, struct rig_queue *queue, \
				  struct rig_command *command);             \
	static void provoke_##name(struct rig *rig)                         \
	{                                                                   \
		run_changed(rig, change_##name);                            \
	}                                                                   \
	static void change_##name(struct rig *rig, struct rig_queue *queue, \
				  struct rig_command *command)

/* Of the coprocessor's life, the handoff page, InitData, rings and device control */
extern const struct provocation provoke_boot[];
extern const unsigned int provoke_boot_count;
/* Of queues, commands and microsequences */
extern const struct provocation provoke_commands[];
extern const unsigned int provoke_commands_count;

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Shadows: what is known of each register and each byte of memory besides its value. A core's
 * thread uses them, without locks.
 */
#ifndef VAGX_SANITIZER_SHADOW_H
#define VAGX_SANITIZER_SHADOW_H

#include "gpu/core_internal.h"
#include "sanitizer/findings.h"
#include "sanitizer/sanitizer.h"

#define HALVES	AGX_ISA_REGISTERS

/* Where a value comes from that nothing has written: its kind, and a number */
enum origin_kind {
	ORIGIN_REGISTER,	/* of the 16-bit register */
	ORIGIN_LOCAL,		/* of the byte */
	ORIGIN_PRIVATE,
	ORIGIN_UNIFORM,		/* of the 16-bit register */
	ORIGIN_TILE,		/* of the byte */
};

struct origin {
	enum origin_kind kind;
	uint32_t number;
};

/* A 16-bit register of all lanes; each member but @origin is a mask of lanes */
struct shadow_register {
	/* nothing has written it, or it was computed from what nothing has written */
	uint32_t unwritten;
	/* a load of each group may still write it */
	uint32_t pending[2];
	/* its last use was announced */
	uint32_t discarded;
	/* where a value that is unwritten comes from */
	struct origin origin;
};

/* Results of asynchronous instructions that have not reached their registers, at most */
#define MAX_LATE	32
/* Registers of such a result: five of 32 bits, or of 16 bits from an upper half on */
#define LATE_REGISTERS	6

/* The result of an asynchronous instruction: 16-bit registers from @first to before @end */
struct late {
	unsigned int group;
	uint32_t lanes;
	unsigned int first;
	unsigned int end;
	/* what is in the registers otherwise: the result, or what was there before */
	struct lanes value[LATE_REGISTERS];
};

struct shadow_simdgroup {
	struct shadow_register reg[HALVES];
	/* how many of them the program can reach */
	unsigned int halves;
	/* oldest first; only if the cores are unkind */
	struct late late[MAX_LATE];
	unsigned int num_late;
	/* for each byte of private memory, the lanes where it is unwritten */
	uint32_t *private_unwritten;
	uint32_t private_size;
	/* registers of the thread that is watched, before the last instruction */
	uint32_t watched[REGISTERS];
	/* and its lane; LANES if there was none */
	unsigned int watched_lane;
	/* lanes that have waited for earlier fragments of their pixels */
	uint32_t pixel_waited;
	/* when it has last made an atomic on device memory */
	uint32_t synchronized;
};

/*
 * A byte of local memory. Epochs count barriers, and begin anew with each group: what happened in
 * an earlier epoch happened before. An epoch of 0 is before all others.
 */
struct shadow_byte {
	/* epochs of the last store, of the last atomics, and of the last loads */
	uint32_t stored;
	uint32_t counted;
	uint32_t loaded;
	/* simdgroups that have made atomics, and that have loaded, in these epochs */
	uint32_t counters;
	uint32_t readers;
	/* simdgroup that has stored last */
	uint8_t writer;
	/* what was stored is what nothing has written */
	bool unwritten;
};

struct descriptors;
struct device_cells;
struct late_stores;
struct profile_core;

struct vagx_shadow {
	/* mistakes are reported; what can be late is */
	bool check;
	bool unkind;
	/* of each opcode, whether results come later */
	bool later[AGX_OP_COUNT];
	/* shared with other cores */
	struct findings *findings;
	struct device_cells *cells;
	/* NULL if nothing is watched; how often that was printed, by all cores */
	const struct vagx_watch *watch;
	atomic_uint *watch_prints;
	struct vagx_report *report;
	/* counts of this core, or NULL */
	struct profile_core *profile;
	/* record of all cores, or NULL */
	struct descriptors *descriptors;
	/* as in struct vagx_sanitizer_config */
	unsigned int (*page_bytes)(void *ctx, const void *page);
	void *ctx;
	struct shadow_simdgroup *simdgroup[MAX_SIMDGROUPS];
	/* VAGX_CORE_MAX_SHARED of them; NULL until one is needed */
	struct shadow_byte *local;
	uint32_t epoch;
	/* the first epoch of the group */
	uint32_t group_epoch;
	/* for each byte of the tile, whether it was stored; NULL until one is needed */
	uint8_t *tile;
	/* what was stored late; NULL if stores are visible at once */
	struct late_stores *stores;
};

/* One instruction, while it runs */
struct step {
	struct simdgroup *sg;
	struct shadow_simdgroup *shadow;
	const struct op *op;
	/* lanes that were active before it */
	uint32_t exec;
	/* its result comes later */
	bool later;
	/* lanes whose result is unwritten, and where that comes from */
	uint32_t unwritten;
	struct origin origin;
};

/* What the shadow of a source says of all of its 16-bit registers */
struct source_state {
	uint32_t unwritten;
	struct origin origin;
};

/* registers.c */
/* The destination of an instruction with all that is written to it */
struct agx_operand shadow_result(const struct op *op);
/* The 16-bit register behind those of an operand */
static inline unsigned int shadow_end_of(const struct agx_operand *o)
{
	unsigned int end = (unsigned int)o->value + (o->count ? o->count : 1u) * o->size / 16u;

	return end < HALVES ? end : HALVES;
}

/* The shadow of a source of up to four values, in the lanes of @exec */
struct source_state shadow_read(const struct step *step, const struct agx_operand *o);
/* Reports sources and destinations that are pending or discarded, before the instruction */
void shadow_check_registers(const struct step *step);
/* Finds whether the result is unwritten, from the sources, before the instruction */
void shadow_compute(struct step *step);
/* Notes what the instruction has done to registers, after it */
void shadow_note_registers(const struct step *step);
/* Reports the use of something unwritten */
void shadow_report_unwritten(const struct step *step, enum finding_kind kind,
			     const struct source_state *state);

/* fragments.c: checks rules of fragment shaders, before the instruction */
void shadow_check_fragments(const struct step *step);

/* memory.c */
/* Checks an access before it, and finds whether what it loads is unwritten */
void shadow_access(struct step *step);

/* tiles.c: notes what a tile's store writes, and finds whether what is loaded is unwritten */
void shadow_reach_tile(struct step *step);

/* late.c: before and after an instruction of unkind cores */
void late_before(const struct step *step);
void late_after(const struct step *step);

/* stores.c */
struct late_stores *late_stores_new(void);
void late_stores_free(struct late_stores *stores);
/* A threadgroup, or the simdgroup of a stage, begins */
void late_stores_begin_group(struct vagx_core *core);
/* Before an instruction: has stores become visible, if it is a fence */
void late_stores_order(const struct step *step);
/* Brings all to memory */
void late_stores_settle(struct late_stores *stores);

/* watch.c: prints the thread that is watched, if it is at its place, before the instruction */
void watch_before(const struct step *step);

/* device.c */
struct device_cells *device_cells_new(uint64_t memory);
void device_cells_free(struct device_cells *cells);
/* Checks and notes an access of device memory. Only compute shaders can race. */
void device_access(const struct step *step, const struct elements *e);
/* Has the core tell of texels that the threads of a group reach, if they can race */
void shadow_follow_texels(struct vagx_core *core);

/* sanitizer.c: fills in what all cores have of a sanitizer. Return: false without memory. */
bool sanitizer_init_shadow(struct vagx_sanitizer *sanitizer, struct vagx_shadow *shadow);

#endif /* VAGX_SANITIZER_SHADOW_H */

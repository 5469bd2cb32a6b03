/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_FW_RIG_H
#define VAGX_FW_RIG_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "../../clock.h"
#include "../../gpu/gpu.h"
#include "../../gpu/render.h"
#include "../../guest_memory.h"
#include "../../report.h"
#include "../../soc.h"
#include "../../uat.h"
#include "../fields.h"
#include "../firmware.h"
#include "../fw_registers.h"

/*
 * A driver's side in this process: guest RAM, page tables and structures
 * built by the firmware's own table, messages put into rings, and units that
 * do what a test tells them.
 */

/* The firmware's interface of the machine that rig_new_with() has made last */
extern enum fw_abi rig_abi;

#define RIG_ABI		rig_abi
#define RIG_RAM		(64UL << 20)
#define RIG_RAM_BASE	0x40000000ULL
#define RIG_CONTEXT	5

enum rig_heap { RIG_PRIVATE, RIG_GPU_RO, RIG_SHARED, RIG_TIMESTAMP, RIG_HEAPS };

/* A structure: its address and where it is in our memory */
struct rig_ptr {
	uint64_t va;
	uint8_t *host;
};

struct rig_ring {
	struct rig_ptr state;
	struct rig_ptr entries;
	uint32_t wptr;
};

#define RIG_JOBS	4096
#define RIG_OWN		5	/* pieces of memory that the firmware alone writes to */
#define RIG_PAGES	64

/* What the units do with the next jobs, and what they did */
struct rig_units {
	uint64_t only;			/* the base of jobs that this is about, 0: any job */
	enum vagx_gpu_status status;	/* of one job */
	bool hang;			/* until cancelled, or until this is false again */
	bool idle;			/* without using processor time */
	uint64_t faults;		/* the base of jobs that fault besides */
	struct vagx_uat_fault fault;
	unsigned int unit;
	unsigned int jobs;
	unsigned int running;
	unsigned int most;		/* at once */
	unsigned int cancelled;
	uint64_t began[RIG_JOBS];	/* bases of jobs, as they began and as they ended */
	uint64_t ended[RIG_JOBS];
	unsigned int over;
	unsigned int last_slot;
	struct vagx_compute_registers last;
	struct vagx_vertex_registers last_vertex;
	struct vagx_fragment_registers last_fragment;
	unsigned int vertex_pages;	/* that vertex work takes */
	uint64_t page[RIG_PAGES];	/* that it has taken, and fragment work gives back */
	unsigned int pages;
	unsigned int partial;		/* fragment work so far */
	unsigned int final;
};

struct rig {
	int fd;
	uint8_t *ram;
	uint64_t ram_next;
	uint64_t heap_next[RIG_HEAPS];
	uint64_t user_next;
	uint64_t ttbs, root, user_root, handoff;
	struct vagx_mem *mem;
	struct vagx_uat *uat;
	struct vagx_report *report;
	FILE *stream;
	struct vagx_clock *clock;
	struct vagx_firmware *fw;
	const struct vagx_soc *soc;

	struct rig_ptr init, runtime, globals, status, hwdata_a, hwdata_b, stats3d, bufmgr,
		log_payload;
	struct rig_ptr own[RIG_OWN];
	struct rig_ring channel[17];
	struct rig_ring fwctl;
	struct rig_ptr stamps, fw_stamps;
	uint32_t event_rptr;

	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned int notifications;
	bool crashed;
	bool block_send;
	bool blocked;
	struct vagx_uat_fault fault;
	unsigned int fault_unit;
	bool fault_set;
	bool deaf;
	uint64_t fault_value;
	struct rig_units units;
};

struct rig_queue {
	struct rig_ptr info, pointers, ring, context, notifier, threshold, list;
	unsigned int pipe, slot;
	uint32_t wptr;
	uint32_t stamp;
	uint32_t sequence;	/* of the next command with a stamp */
	bool known;
};

struct rig_command {
	struct rig_ptr command, sequence;
	uint32_t start, finalize, end;	/* offsets of operations */
	uint32_t stamp;
};

/* What a test wants otherwise than rig_new() has it */
/* A job's time in tests of timeouts */
#define RIG_TIMEOUT_MS	300

struct rig_options {
	const char *soc;		/* NULL: T8103; commands are those of firmware 13.5 */
	bool as_m1n1;			/* register ranges */
	enum vagx_power_off power_off;
	unsigned int dirty_ms;		/* 0: as in the machine */
	unsigned int halt_delay_ms;
	unsigned int event_delay_ms;
	unsigned int doorbell_delay_ms;
	bool serial;
	bool unfair;
	bool statistics;
	bool late_threshold;
	unsigned int tvb_pages;
	bool tvb_grow;
	bool exec;			/* units take pages, instead of the firmware */
	unsigned int timeout_ms;	/* of a job; 0: as long as a test waits for anything */
	FILE *dump;
	uint64_t seed;			/* 0: that of the environment's RIG_SEED, or 1 */
};

struct rig *rig_new(void);
struct rig *rig_new_with(const struct rig_options *options);
void rig_free(struct rig *rig);
void rig_drop(struct rig *rig);				/* whatever the firmware still holds */
void rig_map_ram(struct rig *rig);			/* as rig_new() does */

/* Start, INIT and device control's Initialize; waits for the latter or a crash */
void rig_boot(struct rig *rig);
void rig_init(struct rig *rig);
/* The driver's side of the rings as before INIT; the firmware must be at rest */
void rig_forget_rings(struct rig *rig);
/* And the firmware's own memory, for one that is not woken but started */
void rig_forget(struct rig *rig);
void rig_initialize(struct rig *rig);
void rig_doorbell(struct rig *rig, unsigned int channel);

struct rig_ptr rig_alloc(struct rig *rig, enum rig_heap heap, size_t size);
struct rig_ptr rig_page(struct rig *rig);		/* unmapped; va is its physical address */
void rig_map(struct rig *rig, uint64_t root, uint64_t va, uint64_t pa, uint64_t prot);
uint64_t *rig_pte(struct rig *rig, uint64_t root, uint64_t va);

void put(struct rig_ptr at, enum fw_field_id field, uint64_t value);
void put_at(struct rig_ptr at, enum fw_field_id field, unsigned int index, uint64_t value);
uint64_t get(struct rig_ptr at, enum fw_field_id field);
struct rig_ptr sub(struct rig_ptr at, enum fw_field_id field, enum fw_struct_id type,
		   unsigned int index);

/* A register that no structure has a word for */
struct rig_register {
	uint32_t number;
	uint64_t value;
};

/*
 * A structure in a command, full of zeros. Machines whose commands have a list of registers instead
 * have none: then it is memory of the rig's own, until rig_registers() makes the list of it.
 */
struct rig_ptr rig_part(struct rig_ptr command, enum fw_field_id field, enum fw_struct_id type);
/* Makes the list of registers of a command, if it has one; @others ends with number 0 */
void rig_registers(struct rig_ptr command, enum fw_register_list list,
		   const struct rig_register *others);
/* The address of such a structure for a microsequence: 0 if there is none */
uint64_t rig_part_va(struct rig_ptr command, enum fw_field_id field);
/* Writes the address of a command's registers into its first operation, if it has some */
void rig_put_registers_va(struct rig_ptr op, enum fw_field_id field, struct rig_ptr command,
			  enum fw_field_id registers);
/* What waits for a command's units: that operation's word */
uint32_t rig_wait_word(uint32_t word);

void rig_queue_new(struct rig *rig, struct rig_queue *queue, unsigned int pipe, unsigned int slot);
void rig_compute_new(struct rig *rig, struct rig_queue *queue, struct rig_command *command);
/* A name that the units see: rig_units.only and .began */
void rig_compute_base(struct rig_command *command, uint64_t base);
struct rig_ptr rig_barrier_new(struct rig *rig, unsigned int slot, uint32_t value);
void rig_push(struct rig *rig, struct rig_queue *queue,
	      uint64_t command); /* ring entry and write pointer */
/* A message about what was pushed, without its doorbell; and with it */
void rig_message(struct rig *rig, struct rig_queue *queue, unsigned int priority);
void rig_announce(struct rig *rig, struct rig_queue *queue, unsigned int priority);
void rig_count(struct rig *rig,
	       struct rig_queue *queue); /* threshold and pending submissions of one command */
void rig_submit(struct rig *rig, struct rig_queue *queue, uint64_t command); /* all of the above */
struct rig_ptr rig_control(struct rig *rig,
			   uint32_t type); /* a device control message, not sent yet */
void rig_control_send(struct rig *rig);
void rig_flush(struct rig *rig, uint64_t va, uint64_t size);

/* The context of clients has no tables any more */
void rig_forget_context(struct rig *rig);
/* The context of clients leads to other tables, in which nothing is mapped */
void rig_empty_context(struct rig *rig);
/* Waits, at most ten seconds */
bool rig_wait(struct rig *rig, bool (*done)(struct rig *rig, const void *arg), const void *arg);
bool rig_wait_stamp(struct rig *rig, unsigned int slot, uint32_t value);
bool rig_wait_rule(struct rig *rig, enum vagx_rule rule);
bool rig_wait_crash(struct rig *rig);
bool rig_wait_control(struct rig *rig);

/* The next event, or NULL */
struct rig_ptr rig_event(struct rig *rig);
struct rig_ptr rig_wait_event(struct rig *rig);
void rig_resume(struct rig *rig);

/* Copies: the firmware's threads write it */
struct rig_units rig_units_of(struct rig *rig);
void rig_hang(struct rig *rig, bool hang);
uint32_t rig_stamp(struct rig *rig, unsigned int slot);
/* Whether the table of pending stamps has that entry */
bool rig_is_pending(struct rig *rig, unsigned int slot, uint32_t value);

unsigned int rig_findings(struct rig *rig);
/*
 * Waits until a clause is broken, or a rule without clauses, and notes that this can be seen. Fails
 * the test if anything else was found, but for @also, which VAGX_KEPT ends.
 */
void rig_saw(struct rig *rig, enum vagx_rule clause, const enum vagx_rule *also);
/* Fails the test if no test of this program has seen one of the clauses that @wanted is true of */
void rig_assert_seen(bool (*wanted)(const char *id));
/* Fails the test if the firmware has found something, or has crashed */
void rig_assert_clean(struct rig *rig);

#endif

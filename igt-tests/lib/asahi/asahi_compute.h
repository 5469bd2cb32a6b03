/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Compute work for tests of the asahi driver: clients, shaders, commands, and the
 * fences of what was submitted. Functions that begin with two underscores return a
 * negative errno value, the others assert that all is well.
 *
 * Most tests hold the GPU with a job that waits until the test has written to a
 * word of the client's: the gate.
 */
#ifndef ASAHI_COMPUTE_H
#define ASAHI_COMPUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "asahi_ioctl.h"
#include "asahi_shaders.h"

/* Words of a client that tests use, all zero at first. */
#define ASAHI_GATE		0
#define ASAHI_RESULT	16
#define ASAHI_WORDS		4096

/* An address where nothing is, and those that are left to tests. */
#define ASAHI_UNMAPPED	0x3f00000000ULL
#define ASAHI_FREE_START	0x4000000000ULL
#define ASAHI_FREE_SIZE	0x400000000ULL

/* Nothing takes longer than that. */
#define ASAHI_PATIENCE_NS	60000000000LL

/**
 * struct asahi_bo - memory that is mapped for CPU and GPU
 * @handle: its handle
 * @size: bytes, whole pages
 * @addr: where the GPU sees it
 * @map: where the CPU does
 */
struct asahi_bo {
	uint32_t handle;
	uint64_t size;
	uint64_t addr;
	void *map;
};

/**
 * struct asahi_client - an open file with what a client needs
 * @fd: the file
 * @vm: address space
 * @queue: queue of medium priority
 * @words: memory for the test, ASAHI_WORDS of them
 * @words_addr: the same for the GPU
 * @arena: memory for shaders, what sets them up, and command streams
 * @used: bytes of @arena that are taken
 * @programs: offsets of the shaders in @arena
 * @next_addr: where the next buffer goes
 * @next: list of clients
 */
struct asahi_client {
	int fd;
	uint32_t vm;
	uint32_t queue;
	volatile uint32_t *words;
	uint64_t words_addr;
	struct asahi_bo arena;
	uint64_t used;
	uint32_t programs[IGT_ASAHI_SHADERS];
	uint64_t next_addr;
	bool has_long_launches;
	struct asahi_client *next;
};

/* struct asahi_command - as it stands in a command buffer */
struct asahi_command {
	struct drm_asahi_cmd_header header;
	struct drm_asahi_cmd_compute compute;
};

/**
 * struct asahi_dispatch - one launch of a shader
 * @shader: which
 * @uniforms: bytes that become the uniforms from u0l on
 * @uniform_bytes: how many
 * @shared_bytes: shared memory of a threadgroup
 * @global: threads; ignored if @indirect is set
 * @local: threads of a threadgroup
 * @indirect: address of three counts of threadgroups, or 0
 */
struct asahi_dispatch {
	enum igt_asahi_shader shader;
	const void *uniforms;
	size_t uniform_bytes;
	unsigned int shared_bytes;
	uint32_t global[3];
	uint32_t local[3];
	uint64_t indirect;
};

/**
 * struct asahi_sync - what a submission waits for and signals
 * @in: sync object to wait for, or 0
 * @in_point: point on it, or 0
 * @out: sync object to signal, or 0
 * @out_point: point on it, or 0
 */
struct asahi_sync {
	uint32_t in;
	uint64_t in_point;
	uint32_t out;
	uint64_t out_point;
};

/* igt_asahi_client_open - a new open file of the same device */
struct asahi_client *igt_asahi_client_open(int fd);
/* igt_asahi_client_open_at - the same, with another range for the kernel in its address space */
struct asahi_client *igt_asahi_client_open_at(int fd, uint64_t start, uint64_t end);
void igt_asahi_client_close(struct asahi_client *client);
/* igt_asahi_clients_close - all that are open, as a test that failed leaves them */
void igt_asahi_clients_close(void);

struct asahi_bo igt_asahi_bo_create(struct asahi_client *client, uint64_t size);
void igt_asahi_bo_destroy(struct asahi_client *client, struct asahi_bo *bo);

/**
 * struct asahi_client_test - a subtest that begins with a client of its own
 * @name: name of the subtest
 * @text: what it is about
 * @run: the test; clients that it leaves open are closed
 */
struct asahi_client_test {
	const char *name;
	const char *text;
	void (*run)(struct asahi_client *client);
};

/* igt_asahi_client_tests - the subtests of an array; opens the device for them */
void igt_asahi_client_tests(const struct asahi_client_test *tests, unsigned int count);

/* igt_asahi_word_addr - where the GPU sees a word of the client's */
uint64_t igt_asahi_word_addr(struct asahi_client *client, unsigned int index);
/*
 * igt_asahi_patience_ns - how long to wait for what work leaves in memory: a minute, or as
 * many seconds as IGT_ASAHI_PATIENCE says, for a GPU that executes nothing
 */
uint64_t igt_asahi_patience_ns(void);
/* igt_asahi_word_becomes - whether it has a value before that is over */
bool igt_asahi_word_becomes(struct asahi_client *client, unsigned int index, uint32_t value);

/*
 * Commands without barriers. Their memory lives as long as the client. Several
 * dispatches of one command are ordered.
 */
struct asahi_command igt_asahi_command(struct asahi_client *client,
				       const struct asahi_dispatch *dispatches,
				       unsigned int count);
/* igt_asahi_command_words - its stream is what the words say */
struct asahi_command igt_asahi_command_words(struct asahi_client *client, const uint32_t *words,
					     unsigned int count);
/* igt_asahi_gate_at - waits until the word at @gate is not 0, then writes @value */
struct asahi_command igt_asahi_gate_at(struct asahi_client *client, uint64_t gate, uint64_t addr,
				       uint32_t value);
/* igt_asahi_gate - the same for the word ASAHI_GATE and another word */
struct asahi_command igt_asahi_gate(struct asahi_client *client, unsigned int index,
				    uint32_t value);
/* igt_asahi_store - writes a word without waiting */
struct asahi_command igt_asahi_store(struct asahi_client *client, uint64_t addr, uint32_t value);
/* igt_asahi_store_word - to a word of the client's */
struct asahi_command igt_asahi_store_word(struct asahi_client *client, unsigned int index,
					  uint32_t value);
/* igt_asahi_copy - copies a word of the client's to another one */
struct asahi_command igt_asahi_copy(struct asahi_client *client, unsigned int from,
				    unsigned int to);
/* igt_asahi_after - the same command behind a barrier for compute commands */
struct asahi_command igt_asahi_after(struct asahi_command command, uint16_t cdm_barrier);

/* igt_asahi_submit_syncs - commands with any syncs, those to wait for first */
int __igt_asahi_submit_syncs(int fd, uint32_t queue, const struct asahi_command *commands,
			     unsigned int count, const struct drm_asahi_sync *syncs,
			     unsigned int in, unsigned int out);
int __igt_asahi_submit(int fd, uint32_t queue, const struct asahi_command *commands,
		       unsigned int count, const struct asahi_sync *sync);
void igt_asahi_submit(int fd, uint32_t queue, const struct asahi_command *commands,
		      unsigned int count, const struct asahi_sync *sync);
/* igt_asahi_submit_one - to the client's own queue, signals @out unless it is 0 */
void igt_asahi_submit_one(struct asahi_client *client, const struct asahi_command *command,
			  uint32_t out);

/* igt_asahi_wait - for a fence; 0, or the negative error that it carries */
int igt_asahi_wait(int fd, uint32_t syncobj);
bool igt_asahi_signalled(int fd, uint32_t syncobj);
/*
 * igt_asahi_assert_bystander - of a job that did nothing wrong, and that may or may not have been
 * on the GPU when something failed: it completes, or gets ECANCELED
 */
void igt_asahi_assert_bystander(int err);
/* igt_asahi_run - submits to the client's own queue and waits */
int igt_asahi_run(struct asahi_client *client, const struct asahi_command *command);

/* igt_asahi_pass_fence - a new sync object of another file, with the same fence */
uint32_t igt_asahi_pass_fence(int from, uint32_t syncobj, int to);
/* igt_asahi_late_fence - a fence of a sw_sync timeline in a new sync object */
uint32_t igt_asahi_late_fence(int fd, int timeline);

#endif

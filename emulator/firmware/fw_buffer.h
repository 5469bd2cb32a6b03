/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_FW_BUFFER_H
#define VAGX_FW_BUFFER_H

#include "fw_internal.h"

/*
 * Tiled vertex buffers, in slots of the firmware, and their scenes, one for each render. All with
 * the firmware's lock held.
 */

#define FW_BUFFERS		127
#define FW_BUFFER_PAGE_SHIFT	15
#define FW_BUFFER_PAGE_SIZE	(1ULL << FW_BUFFER_PAGE_SHIFT)
#define FW_BUFFER_BLOCK_PAGES	4
/* What the lists of the references have room for */
#define FW_BUFFER_BLOCKS_MAX	0x19b3

/**
 * struct fw_scene - a render, from its vertex command to the end of its fragment command
 * @next: next scene of the same hash
 * @va: address of the driver's structure
 * @slot: slot of its buffer
 * @info: address of the buffer's Info
 * @tilemap: address of its tilemap
 * @size: width and height in pixels, as the vertex command has them
 * @layers: of the image, likewise
 * @generation: submission identifier of the vertex command
 * @fragment_slot: event slot of its fragment command
 * @fragment_value: stamp of its fragment command
 * @fragment: address of the fragment command that has it, 0 before
 * @started: its vertex command was begun
 * @filled: its vertex command is over
 * @pages: pages of the buffer that it has
 * @pass_pages: pages that were taken since the last partial render
 * @total_pages: pages that were taken
 * @overflows: partial renders
 */
struct fw_scene {
	struct fw_scene *next;
	uint64_t va;
	unsigned int slot;
	uint64_t info;
	uint64_t tilemap;
	uint32_t size[2];
	uint32_t layers;
	uint32_t generation;
	unsigned int fragment_slot;
	uint32_t fragment_value;
	uint64_t fragment;
	bool started;
	bool filled;
	uint32_t pages;
	uint32_t pass_pages;
	uint32_t total_pages;
	uint32_t overflows;
};

struct fw_buffers;

struct fw_buffers *fw_buffers_new(void);
void fw_buffers_free(struct fw_buffers *buffers);
void fw_buffers_forget_all(struct vagx_firmware *fw);
/* A GPU context ends, and with it the buffers that its queues brought */
void fw_buffers_destroy_context(struct vagx_firmware *fw, uint64_t context);

/* An InitBuffer command; false when it makes no sense */
bool fw_buffer_init(struct fw_worker *worker, struct fw_queue *queue, struct fw_command *command);

/* Whether the buffer with that Info is in that slot */
bool fw_buffer_is(struct vagx_firmware *fw, unsigned int slot, uint64_t info);
/* Whether as many blocks are known as a render's size needs at least */
bool fw_buffer_holds(struct vagx_firmware *fw, unsigned int slot, uint32_t blocks);
/* A render begins: counts it; false when the driver has not. Before there is its scene. */
bool fw_buffer_begin(struct fw_access *access, struct vagx_firmware *fw, unsigned int slot);

/* Whether there is a page for a scene */
bool fw_buffer_has_room(struct vagx_firmware *fw, const struct fw_scene *scene);
/* Takes a page for a scene. Return: its address in the client's context, 0 when there is none. */
uint64_t fw_buffer_take(struct vagx_firmware *fw, struct fw_scene *scene);
/* Takes a page back; one that the scene has not is ignored */
void fw_buffer_give(struct vagx_firmware *fw, struct fw_scene *scene, uint64_t page);
/* Return: pages that scenes of that slot have */
uint32_t fw_buffer_taken(struct vagx_firmware *fw, unsigned int slot);
/* Whether there is a buffer in that slot */
bool fw_buffer_is_known(struct vagx_firmware *fw, unsigned int slot);
/* Takes all pages of a scene back */
void fw_buffer_give_all(struct vagx_firmware *fw, struct fw_scene *scene);
/* Return: the n-th page that a scene has, 0 behind the last */
uint64_t fw_buffer_page(struct vagx_firmware *fw, const struct fw_scene *scene, uint32_t n);
/* Return: a number that changes when a scene of the buffer ends, or the buffer grows */
uint32_t fw_buffer_changes(struct vagx_firmware *fw, const struct fw_scene *scene);

/* Takes over pages that the driver has added; false when it has added none */
bool fw_buffer_reload(struct fw_access *access, struct vagx_firmware *fw, unsigned int slot,
		      unsigned int context);
/* Reports words of Info that the driver has written since a scene of the buffer began */
void fw_buffer_check_live(struct fw_access *access, struct vagx_firmware *fw,
			  const struct fw_scene *scene);

/* fw_grow.c */
/*
 * Asks the driver for more memory and waits for its answer, with the lock dropped meanwhile.
 * False when nothing came of it.
 */
bool fw_grow(struct fw_worker *worker, const struct fw_scene *scene, unsigned int context);
/* Asks the driver although no render needs pages. Main thread. */
void fw_grow_ask(struct vagx_firmware *fw, uint32_t context, uint32_t slot);
/* Remembers a request that was sent as an injected event. Main thread. */
void fw_grow_asked(struct vagx_firmware *fw, uint32_t context, uint32_t slot, uint32_t counter);
/* Takes the driver's acknowledgement at @va, and the pages that it has added. Main thread. */
void fw_grow_acknowledged(struct vagx_firmware *fw, uint64_t va);

/* fw_scene.c */
struct fw_scenes;

struct fw_scenes *fw_scenes_new(void);
void fw_scenes_free(struct fw_scenes *scenes);
void fw_scenes_forget_all(struct vagx_firmware *fw);

struct fw_scene *fw_scene_find(struct vagx_firmware *fw, uint64_t va);
/* Return: a new scene, or NULL when there is one at that address, or no memory */
struct fw_scene *fw_scene_new(struct vagx_firmware *fw, uint64_t va);
/* Return: a scene of that slot, or NULL */
struct fw_scene *fw_scene_of_slot(struct vagx_firmware *fw, unsigned int slot);
/* A command is retired: its scene, if it has one, is filled now or ends */
void fw_scene_retire(struct fw_worker *worker, const struct fw_command *command);
/* Tells the driver about pages: in the scene itself, and in the buffer's statistics */
void fw_scene_report_pages(struct fw_access *access, const struct fw_scene *scene);
void fw_scene_report(struct fw_access *access, const struct fw_scene *scene);

#endif

// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Seeds: programs recorded from the clients while they compute and draw.
 *
 * The linker leads libdrm_asahi's calls of drmIoctl() to __wrap_drmIoctl(). Each argument is
 * decoded, along the types of the tables, into a tree of values; handles become labels of the
 * calls that returned them. Buffers are mapped a second time: at SUBMIT their contents become
 * calls of "write", without long runs of one byte, and at the end the bytes that the GPU has
 * changed become calls of "expect". A recording ends when the library asks a sync file how
 * its work has ended.
 *
 * One thread of one process records one client after the other.
 */
#include <errno.h>
#include <linux/sync_file.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xf86drm.h>

#include "compute_tests.h"
#include "fuzz.h"
#include "scene.h"

#define MAX_BUFFERS	32
#define MAX_RESULTS	128
/* most bytes of one buffer that are compared */
#define MAX_EXPECT	256
/* equal bytes in a row that end a write */
#define RUN_END		64

int __real_drmIoctl(int fd, unsigned long request, void *arg);

struct buffer {
	uint32_t label;
	uint8_t *map;
	/* its contents when work was submitted */
	uint8_t *before;
	size_t size;
};

struct seen {
	unsigned int resource;
	uint64_t number;
	uint32_t label;
};

static struct recording {
	struct fuzz_program *program;
	uint32_t fd_label;
	int fd;
	struct buffer buffers[MAX_BUFFERS];
	unsigned int buffer_count;
	struct seen seen[MAX_RESULTS];
	unsigned int seen_count;
} *recording;

static uint32_t record_find_label(unsigned int resource, uint64_t number)
{
	unsigned int i;

	for (i = recording->seen_count; i--;)
		if (recording->seen[i].resource == resource && recording->seen[i].number == number)
			return recording->seen[i].label;
	return 0;
}

/* Notes that the client knows a resource by this number. */
static void record_note(unsigned int resource, uint64_t number, uint32_t label)
{
	if (recording->seen_count < MAX_RESULTS)
		recording->seen[recording->seen_count++] =
			(struct seen){ resource, number, label };
}

/* Return: a call with all fields 0, which is not in the program yet. */
static struct fuzz_call *record_plain_call(const char *name)
{
	struct fuzz_call *call = fuzz_call_new(fuzz_op_find(name));
	unsigned int i;

	call->fd = call->op->has_fd ? recording->fd_label : 0;
	call->arg = fuzz_value_new(call->op->arg);
	for (i = 0; i < call->op->arg->count; i++)
		fuzz_value_append(call->arg, fuzz_value_new(call->op->arg->fields[i].type));
	if (call->op->result >= 0)
		call->label = recording->program->next_label++;
	return call;
}

static void record_add(struct fuzz_call *call)
{
	fuzz_program_insert(recording->program, recording->program->count, call);
}

/* Values out of memory */

struct bytes {
	const uint8_t *at;
	size_t left;
};

/* Return: the next number of @size bytes, or as many as are left. */
static uint64_t record_take(struct bytes *from, size_t size)
{
	uint64_t number = 0;

	if (size > from->left)
		size = from->left;
	memcpy(&number, from->at, size);
	from->at += size;
	from->left -= size;
	return number;
}

static struct fuzz_value *record_decode(const struct fuzz_type *type, struct bytes *from, bool out);

/* Adds a call that creates a sync object: libdrm has made it, whose calls are not recorded. */
static uint32_t record_unknown_syncobj(uint64_t number)
{
	struct fuzz_call *call = record_plain_call("SYNCOBJ_CREATE");
	uint32_t label = call->label;

	record_add(call);
	record_note(fuzz_resource_find("asahi_syncobj"), number, label);
	return label;
}

static void record_decode_resource(struct fuzz_value *value, bool out)
{
	if (out) {
		value->number = 0;
		return;
	}
	value->label = record_find_label(value->type->resource, value->number);
	if (!value->label && value->number &&
	    value->type->resource == fuzz_resource_find("asahi_syncobj"))
		value->label = record_unknown_syncobj(value->number);
	if (value->label)
		value->number = 0;
}

static void record_decode_union(struct fuzz_value *value, struct bytes *from)
{
	const struct fuzz_type *type = value->type;
	uint16_t tag = 0;
	unsigned int i;

	/* Members begin with a number that says which one it is. */
	if (from->left >= sizeof(tag))
		memcpy(&tag, from->at, sizeof(tag));
	for (i = 0; i < type->count; i++)
		if (type->fields[i].type->fields[0].type->low == tag)
			value->number = i;
	fuzz_value_append(value, record_decode(type->fields[value->number].type, from, false));
}

/* Return: the bytes of a type whose size does not depend on values. */
static size_t record_flat_size(const struct fuzz_type *type)
{
	size_t size = 0;
	unsigned int i;

	if (type->kind == FUZZ_ARRAY)
		return type->low * record_flat_size(type->elem);
	/* Members of one that is in an array are equally long. */
	if (type->kind == FUZZ_UNION)
		return record_flat_size(type->fields[0].type);
	for (i = 0; type->kind == FUZZ_STRUCT && i < type->count; i++)
		size += record_flat_size(type->fields[i].type);
	return size ? size : type->size;
}

static uint64_t record_field_number(const struct fuzz_value *parent, const char *name)
{
	unsigned int i;

	for (i = 0; i < parent->count; i++)
		if (!strcmp(parent->type->fields[i].name, name))
			return parent->children[i]->number;
	return 0;
}

/* Return: the bytes that a pointer leads to, by the lengths in the structure around it. */
static size_t record_pointee_size(const struct fuzz_value *parent, unsigned int index)
{
	const struct fuzz_field *field = &parent->type->fields[index];
	const struct fuzz_type *elem = field->type->elem;
	unsigned int i;

	/* The length of this one is in two numbers. */
	if (!strcmp(field->name, "syncs"))
		return (record_field_number(parent, "in_sync_count") +
			record_field_number(parent, "out_sync_count")) *
		       record_flat_size(elem->elem);
	for (i = 0; i < parent->count; i++) {
		const struct fuzz_value *length = parent->children[i];

		if (length->type->kind == FUZZ_LENGTH && length->type->sibling == index)
			return length->number *
			       (length->type->bytes ? 1 : record_flat_size(elem->elem));
	}
	return record_flat_size(elem);
}

static void record_decode_pointee(struct fuzz_value *parent, unsigned int index)
{
	struct fuzz_value *pointer = parent->children[index];
	struct bytes from = { (const uint8_t *)(uintptr_t)pointer->number, 0 };

	if (!pointer->number)
		return;
	from.left = record_pointee_size(parent, index);
	fuzz_value_append(pointer, record_decode(pointer->type->elem, &from, false));
	pointer->number = 0;
}

static void record_decode_fields(struct fuzz_value *value, struct bytes *from)
{
	const struct fuzz_type *type = value->type;
	unsigned int i;

	for (i = 0; i < type->count; i++) {
		struct bytes rest = *from;

		/* A command's payload has the size that its header says. */
		if (!strcmp(type->fields[i].name, "payload")) {
			size_t size = record_field_number(value, "size");

			rest.left = size < rest.left ? size : rest.left;
			from->at += rest.left;
			from->left -= rest.left;
			fuzz_value_append(value, record_decode(type->fields[i].type, &rest, false));
			continue;
		}
		fuzz_value_append(value, record_decode(type->fields[i].type, from,
						       type->fields[i].out));
	}
	for (i = 0; i < type->count; i++)
		if (type->fields[i].type->kind == FUZZ_POINTER)
			record_decode_pointee(value, i);
}

static struct fuzz_value *record_decode(const struct fuzz_type *type, struct bytes *from, bool out)
{
	struct fuzz_value *value = fuzz_value_new(type);

	switch (type->kind) {
	case FUZZ_STRUCT:
		record_decode_fields(value, from);
		break;
	case FUZZ_UNION:
		record_decode_union(value, from);
		break;
	case FUZZ_ARRAY:
		while (from->left && (type->low != type->high || value->count < type->high))
			fuzz_value_append(value, record_decode(type->elem, from, false));
		break;
	case FUZZ_RESOURCE:
		value->number = record_take(from, type->size);
		record_decode_resource(value, out);
		break;
	default:
		value->number = record_take(from, type->size);
		break;
	}
	return value;
}

/* Memory */

/* Adds calls that map a buffer, and maps it here. */
static void record_add_buffer(uint32_t gem, uint32_t handle, size_t size)
{
	struct fuzz_call *offset = record_plain_call("ASAHI_GEM_MMAP_OFFSET");
	struct fuzz_call *map = record_plain_call("map");
	struct drm_asahi_gem_mmap_offset args = { .handle = handle };
	struct buffer *buffer = &recording->buffers[recording->buffer_count];

	fuzz_call_field(offset, "handle")->label = gem;
	fuzz_call_field(map, "offset")->label = offset->label;
	fuzz_call_field(map, "size")->number = size;
	buffer->label = map->label;
	record_add(offset);
	record_add(map);
	if (recording->buffer_count == MAX_BUFFERS ||
	    __real_drmIoctl(recording->fd, DRM_IOCTL_ASAHI_GEM_MMAP_OFFSET, &args))
		return;
	buffer->map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, recording->fd,
			   args.offset);
	buffer->size = size;
	recording->buffer_count += buffer->map != MAP_FAILED;
}

static void record_add_bytes(const char *name, const struct buffer *buffer, size_t start,
			     size_t end)
{
	struct fuzz_call *call = record_plain_call(name);

	fuzz_call_field(call, "mapping")->label = buffer->label;
	fuzz_call_field(call, "offset")->number = start;
	fuzz_value_set_bytes(fuzz_call_field(call, "data"), buffer->map + start, end - start);
	record_add(call);
}

/* Return: the beginning of the next RUN_END equal bytes, or the end of the buffer. */
static size_t record_interesting_end(const struct buffer *buffer, size_t at)
{
	size_t equal = 0;

	for (; at < buffer->size; at++) {
		equal = at && buffer->map[at] == buffer->map[at - 1] ? equal + 1 : 0;
		if (equal == RUN_END)
			return at - RUN_END + 1;
	}
	return buffer->size;
}

/* Return: the next byte that differs from the one before it. */
static size_t record_interesting_begin(const struct buffer *buffer, size_t at)
{
	while (at < buffer->size && buffer->map[at] == (at ? buffer->map[at - 1] : 0))
		at++;
	return at;
}

/* Adds writes of all buffers, but for long runs of one byte, on which no client relies. */
static void record_write_memory(void)
{
	unsigned int i;

	for (i = 0; i < recording->buffer_count; i++) {
		struct buffer *buffer = &recording->buffers[i];
		size_t at = 0;

		while ((at = record_interesting_begin(buffer, at)) < buffer->size) {
			size_t end = record_interesting_end(buffer, at + 1);
			/* words stay whole, so that mutations change words */
			size_t start = at & ~(size_t)7;

			end = (end + 7) & ~(size_t)7;
			if (buffer->map[at])
				record_add_bytes("write", buffer, start, end);
			at = end;
		}
		buffer->before = malloc(buffer->size);
		if (buffer->before)
			memcpy(buffer->before, buffer->map, buffer->size);
	}
}

/* Adds checks of the first bytes of each buffer that the GPU has changed. */
static void record_expect_memory(void)
{
	unsigned int i;

	for (i = 0; i < recording->buffer_count; i++) {
		struct buffer *buffer = &recording->buffers[i];
		size_t at = 0, end;

		while (buffer->before && at < buffer->size && buffer->map[at] == buffer->before[at])
			at++;
		for (end = at; buffer->before && end < buffer->size && end - at < MAX_EXPECT; end++)
			if (buffer->map[end] == buffer->before[end])
				break;
		if (end > at)
			record_add_bytes("expect", buffer, at, end);
	}
}

/* Calls */

static const struct fuzz_op *record_find_op(unsigned long request)
{
	unsigned int i;

	for (i = 0; i < fuzz_op_count; i++)
		if (fuzz_ops[i].action == FUZZ_IOCTL && fuzz_ops[i].request == request)
			return &fuzz_ops[i];
	return NULL;
}

static void record_result(struct fuzz_call *call, const void *arg)
{
	const struct fuzz_type *type;
	uint64_t number = 0;
	size_t offset = 0;
	int i;

	if (call->op->result < 0)
		return;
	for (i = 0; i < call->op->result; i++)
		offset += fuzz_value_size(call->arg->children[i]);
	type = call->op->arg->fields[call->op->result].type;
	memcpy(&number, (const uint8_t *)arg + offset, type->size);
	call->label = recording->program->next_label++;
	record_note(type->resource, number, call->label);
}

static void record_begin(int fd)
{
	struct fuzz_call *call = record_plain_call("open");

	recording->fd = fd;
	recording->fd_label = call->label;
	record_add(call);
}

static void record_call(int fd, const struct fuzz_op *op, const void *arg)
{
	struct bytes from = { arg, record_flat_size(op->arg) };
	struct fuzz_call *call;

	if (!recording->program->count)
		record_begin(fd);
	if (op->request == DRM_IOCTL_ASAHI_SUBMIT)
		record_write_memory();
	call = fuzz_call_new(op);
	call->fd = recording->fd_label;
	call->arg = record_decode(op->arg, &from, false);
	record_result(call, arg);
	record_add(call);
	if (op->request == DRM_IOCTL_ASAHI_GEM_CREATE) {
		const struct drm_asahi_gem_create *create = arg;

		record_add_buffer(call->label, create->handle, create->size);
	}
}

/* Ends a recording after the client's work: waits for its fences and checks its results. */
static void record_end(void)
{
	unsigned int syncobj = fuzz_resource_find("asahi_syncobj");
	unsigned int i;

	for (i = 0; i < recording->seen_count; i++) {
		struct fuzz_call *call;

		if (recording->seen[i].resource != syncobj)
			continue;
		call = record_plain_call("finish");
		fuzz_call_field(call, "handle")->label = recording->seen[i].label;
		record_add(call);
	}
	record_expect_memory();
	for (i = 0; i < recording->buffer_count; i++) {
		munmap(recording->buffers[i].map, recording->buffers[i].size);
		free(recording->buffers[i].before);
	}
	recording = NULL;
}

int __wrap_drmIoctl(int fd, unsigned long request, void *arg);

int __wrap_drmIoctl(int fd, unsigned long request, void *arg)
{
	const struct fuzz_op *op = record_find_op(request);
	struct recording *ours = recording;
	int ret;

	/* Memory is recorded before the GPU works on it. */
	if (ours && op && request == DRM_IOCTL_ASAHI_SUBMIT)
		record_call(fd, op, arg);
	ret = __real_drmIoctl(fd, request, arg);
	if (ret || !ours)
		return ret;
	/* Each buffer has been mapped already. */
	if (op && request != DRM_IOCTL_ASAHI_SUBMIT && request != DRM_IOCTL_ASAHI_GEM_MMAP_OFFSET)
		record_call(fd, op, arg);
	if (request == SYNC_IOC_FILE_INFO)
		record_end();
	return ret;
}

/* Clients */

static int record_run_test(struct compute *ctx, const char *name)
{
	const struct compute_options options = { .size = 48 };
	const struct compute_test *test = compute_tests;

	while (test->name && strcmp(test->name, name))
		test++;
	return test->name ? test->run(ctx, &options) : -ENOENT;
}

static int record_run_scene(struct compute *ctx, bool depth)
{
	struct render_target target;
	struct scene scene;
	int err = render_target_new(ctx, 32, 32, &target);

	if (err)
		return err;
	scene_triangle(&scene);
	scene.render.depth = depth;
	err = render_run(ctx, &target, &scene.render);
	render_target_free(ctx, &target);
	return err;
}

static int record_run_client(const char *name)
{
	struct compute ctx;
	int err = compute_open(&ctx, NULL);

	if (err)
		return err;
	if (!strcmp(name, "triangle") || !strcmp(name, "depth"))
		err = record_run_scene(&ctx, !strcmp(name, "depth"));
	else
		err = record_run_test(&ctx, name);
	compute_close(&ctx);
	return err;
}

int fuzz_seeds(struct fuzz_program **programs, unsigned int max)
{
	static const char *const clients[] = {
		"fill", "vecadd", "preshader", "triangle", "depth",
	};
	unsigned int i;

	for (i = 0; i < sizeof(clients) / sizeof(clients[0]) && i < max; i++) {
		struct recording ours = { .program = fuzz_program_new() };
		int err;

		recording = &ours;
		err = record_run_client(clients[i]);
		programs[i] = ours.program;
		recording = NULL;
		/* Without a GPU the results are wrong. */
		if (err == -EILSEQ && fuzz_shared->options.no_gpu)
			err = 0;
		if (err) {
			fprintf(stderr, "asahi-fuzz: client %s: %s\n", clients[i], strerror(-err));
			return err;
		}
	}
	return i;
}

// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The layout of the buffer is what the kernel says in events/header_page,
 * events/header_event and the format files of the events.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace_ring.h"

#define TRACEFS		"/sys/kernel/tracing/"
#define MAX_PAGE	65536
#define PAGE_HEADER	16
#define MAX_DEPTH	16

#define TYPE_DATA_MAX	28
#define TYPE_PADDING	29
#define TYPE_EXTEND	30
#define TYPE_ABSOLUTE	31
#define DELTA_SHIFT	27

/* after common_type, common_flags, common_preempt_count and common_pid */
#define WORK_FUNCTION	16
#define IRQ_NUMBER	8

enum event { WORK_START, WORK_END, IRQ_ENTRY, IRQ_EXIT, EVENT_COUNT };

static const char *const trace_ring_events[EVENT_COUNT] = {
	"workqueue/workqueue_execute_start",
	"workqueue/workqueue_execute_end",
	"irq/irq_handler_entry",
	"irq/irq_handler_exit",
};

/* Something that has begun and not ended. */
struct open_span {
	char name[TRACE_NAME_MAX];
	uint64_t begin;
	/* what others took in between */
	uint64_t inner;
};

struct trace_ring {
	int ids[EVENT_COUNT];
	int fd;
	struct open_span stack[MAX_DEPTH];
	unsigned int depth;
	struct trace_span *spans;
	unsigned int count;
	uint8_t page[MAX_PAGE];
};

static int trace_ring_write_file(const char *name, const char *text)
{
	char path[128];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), TRACEFS "%s", name);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = write(fd, text, strlen(text));
	close(fd);
	return n < 0 ? -errno : 0;
}

static int trace_ring_enable_event(const char *event, const char *value)
{
	char name[96];

	snprintf(name, sizeof(name), "events/%s/enable", event);
	return trace_ring_write_file(name, value);
}

/* Kernels without perf events have no file "id". */
static int trace_ring_read_event_id(const char *event)
{
	char path[128], line[256];
	int id = -EINVAL;
	FILE *fp;

	snprintf(path, sizeof(path), TRACEFS "events/%s/format", event);
	fp = fopen(path, "r");
	if (!fp)
		return -errno;
	while (fgets(line, sizeof(line), fp))
		if (sscanf(line, "ID: %d", &id) == 1)
			break;
	fclose(fp);
	return id;
}

static int trace_ring_setup_events(struct trace_ring *ring)
{
	unsigned int i;
	int err;

	err = trace_ring_write_file("tracing_on", "0");
	if (!err)
		err = trace_ring_write_file("trace_clock", "mono");
	for (i = 0; i < EVENT_COUNT && !err; i++) {
		ring->ids[i] = trace_ring_read_event_id(trace_ring_events[i]);
		err = ring->ids[i] < 0 ? ring->ids[i] :
					 trace_ring_enable_event(trace_ring_events[i], "1");
	}
	return err;
}

int trace_ring_open(struct trace_ring **out)
{
	struct trace_ring *ring = calloc(1, sizeof(*ring));
	int err;

	if (!ring)
		return -ENOMEM;
	ring->fd = open(TRACEFS "per_cpu/cpu0/trace_pipe_raw",
			O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	err = ring->fd < 0 ? -errno : trace_ring_setup_events(ring);
	if (err) {
		trace_ring_close(ring);
		return err;
	}
	*out = ring;
	return 0;
}

void trace_ring_close(struct trace_ring *ring)
{
	unsigned int i;

	for (i = 0; i < EVENT_COUNT; i++)
		trace_ring_enable_event(trace_ring_events[i], "0");
	if (ring->fd >= 0)
		close(ring->fd);
	free(ring);
}

int trace_ring_start(struct trace_ring *ring)
{
	int err = trace_ring_write_file("trace", "");

	return err ? err : trace_ring_write_file("tracing_on", "1");
}

static void trace_ring_add_span(struct trace_ring *ring, const char *name, uint64_t ns)
{
	struct trace_span *span = ring->spans;
	unsigned int i;

	for (i = 0; i < ring->count && strcmp(span->name, name); i++)
		span++;
	if (i == TRACE_MAX_SPANS)
		return;
	if (i == ring->count) {
		*span = (struct trace_span){ .ns = 0 };
		snprintf(span->name, sizeof(span->name), "%s", name);
		ring->count++;
	}
	span->ns += ns;
	span->count++;
}

static void trace_ring_begin_span(struct trace_ring *ring, const char *name, uint64_t now)
{
	struct open_span *span;

	if (ring->depth == MAX_DEPTH)
		return;
	span = &ring->stack[ring->depth++];
	*span = (struct open_span){ .begin = now };
	snprintf(span->name, sizeof(span->name), "%s", name);
}

static void trace_ring_end_span(struct trace_ring *ring, uint64_t now)
{
	struct open_span *span;
	uint64_t ns;

	if (!ring->depth)
		return;
	span = &ring->stack[--ring->depth];
	ns = now - span->begin;
	if (ring->depth)
		ring->stack[ring->depth - 1].inner += ns;
	trace_ring_add_span(ring, span->name, ns - span->inner);
}

static void trace_ring_take_event(struct trace_ring *ring, const uint8_t *data,
				  unsigned int size, uint64_t now)
{
	char name[TRACE_NAME_MAX];
	uint64_t function = 0;
	uint16_t type = 0;
	int32_t irq = 0;

	if (size < IRQ_NUMBER + sizeof(irq))
		return;
	memcpy(&type, data, sizeof(type));
	if (type == ring->ids[WORK_START] &&
	    size >= WORK_FUNCTION + sizeof(function)) {
		memcpy(&function, data + WORK_FUNCTION, sizeof(function));
		snprintf(name, sizeof(name), "0x%llx",
			 (unsigned long long)function);
		trace_ring_begin_span(ring, name, now);
	} else if (type == ring->ids[IRQ_ENTRY]) {
		memcpy(&irq, data + IRQ_NUMBER, sizeof(irq));
		snprintf(name, sizeof(name), "irq %d", irq);
		trace_ring_begin_span(ring, name, now);
	} else if (type == ring->ids[WORK_END] ||
		   type == ring->ids[IRQ_EXIT]) {
		trace_ring_end_span(ring, now);
	}
}

static uint32_t trace_ring_word_at(const uint8_t *p)
{
	uint32_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

static void trace_ring_take_page(struct trace_ring *ring, size_t size)
{
	const uint8_t *p = ring->page + PAGE_HEADER;
	const uint8_t *end;
	uint64_t now;
	uint32_t commit;

	memcpy(&now, ring->page, sizeof(now));
	/* the bits above the size are flags */
	commit = trace_ring_word_at(ring->page + 8) & 0xfffff;
	if (commit > size - PAGE_HEADER)
		commit = size - PAGE_HEADER;
	end = p + commit;

	while (end - p >= 8) {
		uint32_t head = trace_ring_word_at(p);
		unsigned int type = head & 31;
		uint32_t first = trace_ring_word_at(p + 4);
		uint32_t delta = head >> 5;

		if (type == TYPE_PADDING && !delta)
			break;
		if (type == TYPE_EXTEND) {
			now += ((uint64_t)first << DELTA_SHIFT) + delta;
			p += 8;
		} else if (type == TYPE_ABSOLUTE) {
			now = (now & ~((UINT64_C(1) << 59) - 1)) |
			      ((uint64_t)first << DELTA_SHIFT) | delta;
			p += 8;
		} else if (type && type <= TYPE_DATA_MAX) {
			now += delta;
			if (end - p < 4 + (ptrdiff_t)type * 4)
				break;
			trace_ring_take_event(ring, p + 4, type * 4, now);
			p += 4 + type * 4;
		} else {
			/* long data, or padding: its length, itself included */
			now += delta;
			p += 4 + ((first + 3) & ~3u);
		}
	}
}

int trace_ring_stop(struct trace_ring *ring,
		    struct trace_span spans[TRACE_MAX_SPANS])
{
	int err = trace_ring_write_file("tracing_on", "0");
	ssize_t n;

	if (err)
		return err;
	ring->spans = spans;
	ring->count = 0;
	ring->depth = 0;
	while ((n = read(ring->fd, ring->page, sizeof(ring->page))) >
	       PAGE_HEADER)
		trace_ring_take_page(ring, n);
	if (n < 0 && errno != EAGAIN)
		return -errno;
	return ring->count;
}

static void trace_ring_name_function(uint64_t address, char name[TRACE_NAME_MAX])
{
	unsigned long long at;
	char line[256];
	char symbol[TRACE_NAME_MAX];
	FILE *fp = fopen("/proc/kallsyms", "r");

	if (!fp)
		return;
	while (fgets(line, sizeof(line), fp)) {
		if (sscanf(line, "%llx %*c %63s", &at, symbol) == 2 &&
		    at == address) {
			memcpy(name, symbol, sizeof(symbol));
			break;
		}
	}
	fclose(fp);
}

static void trace_ring_name_irq(unsigned int number, char name[TRACE_NAME_MAX])
{
	char path[64];
	char action[48];
	FILE *fp;

	snprintf(path, sizeof(path), "/sys/kernel/irq/%u/actions", number);
	fp = fopen(path, "r");
	if (!fp)
		return;
	if (fscanf(fp, "%47s", action) == 1)
		snprintf(name, TRACE_NAME_MAX, "interrupt of %s", action);
	fclose(fp);
}

void trace_ring_name(char name[TRACE_NAME_MAX])
{
	unsigned int irq;

	if (sscanf(name, "irq %u", &irq) == 1)
		trace_ring_name_irq(irq, name);
	else
		trace_ring_name_function(strtoull(name, NULL, 16), name);
}

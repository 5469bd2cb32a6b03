// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <errno.h>

#include "agx_packets.h"

#define AGX_TABLE <agx/agx_packets.def>
#include "packets/rows.h"

static const struct agx_packet_desc *const packets[AGX_PACKET_COUNT] = {
#define AGX_PACKET(packet, bytes, label) \
	[AGX_PACKET_##packet] = &packet##_desc,
#include <agx/agx_packets.def>
};

static const struct agx_packet_desc *packet_find(enum agx_packet_id id)
{
	return (unsigned int)id < AGX_PACKET_COUNT ? packets[id] : NULL;
}

static int unknown_packet(struct agx_error *error)
{
	if (error)
		*error = (struct agx_error){
			.packet = "unknown packet",
			.text = "has no row in agx_packets.def",
		};
	return -EINVAL;
}

size_t agx_packet_bytes(enum agx_packet_id id)
{
	const struct agx_packet_desc *desc = packet_find(id);

	return desc ? desc->bytes : 0;
}

const char *agx_packet_name(enum agx_packet_id id)
{
	const struct agx_packet_desc *desc = packet_find(id);

	return desc ? desc->label : "unknown packet";
}

int agx_packet_pack(enum agx_packet_id id, void *dst, const void *values,
		    struct agx_error *error)
{
	const struct agx_packet_desc *desc = packet_find(id);

	return desc ? agx_desc_pack(desc, dst, values, error) :
		      unknown_packet(error);
}

int agx_packet_unpack(enum agx_packet_id id, const void *src, void *values,
		      struct agx_error *error)
{
	const struct agx_packet_desc *desc = packet_find(id);

	return desc ? agx_desc_unpack(desc, src, values, error) :
		      unknown_packet(error);
}

int agx_packet_print_fields(FILE *fp, enum agx_packet_id id, const void *src,
			    unsigned int indent)
{
	const struct agx_packet_desc *desc = packet_find(id);

	return desc ? agx_desc_print(fp, desc, src, indent) : -EINVAL;
}

int agx_packet_print(FILE *fp, enum agx_packet_id id, const void *src,
		     unsigned int indent)
{
	fprintf(fp, "%*s%s\n", (int)indent, "", agx_packet_name(id));
	return agx_packet_print_fields(fp, id, src, indent + 2);
}

void agx_writer_init(struct agx_writer *w, void *map, size_t size)
{
	*w = (struct agx_writer){ .map = map, .size = size };
}

void agx_writer_put(struct agx_writer *w, enum agx_packet_id id,
		    const void *values)
{
	size_t bytes = agx_packet_bytes(id);

	if (w->error)
		return;
	if (bytes > w->size - w->used) {
		w->error = -ENOSPC;
		w->why.packet = agx_packet_name(id);
		snprintf(w->why.text, sizeof(w->why.text),
			 "%zu bytes, but %zu of %zu are used", bytes, w->used,
			 w->size);
		return;
	}
	w->error = agx_packet_pack(id, w->map + w->used, values, &w->why);
	if (!w->error)
		w->used += bytes;
}

// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Primitive assembly, vertex by vertex (Vulkan specification, "Primitive Topologies"). Functions
 * have no state but the assembler, which the job's own thread uses.
 */
#include "agx_packets.h"
#include "gpu/assemble.h"

static bool assemble_emit(struct assembler *a, struct assembled *out, unsigned int count,
			  unsigned int v0, unsigned int v1, unsigned int v2)
{
	*out = (struct assembled){ .vertex = { v0, v1, v2 }, .count = count, .id = a->id++ };
	return true;
}

/*
 * Every other triangle of a strip has the opposite winding order: two vertices are swapped, so that
 * the provoking one keeps its position
 */
static bool assemble_strip(struct assembler *a, struct assembled *out, unsigned int v)
{
	if (a->count % 2 == 0)
		return assemble_emit(a, out, 3, a->last[1], a->last[0], v);
	if (a->provoking == AGX_VDM_VERTEX_0)
		return assemble_emit(a, out, 3, a->last[1], v, a->last[0]);
	return assemble_emit(a, out, 3, a->last[0], a->last[1], v);
}

static bool assemble_add(struct assembler *a, struct assembled *out, unsigned int v)
{
	switch (a->primitive) {
	case AGX_PRIMITIVE_POINTS:
		return assemble_emit(a, out, 1, v, v, v);
	case AGX_PRIMITIVE_LINES:
		return a->count % 2 == 1 && assemble_emit(a, out, 2, a->last[0], v, v);
	case AGX_PRIMITIVE_LINE_STRIP:
	case AGX_PRIMITIVE_LINE_LOOP:
		return a->count && assemble_emit(a, out, 2, a->last[0], v, v);
	case AGX_PRIMITIVE_TRIANGLES:
		return a->count % 3 == 2 && assemble_emit(a, out, 3, a->last[1], a->last[0], v);
	case AGX_PRIMITIVE_TRIANGLE_STRIP:
		return a->count >= 2 && assemble_strip(a, out, v);
	case AGX_PRIMITIVE_TRIANGLE_FAN:
		return a->count >= 2 && assemble_emit(a, out, 3, a->first, a->last[0], v);
	default:
		return false;
	}
}

bool assemble_vertex(struct assembler *a, unsigned int v, struct assembled *out)
{
	bool made = assemble_add(a, out, v);

	if (!a->count++)
		a->first = v;
	a->last[1] = a->last[0];
	a->last[0] = v;
	return made;
}

bool assemble_end(struct assembler *a, struct assembled *out)
{
	bool closes = a->primitive == AGX_PRIMITIVE_LINE_LOOP && a->count > 2;

	if (closes)
		assemble_emit(a, out, 2, a->last[0], a->first, a->first);
	a->count = 0;
	return closes;
}

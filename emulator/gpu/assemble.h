/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Primitive assembly: points, lines and triangles of a sequence of vertices.
 */
#ifndef VAGX_ASSEMBLE_H
#define VAGX_ASSEMBLE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct assembler - state between two vertices
 * @primitive: AGX_PRIMITIVE_*
 * @provoking: AGX_VDM_VERTEX_*, the provoking vertex, whose position triangles of a strip keep
 * @count: vertices since the last restart
 * @first: the first of them
 * @last: the last ones, the very last one first
 * @id: number of the next primitive
 */
struct assembler {
	unsigned int primitive;
	unsigned int provoking;
	uint64_t count;
	unsigned int first;
	unsigned int last[2];
	uint32_t id;
};

/** struct assembled - a primitive: its vertices, and its number */
struct assembled {
	unsigned int vertex[3];
	unsigned int count;
	uint32_t id;
};

/** assemble_vertex() - add a vertex; true if that completes a primitive */
bool assemble_vertex(struct assembler *a, unsigned int vertex, struct assembled *out);

/** assemble_end() - end a strip, fan or loop; true if that completes a primitive */
bool assemble_end(struct assembler *a, struct assembled *out);

#endif /* VAGX_ASSEMBLE_H */

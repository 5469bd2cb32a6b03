// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Cube maps: the face of a direction, coordinates on it and their derivatives, and the
 * neighbours of texels across an edge (Vulkan specification, "Cube Map Face Selection", "Cube
 * Map Derivative Transformation" and "Cube Map Edge Handling"). Functions have no state.
 */
#include <math.h>

#include "gpu/texture.h"

/* The directions of a face's axes s and t, and of its major axis */
static const struct face {
	int8_t s[3], t[3], major[3];
} texture_cube_faces[CUBE_FACES] = {
	{ { 0, 0, -1 }, { 0, -1, 0 }, { 1, 0, 0 } },
	{ { 0, 0, 1 }, { 0, -1, 0 }, { -1, 0, 0 } },
	{ { 1, 0, 0 }, { 0, 0, 1 }, { 0, 1, 0 } },
	{ { 1, 0, 0 }, { 0, 0, -1 }, { 0, -1, 0 } },
	{ { 1, 0, 0 }, { 0, -1, 0 }, { 0, 0, 1 } },
	{ { -1, 0, 0 }, { 0, -1, 0 }, { 0, 0, -1 } },
};

static double texture_cube_dot(const int8_t axis[3], const double v[3])
{
	return axis[0] * v[0] + axis[1] * v[1] + axis[2] * v[2];
}

static unsigned int texture_cube_find_face(const double v[3])
{
	unsigned int axis = 0;

	if (fabs(v[1]) >= fabs(v[0]))
		axis = 1;
	if (fabs(v[2]) >= fabs(v[axis]))
		axis = 2;
	return 2 * axis + (v[axis] < 0);
}

unsigned int vagx_cube_project(const double direction[3], double at[2])
{
	unsigned int which = texture_cube_find_face(direction);
	const struct face *face = &texture_cube_faces[which];
	double major = texture_cube_dot(face->major, direction);

	at[0] = (texture_cube_dot(face->s, direction) / major + 1) / 2;
	at[1] = (texture_cube_dot(face->t, direction) / major + 1) / 2;
	return which;
}

void vagx_cube_derive(const double direction[3], const double change[3], double at[2])
{
	const struct face *face = &texture_cube_faces[texture_cube_find_face(direction)];
	double major = texture_cube_dot(face->major, direction),
	       changed = texture_cube_dot(face->major, change);

	at[0] = (texture_cube_dot(face->s, change) * major -
		 texture_cube_dot(face->s, direction) * changed) /
		(2 * major * major);
	at[1] = (texture_cube_dot(face->t, change) * major -
		 texture_cube_dot(face->t, direction) * changed) /
		(2 * major * major);
}

/* The direction of a point in a face's plane; s and t are from -1 to 1 on the face itself */
static void texture_cube_direction(const struct face *face, double s, double t, double direction[3])
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		direction[i] = face->major[i] + s * face->s[i] + t * face->t[i];
}

uint32_t vagx_cube_fold(uint32_t layer, double at[2])
{
	double direction[3];

	if (!(at[0] < 0 || at[0] > 1 || at[1] < 0 || at[1] > 1))
		return layer;
	texture_cube_direction(&texture_cube_faces[layer % CUBE_FACES], 2 * at[0] - 1,
			       2 * at[1] - 1, direction);
	return layer / CUBE_FACES * CUBE_FACES + vagx_cube_project(direction, at);
}

static int64_t texture_cube_inside(double at, uint32_t size)
{
	int64_t texel = (int64_t)floor(at * size);

	return texel < 0 ? 0 : texel >= size ? size - 1 : texel;
}

/* Projects the centre of the texel, in the plane of its face, to the neighbouring face */
bool vagx_cube_neighbour(struct texel_coords *p, uint32_t size)
{
	const bool x_out = p->x < 0 || p->x >= size, y_out = p->y < 0 || p->y >= size;
	const struct face *face = &texture_cube_faces[p->z % CUBE_FACES];
	double s = (2 * p->x + 1.0) / size - 1, t = (2 * p->y + 1.0) / size - 1;
	double direction[3], at[2];

	if (!x_out && !y_out)
		return true;
	if (x_out && y_out)
		return false;
	texture_cube_direction(face, s, t, direction);
	p->z = p->z / CUBE_FACES * CUBE_FACES + vagx_cube_project(direction, at);
	p->x = texture_cube_inside(at[0], size);
	p->y = texture_cube_inside(at[1], size);
	return true;
}

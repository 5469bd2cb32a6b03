// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "scene.h"

/* Corners are rounded to 1/256 of a pixel, and edges move with them. */
#define EDGE		0.05f
/* Largest sum of the errors of halves, interpolation and rounding to 8 bits */
#define TOLERANCE	3
#define DEPTH_EPSILON	1e-4f
#define PI		3.14159265f

static const float scene_background[4] = { 0.125f, 0.25f, 0.375f, 1.0f };

static void scene_init(struct scene *scene)
{
	memset(scene, 0, sizeof(*scene));
	memcpy(scene->render.clear, scene_background, sizeof(scene_background));
	scene->render.vertices = scene->vertices;
}

static void scene_add_vertex(struct scene *scene, const float position[4],
			     const float colour[3])
{
	struct render_vertex *v = &scene->vertices[scene->render.count++];

	memcpy(v->position, position, sizeof(v->position));
	memcpy(v->colour, colour, 3 * sizeof(*colour));
	v->colour[3] = 1;
}

void scene_clear(struct scene *scene)
{
	scene_init(scene);
}

void scene_triangle(struct scene *scene)
{
	static const float corners[3][4] = {
		{ 0, -0.8f, 0, 1 }, { 0.8f, 0.8f, 0, 1 }, { -0.8f, 0.8f, 0, 1 },
	};
	static const float colours[3][3] = {
		{ 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 },
	};

	scene_init(scene);
	for (unsigned int i = 0; i < 3; i++)
		scene_add_vertex(scene, corners[i], colours[i]);
}

/* Turned around two axes, moved away from the eye, and projected */
static void scene_project(const float in[3], float turn, float aspect, float out[4])
{
	const float near = 1, far = 10, distance = 4, zoom = 2;
	float a = turn * 2 * PI, b = a / 2 + 0.5f;
	float x = in[0] * cosf(a) + in[2] * sinf(a);
	float z = in[2] * cosf(a) - in[0] * sinf(a);
	float y = in[1] * cosf(b) - z * sinf(b);

	z = in[1] * sinf(b) + z * cosf(b) + distance;
	out[0] = x * zoom / aspect;
	out[1] = y * zoom;
	out[2] = (z - near) * far / (far - near);
	out[3] = z;
}

/* The sides at +1 and -1 of each axis; corners go around in pairs of triangles. */
static void scene_add_side(struct scene *scene, unsigned int side, float turn,
			   float aspect)
{
	static const float around[6][2] = {
		{ -1, -1 }, { 1, -1 }, { 1, 1 }, { -1, -1 }, { 1, 1 }, { -1, 1 },
	};
	unsigned int axis = side / 2;
	float colour[3] = { 0.2f, 0.2f, 0.2f };

	colour[axis] = 1;
	colour[(axis + 1) % 3] = side % 2 ? 0.8f : 0.2f;
	for (unsigned int i = 0; i < 6; i++) {
		float corner[3], position[4];

		corner[axis] = side % 2 ? 1 : -1;
		corner[(axis + 1) % 3] = around[i][0];
		corner[(axis + 2) % 3] = around[i][1];
		scene_project(corner, turn, aspect, position);
		scene_add_vertex(scene, position, colour);
	}
}

void scene_cube(struct scene *scene, float turn, float aspect)
{
	scene_init(scene);
	scene->render.depth = true;
	for (unsigned int side = 0; side < 6; side++)
		scene_add_side(scene, side, turn, aspect);
}

/* How it has to look */

struct corner {
	float x, y, z, w;
};

struct pixel {
	bool unclear;
	bool drawn;
	float z;
	float colour[4];
};

static struct corner scene_to_screen(const struct render_vertex *v,
				     const struct render_target *target)
{
	float w = v->position[3];

	return (struct corner){
		.x = (v->position[0] / w + 1) / 2 * (float)target->width,
		.y = (v->position[1] / w + 1) / 2 * (float)target->height,
		.z = v->position[2] / w,
		.w = w,
	};
}

/* Twice the area of a triangle with (x, y) as its last corner */
static float scene_area(const struct corner *a, const struct corner *b, float x,
			float y)
{
	return (b->x - a->x) * (y - a->y) - (b->y - a->y) * (x - a->x);
}

/*
 * Weights of the three corners, for planes on the screen. Return: 1 if the point
 * is in the triangle, 0 if it is not, -1 near an edge.
 */
static int scene_find_weights(const struct corner c[3], float x, float y,
			      float weight[3])
{
	float all = scene_area(&c[0], &c[1], c[2].x, c[2].y);
	int in = 1;

	for (unsigned int i = 0; i < 3; i++) {
		const struct corner *a = &c[(i + 1) % 3], *b = &c[(i + 2) % 3];
		float part = scene_area(a, b, x, y);
		float distance = part / hypotf(b->x - a->x, b->y - a->y);

		weight[i] = part / all;
		if (fabsf(distance) < EDGE)
			in = in ? -1 : 0;
		else if (weight[i] < 0)
			in = 0;
	}
	return in;
}

static void scene_draw(struct pixel *p, const struct render_vertex v[3],
		       const struct corner c[3], const float weight[3])
{
	float inverse_w = 0, z = 0;

	for (unsigned int i = 0; i < 3; i++) {
		inverse_w += weight[i] / c[i].w;
		z += weight[i] * c[i].z;
	}
	if (p->drawn && fabsf(z - p->z) < DEPTH_EPSILON)
		p->unclear = true;
	if (p->drawn && z > p->z)
		return;
	p->drawn = true;
	p->z = z;
	for (unsigned int channel = 0; channel < 4; channel++) {
		float sum = 0;

		for (unsigned int i = 0; i < 3; i++)
			sum += weight[i] * v[i].colour[channel] / c[i].w;
		p->colour[channel] = sum / inverse_w;
	}
}

/* Scenes without depth have one triangle only. */
static struct pixel scene_find_pixel(const struct render_scene *scene,
				     const struct render_target *target, float x,
				     float y)
{
	struct pixel p = { .z = 1 };

	memcpy(p.colour, scene->clear, sizeof(p.colour));
	for (unsigned int i = 0; i + 3 <= scene->count; i += 3) {
		const struct render_vertex *v = &scene->vertices[i];
		struct corner c[3];
		float weight[3];
		int in;

		for (unsigned int j = 0; j < 3; j++)
			c[j] = scene_to_screen(&v[j], target);
		in = scene_find_weights(c, x, y, weight);
		if (in < 0)
			p.unclear = true;
		else if (in)
			scene_draw(&p, v, c, weight);
	}
	return p;
}

static bool scene_is_like(const struct pixel *p, const uint8_t got[4])
{
	for (unsigned int i = 0; i < 4; i++) {
		float expected = p->colour[i] * 255;

		if (fabsf(expected - (float)got[i]) > TOLERANCE)
			return false;
	}
	return true;
}

static int scene_complain(const struct pixel *p, uint32_t x, uint32_t y,
			  const uint8_t got[4])
{
	fprintf(stderr,
		"pixel %u, %u is %u %u %u %u, not %.1f %.1f %.1f %.1f\n", x, y,
		got[0], got[1], got[2], got[3], (double)p->colour[0] * 255,
		(double)p->colour[1] * 255, (double)p->colour[2] * 255,
		(double)p->colour[3] * 255);
	return -EILSEQ;
}

int scene_check(const struct render_scene *scene,
		const struct render_target *target)
{
	uint32_t unclear = 0;

	for (uint32_t y = 0; y < target->height; y++) {
		const uint8_t *row = (const uint8_t *)target->pixels.map +
				     (size_t)y * target->stride;

		for (uint32_t x = 0; x < target->width; x++) {
			struct pixel p = scene_find_pixel(scene, target,
							  (float)x + 0.5f,
							  (float)y + 0.5f);

			unclear += p.unclear;
			if (!p.unclear && !scene_is_like(&p, row + 4 * x))
				return scene_complain(&p, x, y, row + 4 * x);
		}
	}
	/* a check that looks at nothing finds nothing */
	if (unclear > target->width * target->height / 4) {
		fprintf(stderr, "too small: %u pixels are near edges\n", unclear);
		return -EINVAL;
	}
	return 0;
}

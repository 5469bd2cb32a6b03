// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * All values of a primitive are linear in its weights, also where it is cut:
 * so a corner is its weights, and a plane is solved for with W still in it.
 * Nothing has to be divided for vertices behind the eye.
 */
#include <math.h>
#include <string.h>

#include "agx_float.h"
#include "gpu/setup.h"

/* Corners are not further away, so that products of them fit */
#define GUARD_PIXELS	32767.0
#define MAX_LINE_WIDTH	16.0
#define MAX_POINT_SIZE	511.95
#define POSITION_WORDS	4

struct corner {
	double weight[3];
};

struct polygon {
	struct corner corner[SETUP_MAX_CORNERS];
	unsigned int count;
};

static float word(const struct setup_input *in, unsigned int vertex, unsigned int n)
{
	return n < in->words ? bits_float(in->vertices[vertex][n]) : 0.0f;
}

/* They are written, and have their places, even if no fragment shader reads them */
static unsigned int varying_words(const struct ppp_state *s)
{
	return s->varying_counts_32.smooth + s->varying_counts_32.flat +
	       s->varying_counts_32.linear;
}

unsigned int setup_point_size_word(const struct ppp_state *s)
{
	return POSITION_WORDS + varying_words(s);
}

unsigned int setup_layer_word(const struct ppp_state *s)
{
	return setup_point_size_word(s) + s->output_select.point_size;
}

unsigned int setup_clip_word(const struct ppp_state *s)
{
	return setup_layer_word(s) + (s->output_select.layer || s->output_select.viewport);
}

/* Cutting */

static double weigh(const struct corner *c, const double value[3])
{
	return c->weight[0] * value[0] + c->weight[1] * value[1] + c->weight[2] * value[2];
}

/* Always from inside to outside, so that two triangles cut their edge at the same place */
static void cut_edge(struct corner *cut, const struct corner *in, const struct corner *out,
		     double d_in, double d_out)
{
	double t = d_in / (d_in - d_out);
	unsigned int i;

	for (i = 0; i < 3; i++)
		cut->weight[i] = in->weight[i] + t * (out->weight[i] - in->weight[i]);
}

/* Keeps what has values that are not negative */
static void cut(struct polygon *p, const double value[3])
{
	struct polygon old;
	unsigned int i;

	if (value[0] >= 0 && value[1] >= 0 && value[2] >= 0)
		return;
	old = *p;
	p->count = 0;
	for (i = 0; i < old.count; i++) {
		const struct corner *a = &old.corner[i], *b = &old.corner[(i + 1) % old.count];
		double da = weigh(a, value), db = weigh(b, value);

		if (p->count + 2 > SETUP_MAX_CORNERS)
			break;
		if (da >= 0)
			p->corner[p->count++] = *a;
		if (da >= 0 && db < 0)
			cut_edge(&p->corner[p->count++], a, b, da, db);
		else if (da < 0 && db >= 0)
			cut_edge(&p->corner[p->count++], b, a, db, da);
	}
}

static double least_w(const struct ppp_state *state)
{
	return state->w_clamp.w_clamp > 1e-30 ? state->w_clamp.w_clamp : 1e-30;
}

/* Of a line the weights of its two ends; it is cut as a polygon with two corners */
static void cut_all(struct polygon *p, const struct setup *s, const struct setup_input *in)
{
	const struct ppp_state *state = in->state;
	const double w_min = least_w(state);
	double value[3];
	unsigned int i, n, plane, words = setup_clip_word(state);

	for (i = 0; i < 3; i++)
		value[i] = s->position[i][3] - w_min;
	cut(p, value);
	for (n = 0; n < 2 && state->cull.depth_clip; n++) {
		for (i = 0; i < 3; i++) {
			double z = word(in, s->source[i], 2);

			value[i] = n ? s->position[i][3] - z : z;
		}
		cut(p, value);
	}
	for (plane = 0; plane < 16; plane++) {
		if (!(state->output_select.clip_planes >> plane & 1))
			continue;
		for (i = 0; i < 3; i++)
			value[i] = word(in, s->source[i], words);
		words++;
		cut(p, value);
	}
	for (n = 0; n < 4; n++) {
		for (i = 0; i < 3; i++)
			value[i] = GUARD_PIXELS * s->position[i][3] +
				   (n % 2 ? -1 : 1) * s->position[i][n / 2];
		cut(p, value);
	}
}

/* Into the window */

static bool transform(struct setup *s, const struct setup_input *in)
{
	const struct agx_ppp_viewport *v = &in->state->viewport[in->viewport];
	unsigned int i, k;

	for (i = 0; i < 3; i++) {
		unsigned int from = s->source[i];
		double w = word(in, from, 3);

		s->position[i][0] = word(in, from, 0) * (double)v->scale_x + w * v->translate_x;
		s->position[i][1] = word(in, from, 1) * (double)v->scale_y + w * v->translate_y;
		s->position[i][2] = word(in, from, 2) * (double)v->scale_z + w * v->translate_z;
		s->position[i][3] = w;
		for (k = 0; k < 4; k++) {
			if (!isfinite(s->position[i][k]))
				return false;
		}
	}
	return true;
}

static void place(const struct setup *s, const struct corner *c, double *x, double *y)
{
	double value[3][3], w;
	unsigned int i, k;

	for (k = 0; k < 3; k++)
		for (i = 0; i < 3; i++)
			value[k][i] = s->position[i][k < 2 ? k : 3];
	w = weigh(c, value[2]);
	*x = weigh(c, value[0]) / w;
	*y = weigh(c, value[1]) / w;
}

/* Whether a triangle is left as it is by cut_all() */
static bool is_inside(const struct setup *s, const struct setup_input *in)
{
	const struct ppp_state *state = in->state;
	const double w_min = least_w(state);
	unsigned int i;

	if (state->output_select.clip_planes)
		return false;
	for (i = 0; i < 3; i++) {
		const double *p = s->position[i], guard = GUARD_PIXELS * p[3];
		const double z = word(in, s->source[i], 2);

		if (!(p[3] - w_min >= 0) ||
		    (state->cull.depth_clip && !(z >= 0 && p[3] - z >= 0)) ||
		    !(guard + p[0] >= 0 && guard - p[0] >= 0) ||
		    !(guard + p[1] >= 0 && guard - p[1] >= 0))
			return false;
	}
	return true;
}

static int32_t round_subpixel(double v)
{
	double limit = GUARD_PIXELS + 1024;

	v = v < -limit ? -limit : v > limit ? limit : v;
	return (int32_t)lrint(v * SETUP_SUBPIXEL);
}

static void add_corner(struct setup *s, double x, double y)
{
	int32_t ix = round_subpixel(x), iy = round_subpixel(y);

	s->x[s->corners] = ix;
	s->y[s->corners++] = iy;
}

static int64_t double_area(const struct setup *s)
{
	int64_t area = 0;
	unsigned int i;

	for (i = 0; i < s->corners; i++) {
		unsigned int j = setup_next(s, i);

		area += (int64_t)s->x[i] * s->y[j] - (int64_t)s->x[j] * s->y[i];
	}
	return area;
}

static void reverse(struct setup *s)
{
	unsigned int i;

	for (i = 0; i < s->corners / 2; i++) {
		unsigned int j = s->corners - 1 - i;
		int32_t x = s->x[i], y = s->y[i];

		s->x[i] = s->x[j];
		s->y[i] = s->y[j];
		s->x[j] = x;
		s->y[j] = y;
	}
}

void setup_bound(struct setup *s)
{
	unsigned int i;

	s->min_x = s->max_x = s->x[0];
	s->min_y = s->max_y = s->y[0];
	for (i = 1; i < s->corners; i++) {
		s->min_x = s->x[i] < s->min_x ? s->x[i] : s->min_x;
		s->max_x = s->x[i] > s->max_x ? s->x[i] : s->max_x;
		s->min_y = s->y[i] < s->min_y ? s->y[i] : s->min_y;
		s->max_y = s->y[i] > s->max_y ? s->y[i] : s->max_y;
	}
	s->min_x >>= SETUP_SUBPIXEL_BITS;
	s->min_y >>= SETUP_SUBPIXEL_BITS;
	s->max_x >>= SETUP_SUBPIXEL_BITS;
	s->max_y >>= SETUP_SUBPIXEL_BITS;
}

/* Kinds */

static void cut_triangle(struct setup *s, const struct setup_input *in)
{
	struct polygon p = {
		.corner = { { { 1, 0, 0 } }, { { 0, 1, 0 } }, { { 0, 0, 1 } } },
		.count = 3,
	};
	unsigned int i;

	cut_all(&p, s, in);
	for (i = 0; p.count >= 3 && i < p.count; i++) {
		double x, y;

		place(s, &p.corner[i], &x, &y);
		add_corner(s, x, y);
	}
}

static bool triangle(struct setup *s, const struct setup_input *in)
{
	const bool whole = is_inside(s, in);
	int64_t area;
	unsigned int i;

	for (i = 0; whole && i < 3; i++)
		add_corner(s, s->position[i][0] / s->position[i][3],
			   s->position[i][1] / s->position[i][3]);
	if (!whole)
		cut_triangle(s, in);
	area = double_area(s);
	if (!area)
		return false;
	/* Lines go down: what turns left there has a negative area */
	s->back = (area < 0) != in->state->cull.front_face_ccw;
	if (area < 0)
		reverse(s);
	return true;
}

/* An end of a line; @major is along the axis that the line is steeper to */
struct line_end {
	double major, minor;
};

/* In the middle of a pixel: nearer to its centre than its edges are, by the sum of both ways */
static bool in_diamond(const struct line_end *e)
{
	double major = fabs(e->major - floor(e->major) - 0.5);
	double minor = fabs(e->minor - floor(e->minor) - 0.5);

	return major + minor < 0.5;
}

/*
 * Pixels whose diamonds a line leaves are drawn, one in each column: so of the
 * lines of a strip exactly one draws the pixel where they meet. Its centre tells,
 * but for a line that begins behind it in the diamond, or ends there: that end
 * goes back to the edge of the column.
 */
static void exit_diamond(struct line_end *e, double forward, double slope)
{
	double centre = floor(e->major) + 0.5;
	double edge = centre - 0.5 * forward;

	if ((e->major - centre) * forward < 0 || !in_diamond(e))
		return;
	e->minor += (edge - e->major) * slope;
	e->major = edge;
}

/* Between the ends by Bresenham's rule; false if no diamond is left */
static bool whole_columns(struct line_end e[2])
{
	double length = e[1].major - e[0].major;
	double forward = length < 0 ? -1 : 1, slope;

	if (length == 0)
		return false;
	slope = (e[1].minor - e[0].minor) / length;
	exit_diamond(&e[0], forward, slope);
	exit_diamond(&e[1], forward, slope);
	return (e[1].major - e[0].major) * forward > 0;
}

/*
 * A parallelogram: as wide as the line across the axis that it is steeper to.
 * Honeykrisp sets primitive_msaa where Vulkan's Bresenham lines are wanted.
 */
static bool line(struct setup *s, const struct setup_input *in)
{
	struct polygon p = { .corner = { { { 1, 0, 0 } }, { { 0, 1, 0 } } }, .count = 2 };
	const struct ppp_state *state = in->state;
	double width = in->back ? state->back_face.line_width : state->front_face.line_width;
	double x[2], y[2], half;
	struct line_end e[2];
	unsigned int i;
	bool steep;

	cut_all(&p, s, in);
	if (p.count < 2)
		return false;
	width = width > MAX_LINE_WIDTH ? MAX_LINE_WIDTH : width < 1 ? 1 : width;
	half = width / 2;
	for (i = 0; i < 2; i++)
		place(s, &p.corner[i], &x[i], &y[i]);
	steep = fabs(x[1] - x[0]) < fabs(y[1] - y[0]);
	for (i = 0; i < 2; i++)
		e[i] = steep ? (struct line_end){ y[i], x[i] } : (struct line_end){ x[i], y[i] };
	if (state->cull.primitive_msaa && !whole_columns(e))
		return false;
	for (i = 0; i < 4; i++) {
		/* round it: both ends on one side, and back on the other */
		const struct line_end *end = &e[i == 1 || i == 2];
		double minor = end->minor + (i < 2 ? -half : half);

		if (steep)
			add_corner(s, minor, end->major);
		else
			add_corner(s, end->major, minor);
	}
	if (double_area(s) < 0)
		reverse(s);
	return double_area(s) != 0;
}

static bool point(struct setup *s, const struct setup_input *in)
{
	struct polygon p = { .corner = { { { 1, 0, 0 } } }, .count = 1 };
	double size = 1, x, y;

	cut_all(&p, s, in);
	if (!p.count)
		return false;
	if (in->state->output_select.point_size)
		size = word(in, s->source[0], setup_point_size_word(in->state));
	if (!(size > 0))
		return false;
	size = size > MAX_POINT_SIZE ? MAX_POINT_SIZE : size < 1 ? 1 : size;
	s->point_size = size;
	place(s, &p.corner[0], &x, &y);
	add_corner(s, x - size / 2, y - size / 2);
	add_corner(s, x + size / 2, y - size / 2);
	add_corner(s, x + size / 2, y + size / 2);
	add_corner(s, x - size / 2, y + size / 2);
	return double_area(s) > 0;
}

/* Lines and points have their values across as they have them in the middle */
static void spread(struct setup *s, const struct setup_input *in)
{
	double dx, dy;

	if (in->of_triangle || in->kind == SETUP_TRIANGLE)
		return;
	dx = s->position[1][0] / s->position[1][3] - s->position[0][0] / s->position[0][3];
	dy = s->position[1][1] / s->position[1][3] - s->position[0][1] / s->position[0][3];
	if (in->kind == SETUP_POINT || !isfinite(dx) || !isfinite(dy)) {
		dx = 0;
		dy = -1;
		s->position[1][1] += s->position[1][3];
	}
	s->position[2][0] -= dy * s->position[2][3];
	s->position[2][1] += dx * s->position[2][3];
}

bool setup_primitive(struct setup *s, const struct setup_input *in)
{
	static const unsigned int sources[][3] = {
		[SETUP_TRIANGLE] = { 0, 1, 2 },
		[SETUP_LINE] = { 0, 1, 0 },
		[SETUP_POINT] = { 0, 0, 0 },
	};
	unsigned int i;
	bool left;

	s->corners = 0;
	s->back = in->back;
	s->point_size = 1;
	for (i = 0; i < 3; i++)
		s->source[i] = in->of_triangle ? (i + in->turn) % 3 : sources[in->kind][i];
	if (!transform(s, in))
		return false;
	if (in->kind == SETUP_TRIANGLE)
		left = triangle(s, in);
	else if (in->kind == SETUP_LINE)
		left = line(s, in);
	else
		left = point(s, in);
	if (!left)
		return false;
	setup_bound(s);
	spread(s, in);
	return true;
}

/* Cramer's rule: what all values of a primitive have in common */
struct setup_solver setup_solver(const struct setup *s)
{
	const double *p = s->position[0], *q = s->position[1], *r = s->position[2];
	struct setup_solver solver = {
		.x = {
			q[1] * r[3] - r[1] * q[3],
			r[1] * p[3] - p[1] * r[3],
			p[1] * q[3] - q[1] * p[3],
		},
		.y = {
			r[0] * q[3] - q[0] * r[3],
			p[0] * r[3] - r[0] * p[3],
			q[0] * p[3] - p[0] * q[3],
		},
		.w = {
			q[0] * r[1] - r[0] * q[1],
			r[0] * p[1] - p[0] * r[1],
			p[0] * q[1] - q[0] * p[1],
		},
		.first_w = p[3],
	};

	solver.det = p[0] * solver.x[0] + q[0] * solver.x[1] + r[0] * solver.x[2];
	return solver;
}

/* A triangle that is seen from the side has no plane, and no pixels */
struct setup_plane setup_plane(const struct setup_solver *s, const double v[3])
{
	if (s->det == 0 || !isfinite(s->det))
		return (struct setup_plane){ 0, 0, s->first_w != 0 ? v[0] / s->first_w : 0 };
	return (struct setup_plane){
		.a = (v[0] * s->x[0] + v[1] * s->x[1] + v[2] * s->x[2]) / s->det,
		.b = (v[0] * s->y[0] + v[1] * s->y[1] + v[2] * s->y[2]) / s->det,
		.c = (v[0] * s->w[0] + v[1] * s->w[1] + v[2] * s->w[2]) / s->det,
	};
}

bool setup_touches(const struct setup *s, int32_t x, int32_t y, int32_t width, int32_t height)
{
	int32_t right = x + width - 1, bottom = y + height - 1;
	unsigned int i;

	if (s->min_x > right || s->max_x < x || s->min_y > bottom || s->max_y < y)
		return false;
	for (i = 0; i < s->corners; i++) {
		unsigned int j = setup_next(s, i);
		int64_t dx = (int64_t)s->x[j] - s->x[i], dy = (int64_t)s->y[j] - s->y[i];
		/* the corner of the rectangle that is furthest inside */
		int64_t px = (int64_t)(dy < 0 ? right + 1 : x) * SETUP_SUBPIXEL;
		int64_t py = (int64_t)(dx > 0 ? bottom + 1 : y) * SETUP_SUBPIXEL;

		if (dx * (py - s->y[i]) - dy * (px - s->x[i]) < 0)
			return false;
	}
	return true;
}

// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Primitive setup: clipping, viewport transform, culling by area, lines and points as
 * polygons, and the plane equations of attributes.
 *
 * Clipping is Sutherland and Hodgman's: the polygon is cut by one half-space after the other
 * (W, the depth range, the user's clip planes, the guard band). A vertex of the clipped
 * polygon is its barycentric coordinates in the original triangle, as all attributes are
 * linear in these. Attributes are solved for in homogeneous coordinates (Olano and Greer,
 * "Triangle scan conversion using 2D homogeneous coordinates", 1997), so nothing is divided
 * by the W of a vertex behind the eye. Vertices of the polygon are snapped to 1/256 of a
 * pixel.
 *
 * Functions have no state: vertex work and fragment work call them from any thread.
 */
#include <math.h>
#include <string.h>

#include "agx_float.h"
#include "gpu/setup.h"

/* The guard band: vertices are not further away, so that edge functions fit 64 bits */
#define GUARD_PIXELS	32767.0
#define MAX_LINE_WIDTH	16.0
#define MAX_POINT_SIZE	511.95
#define POSITION_WORDS	4

/* A vertex of a clipped polygon */
struct clip_vertex {
	double barycentric[3];
};

struct clip_polygon {
	struct clip_vertex vertex[SETUP_MAX_VERTICES];
	unsigned int count;
};

/* Word @n of the UVS output of a vertex; 0 if the vertex has fewer words */
static float setup_word(const struct setup_input *in, unsigned int vertex, unsigned int n)
{
	return n < in->words ? bits_float(in->vertices[vertex][n]) : 0.0f;
}

/* Words of varyings; the vertex shader writes them even if no fragment shader reads them */
static unsigned int setup_varying_words(const struct ppp_state *s)
{
	return s->varying_counts_32.smooth + s->varying_counts_32.flat +
	       s->varying_counts_32.linear;
}

unsigned int setup_point_size_word(const struct ppp_state *s)
{
	return POSITION_WORDS + setup_varying_words(s);
}

unsigned int setup_layer_word(const struct ppp_state *s)
{
	return setup_point_size_word(s) + s->output_select.point_size;
}

unsigned int setup_clip_word(const struct ppp_state *s)
{
	return setup_layer_word(s) + (s->output_select.layer || s->output_select.viewport);
}

/* Clipping */

/* A value of the three original vertices at a vertex of the clipped polygon */
static double setup_interpolate(const struct clip_vertex *v, const double value[3])
{
	return v->barycentric[0] * value[0] + v->barycentric[1] * value[1] +
	       v->barycentric[2] * value[2];
}

/*
 * Where an edge crosses a clip plane; @d_in and @d_out are the distances of its ends. It is
 * always computed from inside to outside, so that two triangles clip a shared edge at the
 * same place.
 */
static void setup_clip_edge(struct clip_vertex *clipped, const struct clip_vertex *in,
			    const struct clip_vertex *out, double d_in, double d_out)
{
	double t = d_in / (d_in - d_out);
	unsigned int i;

	for (i = 0; i < 3; i++)
		clipped->barycentric[i] =
			in->barycentric[i] + t * (out->barycentric[i] - in->barycentric[i]);
}

/* Clips a polygon by a plane, from which the original vertices have these distances */
static void setup_clip_plane(struct clip_polygon *p, const double distance[3])
{
	struct clip_polygon old;
	unsigned int i;

	if (distance[0] >= 0 && distance[1] >= 0 && distance[2] >= 0)
		return;
	old = *p;
	p->count = 0;
	for (i = 0; i < old.count; i++) {
		const struct clip_vertex *a = &old.vertex[i], *b = &old.vertex[(i + 1) % old.count];
		double da = setup_interpolate(a, distance), db = setup_interpolate(b, distance);

		if (p->count + 2 > SETUP_MAX_VERTICES)
			break;
		if (da >= 0)
			p->vertex[p->count++] = *a;
		if (da >= 0 && db < 0)
			setup_clip_edge(&p->vertex[p->count++], a, b, da, db);
		else if (da < 0 && db >= 0)
			setup_clip_edge(&p->vertex[p->count++], b, a, db, da);
	}
}

/* The W clamp, or what is as good as 0 where there is none */
static double setup_least_w(const struct ppp_state *state)
{
	return state->w_clamp.w_clamp > 1e-30 ? state->w_clamp.w_clamp : 1e-30;
}

/* Clips by all planes. A line is a polygon of two vertices, a point one of a single vertex. */
static void setup_clip(struct clip_polygon *p, const struct setup *s, const struct setup_input *in)
{
	const struct ppp_state *state = in->state;
	const double w_min = setup_least_w(state);
	double distance[3];
	unsigned int i, n, plane, words = setup_clip_word(state);

	for (i = 0; i < 3; i++)
		distance[i] = s->position[i][3] - w_min;
	setup_clip_plane(p, distance);
	for (n = 0; n < 2 && state->cull.depth_clip; n++) {
		for (i = 0; i < 3; i++) {
			double z = setup_word(in, s->source[i], 2);

			distance[i] = n ? s->position[i][3] - z : z;
		}
		setup_clip_plane(p, distance);
	}
	for (plane = 0; plane < 16; plane++) {
		if (!(state->output_select.clip_planes >> plane & 1))
			continue;
		for (i = 0; i < 3; i++)
			distance[i] = setup_word(in, s->source[i], words);
		words++;
		setup_clip_plane(p, distance);
	}
	for (n = 0; n < 4; n++) {
		for (i = 0; i < 3; i++)
			distance[i] = GUARD_PIXELS * s->position[i][3] +
				   (n % 2 ? -1 : 1) * s->position[i][n / 2];
		setup_clip_plane(p, distance);
	}
}

/* Viewport transform */

/*
 * Positions in the window, still times W. Return: false if a position is infinite or no
 * number: such a primitive is not drawn.
 */
static bool setup_viewport_transform(struct setup *s, const struct setup_input *in)
{
	const struct agx_ppp_viewport *v = &in->state->viewport[in->viewport];
	unsigned int i, k;

	for (i = 0; i < 3; i++) {
		unsigned int from = s->source[i];
		double w = setup_word(in, from, 3);

		s->position[i][0] =
			setup_word(in, from, 0) * (double)v->scale_x + w * v->translate_x;
		s->position[i][1] =
			setup_word(in, from, 1) * (double)v->scale_y + w * v->translate_y;
		s->position[i][2] =
			setup_word(in, from, 2) * (double)v->scale_z + w * v->translate_z;
		s->position[i][3] = w;
		for (k = 0; k < 4; k++) {
			if (!isfinite(s->position[i][k]))
				return false;
		}
	}
	return true;
}

/* Projects a vertex of the clipped polygon to the window, in pixels */
static void setup_project(const struct setup *s, const struct clip_vertex *v, double *x, double *y)
{
	double value[3][3], w;
	unsigned int i, k;

	for (k = 0; k < 3; k++)
		for (i = 0; i < 3; i++)
			value[k][i] = s->position[i][k < 2 ? k : 3];
	w = setup_interpolate(v, value[2]);
	*x = setup_interpolate(v, value[0]) / w;
	*y = setup_interpolate(v, value[1]) / w;
}

/* Whether no plane clips a triangle: the same comparisons as setup_clip(), without its work */
static bool setup_is_inside(const struct setup *s, const struct setup_input *in)
{
	const struct ppp_state *state = in->state;
	const double w_min = setup_least_w(state);
	unsigned int i;

	if (state->output_select.clip_planes)
		return false;
	for (i = 0; i < 3; i++) {
		const double *p = s->position[i], guard = GUARD_PIXELS * p[3];
		const double z = setup_word(in, s->source[i], 2);

		if (!(p[3] - w_min >= 0) ||
		    (state->cull.depth_clip && !(z >= 0 && p[3] - z >= 0)) ||
		    !(guard + p[0] >= 0 && guard - p[0] >= 0) ||
		    !(guard + p[1] >= 0 && guard - p[1] >= 0))
			return false;
	}
	return true;
}

/* Snaps a coordinate to subpixels, to the nearest even one at a tie */
static int32_t setup_round_subpixel(double v)
{
	double limit = GUARD_PIXELS + 1024;

	v = v < -limit ? -limit : v > limit ? limit : v;
	return (int32_t)lrint(v * SETUP_SUBPIXEL);
}

static void setup_add_vertex(struct setup *s, double x, double y)
{
	int32_t ix = setup_round_subpixel(x), iy = setup_round_subpixel(y);

	s->x[s->vertex_count] = ix;
	s->y[s->vertex_count++] = iy;
}

/* Twice the signed area of the polygon, in subpixels squared (the shoelace formula) */
static int64_t setup_double_area(const struct setup *s)
{
	int64_t area = 0;
	unsigned int i;

	for (i = 0; i < s->vertex_count; i++) {
		unsigned int j = setup_next(s, i);

		area += (int64_t)s->x[i] * s->y[j] - (int64_t)s->x[j] * s->y[i];
	}
	return area;
}

/* Turns the winding order round */
static void setup_reverse(struct setup *s)
{
	unsigned int i;

	for (i = 0; i < s->vertex_count / 2; i++) {
		unsigned int j = s->vertex_count - 1 - i;
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
	for (i = 1; i < s->vertex_count; i++) {
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

/* Triangles, lines and points */

/* Clips a triangle and adds the vertices that are left. Return: whether all of it was. */
static bool setup_clip_triangle(struct setup *s, const struct setup_input *in)
{
	static const struct clip_polygon whole = {
		.vertex = { { { 1, 0, 0 } }, { { 0, 1, 0 } }, { { 0, 0, 1 } } },
		.count = 3,
	};
	struct clip_polygon p = whole;
	unsigned int i;

	setup_clip(&p, s, in);
	for (i = 0; p.count >= 3 && i < p.count; i++) {
		double x, y;

		setup_project(s, &p.vertex[i], &x, &y);
		setup_add_vertex(s, x, y);
	}
	return p.count == 3 && !memcmp(p.vertex, whole.vertex, sizeof(whole.vertex[0]) * 3);
}

/*
 * Moves the positions that planes are solved for to the snapped vertices that edges go
 * through. So no barycentric coordinate is outside of 0 to 1 where the triangle is covered. A
 * triangle that was clipped keeps its planes: its vertices are snapped after that, and
 * barycentric coordinates may be off by as much.
 */
static void setup_move_to_snapped(struct setup *s)
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		const double w = s->position[i][3];

		s->position[i][0] = (double)s->x[i] / SETUP_SUBPIXEL * w;
		s->position[i][1] = (double)s->y[i] / SETUP_SUBPIXEL * w;
	}
}

static bool setup_triangle(struct setup *s, const struct setup_input *in)
{
	bool whole = setup_is_inside(s, in);
	int64_t area;
	unsigned int i;

	for (i = 0; whole && i < 3; i++)
		setup_add_vertex(s, s->position[i][0] / s->position[i][3],
				 s->position[i][1] / s->position[i][3]);
	if (!whole)
		whole = setup_clip_triangle(s, in);
	area = setup_double_area(s);
	if (!area)
		return false;
	if (whole)
		setup_move_to_snapped(s);
	/* Y goes down in the window: a counter-clockwise triangle has a negative area */
	s->back = (area < 0) != in->state->cull.front_face_ccw;
	if (area < 0)
		setup_reverse(s);
	return true;
}

/* An end of a line; @major is its coordinate on the axis along which the line is longer */
struct line_end {
	double major, minor;
};

/* Whether an end is in the diamond of its pixel: |x| + |y| < 1/2 from the pixel's centre */
static bool setup_in_diamond(const struct line_end *e)
{
	double major = fabs(e->major - floor(e->major) - 0.5);
	double minor = fabs(e->minor - floor(e->minor) - 0.5);

	return major + minor < 0.5;
}

/*
 * The diamond-exit rule: a line draws the pixels whose diamonds it leaves, one in each column,
 * so that of the lines of a strip exactly one draws the pixel where they meet. Whether the
 * line passes a pixel's centre decides it, but for an end that lies in the diamond behind the
 * centre: such an end is moved back to the edge of its column.
 */
static void setup_exit_diamond(struct line_end *e, double forward, double slope)
{
	double centre = floor(e->major) + 0.5;
	double edge = centre - 0.5 * forward;

	if ((e->major - centre) * forward < 0 || !setup_in_diamond(e))
		return;
	e->minor += (edge - e->major) * slope;
	e->major = edge;
}

/* Applies the rule to both ends. Return: false if the line leaves no diamond. */
static bool setup_whole_columns(struct line_end e[2])
{
	double length = e[1].major - e[0].major;
	double forward = length < 0 ? -1 : 1, slope;

	if (length == 0)
		return false;
	slope = (e[1].minor - e[0].minor) / length;
	setup_exit_diamond(&e[0], forward, slope);
	setup_exit_diamond(&e[1], forward, slope);
	return (e[1].major - e[0].major) * forward > 0;
}

/*
 * A line is a parallelogram whose width is measured along the minor axis. Honeykrisp sets
 * primitive_msaa where Vulkan's Bresenham lines are wanted.
 */
static bool setup_line(struct setup *s, const struct setup_input *in)
{
	struct clip_polygon p = { .vertex = { { { 1, 0, 0 } }, { { 0, 1, 0 } } }, .count = 2 };
	const struct ppp_state *state = in->state;
	double width = in->back ? state->back_face.line_width : state->front_face.line_width;
	double x[2], y[2], half;
	struct line_end e[2];
	unsigned int i;
	bool steep;

	setup_clip(&p, s, in);
	if (p.count < 2)
		return false;
	width = width > MAX_LINE_WIDTH ? MAX_LINE_WIDTH : width < 1 ? 1 : width;
	half = width / 2;
	for (i = 0; i < 2; i++)
		setup_project(s, &p.vertex[i], &x[i], &y[i]);
	steep = fabs(x[1] - x[0]) < fabs(y[1] - y[0]);
	for (i = 0; i < 2; i++)
		e[i] = steep ? (struct line_end){ y[i], x[i] } : (struct line_end){ x[i], y[i] };
	if (state->cull.primitive_msaa && !setup_whole_columns(e))
		return false;
	for (i = 0; i < 4; i++) {
		/* around the line: along one side, and back along the other */
		const struct line_end *end = &e[i == 1 || i == 2];
		double minor = end->minor + (i < 2 ? -half : half);

		if (steep)
			setup_add_vertex(s, minor, end->major);
		else
			setup_add_vertex(s, end->major, minor);
	}
	if (setup_double_area(s) < 0)
		setup_reverse(s);
	return setup_double_area(s) != 0;
}

/* A point is a square around its position */
static bool setup_point(struct setup *s, const struct setup_input *in)
{
	struct clip_polygon p = { .vertex = { { { 1, 0, 0 } } }, .count = 1 };
	double size = 1, x, y;

	setup_clip(&p, s, in);
	if (!p.count)
		return false;
	if (in->state->output_select.point_size)
		size = setup_word(in, s->source[0], setup_point_size_word(in->state));
	if (!(size > 0))
		return false;
	size = size > MAX_POINT_SIZE ? MAX_POINT_SIZE : size < 1 ? 1 : size;
	s->point_size = size;
	setup_project(s, &p.vertex[0], &x, &y);
	setup_add_vertex(s, x - size / 2, y - size / 2);
	setup_add_vertex(s, x + size / 2, y - size / 2);
	setup_add_vertex(s, x + size / 2, y + size / 2);
	setup_add_vertex(s, x - size / 2, y + size / 2);
	return setup_double_area(s) > 0;
}

/*
 * Gives lines and points a second direction, in which their attributes do not change, so that
 * planes can be solved for as for triangles.
 */
static void setup_spread(struct setup *s, const struct setup_input *in)
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

	s->vertex_count = 0;
	s->back = in->back;
	s->point_size = 1;
	for (i = 0; i < 3; i++)
		s->source[i] = in->of_triangle ? (i + in->rotation) % 3 : sources[in->kind][i];
	if (!setup_viewport_transform(s, in))
		return false;
	if (in->kind == SETUP_TRIANGLE)
		left = setup_triangle(s, in);
	else if (in->kind == SETUP_LINE)
		left = setup_line(s, in);
	else
		left = setup_point(s, in);
	if (!left)
		return false;
	setup_bound(s);
	setup_spread(s, in);
	return true;
}

/* Cramer's rule: the adjugate of the matrix of positions, which all attributes share */
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

/* A triangle that is seen edge-on has no plane, and covers no pixels */
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
	for (i = 0; i < s->vertex_count; i++) {
		unsigned int j = setup_next(s, i);
		int64_t dx = (int64_t)s->x[j] - s->x[i], dy = (int64_t)s->y[j] - s->y[i];
		/* the corner of the rectangle that is furthest inside of this edge */
		int64_t px = (int64_t)(dy < 0 ? right + 1 : x) * SETUP_SUBPIXEL;
		int64_t py = (int64_t)(dx > 0 ? bottom + 1 : y) * SETUP_SUBPIXEL;

		if (dx * (py - s->y[i]) - dy * (px - s->x[i]) < 0)
			return false;
	}
	return true;
}

// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Values on the very edge, with stock Mesa's OpenGL ES: depths out of the range from 0 to 1, of
 * corners and of shaders; pixels whose centre lies on an edge that triangles share, each of which
 * is drawn once; and coordinates of the triangle at covered pixels, which stay from 0 to 1. What
 * is right is computed here. Prints TAP.
 *
 * usage: gles-edges [--any]
 *   --any   another renderer than Apple's will do
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gles.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define SIZE		64
/* Cells of a mesh in each direction, and the steps of a pixel that corners have */
#define CELLS		9
#define STEPS		16
#define FAN		24
#define ROUNDS		12

static const char vertex_shader[] =
	"#version 320 es\n"
	"layout(location = 0) in vec4 position;\n"
	"layout(location = 1) in vec3 weight;\n"
	"centroid out vec3 near;\n"
	"out vec3 centre;\n"
	"void main()\n"
	"{\n"
	"	gl_Position = position;\n"
	"	near = weight;\n"
	"	centre = weight;\n"
	"}\n";

/* One of 255 is added for each time that a pixel is drawn. */
static const char count_shader[] =
	"#version 320 es\n"
	"precision highp float;\n"
	"out vec4 pixel;\n"
	"void main()\n"
	"{\n"
	"	pixel = vec4(1.0 / 255.0, 0.0, 0.0, 1.0 / 255.0);\n"
	"}\n";

static const char weights_shader[] =
	"#version 320 es\n"
	"precision highp float;\n"
	"centroid in vec3 near;\n"
	"in vec3 centre;\n"
	"uniform bool is_single;\n"
	"out vec4 pixel;\n"
	"bool inside(vec3 w)\n"
	"{\n"
	"	return all(greaterThanEqual(w, vec3(-1e-5))) && all(lessThanEqual(w, vec3(1.0 + 1e-5)));\n"
	"}\n"
	"void main()\n"
	"{\n"
	"	bool good = inside(near) && inside(interpolateAtCentroid(centre));\n"
	"	if (is_single)\n"
	"		good = good && inside(centre);\n"
	"	pixel = vec4(good ? 0.0 : 1.0, 1.0, 0.0, 1.0);\n"
	"}\n";

static const char depth_shader[] =
	"#version 320 es\n"
	"precision highp float;\n"
	"uniform float depth;\n"
	"out vec4 pixel;\n"
	"void main()\n"
	"{\n"
	"	gl_FragDepth = depth;\n"
	"	pixel = vec4(0.0, 1.0, 0.0, 1.0);\n"
	"}\n";

static const char show_vertex_shader[] =
	"#version 320 es\n"
	"void main()\n"
	"{\n"
	"	gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0);\n"
	"}\n";

/* The depth's own bits, as a colour */
static const char show_shader[] =
	"#version 320 es\n"
	"precision highp float;\n"
	"precision highp int;\n"
	"uniform highp sampler2D depths;\n"
	"out vec4 pixel;\n"
	"void main()\n"
	"{\n"
	"	uint bits = floatBitsToUint(texelFetch(depths, ivec2(gl_FragCoord.xy), 0).x);\n"
	"	pixel = vec4(bits & 255u, bits >> 8 & 255u, bits >> 16 & 255u, bits >> 24) / 255.0;\n"
	"}\n";

enum mesh_kind { ANYWHERE, ON_CENTRES, STRAIGHT, FANNED, MESH_KINDS };

struct vertex {
	float x, y, z, w;
	float weight[3];
};

static struct {
	GLuint count, weights, depth, show;
} programs;

static struct vertex mesh[CELLS * CELLS * 6 + FAN * 3];
static uint8_t pixels[SIZE * SIZE][4];
static unsigned int cases, failed;

static void judge(bool good, const char *what)
{
	printf("%sok %u - %s\n", good ? "" : "not ", ++cases, what);
	fflush(stdout);
	failed += !good;
}

static GLuint make_program(const char *vertices, const char *fragments)
{
	GLuint program = glCreateProgram();

	gles_attach_shader(program, GL_VERTEX_SHADER, vertices);
	gles_attach_shader(program, GL_FRAGMENT_SHADER, fragments);
	if (!gles_link(program))
		exit(EXIT_FAILURE);
	return program;
}

/* Targets */

struct target {
	GLuint framebuffer, colour, resolved, resolved_colour;
};

static GLuint make_colour(unsigned int samples)
{
	GLuint name;

	glGenRenderbuffers(1, &name);
	glBindRenderbuffer(GL_RENDERBUFFER, name);
	glRenderbufferStorageMultisample(GL_RENDERBUFFER, (GLsizei)samples, GL_RGBA8, SIZE, SIZE);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, name);
	return name;
}

static struct target begin_target(unsigned int samples)
{
	struct target t;

	glGenFramebuffers(1, &t.resolved);
	glBindFramebuffer(GL_FRAMEBUFFER, t.resolved);
	t.resolved_colour = make_colour(0);
	glGenFramebuffers(1, &t.framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, t.framebuffer);
	t.colour = make_colour(samples);
	glViewport(0, 0, SIZE, SIZE);
	glClearColor(0, 0, 0, 0);
	glClear(GL_COLOR_BUFFER_BIT);
	return t;
}

static void end_target(struct target *t)
{
	glBindFramebuffer(GL_READ_FRAMEBUFFER, t->framebuffer);
	glBindFramebuffer(GL_DRAW_FRAMEBUFFER, t->resolved);
	glBlitFramebuffer(0, 0, SIZE, SIZE, 0, 0, SIZE, SIZE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
	glBindFramebuffer(GL_READ_FRAMEBUFFER, t->resolved);
	glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	glBindFramebuffer(GL_FRAMEBUFFER, 0);
	glDeleteFramebuffers(1, &t->framebuffer);
	glDeleteFramebuffers(1, &t->resolved);
	glDeleteRenderbuffers(1, &t->colour);
	glDeleteRenderbuffers(1, &t->resolved_colour);
}

static void draw_mesh(unsigned int count)
{
	GLuint buffer;

	glGenBuffers(1, &buffer);
	glBindBuffer(GL_ARRAY_BUFFER, buffer);
	glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(count * sizeof(*mesh)), mesh, GL_STREAM_DRAW);
	glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, sizeof(*mesh), NULL);
	glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, sizeof(*mesh), (void *)(4 * sizeof(float)));
	glEnableVertexAttribArray(0);
	glEnableVertexAttribArray(1);
	glDrawArrays(GL_TRIANGLES, 0, (GLsizei)count);
	glDeleteBuffers(1, &buffer);
}

/* Meshes */

/* A corner at so many steps of a pixel, which is exact at any power of two as its w */
static struct vertex corner(int x, int y, unsigned int weight)
{
	const float w = (float)(1 << rand() % 3);
	struct vertex v = {
		.x = ((float)x / (STEPS * SIZE / 2) - 1) * w,
		.y = ((float)y / (STEPS * SIZE / 2) - 1) * w,
		.w = w,
	};

	v.weight[weight] = 1;
	return v;
}

static int between(int min, int max)
{
	return min + rand() % (max - min + 1);
}

static unsigned int put_triangle(unsigned int at, const int a[2], const int b[2], const int c[2])
{
	mesh[at] = corner(a[0], a[1], 0);
	mesh[at + 1] = corner(b[0], b[1], 1);
	mesh[at + 2] = corner(c[0], c[1], 2);
	return at + 3;
}

/* A coordinate of a grid's corner; those on the rim stay there. */
static int grid_coordinate(unsigned int i, int jitter, int grain)
{
	const int cell = SIZE * STEPS / CELLS;

	if (i == 0 || i == CELLS)
		return i ? SIZE * STEPS : 0;
	return ((int)i * cell + between(-jitter, jitter)) / grain * grain;
}

/*
 * All of the target, cut into quadrilaterals by corners that are anywhere, or in the middle and
 * on the edges of pixels only, or by lines through the middle of pixels; each in two by one of
 * its diagonals
 */
static unsigned int make_grid(enum mesh_kind kind)
{
	static int points[CELLS + 1][CELLS + 1][2];
	const int jitter = kind == STRAIGHT ? 0 : SIZE * STEPS / CELLS / 4;
	const int grain = kind == ANYWHERE ? 1 : STEPS / 2;
	unsigned int i, j, at = 0;

	for (j = 0; j <= CELLS; j++) {
		for (i = 0; i <= CELLS; i++) {
			points[j][i][0] = grid_coordinate(i, jitter, grain);
			points[j][i][1] = grid_coordinate(j, jitter, grain);
		}
	}
	for (j = 0; j < CELLS; j++) {
		for (i = 0; i < CELLS; i++) {
			const int *a = points[j][i], *b = points[j][i + 1],
				  *c = points[j + 1][i], *d = points[j + 1][i + 1];

			if (rand() % 2) {
				at = put_triangle(at, a, b, c);
				at = put_triangle(at, d, c, b);
			} else {
				at = put_triangle(at, b, a, d);
				at = put_triangle(at, a, c, d);
			}
		}
	}
	return at;
}

/* A square around one point, the middle of a pixel, cut into triangles that all meet there */
static unsigned int make_fan(void)
{
	const int middle[2] = { SIZE / 2 * STEPS + STEPS / 2, SIZE / 2 * STEPS + STEPS / 2 };
	const int end = SIZE * STEPS;
	int rim[FAN + 1][2];
	unsigned int i, at = 0;

	for (i = 0; i < FAN; i++) {
		const unsigned int side = i / (FAN / 4);
		const int along = (int)(i % (FAN / 4)) * end / (FAN / 4) / STEPS * STEPS + STEPS / 2;
		const int place = i % (FAN / 4) ? along : 0;

		rim[i][0] = side == 0 ? place : side == 1 ? end : side == 2 ? end - place : 0;
		rim[i][1] = side == 0 ? 0 : side == 1 ? place : side == 2 ? end : end - place;
	}
	memcpy(rim[FAN], rim[0], sizeof(rim[0]));
	for (i = 0; i < FAN; i++)
		at = put_triangle(at, middle, rim[i], rim[i + 1]);
	return at;
}

static unsigned int make_mesh(unsigned int round)
{
	const enum mesh_kind kind = (enum mesh_kind)(round % MESH_KINDS);

	return kind == FANNED ? make_fan() : make_grid(kind);
}

/* How often each pixel is drawn, in all of its samples */
static bool is_drawn_once(unsigned int round, unsigned int samples)
{
	struct target t = begin_target(samples);
	unsigned int i, count = make_mesh(round);

	glUseProgram(programs.count);
	glEnable(GL_BLEND);
	glBlendFunc(GL_ONE, GL_ONE);
	draw_mesh(count);
	glDisable(GL_BLEND);
	end_target(&t);
	for (i = 0; i < SIZE * SIZE; i++) {
		if (pixels[i][0] == 1)
			continue;
		printf("# mesh %u, %u samples: pixel %u, %u is drawn %u times\n", round, samples,
		       i % SIZE, i / SIZE, pixels[i][0]);
		return false;
	}
	return true;
}

/* Moves corners by less than the GPU's steps, to where it rounds them */
static void unsettle_mesh(unsigned int count)
{
	const float most = 1.0f / 512 / (SIZE / 2);
	unsigned int i;

	for (i = 0; i < count; i++) {
		mesh[i].x += most * mesh[i].w * (float)between(-99, 99) / 100;
		mesh[i].y += most * mesh[i].w * (float)between(-99, 99) / 100;
	}
}

/*
 * Each triangle's own coordinates, where it is covered. Coverage is of corners that the GPU has
 * rounded; so have to be the coordinates (llvmpipe's are not).
 */
static bool has_weights(unsigned int round, unsigned int samples)
{
	struct target t = begin_target(samples);
	unsigned int i, drawn = 0, count = make_mesh(round);

	unsettle_mesh(count);
	glUseProgram(programs.weights);
	glUniform1i(glGetUniformLocation(programs.weights, "is_single"), samples == 0);
	glEnable(GL_BLEND);
	glBlendFunc(GL_ONE, GL_ONE);
	draw_mesh(count);
	glDisable(GL_BLEND);
	end_target(&t);
	for (i = 0; i < SIZE * SIZE; i++) {
		drawn += pixels[i][1] == 255;
		if (!pixels[i][0])
			continue;
		printf("# mesh %u, %u samples: a coordinate at pixel %u, %u is out of range\n", round,
		       samples, i % SIZE, i / SIZE);
		return false;
	}
	return drawn > SIZE * SIZE / 2;
}

static void judge_meshes(unsigned int samples)
{
	unsigned int round, once = 0, weights = 0;
	char name[100];

	srand(1);
	for (round = 0; round < ROUNDS; round++) {
		once += is_drawn_once(round, samples);
		weights += has_weights(round, samples);
	}
	snprintf(name, sizeof(name), "each pixel of a mesh is drawn once, %u samples",
		 samples ? samples : 1);
	judge(once == ROUNDS, name);
	snprintf(name, sizeof(name), "coordinates in triangles stay in range, %u samples",
		 samples ? samples : 1);
	judge(weights == ROUNDS, name);
}

/* Depths */

struct depths {
	GLuint framebuffer, colour, texture;
};

static struct depths begin_depths(GLenum format)
{
	struct depths d;

	glGenFramebuffers(1, &d.framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, d.framebuffer);
	d.colour = make_colour(0);
	glGenTextures(1, &d.texture);
	glBindTexture(GL_TEXTURE_2D, d.texture);
	glTexStorage2D(GL_TEXTURE_2D, 1, format, SIZE, SIZE);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, d.texture, 0);
	glViewport(0, 0, SIZE, SIZE);
	glEnable(GL_DEPTH_TEST);
	return d;
}

static void end_depths(struct depths *d)
{
	glDisable(GL_DEPTH_TEST);
	glBindFramebuffer(GL_FRAMEBUFFER, 0);
	glDeleteFramebuffers(1, &d->framebuffer);
	glDeleteRenderbuffers(1, &d->colour);
	glDeleteTextures(1, &d->texture);
}

/* The depth of the pixel in the middle, by a draw that turns it into a colour */
static float read_depth(const struct depths *d)
{
	struct target t = begin_target(0);
	float depth;

	glDisable(GL_DEPTH_TEST);
	glUseProgram(programs.show);
	glBindTexture(GL_TEXTURE_2D, d->texture);
	glDrawArrays(GL_TRIANGLES, 0, 3);
	end_target(&t);
	memcpy(&depth, pixels[SIZE / 2 * SIZE + SIZE / 2], sizeof(depth));
	glBindFramebuffer(GL_FRAMEBUFFER, d->framebuffer);
	glEnable(GL_DEPTH_TEST);
	return depth;
}

static void draw_flat(float z)
{
	static const int corners[3][2] = { { 0, 0 }, { 2 * SIZE * STEPS, 0 }, { 0, 2 * SIZE * STEPS } };
	unsigned int i;

	put_triangle(0, corners[0], corners[1], corners[2]);
	for (i = 0; i < 3; i++)
		mesh[i].z = z * mesh[i].w;
	draw_mesh(3);
}

static float clamped(float value)
{
	return value < 0 ? 0 : value > 1 ? 1 : value;
}

static void draw_shader_depth(float depth)
{
	glUseProgram(programs.depth);
	glUniform1f(glGetUniformLocation(programs.depth, "depth"), depth);
	draw_flat(0);
}

/* What a shader writes is clamped, and is so before it is compared. */
static bool shader_depth_is_clamped(GLenum format)
{
	static const float values[] = { -1e30f, -1, -0.25f, -1e-6f, 0, 0.25f, 1, 1 + 1e-6f, 1.5f, 1e30f };
	struct depths d = begin_depths(format);
	bool good = true;
	unsigned int i;

	for (i = 0; i < COUNT(values); i++) {
		float depth;

		glDepthFunc(GL_ALWAYS);
		draw_shader_depth(values[i]);
		depth = read_depth(&d);
		if (fabsf(depth - clamped(values[i])) > 1e-4f) {
			printf("# depth of a shader: %g becomes %g\n", (double)values[i], (double)depth);
			good = false;
		}
		glDepthFunc(GL_EQUAL);
		glClearColor(1, 0, 0, 1);
		glClear(GL_COLOR_BUFFER_BIT);
		draw_shader_depth(values[i] < 0 ? values[i] - 1 : values[i] > 1 ? values[i] + 1 :
				  values[i]);
		glReadPixels(SIZE / 2, SIZE / 2, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
		if (pixels[0][1] != 255) {
			printf("# depth of a shader: %g is compared unclamped\n", (double)values[i]);
			good = false;
		}
	}
	glDepthFunc(GL_LESS);
	end_depths(&d);
	return good;
}

/* Corners out of the range are cut away, and those in it lie between the planes' depths. */
static bool corner_depth_is_right(GLenum format)
{
	static const float zs[] = { -3, -1.001f, -1, -0.5f, 0, 0.75f, 1, 1.001f, 3 };
	static const float ranges[][2] = { { 0, 1 }, { 0.25f, 0.75f }, { 1, 0 }, { -2, 5 } };
	struct depths d = begin_depths(format);
	bool good = true;
	unsigned int i, r;

	glUseProgram(programs.count);
	glDepthFunc(GL_ALWAYS);
	for (i = 0; i < COUNT(zs) * COUNT(ranges); i++) {
		const float z = zs[i % COUNT(zs)], unset = 0.5f;
		float near, far, wanted, depth;

		r = i / COUNT(zs);
		near = clamped(ranges[r][0]);
		far = clamped(ranges[r][1]);
		wanted = fabsf(z) > 1 ? unset : near + (far - near) * (z + 1) / 2;
		glClearBufferfv(GL_DEPTH, 0, &unset);
		glUseProgram(programs.count);
		glDepthRangef(ranges[r][0], ranges[r][1]);
		draw_flat(z);
		depth = read_depth(&d);
		if (fabsf(depth - wanted) < 1e-4f)
			continue;
		printf("# corners at %g, from %g to %g: depth %g, not %g\n", (double)z, (double)near,
		       (double)far, (double)depth, (double)wanted);
		good = false;
	}
	glDepthRangef(0, 1);
	glDepthFunc(GL_LESS);
	end_depths(&d);
	return good;
}

static void judge_depths(void)
{
	static const struct {
		const char *name;
		GLenum format;
	} formats[] = {
		{ "16 bits", GL_DEPTH_COMPONENT16 },
		{ "24 bits", GL_DEPTH_COMPONENT24 },
		{ "floats", GL_DEPTH_COMPONENT32F },
	};
	char name[100];
	unsigned int i;

	for (i = 0; i < COUNT(formats); i++) {
		snprintf(name, sizeof(name), "depths of shaders are clamped, %s", formats[i].name);
		judge(shader_depth_is_clamped(formats[i].format), name);
		snprintf(name, sizeof(name), "depths of corners are in range, %s", formats[i].name);
		judge(corner_depth_is_right(formats[i].format), name);
	}
}

int main(int argc, char **argv)
{
	static const EGLint version[] = { EGL_CONTEXT_MINOR_VERSION, 2, EGL_NONE };
	const bool any = argc > 1 && !strcmp(argv[1], "--any");
	EGLDisplay display;

	if (!gles_find_functions())
		return EXIT_FAILURE;
	display = gles_open_display();
	if (!display || !gles_make_context(display, version))
		return EXIT_FAILURE;
	judge(gles_renderer_is("Apple") || any, "the renderer is the GPU");
	programs.count = make_program(vertex_shader, count_shader);
	programs.weights = make_program(vertex_shader, weights_shader);
	programs.depth = make_program(vertex_shader, depth_shader);
	programs.show = make_program(show_vertex_shader, show_shader);
	judge_meshes(0);
	judge_meshes(2);
	judge_meshes(4);
	judge_depths();
	judge(glGetError() == GL_NO_ERROR, "OpenGL ES has no error");
	printf("1..%u\n", cases);
	eglTerminate(display);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

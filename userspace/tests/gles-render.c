// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Draws scenes with OpenGL ES, without a window system, through stock Mesa on
 * the AGX GPU, and compares each pixel with what llvmpipe, on the processor,
 * made of them. Prints TAP. A renderer in software never counts as the GPU.
 *
 *   gles-render --reference=FILE [SCENE ...]	draw and compare
 *   gles-render --submit-only [SCENE ...]	draw, and look at nothing
 *   gles-render --write=FILE			draw in software, and keep that
 *   gles-render --png=DIR ...			also keep what the GPU drew, as DIR/SCENE-agx.png
 *   gles-render --renderer=NAME ...		the renderer's name begins so, not with "Apple"
 *
 * The environment's LLVMPIPE_PICTURES is another way to say --reference.
 *
 * With --submit-only a case is that OpenGL has no error and that a fence after
 * the scene signals in time.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gles.h"
#include "picture.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define TEXTURE_SIZE	16
/* Of 900 blocks to 100 */
#define ASTC_CELL	120

enum { EXIT_SKIP = 77 };

static struct {
	EGLDisplay display;
	EGLContext context;
} egl;

/* Scenes */

struct vertex {
	float position[4];
	float colour[4];
	float coordinate[2];
};

/* A format of blocks, their bytes and texels */
struct compressed {
	GLenum format;
	GLsizei bytes;
	GLsizei width;
	GLsizei height;
};

struct scene {
	const char *name;
	int width;
	int height;
	/* most that a channel may differ by */
	unsigned int tolerance;
	/* 0 for one; more are resolved */
	int samples;
	float clear[4];
	/* nothing is drawn without vertices */
	const struct vertex *vertices;
	unsigned int vertex_count;
	GLenum mode;
	const uint16_t *indices;
	unsigned int index_count;
	unsigned int instances;
	/* each instance is moved by this */
	float step[4];
	const char *fragment;
	/* of the texture that the fragment shader has, if it has one */
	GLenum filter;
	/* what is around it, if it is not repeated */
	const float *border;
	/* in place of that texture: draws all of these, each in a cell */
	const struct compressed *compressed;
	unsigned int compressed_count;
	/* texels of such a cell in each direction */
	GLsizei cell;
	bool has_depth;
	bool blends;
};

#define RED		{ 1, 0, 0, 1 }
#define GREEN		{ 0, 1, 0, 1 }
#define BLUE		{ 0, 0, 1, 1 }
#define WHITE		{ 1, 1, 1, 1 }

static const struct vertex triangle[] = {
	{ .position = { -0.81f, -0.73f, 0, 1 }, .colour = RED },
	{ .position = { 0.87f, -0.31f, 0, 1 }, .colour = GREEN },
	{ .position = { -0.13f, 0.91f, 0, 1 }, .colour = BLUE },
};

static const struct vertex crossing[] = {
	{ .position = { -0.83f, -0.77f, -0.8f, 1 }, .colour = RED },
	{ .position = { 0.83f, -0.07f, 0.8f, 1 }, .colour = RED },
	{ .position = { -0.83f, 0.69f, -0.8f, 1 }, .colour = RED },
	{ .position = { 0.83f, -0.77f, -0.8f, 1 }, .colour = GREEN },
	{ .position = { -0.83f, -0.07f, 0.8f, 1 }, .colour = GREEN },
	{ .position = { 0.83f, 0.69f, -0.8f, 1 }, .colour = GREEN },
};

static const struct vertex glass[] = {
	{ .position = { -0.9f, -0.9f, 0, 1 }, .colour = { 1, 0, 0, 0.5f } },
	{ .position = { 0.5f, -0.3f, 0, 1 }, .colour = { 1, 0, 0, 0.5f } },
	{ .position = { -0.3f, 0.7f, 0, 1 }, .colour = { 1, 1, 0, 0.25f } },
};

static const struct vertex square[] = {
	{ .position = { -0.93f, -0.95f, 0, 1 }, .colour = RED },
	{ .position = { -0.61f, -0.95f, 0, 1 }, .colour = GREEN },
	{ .position = { -0.61f, -0.65f, 0, 1 }, .colour = BLUE },
	{ .position = { -0.93f, -0.65f, 0, 1 }, .colour = WHITE },
};

static const uint16_t square_indices[] = { 0, 1, 2, 2, 3, 0 };

static const struct vertex quad[] = {
	{ { -0.9f, -0.8f, 0, 1 }, WHITE, { 0, 0 } },
	{ { 0.9f, -0.8f, 0, 1 }, WHITE, { 1.5f, 0 } },
	{ { -0.9f, 0.8f, 0, 1 }, WHITE, { 0, 1.5f } },
	{ { 0.9f, 0.8f, 0, 1 }, GREEN, { 1.5f, 1.5f } },
};

static const struct vertex whole_cell[] = {
	{ { -1, -1, 0, 1 }, WHITE, { 0, 0 } },
	{ { 1, -1, 0, 1 }, WHITE, { 1, 0 } },
	{ { -1, 1, 0, 1 }, WHITE, { 0, 1 } },
	{ { 1, 1, 0, 1 }, WHITE, { 1, 1 } },
};

static const float border[] = { 0.2f, 0.6f, 0.9f, 0.4f };

/* Every GPU with OpenGL ES 3 has them, which lavapipe does not have */
static const struct compressed etc_formats[] = {
	{ GL_COMPRESSED_RGB8_ETC2, 8, 4, 4 },
	{ GL_COMPRESSED_SRGB8_ETC2, 8, 4, 4 },
	{ GL_COMPRESSED_RGB8_PUNCHTHROUGH_ALPHA1_ETC2, 8, 4, 4 },
	{ GL_COMPRESSED_SRGB8_PUNCHTHROUGH_ALPHA1_ETC2, 8, 4, 4 },
	{ GL_COMPRESSED_RGBA8_ETC2_EAC, 16, 4, 4 },
	{ GL_COMPRESSED_SRGB8_ALPHA8_ETC2_EAC, 16, 4, 4 },
	{ GL_COMPRESSED_R11_EAC, 8, 4, 4 },
	{ GL_COMPRESSED_SIGNED_R11_EAC, 8, 4, 4 },
	{ GL_COMPRESSED_RG11_EAC, 16, 4, 4 },
	{ GL_COMPRESSED_SIGNED_RG11_EAC, 16, 4, 4 },
};

#define ASTC(w, h)								\
	{ GL_COMPRESSED_RGBA_ASTC_##w##x##h, 16, w, h },			\
	{ GL_COMPRESSED_SRGB8_ALPHA8_ASTC_##w##x##h, 16, w, h }

/* The same */
static const struct compressed astc_formats[] = {
	ASTC(4, 4), ASTC(5, 4), ASTC(5, 5), ASTC(6, 5), ASTC(6, 6), ASTC(8, 5),
	ASTC(8, 6), ASTC(8, 8), ASTC(10, 5), ASTC(10, 6), ASTC(10, 8),
	ASTC(10, 10), ASTC(12, 10), ASTC(12, 12),
};

static const char vertex_shader[] =
	"#version 300 es\n"
	"uniform vec4 move;\n"
	"in vec4 position;\n"
	"in vec4 colour;\n"
	"in vec2 coordinate;\n"
	"out vec4 passed_colour;\n"
	"out vec2 passed_coordinate;\n"
	"void main()\n"
	"{\n"
	"	gl_Position = position + float(gl_InstanceID) * move;\n"
	"	passed_colour = colour;\n"
	"	passed_coordinate = coordinate;\n"
	"}\n";

static const char plain[] =
	"#version 300 es\n"
	"precision highp float;\n"
	"in vec4 passed_colour;\n"
	"out vec4 pixel;\n"
	"void main()\n"
	"{\n"
	"	pixel = passed_colour;\n"
	"}\n";

static const char textured[] =
	"#version 300 es\n"
	"precision highp float;\n"
	"uniform sampler2D image;\n"
	"in vec4 passed_colour;\n"
	"in vec2 passed_coordinate;\n"
	"out vec4 pixel;\n"
	"void main()\n"
	"{\n"
	"	pixel = texture(image, passed_coordinate) * passed_colour;\n"
	"}\n";

static const char *const attributes[] = { "position", "colour", "coordinate" };

#define VERTICES(array)	.vertices = (array), .vertex_count = COUNT(array)

static const struct scene scenes[] = {
	{
		.name = "clear", .width = 64, .height = 64,
		.clear = { 0.2f, 0.4f, 0.6f, 0.8f },
	}, {
		.name = "triangle", .width = 64, .height = 64, .tolerance = 1,
		.clear = { 0, 0, 0.25f, 1 }, VERTICES(triangle),
		.mode = GL_TRIANGLES, .fragment = plain,
	}, {
		.name = "triangle-large", .width = 333, .height = 201,
		.tolerance = 1, .clear = { 0, 0, 0.25f, 1 }, VERTICES(triangle),
		.mode = GL_TRIANGLES, .fragment = plain,
	}, {
		.name = "depth", .width = 160, .height = 120,
		.clear = { 0, 0, 0, 1 }, VERTICES(crossing),
		.mode = GL_TRIANGLES, .fragment = plain, .has_depth = true,
	}, {
		.name = "indexed-instances", .width = 160, .height = 120,
		.tolerance = 1, .clear = { 0, 0, 0, 1 }, VERTICES(square),
		.mode = GL_TRIANGLES, .indices = square_indices,
		.index_count = COUNT(square_indices), .instances = 5,
		.step = { 0.37f, 0.39f, 0, 0 }, .fragment = plain,
	}, {
		.name = "blend", .width = 96, .height = 96, .tolerance = 2,
		.clear = { 0, 0, 1, 1 }, VERTICES(glass),
		.mode = GL_TRIANGLES, .fragment = plain, .blends = true,
	}, {
		.name = "texture-nearest", .width = 128, .height = 96,
		.tolerance = 1, .clear = { 0, 0, 0, 1 }, VERTICES(quad),
		.mode = GL_TRIANGLE_STRIP, .fragment = textured,
		.filter = GL_NEAREST,
	}, {
		.name = "texture-linear", .width = 128, .height = 96,
		.tolerance = 2, .clear = { 0, 0, 0, 1 }, VERTICES(quad),
		.mode = GL_TRIANGLE_STRIP, .fragment = textured,
		.filter = GL_LINEAR,
	}, {
		.name = "texture-border", .width = 64, .height = 64,
		.tolerance = 2, .clear = { 0, 0, 0, 1 }, VERTICES(quad),
		.mode = GL_TRIANGLE_STRIP, .fragment = textured,
		.filter = GL_LINEAR, .border = border,
	}, {
		.name = "texture-astc", .width = 480, .height = 840,
		.tolerance = 1, .clear = { 0, 0, 0, 1 }, VERTICES(whole_cell),
		.mode = GL_TRIANGLE_STRIP, .fragment = textured,
		.filter = GL_NEAREST, .compressed = astc_formats,
		.compressed_count = COUNT(astc_formats), .cell = ASTC_CELL,
	}, {
		.name = "texture-etc2", .width = 64, .height = 64,
		.tolerance = 2, .cell = TEXTURE_SIZE, .clear = { 0, 0, 0, 1 }, VERTICES(whole_cell),
		.mode = GL_TRIANGLE_STRIP, .fragment = textured,
		.filter = GL_NEAREST, .compressed = etc_formats,
		.compressed_count = COUNT(etc_formats),
	}, {
		.name = "samples", .width = 96, .height = 80, .tolerance = 2,
		.samples = 4, .clear = { 0, 0, 0, 1 }, VERTICES(crossing),
		.mode = GL_TRIANGLES, .fragment = plain, .has_depth = true,
	},
};

/* Drawing */

struct target {
	GLuint framebuffer;
	GLuint colour;
	GLuint depth;
};

static GLuint make_renderbuffer(const struct scene *scene, int samples,
				GLenum format, GLenum attachment)
{
	GLuint renderbuffer;

	glGenRenderbuffers(1, &renderbuffer);
	glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
	glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, format,
					 scene->width, scene->height);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, attachment, GL_RENDERBUFFER,
				  renderbuffer);
	return renderbuffer;
}

/* Leaves it bound. Return: whether it can be drawn to */
static bool make_target(struct target *t, const struct scene *scene,
			int samples, bool has_depth)
{
	*t = (struct target){ .depth = 0 };
	glGenFramebuffers(1, &t->framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, t->framebuffer);
	t->colour = make_renderbuffer(scene, samples, GL_RGBA8,
				      GL_COLOR_ATTACHMENT0);
	if (has_depth)
		t->depth = make_renderbuffer(scene, samples,
					     GL_DEPTH_COMPONENT24,
					     GL_DEPTH_ATTACHMENT);
	return glCheckFramebufferStatus(GL_FRAMEBUFFER) ==
	       GL_FRAMEBUFFER_COMPLETE;
}

static void free_target(struct target *t)
{
	glDeleteFramebuffers(1, &t->framebuffer);
	glDeleteRenderbuffers(1, &t->colour);
	glDeleteRenderbuffers(1, &t->depth);
}

static GLuint make_program(const struct scene *scene)
{
	GLuint program = glCreateProgram();
	unsigned int i;

	gles_attach_shader(program, GL_VERTEX_SHADER, vertex_shader);
	gles_attach_shader(program, GL_FRAGMENT_SHADER, scene->fragment);
	for (i = 0; i < COUNT(attributes); i++)
		glBindAttribLocation(program, i, attributes[i]);
	gles_link(program);
	glUseProgram(program);
	glUniform4fv(glGetUniformLocation(program, "move"), 1, scene->step);
	return program;
}

static GLuint make_texture(const struct scene *scene)
{
	static uint8_t texels[TEXTURE_SIZE][TEXTURE_SIZE][4];
	GLuint texture;
	unsigned int x, y;

	for (y = 0; y < TEXTURE_SIZE; y++) {
		for (x = 0; x < TEXTURE_SIZE; x++) {
			texels[y][x][0] = x * 16;
			texels[y][x][1] = y * 16;
			texels[y][x][2] = (x ^ y) & 1 ? 255 : 0;
			texels[y][x][3] = 255;
		}
	}
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, scene->filter);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, scene->filter);
	if (scene->border) {
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S,
				GL_CLAMP_TO_BORDER);
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T,
				GL_CLAMP_TO_BORDER);
		glTexParameterfv(GL_TEXTURE_2D, GL_TEXTURE_BORDER_COLOR,
				 scene->border);
	}
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, TEXTURE_SIZE, TEXTURE_SIZE, 0,
		     GL_RGBA, GL_UNSIGNED_BYTE, texels);
	return texture;
}

static void clear_bit(uint8_t *block, unsigned int at)
{
	block[at / 8] &= ~(1u << at % 8);
}

/* One format of colours for all parts */
static void choose_format(uint8_t *block, uint32_t noise)
{
	static const uint8_t formats[] = { 0, 1, 4, 5, 6, 8, 9, 10, 12, 13 };
	uint32_t format = formats[(noise >> 20) % sizeof(formats)];

	if (block[1] & 0x18) {
		block[2] &= 0x7f;
		block[3] = (block[3] & 0xe0) | format << 1;
	} else {
		block[1] = (block[1] & 0x1f) | format << 5;
		block[2] = (block[2] & 0xfe) | format >> 3;
	}
}

/*
 * Each part has a format, one of the first two of its class. The last of the formats' bits
 * are in front of the weights, which are 32 bits long therefore.
 */
static void choose_formats(uint8_t *block)
{
	unsigned int parts = (block[1] >> 3 & 3) + 1, i;

	block[0] = 0x42;
	block[1] &= 0xf8;
	block[2] |= 0x80;
	for (i = 0; i < parts; i++)
		clear_bit(block, parts == 2 && i == 0 ? 28 : 97 - 2 * (parts - i));
}

/*
 * A block of ASTC that is likely to be one, and has no colours of high dynamic range, which
 * llvmpipe does not know: of any bits, few are.
 */
static void choose_astc(uint8_t *block, uint32_t noise)
{
	/* what is reserved in blocks of one colour llvmpipe does not look at */
	if (block[0] == 0xfc && block[1] & 1)
		block[1] = (block[1] | 0xc) & ~2u;
	else if (block[1] & 0x18 && noise >> 30 & 1)
		choose_formats(block);
	else
		choose_format(block, noise);
}

/* Blocks of any bits: each is one of some mode or other */
static GLuint make_compressed(const struct compressed *c, GLsizei cell)
{
	static uint8_t blocks[ASTC_CELL * ASTC_CELL];
	const GLsizei size = c->bytes * ((cell + c->width - 1) / c->width) *
			     ((cell + c->height - 1) / c->height);
	uint32_t noise = c->format;
	GLuint texture;
	GLsizei i;

	for (i = 0; i < size; i++) {
		noise = noise * 1664525 + 1013904223;
		blocks[i] = noise >> 24;
	}
	for (i = 0; c->format >= GL_COMPRESSED_RGBA_ASTC_4x4 && i < size; i += 16) {
		noise = noise * 1664525 + 1013904223;
		choose_astc(blocks + i, noise);
	}
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
	glCompressedTexImage2D(GL_TEXTURE_2D, 0, c->format, cell, cell, 0, size,
			       blocks);
	return texture;
}

static GLuint make_buffer(GLenum target, size_t size, const void *data)
{
	GLuint buffer;

	glGenBuffers(1, &buffer);
	glBindBuffer(target, buffer);
	glBufferData(target, size, data, GL_STATIC_DRAW);
	return buffer;
}

static void set_attribute(GLuint index, int components, size_t offset)
{
	glEnableVertexAttribArray(index);
	glVertexAttribPointer(index, components, GL_FLOAT, GL_FALSE,
			      sizeof(struct vertex), (void *)offset);
}

static void draw_vertices(const struct scene *scene)
{
	GLuint indices;

	if (!scene->indices) {
		glDrawArrays(scene->mode, 0, scene->vertex_count);
		return;
	}
	indices = make_buffer(GL_ELEMENT_ARRAY_BUFFER,
			      scene->index_count * sizeof(*scene->indices),
			      scene->indices);
	glDrawElementsInstanced(scene->mode, scene->index_count,
				GL_UNSIGNED_SHORT, NULL, scene->instances);
	glDeleteBuffers(1, &indices);
}

/* Side by side, each as large as its texture */
static void draw_compressed(const struct scene *scene)
{
	const unsigned int columns = scene->width / scene->cell;
	unsigned int i;

	for (i = 0; i < scene->compressed_count; i++) {
		GLuint texture = make_compressed(&scene->compressed[i],
						 scene->cell);

		glViewport(i % columns * scene->cell, i / columns * scene->cell,
			   scene->cell, scene->cell);
		draw_vertices(scene);
		glDeleteTextures(1, &texture);
	}
}

static void set_capability(GLenum capability, bool on)
{
	if (on)
		glEnable(capability);
	else
		glDisable(capability);
}

static void draw_scene(const struct scene *scene)
{
	GLuint program, vertices, texture = 0;

	glViewport(0, 0, scene->width, scene->height);
	glClearColor(scene->clear[0], scene->clear[1], scene->clear[2],
		     scene->clear[3]);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
	if (!scene->vertices)
		return;

	set_capability(GL_DEPTH_TEST, scene->has_depth);
	set_capability(GL_BLEND, scene->blends);
	glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
	program = make_program(scene);
	if (scene->filter && !scene->compressed)
		texture = make_texture(scene);
	vertices = make_buffer(GL_ARRAY_BUFFER,
			       scene->vertex_count * sizeof(*scene->vertices),
			       scene->vertices);
	set_attribute(0, 4, offsetof(struct vertex, position));
	set_attribute(1, 4, offsetof(struct vertex, colour));
	set_attribute(2, 2, offsetof(struct vertex, coordinate));
	if (scene->compressed)
		draw_compressed(scene);
	else
		draw_vertices(scene);
	glDeleteBuffers(1, &vertices);
	glDeleteTextures(1, &texture);
	glDeleteProgram(program);
}

static void resolve(const struct scene *scene, const struct target *from,
		    const struct target *to)
{
	glBindFramebuffer(GL_READ_FRAMEBUFFER, from->framebuffer);
	glBindFramebuffer(GL_DRAW_FRAMEBUFFER, to->framebuffer);
	glBlitFramebuffer(0, 0, scene->width, scene->height, 0, 0,
			  scene->width, scene->height, GL_COLOR_BUFFER_BIT,
			  GL_NEAREST);
	glBindFramebuffer(GL_READ_FRAMEBUFFER, to->framebuffer);
}

static bool render_scene(const struct scene *scene, struct picture *picture)
{
	struct target target, resolved = { .framebuffer = 0 };
	bool ok;
	GLenum error;

	ok = make_target(&target, scene, scene->samples, scene->has_depth);
	draw_scene(scene);
	if (scene->samples) {
		ok = make_target(&resolved, scene, 0, false) && ok;
		resolve(scene, &target, &resolved);
	}
	ok = gles_fence_signals(60) && ok;
	glReadPixels(0, 0, scene->width, scene->height, GL_RGBA,
		     GL_UNSIGNED_BYTE, picture->pixels);
	glFinish();
	free_target(&target);
	free_target(&resolved);
	error = glGetError();
	if (error)
		printf("# OpenGL has the error 0x%x\n", error);
	return ok && !error;
}

/* Opening and closing */

static void close_display(void)
{
	gles_drop_context(egl.display, egl.context);
	eglTerminate(egl.display);
}

/* Opens what draws, which has to be what NAME says */
static bool open_renderer(const char *name)
{
	static const EGLint none[] = { EGL_NONE };

	egl.display = gles_open_display();
	if (!egl.display)
		return false;
	egl.context = gles_make_context(egl.display, none);
	return egl.context && gles_renderer_is(name);
}

/* Cases */

static bool write_scene(FILE *file, const struct scene *scene)
{
	struct picture picture;
	bool ok;

	picture_init(&picture, scene->name, scene->width, scene->height);
	ok = render_scene(scene, &picture) && picture_write(file, &picture);
	picture_free(&picture);
	return ok;
}

static int write_all(const char *path)
{
	unsigned int i;
	bool ok = true;
	FILE *file;

	setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1);
	if (!gles_find_functions() || !open_renderer("llvmpipe")) {
		fprintf(stderr, "gles-render: there is no llvmpipe\n");
		return EXIT_FAILURE;
	}
	file = fopen(path, "wb");
	if (!file) {
		perror(path);
		return EXIT_FAILURE;
	}
	for (i = 0; ok && i < COUNT(scenes); i++)
		ok = write_scene(file, &scenes[i]);
	ok = !fclose(file) && ok;
	if (!ok)
		fprintf(stderr, "gles-render: %s is not complete\n", path);
	close_display();
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

static bool compare(FILE *file, const struct scene *scene,
		    const struct picture *got)
{
	struct picture want;
	bool ok;

	picture_init(&want, scene->name, scene->width, scene->height);
	ok = picture_find(file, &want) &&
	     picture_agrees(got, &want, scene->tolerance, 0);
	picture_free(&want);
	return ok;
}

/* FILE: what to compare with, none for --submit-only; @png: where pictures are kept, or NULL */
static bool run(FILE *file, const char *png, const struct scene *scene)
{
	struct picture got;
	bool ok;

	picture_init(&got, scene->name, scene->width, scene->height);
	ok = render_scene(scene, &got) && picture_keep(&got, png, "agx") &&
	     (!file || compare(file, scene, &got));
	picture_free(&got);
	return ok;
}

/* The names of scenes to draw, if not all */
static bool is_wanted(const char *name, char *const *names)
{
	if (!*names)
		return true;
	for (; *names; names++) {
		if (!strcmp(*names, name))
			return true;
	}
	return false;
}

/* @renderer: how the renderer's name has to begin */
static int run_all(FILE *file, const char *png, const char *renderer, char *const *names)
{
	unsigned int i, n = 0, failed = 0;

	if (!gles_find_functions()) {
		printf("1..0 # SKIP EGL and OpenGL ES are not installed\n");
		return EXIT_SKIP;
	}
	if (!open_renderer(renderer)) {
		printf("not ok 1 - the renderer is an Apple GPU\n1..1\n");
		return EXIT_FAILURE;
	}
	printf("ok %u - the renderer is an Apple GPU\n", ++n);
	for (i = 0; i < COUNT(scenes); i++) {
		bool ok;

		if (!is_wanted(scenes[i].name, names))
			continue;
		ok = run(file, png, &scenes[i]);
		printf("%sok %u - %s\n", ok ? "" : "not ", ++n, scenes[i].name);
		fflush(stdout);
		failed += !ok;
	}
	printf("1..%u\n", n);
	close_display();
	return failed || n < 2 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "png", required_argument, NULL, 'p' },
		{ "reference", required_argument, NULL, 'r' },
		{ "renderer", required_argument, NULL, 'n' },
		{ "submit-only", no_argument, NULL, 's' },
		{ "write", required_argument, NULL, 'w' },
		{ 0 }
	};
	const char *path = getenv("LLVMPIPE_PICTURES"), *png = NULL, *renderer = "Apple";
	bool submits_only = false;
	FILE *file = NULL;
	int option, status;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'w')
			return write_all(optarg);
		if (option == 'p')
			png = optarg;
		else if (option == 'r')
			path = optarg;
		else if (option == 'n')
			renderer = optarg;
		else if (option == 's')
			submits_only = true;
		else
			path = NULL;
	}
	if (!submits_only && !path) {
		fprintf(stderr, "usage: %s [--png=DIR] [--renderer=NAME] --reference=FILE | --write=FILE | --submit-only [SCENE ...]\n",
			argv[0]);
		return EXIT_FAILURE;
	}
	if (!submits_only) {
		file = fopen(path, "rb");
		if (!file) {
			perror(path);
			return EXIT_FAILURE;
		}
	}
	status = run_all(file, png, renderer, argv + optind);
	if (file)
		fclose(file);
	return status;
}

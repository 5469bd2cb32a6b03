// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * One process of stock Mesa's OpenGL ES that does unlike things for a long time: textures of all
 * kinds, targets of all sizes and samples, buffers, programs. Whatever it frees is filled
 * with a pattern before, so what Mesa makes of the same memory next begins with it, and metadata
 * of compressed images do. Some objects live on meanwhile, and are looked at once more before
 * they go. The results are computed here as well. Prints TAP.
 *
 * usage: gles-recycle [--any] [--seed=N] [--rounds=N]
 *   --any   another renderer than Apple's will do
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gles.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define MAX_SIZE	80
#define MAX_LAYERS	6
#define MAX_BYTES	(MAX_SIZE * MAX_SIZE * 16 * MAX_LAYERS)
#define MOST_RECTS	12
/* Buffers are of all magnitudes up to this, so of the sizes that textures have as well */
#define BUFFER_BITS	17
/* Objects that live at a time, beside the one at work */
#define LIVE		10

enum kind { TEXTURE, TARGET, BUFFER, KINDS };

static const char *const kind_names[KINDS] = { "textures", "targets", "buffers" };

/* What a texture's texels are, and what reads them back */
struct texel {
	GLenum internal, format, type;
	unsigned int bytes;
	/* of each channel, from the uppermost one, if less than 8 */
	unsigned int bits[4];
};

static const struct texel texels[] = {
	{ GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, 4, { 0 } },
	{ GL_RGBA4, GL_RGBA, GL_UNSIGNED_SHORT_4_4_4_4, 2, { 4, 4, 4, 4 } },
	{ GL_RGB5_A1, GL_RGBA, GL_UNSIGNED_SHORT_5_5_5_1, 2, { 5, 5, 5, 1 } },
	{ GL_RGB565, GL_RGB, GL_UNSIGNED_SHORT_5_6_5, 2, { 5, 6, 5 } },
	{ GL_RGBA8UI, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE, 4, { 0 } },
	{ GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, 4, { 0 } },
	{ GL_RGBA16UI, GL_RGBA_INTEGER, GL_UNSIGNED_SHORT, 8, { 0 } },
	{ GL_RGBA32UI, GL_RGBA_INTEGER, GL_UNSIGNED_INT, 16, { 0 } },
	{ GL_R8UI, GL_RED_INTEGER, GL_UNSIGNED_BYTE, 1, { 0 } },
};

struct texture {
	GLuint name;
	GLenum target;
	const struct texel *texel;
	unsigned int width, height, layers, levels;
	/* all levels were made at once; others Mesa collects when the texture is sampled */
	bool is_immutable;
};

struct target {
	GLuint framebuffer, resolved, colour, depth, colour_resolved;
	unsigned int width, height, samples;
	uint8_t expected[MAX_SIZE * MAX_SIZE][4];
	/* pixels that are defined: neither cleared nor drawn to, others have what was there before */
	bool is_known[MAX_SIZE * MAX_SIZE];
};

struct buffer {
	GLuint name;
	unsigned int words;
	uint32_t *expected;
};

struct object {
	enum kind kind;
	uint32_t seed;
	union {
		struct texture texture;
		struct target target;
		struct buffer buffer;
	};
};

static const char flat_vertex_shader[] =
	"#version 310 es\n"
	"layout(location = 0) uniform vec4 rect;\n"
	"layout(location = 1) uniform float depth;\n"
	"void main()\n"
	"{\n"
	"	vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);\n"
	"	gl_Position = vec4(mix(rect.xy, rect.zw, corner), depth, 1.0);\n"
	"}\n";

static const char flat_fragment_shader[] =
	"#version 310 es\n"
	"precision highp float;\n"
	"layout(location = 2) uniform vec4 colour;\n"
	"out vec4 pixel;\n"
	"void main()\n"
	"{\n"
	"	pixel = colour;\n"
	"}\n";

/* For a sampler of any kind: it is enough that it is used. */
static const char use_vertex_shader[] =
	"#version 310 es\n"
	"void main()\n"
	"{\n"
	"	gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0);\n"
	"}\n";

static const char use_fragment_shader[] =
	"#version 310 es\n"
	"precision highp float;\n"
	"uniform highp %ssampler%s used;\n"
	"out vec4 pixel;\n"
	"void main()\n"
	"{\n"
	"	pixel = vec4(textureLod(used, %s(0.5), 0.0));\n"
	"}\n";

/* Each buffer has a program of its own, with another factor: programs are freed, too. */
static const char mix_compute_shader[] =
	"#version 310 es\n"
	"layout(local_size_x = 64) in;\n"
	"layout(std430, binding = 0) buffer Words { uint word[]; };\n"
	"layout(location = 0) uniform uint salt;\n"
	"void main()\n"
	"{\n"
	"	uint i = gl_GlobalInvocationID.x;\n"
	"	if (i >= uint(word.length()))\n"
	"		return;\n"
	"	uint n = word[i] ^ salt;\n"
	"	n = (n ^ n >> 16) * %uu;\n"
	"	word[i] = n ^ n >> 15;\n"
	"}\n";

/* Targets of textures, and what shaders call them */
static const struct sampled {
	GLenum target;
	const char *sampler, *at;
} samplers[] = {
	{ GL_TEXTURE_2D, "2D", "vec2" },
	{ GL_TEXTURE_CUBE_MAP, "Cube", "vec3" },
	{ GL_TEXTURE_2D_ARRAY, "2DArray", "vec3" },
	{ GL_TEXTURE_3D, "3D", "vec3" },
};

static struct {
	GLuint flat;
	/* by samplers[], of floats and of integers */
	GLuint use[COUNT(samplers)][2];
} programs;

static struct object *live[LIVE];
static unsigned int cases, failed, wrong[KINDS], done[KINDS];
static uint32_t chance_state;
static uint8_t scratch[MAX_BYTES], read_back[MAX_BYTES];

static void judge(bool good, const char *what)
{
	printf("%sok %u - %s\n", good ? "" : "not ", ++cases, what);
	fflush(stdout);
	failed += !good;
}

static uint32_t mixed_by(uint32_t n, uint32_t factor)
{
	n = (n ^ n >> 16) * factor;
	return n ^ n >> 15;
}

static uint32_t mixed(uint32_t n)
{
	return mixed_by(n, 0x7feb352d);
}

static uint32_t chance(uint32_t below)
{
	chance_state = chance_state * 1664525 + 1013904223;
	return mixed(chance_state) % below;
}

/* Bytes that anybody can compute from the seed, or one of the patterns for what is freed */
static void fill(uint8_t *bytes, size_t size, uint32_t seed, bool is_poison)
{
	static const uint8_t patterns[] = { 0x7e, 0x80, 0xff, 0x03, 0x0b, 0xa5 };
	size_t i;

	for (i = 0; i < size; i++)
		bytes[i] = is_poison ? patterns[(seed + i / 640) % COUNT(patterns)] :
				       (uint8_t)(mixed(seed + (uint32_t)i) >> 8);
}

static GLuint make_program(GLenum stage, const char *source, const char *fragments)
{
	GLuint program = glCreateProgram();

	gles_attach_shader(program, stage, source);
	if (fragments)
		gles_attach_shader(program, GL_FRAGMENT_SHADER, fragments);
	if (!gles_link(program))
		exit(EXIT_FAILURE);
	return program;
}

/* Textures */

static unsigned int smaller(unsigned int size, unsigned int level)
{
	return size >> level ? size >> level : 1;
}

static unsigned int layers_of(const struct texture *t, unsigned int level)
{
	return t->target == GL_TEXTURE_3D ? smaller(t->layers, level) : t->layers;
}

static uint32_t layer_seed(const struct object *o, unsigned int level, unsigned int layer)
{
	return o->seed + (level << 20) + (layer << 14);
}

/* Uploads so many layers of a level at once; a cube's one by one */
static void upload_layers(const struct object *o, unsigned int level, unsigned int layer,
			  unsigned int count, bool is_poison)
{
	const struct texture *t = &o->texture;
	const GLsizei width = (GLsizei)smaller(t->width, level),
		      height = (GLsizei)smaller(t->height, level);
	const size_t size = (size_t)width * (size_t)height * t->texel->bytes;
	unsigned int i;

	for (i = 0; i < count; i++)
		fill(scratch + i * size, size, layer_seed(o, level, layer + i), is_poison);
	if (t->target == GL_TEXTURE_2D || t->target == GL_TEXTURE_CUBE_MAP)
		glTexSubImage2D(t->target == GL_TEXTURE_2D ? GL_TEXTURE_2D :
				GL_TEXTURE_CUBE_MAP_POSITIVE_X + layer, (GLint)level, 0, 0, width,
				height, t->texel->format, t->texel->type, scratch);
	else
		glTexSubImage3D(t->target, (GLint)level, 0, 0, (GLint)layer, width, height,
				(GLsizei)count, t->texel->format, t->texel->type, scratch);
}

/* Layers are written beside others that nobody has written yet, which Mesa loads all the same. */
static void upload(const struct object *o, bool is_poison)
{
	const struct texture *t = &o->texture;
	const bool is_whole = t->target != GL_TEXTURE_CUBE_MAP && o->seed % 3;
	unsigned int level, layer;

	glBindTexture(t->target, t->name);
	for (level = 0; level < t->levels; level++) {
		if (is_whole) {
			upload_layers(o, level, 0, layers_of(t, level), is_poison);
			continue;
		}
		for (layer = 0; layer < layers_of(t, level); layer++)
			upload_layers(o, level, layer, 1, is_poison);
	}
}

static void reserve_storage(const struct texture *t)
{
	if (t->target == GL_TEXTURE_2D || t->target == GL_TEXTURE_CUBE_MAP)
		glTexStorage2D(t->target, (GLsizei)t->levels, t->texel->internal,
			       (GLsizei)t->width, (GLsizei)t->height);
	else
		glTexStorage3D(t->target, (GLsizei)t->levels, t->texel->internal,
			       (GLsizei)t->width, (GLsizei)t->height, (GLsizei)t->layers);
}

static void reserve_level(const struct texture *t, unsigned int level)
{
	const GLsizei width = (GLsizei)smaller(t->width, level),
		      height = (GLsizei)smaller(t->height, level);
	const GLint internal = (GLint)t->texel->internal;
	const bool is_cube = t->target == GL_TEXTURE_CUBE_MAP;
	unsigned int face;

	if (!is_cube && t->target != GL_TEXTURE_2D) {
		glTexImage3D(t->target, (GLint)level, internal, width, height,
			     (GLsizei)layers_of(t, level), 0, t->texel->format, t->texel->type, NULL);
		return;
	}
	for (face = 0; face < (is_cube ? 6 : 1); face++)
		glTexImage2D(is_cube ? GL_TEXTURE_CUBE_MAP_POSITIVE_X + face : GL_TEXTURE_2D,
			     (GLint)level, internal, width, height, 0, t->texel->format,
			     t->texel->type, NULL);
}

/* Samples a texture, so that Mesa has to have all its levels in one image */
static void use_texture(const struct texture *t)
{
	const bool is_integer = t->texel->format != GL_RGBA && t->texel->format != GL_RGB;
	GLuint framebuffer, colour;
	unsigned int i = 0;

	while (samplers[i].target != t->target)
		i++;
	glGenFramebuffers(1, &framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	glGenRenderbuffers(1, &colour);
	glBindRenderbuffer(GL_RENDERBUFFER, colour);
	glRenderbufferStorageMultisample(GL_RENDERBUFFER, 0, GL_RGBA8, 4, 4);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colour);
	glViewport(0, 0, 4, 4);
	glUseProgram(programs.use[i][is_integer]);
	glDrawArrays(GL_TRIANGLES, 0, 3);
	glBindFramebuffer(GL_FRAMEBUFFER, 0);
	glDeleteFramebuffers(1, &framebuffer);
	glDeleteRenderbuffers(1, &colour);
}

static void make_texture(struct object *o)
{
	struct texture *t = &o->texture;
	unsigned int largest, level;

	t->target = samplers[chance(COUNT(samplers))].target;
	t->texel = &texels[chance(COUNT(texels))];
	t->width = 1 + chance(MAX_SIZE);
	t->height = t->target == GL_TEXTURE_CUBE_MAP ? t->width : 1 + chance(MAX_SIZE);
	t->layers = t->target == GL_TEXTURE_2D ? 1 : t->target == GL_TEXTURE_CUBE_MAP ? 6 :
		    1 + chance(MAX_LAYERS);
	largest = t->width > t->height ? t->width : t->height;
	t->levels = 1;
	while (largest >> t->levels && chance(4))
		t->levels++;
	glGenTextures(1, &t->name);
	glBindTexture(t->target, t->name);
	/* Without levels to filter Mesa makes an image for the first one, and more as they come. */
	glTexParameteri(t->target, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexParameteri(t->target, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
	t->is_immutable = chance(3) == 0;
	if (t->is_immutable)
		reserve_storage(t);
	for (level = 0; !t->is_immutable && level < t->levels; level++)
		reserve_level(t, level);
	upload(o, false);
	glTexParameteri(t->target, GL_TEXTURE_MAX_LEVEL, (GLint)t->levels - 1);
	glTexParameteri(t->target, GL_TEXTURE_MIN_FILTER, GL_NEAREST_MIPMAP_NEAREST);
	use_texture(t);
}

/* Turns pixels of 8 bits a channel back into texels of fewer, from which they were made */
static void pack(const struct texel *texel, unsigned int count)
{
	unsigned int i, c;

	for (i = 0; i < count; i++) {
		unsigned int word = 0;
		uint16_t packed;

		for (c = 0; c < 4; c++) {
			const unsigned int most = (1u << texel->bits[c]) - 1;

			word = word << texel->bits[c] | (read_back[4 * i + c] * most + 127) / 255;
		}
		packed = (uint16_t)word;
		memcpy(read_back + 2 * i, &packed, sizeof(packed));
	}
}

/* OpenGL ES reads integers of four channels only. */
static void read_layer(const struct texture *t, unsigned int width, unsigned int height)
{
	const unsigned int channels = t->texel->format == GL_RED_INTEGER ? 1 : 4,
			   size = t->texel->bytes / channels;
	const uint32_t *words = (const uint32_t *)(const void *)read_back;
	static uint8_t narrow[MAX_BYTES];
	unsigned int i, c;

	if (t->texel->format == GL_RGBA || t->texel->format == GL_RGB) {
		glReadPixels(0, 0, (GLsizei)width, (GLsizei)height, GL_RGBA, GL_UNSIGNED_BYTE,
			     read_back);
		if (t->texel->bits[0])
			pack(t->texel, width * height);
		return;
	}
	glReadPixels(0, 0, (GLsizei)width, (GLsizei)height, GL_RGBA_INTEGER, GL_UNSIGNED_INT,
		     read_back);
	for (i = 0; i < width * height; i++) {
		for (c = 0; c < channels; c++)
			memcpy(narrow + (i * channels + c) * size, &words[4 * i + c], size);
	}
	memcpy(read_back, narrow, (size_t)width * height * t->texel->bytes);
}

static bool layer_is_right(const struct object *o, unsigned int level, unsigned int layer)
{
	const struct texture *t = &o->texture;
	const unsigned int width = smaller(t->width, level), height = smaller(t->height, level);
	const size_t size = (size_t)width * height * t->texel->bytes;

	if (t->target == GL_TEXTURE_2D || t->target == GL_TEXTURE_CUBE_MAP)
		glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0,
				       t->target == GL_TEXTURE_2D ? GL_TEXTURE_2D :
				       GL_TEXTURE_CUBE_MAP_POSITIVE_X + layer, t->name, (GLint)level);
	else
		glFramebufferTextureLayer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, t->name,
					  (GLint)level, (GLint)layer);
	memset(read_back, 0, size);
	read_layer(t, width, height);
	fill(scratch, size, layer_seed(o, level, layer), false);
	if (!memcmp(read_back, scratch, size))
		return true;
	printf("# texture 0x%x of %ux%u, %u layers, format 0x%x: level %u, layer %u is wrong\n",
	       t->target, t->width, t->height, t->layers, t->texel->internal, level, layer);
	return false;
}

static bool texture_is_right(const struct object *o)
{
	unsigned int level, layer;
	GLuint framebuffer;
	bool good = true;

	glGenFramebuffers(1, &framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	for (level = 0; good && level < o->texture.levels; level++) {
		for (layer = 0; good && layer < layers_of(&o->texture, level); layer++)
			good = layer_is_right(o, level, layer);
	}
	glBindFramebuffer(GL_FRAMEBUFFER, 0);
	glDeleteFramebuffers(1, &framebuffer);
	return good;
}

/* Targets */

static GLuint attach(const struct target *t, unsigned int samples, GLenum format, GLenum point)
{
	GLuint name;

	glGenRenderbuffers(1, &name);
	glBindRenderbuffer(GL_RENDERBUFFER, name);
	glRenderbufferStorageMultisample(GL_RENDERBUFFER, (GLsizei)samples, format,
					 (GLsizei)t->width, (GLsizei)t->height);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, point, GL_RENDERBUFFER, name);
	return name;
}

static void begin_targets(struct target *t)
{
	static const unsigned int samples[] = { 0, 0, 2, 4 };
	static const GLenum depths[] = { GL_DEPTH_COMPONENT16, GL_DEPTH_COMPONENT32F,
					 GL_DEPTH24_STENCIL8 };
	const unsigned int depth = chance(COUNT(depths));

	t->width = 1 + chance(MAX_SIZE);
	t->height = 1 + chance(MAX_SIZE);
	t->samples = samples[chance(COUNT(samples))];
	glGenFramebuffers(1, &t->framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, t->framebuffer);
	t->colour = attach(t, t->samples, GL_RGBA8, GL_COLOR_ATTACHMENT0);
	t->depth = attach(t, t->samples, depths[depth],
			  depth == 2 ? GL_DEPTH_STENCIL_ATTACHMENT : GL_DEPTH_ATTACHMENT);
	glGenFramebuffers(1, &t->resolved);
	glBindFramebuffer(GL_FRAMEBUFFER, t->resolved);
	t->colour_resolved = attach(t, 0, GL_RGBA8, GL_COLOR_ATTACHMENT0);
	glBindFramebuffer(GL_FRAMEBUFFER, t->framebuffer);
	glViewport(0, 0, (GLsizei)t->width, (GLsizei)t->height);
}

/*
 * A rectangle of whole pixels at one depth of 256; nearer ones win, and the first of equals. If
 * no depths are compared (@depths is NULL), the last one wins.
 */
static void draw_rect(struct target *t, uint8_t *depths, const unsigned int rect[4],
		      unsigned int depth, const uint8_t colour[4])
{
	const float w = (float)t->width / 2, h = (float)t->height / 2;
	GLfloat bounds[4] = { (float)rect[0] / w - 1, (float)rect[1] / h - 1,
			      (float)rect[2] / w - 1, (float)rect[3] / h - 1 };
	GLfloat values[4];
	unsigned int x, y, i;

	for (i = 0; i < 4; i++)
		values[i] = (float)colour[i] / 255;
	glUniform4fv(0, 1, bounds);
	glUniform1f(1, (float)depth / 128 - 1);
	glUniform4fv(2, 1, values);
	glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
	for (y = rect[1]; y < rect[3]; y++) {
		for (x = rect[0]; x < rect[2]; x++) {
			const unsigned int at = y * t->width + x;

			if (depths && depth >= depths[at])
				continue;
			if (depths)
				depths[at] = (uint8_t)depth;
			memcpy(t->expected[at], colour, 4);
			t->is_known[at] = true;
		}
	}
}

static void draw_rects(struct target *t, uint8_t *depths)
{
	unsigned int n = chance(MOST_RECTS), i;

	for (i = 0; i < n; i++) {
		const unsigned int x = chance(t->width), y = chance(t->height);
		const unsigned int rect[4] = { x, y, x + 1 + chance(t->width - x),
					       y + 1 + chance(t->height - y) };
		const uint32_t bytes = chance(UINT32_MAX);
		uint8_t colour[4];

		memcpy(colour, &bytes, 4);
		draw_rect(t, depths, rect, 8 * chance(31), colour);
	}
}

/*
 * Clears everything, or draws over what is undefined before any depth is compared. Some targets
 * stay undefined where nothing will be drawn. Return: whether depths are compared then.
 */
static bool cover(struct target *t, uint8_t *depths)
{
	const unsigned int whole[4] = { 0, 0, t->width, t->height };
	static const uint8_t colour[4] = { 17, 34, 51, 255 };
	unsigned int i;

	memset(depths, 255, MAX_SIZE * MAX_SIZE);
	glDepthFunc(GL_LESS);
	if (chance(3) == 0) {
		glDisable(GL_DEPTH_TEST);
		return false;
	}
	if (chance(2)) {
		glDepthFunc(GL_ALWAYS);
		draw_rect(t, depths, whole, 250, colour);
		glDepthFunc(GL_LESS);
		return true;
	}
	glClearColor(17.0f / 255, 34.0f / 255, 51.0f / 255, 1);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
	for (i = 0; i < t->width * t->height; i++) {
		memcpy(t->expected[i], colour, 4);
		t->is_known[i] = true;
	}
	return true;
}

static void make_target(struct object *o)
{
	static uint8_t depths[MAX_SIZE * MAX_SIZE];
	unsigned int parts;
	uint8_t *compared;

	begin_targets(&o->target);
	glUseProgram(programs.flat);
	glEnable(GL_DEPTH_TEST);
	compared = cover(&o->target, depths) ? depths : NULL;
	draw_rects(&o->target, compared);
	/* in parts, so that what was stored is loaded again */
	for (parts = chance(4); parts; parts--) {
		glFinish();
		draw_rects(&o->target, compared);
	}
	glDisable(GL_DEPTH_TEST);
}

static bool target_is_right(const struct object *o)
{
	const struct target *t = &o->target;
	const GLint w = (GLint)t->width, h = (GLint)t->height;
	unsigned int i;

	glBindFramebuffer(GL_READ_FRAMEBUFFER, t->framebuffer);
	if (t->samples) {
		glBindFramebuffer(GL_DRAW_FRAMEBUFFER, t->resolved);
		glBlitFramebuffer(0, 0, w, h, 0, 0, w, h, GL_COLOR_BUFFER_BIT, GL_NEAREST);
		glBindFramebuffer(GL_READ_FRAMEBUFFER, t->resolved);
	}
	memset(read_back, 0, sizeof(read_back));
	glReadPixels(0, 0, w, h, GL_RGBA, GL_UNSIGNED_BYTE, read_back);
	glBindFramebuffer(GL_FRAMEBUFFER, 0);
	for (i = 0; i < t->width * t->height; i++) {
		if (!t->is_known[i] || !memcmp(read_back + 4 * i, t->expected[i], 4))
			continue;
		printf("# target of %dx%d with %u samples: pixel %u, %u is wrong\n", w, h, t->samples,
		       i % t->width, i / t->width);
		return false;
	}
	return true;
}

static void poison_target(const struct object *o)
{
	const struct target *t = &o->target;

	glBindFramebuffer(GL_FRAMEBUFFER, t->framebuffer);
	glClearColor(126.0f / 255, 126.0f / 255, 126.0f / 255, 126.0f / 255);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
	glFinish();
	glBindFramebuffer(GL_FRAMEBUFFER, 0);
	glDeleteFramebuffers(1, &t->framebuffer);
	glDeleteFramebuffers(1, &t->resolved);
	glDeleteRenderbuffers(1, &t->colour);
	glDeleteRenderbuffers(1, &t->depth);
	glDeleteRenderbuffers(1, &t->colour_resolved);
}

/* Buffers */

/* What happens to a buffer, by a program that is made for it */
static void mix_buffer(struct buffer *b)
{
	const uint32_t factor = chance(UINT32_MAX) | 1;
	unsigned int i, round, rounds = 1 + chance(3);
	char text[sizeof(mix_compute_shader) + 10];
	GLuint program;

	snprintf(text, sizeof(text), mix_compute_shader, factor);
	program = make_program(GL_COMPUTE_SHADER, text, NULL);
	glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, b->name);
	glUseProgram(program);
	for (round = 0; round < rounds; round++) {
		const uint32_t salt = chance(UINT32_MAX);

		glUniform1ui(0, salt);
		glDispatchCompute((b->words + 63) / 64, 1, 1);
		glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT);
		for (i = 0; i < b->words; i++)
			b->expected[i] = mixed_by(b->expected[i] ^ salt, factor);
	}
	glUseProgram(0);
	glDeleteProgram(program);
}

static void make_buffer(struct object *o)
{
	struct buffer *b = &o->buffer;
	unsigned int i;

	b->words = 1 + chance(2u << chance(BUFFER_BITS));
	b->expected = malloc(b->words * sizeof(uint32_t));
	if (!b->expected)
		abort();
	for (i = 0; i < b->words; i++)
		b->expected[i] = mixed(o->seed + i);
	glGenBuffers(1, &b->name);
	glBindBuffer(GL_SHADER_STORAGE_BUFFER, b->name);
	glBufferData(GL_SHADER_STORAGE_BUFFER, (GLsizeiptr)b->words * 4, b->expected,
		     chance(2) ? GL_DYNAMIC_COPY : GL_STATIC_DRAW);
	if (chance(3))
		mix_buffer(b);
}

static bool buffer_is_right(const struct object *o)
{
	const struct buffer *b = &o->buffer;
	const void *map;
	bool good;

	glBindBuffer(GL_SHADER_STORAGE_BUFFER, b->name);
	map = glMapBufferRange(GL_SHADER_STORAGE_BUFFER, 0, (GLsizeiptr)b->words * 4,
			       GL_MAP_READ_BIT);
	good = map && !memcmp(map, b->expected, b->words * sizeof(uint32_t));
	if (!good)
		printf("# buffer of %u words is wrong\n", b->words);
	glUnmapBuffer(GL_SHADER_STORAGE_BUFFER);
	return good;
}

static void poison_buffer(struct object *o)
{
	struct buffer *b = &o->buffer;

	fill((uint8_t *)b->expected, b->words * sizeof(uint32_t), o->seed, true);
	glBindBuffer(GL_SHADER_STORAGE_BUFFER, b->name);
	glBufferSubData(GL_SHADER_STORAGE_BUFFER, 0, (GLsizeiptr)b->words * 4, b->expected);
	glDeleteBuffers(1, &b->name);
	free(b->expected);
}

/* All of them */

static struct object *make_object(void)
{
	struct object *o = calloc(1, sizeof(*o));

	if (!o)
		abort();
	o->kind = (enum kind)chance(KINDS);
	o->seed = chance(UINT32_MAX);
	switch (o->kind) {
	case TEXTURE: make_texture(o); break;
	case TARGET: make_target(o); break;
	default: make_buffer(o); break;
	}
	return o;
}

static void look_at(const struct object *o)
{
	bool good = o->kind == TEXTURE ? texture_is_right(o) :
		    o->kind == TARGET ? target_is_right(o) : buffer_is_right(o);

	done[o->kind]++;
	wrong[o->kind] += !good;
}

/* Its last content is the pattern, and its memory stays in Mesa's hands. */
static void drop_object(struct object *o)
{
	if (o->kind == TEXTURE) {
		upload(o, true);
		glDeleteTextures(1, &o->texture.name);
	} else if (o->kind == TARGET) {
		poison_target(o);
	} else {
		poison_buffer(o);
	}
	free(o);
}

static void run(unsigned int rounds)
{
	unsigned int round, i;

	for (round = 0; round < rounds; round++) {
		struct object **place = &live[chance(LIVE)];

		if (*place) {
			look_at(*place);
			drop_object(*place);
		}
		*place = make_object();
		if (chance(2))
			look_at(*place);
	}
	for (i = 0; i < LIVE; i++) {
		if (!live[i])
			continue;
		look_at(live[i]);
		drop_object(live[i]);
	}
}

static void make_programs(void)
{
	char text[sizeof(use_fragment_shader) + 20];
	unsigned int i, is_integer;

	programs.flat = make_program(GL_VERTEX_SHADER, flat_vertex_shader, flat_fragment_shader);
	for (i = 0; i < COUNT(samplers); i++) {
		for (is_integer = 0; is_integer < 2; is_integer++) {
			snprintf(text, sizeof(text), use_fragment_shader, is_integer ? "u" : "",
				 samplers[i].sampler, samplers[i].at);
			programs.use[i][is_integer] = make_program(GL_VERTEX_SHADER,
								   use_vertex_shader, text);
		}
	}
}

int main(int argc, char **argv)
{
	static const EGLint none[] = { EGL_NONE };
	unsigned int rounds = 500;
	bool any = false;
	EGLDisplay display;
	char name[100];
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--any"))
			any = true;
		else if (!strncmp(argv[i], "--seed=", 7))
			chance_state = (uint32_t)strtoul(argv[i] + 7, NULL, 0);
		else if (!strncmp(argv[i], "--rounds=", 9))
			rounds = (unsigned int)strtoul(argv[i] + 9, NULL, 0);
	}
	if (!gles_find_functions())
		return EXIT_FAILURE;
	display = gles_open_display();
	if (!display || !gles_make_context(display, none))
		return EXIT_FAILURE;
	judge(gles_renderer_is("Apple") || any, "the renderer is the GPU");
	glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
	glPixelStorei(GL_PACK_ALIGNMENT, 1);
	make_programs();
	run(rounds);
	for (i = 0; i < KINDS; i++) {
		snprintf(name, sizeof(name), "%s in memory that was used before", kind_names[i]);
		printf("# %u of %u %s are wrong\n", wrong[i], done[i], kind_names[i]);
		judge(done[i] && !wrong[i], name);
	}
	judge(glGetError() == GL_NO_ERROR, "OpenGL ES has no error");
	printf("1..%u\n", cases);
	eglTerminate(display);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

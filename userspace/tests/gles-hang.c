// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A dispatch and a draw of stock Mesa's OpenGL ES that never end: they come to their end when
 * the GPU's time limit takes them down, and a new context of the same program draws frames
 * that are right. So does the context that hung, unless Mesa says that there was a reset;
 * what it says is printed. Prints TAP.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gles.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define WIDTH		96
#define HEIGHT		64
#define THREADS		64
/* Frames that a context draws one after the other */
#define FRAMES		3
/* Nothing takes longer, on a slow machine that others use as well. */
#define PATIENCE	150

static const char vertex_shader[] =
	"#version 310 es\n"
	"void main()\n"
	"{\n"
	"	vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);\n"
	"	gl_Position = vec4(corner - 0.5, 0.0, 1.0);\n"
	"}\n";

/* Bytes that anybody can compute */
static const char fragment_shader[] =
	"#version 310 es\n"
	"precision highp float;\n"
	"precision highp int;\n"
	"uniform uint number;\n"
	"out vec4 pixel;\n"
	"void main()\n"
	"{\n"
	"	uvec2 at = uvec2(gl_FragCoord.xy);\n"
	"	pixel = vec4(at.x, at.y, (at.x ^ at.y) * 3u & 255u, number) / 255.0;\n"
	"}\n";

/* An even number never gets odd, which no compiler knows of the uniform. */
static const char endless_fragment_shader[] =
	"#version 310 es\n"
	"precision highp float;\n"
	"precision highp int;\n"
	"uniform uint number;\n"
	"out vec4 pixel;\n"
	"void main()\n"
	"{\n"
	"	uint n = 0u;\n"
	"	while (n != number)\n"
	"		n += 2u;\n"
	"	pixel = vec4(float(n));\n"
	"}\n";

/* Ends if somebody writes to the first word. It stores all the time, so it has an effect. */
static const char endless_compute_shader[] =
	"#version 310 es\n"
	"layout(local_size_x = 64) in;\n"
	"layout(std430, binding = 0) coherent volatile buffer Result {\n"
	"	uint result[];\n"
	"};\n"
	"void main()\n"
	"{\n"
	"	uint n = 0u;\n"
	"	while (result[0] != 0xffffffffu) {\n"
	"		n++;\n"
	"		result[1u + gl_LocalInvocationIndex] = n;\n"
	"		memoryBarrierBuffer();\n"
	"	}\n"
	"}\n";

struct target {
	GLuint framebuffer;
	GLuint colour;
};

static EGLDisplay display;
static unsigned int cases, failed;

static void judge(bool good, const char *kind, const char *what)
{
	printf("%sok %u - %s: %s\n", good ? "" : "not ", ++cases, kind, what);
	fflush(stdout);
	failed += !good;
}

static EGLContext make_context(void)
{
	static const EGLint robust[] = {
		EGL_CONTEXT_OPENGL_ROBUST_ACCESS_EXT, EGL_TRUE,
		EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_EXT, EGL_LOSE_CONTEXT_ON_RESET_EXT,
		EGL_NONE
	};

	return gles_make_context(display, robust);
}

static struct target make_target(void)
{
	struct target t;

	glGenFramebuffers(1, &t.framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, t.framebuffer);
	glGenRenderbuffers(1, &t.colour);
	glBindRenderbuffer(GL_RENDERBUFFER, t.colour);
	glRenderbufferStorageMultisample(GL_RENDERBUFFER, 0, GL_RGBA8, WIDTH, HEIGHT);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, t.colour);
	return t;
}

static void free_target(struct target *t)
{
	glDeleteFramebuffers(1, &t->framebuffer);
	glDeleteRenderbuffers(1, &t->colour);
}

/* The quarter in the middle of so many pixels, over a clear */
static void draw(const char *shader, GLuint number, GLsizei width, GLsizei height)
{
	GLuint program = glCreateProgram();

	gles_attach_shader(program, GL_VERTEX_SHADER, vertex_shader);
	gles_attach_shader(program, GL_FRAGMENT_SHADER, shader);
	gles_link(program);
	glUseProgram(program);
	glUniform1ui(glGetUniformLocation(program, "number"), number);
	glViewport(0, 0, width, height);
	glClearColor(0.2f, 0.4f, 0.6f, 0.8f);
	glClear(GL_COLOR_BUFFER_BIT);
	glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
	glDeleteProgram(program);
}

static bool pixel_is_right(const uint8_t *pixel, unsigned int x, unsigned int y,
			   unsigned int number)
{
	static const uint8_t clear[4] = { 51, 102, 153, 204 };
	const uint8_t drawn[4] = { x, y, (x ^ y) * 3, number };
	bool is_inside = x >= WIDTH / 4 && x < WIDTH * 3 / 4 &&
			 y >= HEIGHT / 4 && y < HEIGHT * 3 / 4;

	return !memcmp(pixel, is_inside ? drawn : clear, 4);
}

/* A frame of the context that is current. Return: whether it is right, after a message */
static bool frame_is_right(unsigned int number)
{
	static uint8_t pixels[HEIGHT][WIDTH][4];
	struct target target = make_target();
	unsigned int x, y, wrong = 0;
	bool signals;
	GLenum error;

	memset(pixels, 0x55, sizeof(pixels));
	draw(fragment_shader, number, WIDTH, HEIGHT);
	signals = gles_fence_signals(PATIENCE);
	glReadPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	free_target(&target);
	error = glGetError();
	for (y = 0; y < HEIGHT; y++)
		for (x = 0; x < WIDTH; x++)
			wrong += !pixel_is_right(pixels[y][x], x, y, number);
	if (wrong || error)
		printf("# frame %u: %u wrong pixels, OpenGL's error is 0x%x\n", number, wrong,
		       error);
	return signals && !wrong && !error;
}

static bool frames_are_right(void)
{
	unsigned int i;

	for (i = 1; i <= FRAMES; i++)
		if (!frame_is_right(i * 80))
			return false;
	return true;
}

static void hang_compute(void)
{
	static const uint32_t zeros[1 + THREADS];
	GLuint program = glCreateProgram(), buffer;

	gles_attach_shader(program, GL_COMPUTE_SHADER, endless_compute_shader);
	gles_link(program);
	glUseProgram(program);
	glGenBuffers(1, &buffer);
	glBindBuffer(GL_SHADER_STORAGE_BUFFER, buffer);
	glBufferData(GL_SHADER_STORAGE_BUFFER, sizeof(zeros), zeros, GL_DYNAMIC_COPY);
	glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, buffer);
	glDispatchCompute(1, 1, 1);
	/* Both live until the dispatch has ended. */
	glDeleteBuffers(1, &buffer);
	glDeleteProgram(program);
}

/* In one tile: the limit is reached sooner by a core that has the processor for itself. */
static void hang_fragments(void)
{
	struct target target = make_target();

	draw(endless_fragment_shader, 1, 32, 32);
	free_target(&target);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static const char *reset_text(GLenum status)
{
	switch (status) {
	case GL_NO_ERROR:
		return "no reset";
	case GL_GUILTY_CONTEXT_RESET:
		return "a reset, and the context is guilty";
	case GL_INNOCENT_CONTEXT_RESET:
		return "a reset, and the context is innocent";
	default:
		return "a reset";
	}
}

/* What ends sooner was no hang: the least limit that somebody sets is a second. */
static bool hang_ends(void (*hang)(void))
{
	double began = seconds(), took;
	bool signals;
	GLenum error;

	hang();
	signals = gles_fence_signals(PATIENCE);
	took = seconds() - began;
	error = glGetError();
	printf("# after %.1f s, OpenGL's error is 0x%x\n", took, error);
	return signals && took >= 0.9 && !error;
}

/* A program that was told of no reset expects nothing else. */
static bool context_goes_on(EGLContext context, GLenum status)
{
	bool ok;

	if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context))
		return status != GL_NO_ERROR;
	ok = frames_are_right();
	return ok || status != GL_NO_ERROR;
}

/* Return: false where nothing could be tried */
static bool run(const char *kind, void (*hang)(void))
{
	EGLContext guilty = make_context(), fresh;
	GLenum status;

	if (!guilty)
		return false;
	judge(frames_are_right(), kind, "frames before");
	judge(hang_ends(hang), kind, "it ends");
	status = glGetGraphicsResetStatus();
	printf("# %s: Mesa's context says: %s\n", kind, reset_text(status));
	/* The other one is still there, as with a program that has not noticed. */
	fresh = make_context();
	judge(fresh && frames_are_right(), kind, "frames of a new context");
	if (fresh)
		gles_drop_context(display, fresh);
	judge(context_goes_on(guilty, status), kind, "frames of the context that hung");
	gles_drop_context(display, guilty);
	return true;
}

int main(void)
{
	static const struct {
		const char *name;
		void (*hang)(void);
	} kinds[] = {
		{ "a dispatch", hang_compute },
		{ "a draw", hang_fragments },
	};
	EGLContext context = EGL_NO_CONTEXT;
	unsigned int i;
	bool ok;

	ok = gles_find_functions() && (display = gles_open_display()) &&
	     (context = make_context()) && gles_renderer_is("Apple");
	judge(ok, "Mesa", "the renderer is an Apple GPU");
	if (context)
		gles_drop_context(display, context);
	for (i = 0; ok && i < COUNT(kinds); i++)
		ok = run(kinds[i].name, kinds[i].hang);
	printf("1..%u\n", cases);
	if (display)
		eglTerminate(display);
	return ok && !failed ? EXIT_SUCCESS : EXIT_FAILURE;
}

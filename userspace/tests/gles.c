// SPDX-License-Identifier: MIT
/* Copyright (C) 2026 The asahi driver authors */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "gles.h"

#define MOST_ATTRIBUTES	8

#define DEFINE_EGL(type, name)	PFNEGL##type##PROC egl##name;
#define DEFINE_GL(type, name)	PFNGL##type##PROC gl##name;
EGL_FUNCTIONS(DEFINE_EGL)
GL_FUNCTIONS(DEFINE_GL)

bool gles_find_functions(void)
{
	void *library = dlopen("libEGL.so.1", RTLD_NOW);
	PFNEGLGETPROCADDRESSPROC find;
	bool ok = true;

	if (!library || !dlopen("libGLESv2.so.2", RTLD_NOW | RTLD_GLOBAL))
		return false;
	*(void **)&find = dlsym(library, "eglGetProcAddress");
	if (!find)
		return false;
#define FIND_EGL(type, name) \
	egl##name = (PFNEGL##type##PROC)find("egl" #name); \
	ok = ok && egl##name;
#define FIND_GL(type, name) \
	gl##name = (PFNGL##type##PROC)find("gl" #name); \
	ok = ok && gl##name;
	EGL_FUNCTIONS(FIND_EGL)
	GL_FUNCTIONS(FIND_GL)
	return ok;
}

EGLDisplay gles_open_display(void)
{
	EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA,
						   EGL_DEFAULT_DISPLAY, NULL);

	if (display && eglInitialize(display, NULL, NULL) && eglBindAPI(EGL_OPENGL_ES_API))
		return display;
	printf("# no display without a window system, EGL's error is 0x%x\n", eglGetError());
	return EGL_NO_DISPLAY;
}

EGLContext gles_make_context(EGLDisplay display, const EGLint *attributes)
{
	EGLint wanted[2 + 2 * MOST_ATTRIBUTES + 1] = { EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE };
	EGLContext context;
	unsigned int i;

	for (i = 0; i < MOST_ATTRIBUTES && attributes[2 * i] != EGL_NONE; i++) {
		wanted[2 + 2 * i] = attributes[2 * i];
		wanted[3 + 2 * i] = attributes[2 * i + 1];
		wanted[4 + 2 * i] = EGL_NONE;
	}
	context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, wanted);
	if (context && eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context))
		return context;
	printf("# no context of OpenGL ES 3, EGL's error is 0x%x\n", eglGetError());
	return EGL_NO_CONTEXT;
}

void gles_drop_context(EGLDisplay display, EGLContext context)
{
	eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
	eglDestroyContext(display, context);
}

bool gles_renderer_is(const char *name)
{
	const char *renderer = (const char *)glGetString(GL_RENDERER);

	printf("# %s, %s\n", renderer, (const char *)glGetString(GL_VERSION));
	return !strncmp(renderer, name, strlen(name));
}

void gles_attach_shader(GLuint program, GLenum stage, const char *source)
{
	GLuint shader = glCreateShader(stage);
	char log[512] = "";

	glShaderSource(shader, 1, &source, NULL);
	glCompileShader(shader);
	glGetShaderInfoLog(shader, sizeof(log), NULL, log);
	if (log[0])
		printf("# %s\n", log);
	glAttachShader(program, shader);
	glDeleteShader(shader);
}

bool gles_link(GLuint program)
{
	GLint linked = 0;

	glLinkProgram(program);
	glGetProgramiv(program, GL_LINK_STATUS, &linked);
	if (!linked)
		printf("# the program cannot be linked\n");
	return linked;
}

bool gles_fence_signals(unsigned int seconds)
{
	GLsync fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
	GLenum status = glClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT,
					 seconds * UINT64_C(1000000000));

	glDeleteSync(fence);
	if (status == GL_ALREADY_SIGNALED || status == GL_CONDITION_SATISFIED)
		return true;
	printf("# the fence does not signal: 0x%x\n", status);
	return false;
}

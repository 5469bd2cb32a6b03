/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * OpenGL ES without a window system, and as little of EGL as that takes.
 *
 * The guest has the libraries, but where these programs are linked there are only
 * their headers: functions are looked up when a program starts.
 */
#ifndef GLES_H
#define GLES_H

#include <stdbool.h>

#define EGL_EGL_PROTOTYPES	0
#define GL_GLES_PROTOTYPES	0
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl32.h>

#define EGL_FUNCTIONS(X) \
	X(BINDAPI, BindAPI) \
	X(CREATECONTEXT, CreateContext) \
	X(DESTROYCONTEXT, DestroyContext) \
	X(GETERROR, GetError) \
	X(GETPLATFORMDISPLAY, GetPlatformDisplay) \
	X(INITIALIZE, Initialize) \
	X(MAKECURRENT, MakeCurrent) \
	X(TERMINATE, Terminate)

#define GL_FUNCTIONS(X) \
	X(ACTIVETEXTURE, ActiveTexture) \
	X(ATTACHSHADER, AttachShader) \
	X(BINDATTRIBLOCATION, BindAttribLocation) \
	X(BINDBUFFER, BindBuffer) \
	X(BINDBUFFERBASE, BindBufferBase) \
	X(BINDFRAMEBUFFER, BindFramebuffer) \
	X(BINDRENDERBUFFER, BindRenderbuffer) \
	X(BINDTEXTURE, BindTexture) \
	X(BLENDFUNC, BlendFunc) \
	X(BLITFRAMEBUFFER, BlitFramebuffer) \
	X(BUFFERDATA, BufferData) \
	X(BUFFERSUBDATA, BufferSubData) \
	X(CHECKFRAMEBUFFERSTATUS, CheckFramebufferStatus) \
	X(CLEAR, Clear) \
	X(CLEARBUFFERFV, ClearBufferfv) \
	X(CLEARCOLOR, ClearColor) \
	X(CLIENTWAITSYNC, ClientWaitSync) \
	X(COMPILESHADER, CompileShader) \
	X(COMPRESSEDTEXIMAGE2D, CompressedTexImage2D) \
	X(COPYBUFFERSUBDATA, CopyBufferSubData) \
	X(CREATEPROGRAM, CreateProgram) \
	X(CREATESHADER, CreateShader) \
	X(DELETEBUFFERS, DeleteBuffers) \
	X(DELETEFRAMEBUFFERS, DeleteFramebuffers) \
	X(DELETEPROGRAM, DeleteProgram) \
	X(DELETERENDERBUFFERS, DeleteRenderbuffers) \
	X(DELETESHADER, DeleteShader) \
	X(DELETESYNC, DeleteSync) \
	X(DELETETEXTURES, DeleteTextures) \
	X(DEPTHFUNC, DepthFunc) \
	X(DEPTHRANGEF, DepthRangef) \
	X(DISABLE, Disable) \
	X(DISPATCHCOMPUTE, DispatchCompute) \
	X(DRAWARRAYS, DrawArrays) \
	X(DRAWBUFFERS, DrawBuffers) \
	X(DRAWELEMENTSINSTANCED, DrawElementsInstanced) \
	X(ENABLE, Enable) \
	X(ENABLEVERTEXATTRIBARRAY, EnableVertexAttribArray) \
	X(FENCESYNC, FenceSync) \
	X(FINISH, Finish) \
	X(FRAMEBUFFERRENDERBUFFER, FramebufferRenderbuffer) \
	X(FRAMEBUFFERTEXTURE2D, FramebufferTexture2D) \
	X(FRAMEBUFFERTEXTURELAYER, FramebufferTextureLayer) \
	X(GENBUFFERS, GenBuffers) \
	X(GENFRAMEBUFFERS, GenFramebuffers) \
	X(GENRENDERBUFFERS, GenRenderbuffers) \
	X(GENTEXTURES, GenTextures) \
	X(GETERROR, GetError) \
	X(GETGRAPHICSRESETSTATUS, GetGraphicsResetStatus) \
	X(GETPROGRAMIV, GetProgramiv) \
	X(GETSHADERINFOLOG, GetShaderInfoLog) \
	X(GETSTRING, GetString) \
	X(GETUNIFORMLOCATION, GetUniformLocation) \
	X(LINKPROGRAM, LinkProgram) \
	X(MAPBUFFERRANGE, MapBufferRange) \
	X(MEMORYBARRIER, MemoryBarrier) \
	X(PIXELSTOREI, PixelStorei) \
	X(READPIXELS, ReadPixels) \
	X(RENDERBUFFERSTORAGEMULTISAMPLE, RenderbufferStorageMultisample) \
	X(SCISSOR, Scissor) \
	X(SHADERSOURCE, ShaderSource) \
	X(TEXIMAGE2D, TexImage2D) \
	X(TEXIMAGE3D, TexImage3D) \
	X(TEXPARAMETERFV, TexParameterfv) \
	X(TEXPARAMETERI, TexParameteri) \
	X(TEXSTORAGE2D, TexStorage2D) \
	X(TEXSTORAGE3D, TexStorage3D) \
	X(TEXSUBIMAGE2D, TexSubImage2D) \
	X(TEXSUBIMAGE3D, TexSubImage3D) \
	X(UNIFORM1F, Uniform1f) \
	X(UNIFORM1I, Uniform1i) \
	X(UNIFORM1UI, Uniform1ui) \
	X(UNIFORM2I, Uniform2i) \
	X(UNIFORM4FV, Uniform4fv) \
	X(UNMAPBUFFER, UnmapBuffer) \
	X(USEPROGRAM, UseProgram) \
	X(VERTEXATTRIBPOINTER, VertexAttribPointer) \
	X(VIEWPORT, Viewport)

#define DECLARE_EGL(type, name)	extern PFNEGL##type##PROC egl##name;
#define DECLARE_GL(type, name)	extern PFNGL##type##PROC gl##name;
EGL_FUNCTIONS(DECLARE_EGL)
GL_FUNCTIONS(DECLARE_GL)

/** gles_find_functions() - Return: false where the libraries are not installed */
bool gles_find_functions(void);

/** gles_open_display() - Return: NULL after a message */
EGLDisplay gles_open_display(void);

/**
 * gles_make_context() - make a context of OpenGL ES 3, and make it current
 * @attributes: of the context, beside the version; EGL_NONE is the last one
 *
 * Return: NULL after a message.
 */
EGLContext gles_make_context(EGLDisplay display, const EGLint *attributes);

/** gles_drop_context() - destroy a context, which may be current */
void gles_drop_context(EGLDisplay display, EGLContext context);

/** gles_renderer_is() - print what draws. Return: whether its name begins with @name */
bool gles_renderer_is(const char *name);

/** gles_attach_shader() - compile a shader for a program; prints what the compiler says */
void gles_attach_shader(GLuint program, GLenum stage, const char *source);

/** gles_link() - Return: false after a message */
bool gles_link(GLuint program);

/**
 * gles_fence_signals() - wait until all that was asked for so far has come to an end
 *
 * Return: false after a message, when that takes longer than so many seconds.
 */
bool gles_fence_signals(unsigned int seconds);

#endif /* GLES_H */

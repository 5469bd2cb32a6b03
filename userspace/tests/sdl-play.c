// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * To be preloaded into a game of SDL 2: plays it the same way each time, however long a frame
 * takes. The game's clock stands still while it draws, and goes on by a fixed time with each
 * frame that it shows, by each time that it asks to sleep, and by a millisecond if it looks for
 * events again without a frame. Random numbers begin with the same seed. Keys are pressed and let
 * go before the frames that are listed for them. Some frames are kept, and behind the last of
 * them the game is told to quit.
 *
 * PLAY_FRAMES   numbers of frames to keep, in rising order, as "40 200"; the first is 1
 * PLAY_DIR      folder for them: 40.png, 200.png
 * PLAY_KEYS     "FRAME:KEY" for each key that goes down before this frame and up before the next,
 *               "FRAME:KEY+" and "FRAME:KEY-" for one that stays down; KEY is a name of SDL's
 * PLAY_MS       milliseconds of a frame, 40 if not given
 *
 * One thread of the game draws and asks for events; the clock may be read by any.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "png_file.h"

#define MAX_SIDE	4096

/* Values and structures of SDL 2's interface */
#define SDL_QUIT	0x100
#define SDL_KEYDOWN	0x300
#define SDL_KEYUP	0x301

#define GL_RGBA			0x1908
#define GL_UNSIGNED_BYTE	0x1401
#define GL_PACK_ALIGNMENT	0x0D05

struct sdl_event {
	uint32_t type;
	uint32_t timestamp;
	uint32_t window;
	uint8_t state;
	uint8_t repeat;
	uint8_t padding[2];
	int32_t scancode;
	int32_t sym;
	uint16_t modifiers;
	uint32_t unused;
	/* other events are longer */
	uint8_t rest[64];
};

typedef void read_pixels(int x, int y, int width, int height, unsigned int format,
			 unsigned int type, void *pixels);
typedef void pixel_store(unsigned int name, int value);

/* Functions of SDL and of the C library that this library takes the place of */
#pragma GCC visibility push(default)
int SDL_PollEvent(struct sdl_event *event);
uint32_t SDL_GetTicks(void);
uint64_t SDL_GetTicks64(void);
uint64_t SDL_GetPerformanceFrequency(void);
uint64_t SDL_GetPerformanceCounter(void);
void SDL_Delay(uint32_t ms);
void SDL_GL_SwapWindow(void *window);
void srand(unsigned int seed);
#pragma GCC visibility pop

static struct {
	/* milliseconds since the game began */
	_Atomic uint32_t clock;
	/* the frame that is being drawn */
	unsigned int frame;
	/* that before which events were pushed */
	unsigned int pushed;
	/* that in which the game has seen all events */
	unsigned int seen;
	/* rest of the lists */
	const char *frames;
	const char *keys;
} play = { .frame = 1 };

/* Return: a function behind this library */
static void *play_real(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (!function) {
		fprintf(stderr, "sdl-play: there is no %s\n", name);
		abort();
	}
	return function;
}

#define REAL(type, name)	((type)play_real(name))

static void play_begin(void)
{
	if (play.frames)
		return;
	play.frames = getenv("PLAY_FRAMES");
	play.keys = getenv("PLAY_KEYS");
	if (!play.frames)
		play.frames = "";
	if (!play.keys)
		play.keys = "";
}

static unsigned int play_frame_time(void)
{
	const char *given = getenv("PLAY_MS");

	return given ? strtoul(given, NULL, 10) : 40;
}

/* Events */

static void play_push(uint32_t type, int32_t sym, int32_t scancode)
{
	struct sdl_event event = {
		.type = type,
		.timestamp = play.clock,
		.state = type == SDL_KEYDOWN,
		.sym = sym,
		.scancode = scancode,
	};

	REAL(int (*)(struct sdl_event *), "SDL_PushEvent")(&event);
}

static void play_key(uint32_t type, const char *name)
{
	int32_t sym = REAL(int32_t (*)(const char *), "SDL_GetKeyFromName")(name);
	int32_t scancode = REAL(int32_t (*)(const char *), "SDL_GetScancodeFromName")(name);

	if (!sym)
		fprintf(stderr, "sdl-play: there is no key %s\n", name);
	play_push(type, sym, scancode);
}

/* Pushes the events that the list has before the frame that comes. */
static void play_push_keys(void)
{
	char name[32], mark[2];
	unsigned int frame;
	int n;

	while (sscanf(play.keys, " %u:%31[A-Za-z]%n", &frame, name, &n) == 2 && frame <= play.frame) {
		play.keys += n;
		if (sscanf(play.keys, "%1[+-]", mark) == 1) {
			play.keys++;
			play_key(*mark == '+' ? SDL_KEYDOWN : SDL_KEYUP, name);
		} else {
			play_key(SDL_KEYDOWN, name);
			play_key(SDL_KEYUP, name);
		}
	}
}

int SDL_PollEvent(struct sdl_event *event)
{
	play_begin();
	if (play.pushed != play.frame) {
		play.pushed = play.frame;
		play_push_keys();
	}
	if (REAL(int (*)(struct sdl_event *), "SDL_PollEvent")(event))
		return 1;
	/* Some games wait for the clock before they draw. */
	if (play.seen == play.frame)
		play.clock++;
	play.seen = play.frame;
	return 0;
}

/* The clock */

uint32_t SDL_GetTicks(void)
{
	return play.clock;
}

uint64_t SDL_GetTicks64(void)
{
	return play.clock;
}

uint64_t SDL_GetPerformanceFrequency(void)
{
	return 1000;
}

uint64_t SDL_GetPerformanceCounter(void)
{
	return play.clock;
}

void SDL_Delay(uint32_t ms)
{
	play.clock += ms;
}

/* Random numbers: the game has a seed of its own from the system. */
void srand(unsigned int seed)
{
	REAL(void (*)(unsigned int), "srand")(1);
}

/* Frames */

/* OpenGL begins with the lowest row. */
static void play_turn(uint32_t stride, uint32_t rows, uint8_t *pixels, uint8_t *spare)
{
	uint32_t y;

	for (y = 0; y < rows / 2; y++) {
		uint8_t *low = pixels + (size_t)stride * y;
		uint8_t *high = pixels + (size_t)stride * (rows - 1 - y);

		memcpy(spare, low, stride);
		memcpy(low, high, stride);
		memcpy(high, spare, stride);
	}
}

static void play_keep_frame(void *window)
{
	void *(*find)(const char *) = REAL(void *(*)(const char *), "SDL_GL_GetProcAddress");
	read_pixels *read = (read_pixels *)find("glReadPixels");
	pixel_store *store = (pixel_store *)find("glPixelStorei");
	const char *dir = getenv("PLAY_DIR");
	int width = 0, height = 0;
	uint8_t *pixels;
	char path[512];

	REAL(void (*)(void *, int *, int *), "SDL_GL_GetDrawableSize")(window, &width, &height);
	if (!read || !store || width < 1 || height < 1 || width > MAX_SIDE || height > MAX_SIDE)
		return;
	pixels = malloc((size_t)4 * width * (height + 1));
	if (!pixels)
		return;
	store(GL_PACK_ALIGNMENT, 4);
	read(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	play_turn(4 * width, height, pixels, pixels + (size_t)4 * width * height);
	snprintf(path, sizeof(path), "%s/%u.png", dir ? dir : ".", play.frame);
	png_file_write(path, width, height, 4 * width, 4, pixels);
	free(pixels);
}

void SDL_GL_SwapWindow(void *window)
{
	unsigned int frame;
	int n;

	play_begin();
	if (sscanf(play.frames, "%u%n", &frame, &n) == 1 && frame == play.frame) {
		play_keep_frame(window);
		play.frames += n;
		if (sscanf(play.frames, "%u", &frame) != 1)
			play_push(SDL_QUIT, 0, 0);
	}
	REAL(void (*)(void *), "SDL_GL_SwapWindow")(window);
	play.frame++;
	play.clock += play_frame_time();
}

// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * asahi-triangle: renders pictures and checks them pixel by pixel.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "png_file.h"
#include "scene.h"

#define PROGRAM		"asahi-triangle"
#define MAX_FRAMES	1000
#define DEFAULT_SIZE	256
#define MAX_INSTANCES	100000000
#define MAX_LAYERS	2048
#define MAX_PAUSE	3600

struct arguments {
	const char *device;
	const char *output;
	uint32_t width;
	uint32_t height;
	/* 0: not asked for */
	uint32_t frames;
	uint32_t instances;
	uint32_t layers;
	/* seconds, 0: not asked for */
	uint32_t pause;
	const char *const *names;
	unsigned int count;
};

static void triangle_make_clear(struct scene *scene, float turn, float aspect)
{
	scene_clear(scene);
}

static void triangle_make_triangle(struct scene *scene, float turn, float aspect)
{
	scene_triangle(scene);
}

/* The last one is the picture's. */
static const struct picture {
	const char *name;
	const char *help;
	void (*make)(struct scene *scene, float turn, float aspect);
} triangle_pictures[] = {
	{ "clear", "one colour", triangle_make_clear },
	{ "triangle", "a triangle with three colours", triangle_make_triangle },
	{ "cube", "a cube in perspective, with depth", scene_cube },
};

#define PICTURES	(sizeof(triangle_pictures) / sizeof(triangle_pictures[0]))

static void triangle_usage(FILE *fp)
{
	fputs("usage: asahi-triangle [OPTION]... [PICTURE]...\n"
	      "Renders pictures on an AGX GPU and checks them pixel by pixel.\n"
	      "Prints TAP; the exit status is 0 only if all was right.\n\n"
	      "  -d, --device=NODE      render node (default: the driver's first one)\n"
	      "  -s, --size=WxH         pixels (default: 256x256)\n"
	      "  -o, --output=FILE      write the last picture as PNG\n"
	      "  -f, --frames=N         the last picture N times, turned on each time; with an\n"
	      "                         output, FILE has a \"%\" where the frame's number goes\n"
	      "  -i, --instances=N      draw everything N times over itself, which takes room in\n"
	      "                         the vertex buffer\n"
	      "  -l, --layers=N         of the render; each goes to the same picture\n"
	      "  -p, --pause=SECONDS    draw, wait so long, and draw again in the same queue\n"
	      "  -h, --help             this text\n"
	      "  -V, --version          the version\n\n"
	      "pictures (default: all):\n",
	      fp);
	for (size_t i = 0; i < PICTURES; i++)
		fprintf(fp, "  %-12s %s\n", triangle_pictures[i].name, triangle_pictures[i].help);
}

static int triangle_parse_number(const char *text, uint32_t most, uint32_t *value,
				 char stop, const char **rest)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (errno || end == text || *end != stop || *text == '-' || !n ||
	    n > most) {
		fprintf(stderr, "'%s': expected a number from 1 to %u\n", text,
			most);
		return -EINVAL;
	}
	*value = n;
	*rest = end + 1;
	return 0;
}

static int triangle_parse_size(const char *text, struct arguments *args)
{
	const char *rest;
	int err = triangle_parse_number(text, RENDER_MAX_SIZE, &args->width, 'x', &rest);

	return err ? err : triangle_parse_number(rest, RENDER_MAX_SIZE, &args->height,
						 '\0', &rest);
}

static const struct picture *triangle_find_picture(const char *name)
{
	for (size_t i = 0; i < PICTURES; i++) {
		if (!strcmp(triangle_pictures[i].name, name))
			return &triangle_pictures[i];
	}
	fprintf(stderr, "there is no picture '%s'\n", name);
	return NULL;
}

static int triangle_check_arguments(const struct arguments *args)
{
	for (unsigned int i = 0; i < args->count; i++) {
		if (!triangle_find_picture(args->names[i]))
			return -EINVAL;
	}
	if (args->frames && args->output && !strchr(args->output, '%')) {
		fprintf(stderr, "'%s' has no %% for the frame's number\n",
			args->output);
		return -EINVAL;
	}
	return 0;
}

static int triangle_parse_arguments(int argc, char **argv, struct arguments *args)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "size", required_argument, NULL, 's' },
		{ "output", required_argument, NULL, 'o' },
		{ "frames", required_argument, NULL, 'f' },
		{ "instances", required_argument, NULL, 'i' },
		{ "layers", required_argument, NULL, 'l' },
		{ "pause", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	const char *rest;
	int err = 0;
	int c;

	while (!err && (c = getopt_long(argc, argv, "d:s:o:f:i:l:p:hV", options,
					NULL)) >= 0) {
		switch (c) {
		case 'd':
			args->device = optarg;
			break;
		case 's':
			err = triangle_parse_size(optarg, args);
			break;
		case 'o':
			args->output = optarg;
			break;
		case 'f':
			err = triangle_parse_number(optarg, MAX_FRAMES, &args->frames,
						    '\0', &rest);
			break;
		case 'i':
			err = triangle_parse_number(optarg, MAX_INSTANCES, &args->instances,
						    '\0', &rest);
			break;
		case 'l':
			err = triangle_parse_number(optarg, MAX_LAYERS, &args->layers,
						    '\0', &rest);
			break;
		case 'p':
			err = triangle_parse_number(optarg, MAX_PAUSE, &args->pause,
						    '\0', &rest);
			break;
		case 'h':
			triangle_usage(stdout);
			exit(cli_finish(PROGRAM, EXIT_SUCCESS));
		case 'V':
			cli_version(PROGRAM);
			exit(cli_finish(PROGRAM, EXIT_SUCCESS));
		default:
			err = -EINVAL;
		}
	}
	args->names = (const char *const *)argv + optind;
	args->count = argc - optind;
	return err ? err : triangle_check_arguments(args);
}

/* "%" becomes the number of the frame. */
static int triangle_write_frame(const struct arguments *args,
				const struct render_target *target, unsigned int frame)
{
	const char *percent = args->frames ? strchr(args->output, '%') : NULL;
	char path[4096];
	int length;

	if (percent)
		length = snprintf(path, sizeof(path), "%.*s%03u%s",
				  (int)(percent - args->output), args->output,
				  frame, percent + 1);
	else
		length = snprintf(path, sizeof(path), "%s", args->output);
	if (length < 0 || (size_t)length >= sizeof(path))
		return -ENAMETOOLONG;
	return png_file_write(path, target->width, target->height,
			      target->stride, 4, target->pixels.map);
}

static int triangle_draw(const struct arguments *args, const struct picture *picture,
			 struct compute *ctx, const struct render_target *target,
			 unsigned int frame)
{
	float turn = 0.1f + (float)frame / (float)(args->frames + !args->frames);
	struct scene scene;
	int err;

	picture->make(&scene, turn, (float)args->width / (float)args->height);
	scene.render.instances = args->instances;
	scene.render.layers = args->layers;
	err = render_run(ctx, target, &scene.render);
	return err ? err : scene_check(&scene.render, target);
}

/* Everything anew for each frame, as asahi-compute has it for each test. */
static int triangle_draw_frame(const struct arguments *args,
			       const struct picture *picture, unsigned int frame,
			       bool write)
{
	struct render_target target;
	struct compute ctx;
	int err = compute_open(&ctx, args->device);

	if (err)
		return err;
	err = render_target_new(&ctx, args->width, args->height, &target);
	if (!err) {
		err = triangle_draw(args, picture, &ctx, &target, frame);
		if (!err && args->pause) {
			sleep(args->pause);
			compute_poison(&target.pixels);
			err = triangle_draw(args, picture, &ctx, &target, frame);
		}
		if (write && args->output && (!err || err == -EILSEQ)) {
			int write_err = triangle_write_frame(args, &target, frame);

			err = err ? err : write_err;
		}
		render_target_free(&ctx, &target);
	}
	compute_close(&ctx);
	return err;
}

static bool triangle_run(const struct arguments *args, const struct picture *picture,
			 unsigned int number, bool last)
{
	unsigned int frames = last && args->frames ? args->frames : 1;
	int err = 0;

	for (unsigned int i = 0; i < frames && !err; i++)
		err = triangle_draw_frame(args, picture, i, last);
	if (err)
		printf("not ok %u - %s # %s\n", number, picture->name,
		       err == -EILSEQ ? "wrong result" : strerror(-err));
	else
		printf("ok %u - %s\n", number, picture->name);
	fflush(stdout);
	return !err;
}

int main(int argc, char **argv)
{
	struct arguments args = { .width = DEFAULT_SIZE, .height = DEFAULT_SIZE };
	unsigned int bad = 0, count;

	if (triangle_parse_arguments(argc, argv, &args)) {
		fputs("try 'asahi-triangle --help'\n", stderr);
		return EXIT_USAGE;
	}
	count = args.count ? args.count : PICTURES;
	for (unsigned int i = 0; i < count; i++)
		bad += !triangle_run(&args, args.count ? triangle_find_picture(args.names[i]) :
						&triangle_pictures[i],
				     i + 1, i + 1 == count);
	printf("1..%u\n", count);
	return cli_finish(PROGRAM, bad ? EXIT_FAILURE : EXIT_SUCCESS);
}

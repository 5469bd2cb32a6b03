// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * To be preloaded into a program of OpenGL ES, Vulkan or OpenCL: how long each frame and
 * each kernel takes, in processor time of all threads and on the wall. At the program's
 * end there is a line in the file $WORK_TIMES for each: its name and both times in ns.
 *
 * A frame ends with glFinish(), as glmark2 has it off screen, or is presented by Vulkan.
 * The first one lasts from the start of the process, so that it has all compilation.
 * Kernels are waited for, one by one; $WORK_THREADS is how many work items of one are
 * run, and after MAX_RUNS a kernel is no longer executed: what a benchmark sizes for
 * hardware would take hours.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <vulkan/vulkan.h>

#define MAX_TIMES	4096
#define MAX_RUNS	4
#define PUBLIC		__attribute__((visibility("default")))

typedef void *lookup(void *library, const char *name);
typedef void (*function)(void);
typedef function (*function_lookup)(const char *name);

/* Of OpenCL, whose headers are not there everywhere */
typedef void *cl_object;
typedef int32_t cl_status;
typedef cl_status cl_enqueue(cl_object, cl_object, uint32_t, const size_t *, const size_t *,
			     const size_t *, uint32_t, const cl_object *, cl_object *);
typedef cl_status cl_finish(cl_object);
typedef cl_status cl_kernel_info(cl_object, uint32_t, size_t, void *, size_t *);
#define CL_KERNEL_FUNCTION_NAME	0x1190
#define CL_SUCCESS		0

struct moment {
	uint64_t cpu, wall;
};

static struct {
	char name[40];
	struct moment spent;
} times[MAX_TIMES];

static unsigned int count;
static struct moment last_frame;
static function real_finish;
static function_lookup real_get_proc_address;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static struct moment now(void)
{
	return (struct moment){
		.cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID),
		.wall = clock_ns(CLOCK_MONOTONIC),
	};
}

static void add_time(const char *name, struct moment since)
{
	struct moment until = now();

	if (count == MAX_TIMES)
		return;
	snprintf(times[count].name, sizeof(times[count].name), "%s", name);
	times[count++].spent = (struct moment){ until.cpu - since.cpu, until.wall - since.wall };
}

static void end_frame(void)
{
	add_time("frame", last_frame);
	last_frame = now();
}

__attribute__((constructor)) static void begin_process(void)
{
	last_frame.wall = clock_ns(CLOCK_MONOTONIC);
}

__attribute__((destructor)) static void write_times(void)
{
	const char *path = getenv("WORK_TIMES");
	FILE *file = path && count ? fopen(path, "w") : NULL;
	unsigned int i;

	for (i = 0; file && i < count; i++)
		fprintf(file, "%s %" PRIu64 " %" PRIu64 "\n", times[i].name, times[i].spent.cpu,
			times[i].spent.wall);
	if (file)
		fclose(file);
}

/* In the C library from 2.34 on, with this name on every architecture */
static void *real_dlsym(void *library, const char *name)
{
	static lookup *real;

	if (!real)
		real = (lookup *)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	if (!real)
		abort();
	return real(library, name);
}

static void *next(const char *name)
{
	void *found = real_dlsym(RTLD_NEXT, name);

	if (!found)
		abort();
	return found;
}

/* OpenGL ES, of a program that looks its functions up */

static void finish(void)
{
	real_finish();
	end_frame();
}

static function get_proc_address(const char *name)
{
	function found = real_get_proc_address(name);

	if (strcmp(name, "glFinish"))
		return found;
	real_finish = found;
	return finish;
}

PUBLIC void *dlsym(void *library, const char *name)
{
	void *found = real_dlsym(library, name);

	if (found && !strcmp(name, "eglGetProcAddress")) {
		real_get_proc_address = (function_lookup)found;
		return (void *)get_proc_address;
	}
	if (found && !strcmp(name, "glFinish")) {
		real_finish = (function)found;
		return (void *)finish;
	}
	return found;
}

/* Vulkan and OpenCL, of programs that are linked with their loaders */

PUBLIC VKAPI_ATTR VkResult VKAPI_CALL vkQueuePresentKHR(VkQueue queue,
							const VkPresentInfoKHR *info)
{
	VkResult result = ((PFN_vkQueuePresentKHR)next("vkQueuePresentKHR"))(queue, info);

	end_frame();
	return result;
}

static unsigned int runs_of(const char *name)
{
	unsigned int i, runs = 0;

	for (i = 0; i < count; i++)
		runs += !strcmp(times[i].name, name);
	return runs;
}

/* As many as are wanted, but whole groups */
static size_t limit_threads(size_t threads, size_t group)
{
	const char *wanted = getenv("WORK_THREADS");
	size_t most = wanted ? strtoul(wanted, NULL, 0) : SIZE_MAX;

	if (threads <= most)
		return threads;
	if (!group)
		return most;
	return most < group ? group : most - most % group;
}

PUBLIC cl_enqueue clEnqueueNDRangeKernel;

cl_status clEnqueueNDRangeKernel(cl_object queue, cl_object kernel, uint32_t dimensions,
				 const size_t *offset, const size_t *threads, const size_t *group,
				 uint32_t num_waits, const cl_object *waits, cl_object *event)
{
	cl_enqueue *enqueue = (cl_enqueue *)next("clEnqueueNDRangeKernel");
	cl_finish *wait = (cl_finish *)next("clFinish");
	char name[40] = "";
	struct moment since;
	cl_status status;
	size_t limited;

	((cl_kernel_info *)next("clGetKernelInfo"))(kernel, CL_KERNEL_FUNCTION_NAME, sizeof(name),
						    name, NULL);
	if (dimensions != 1 || event)
		return enqueue(queue, kernel, dimensions, offset, threads, group, num_waits, waits,
			       event);
	if (runs_of(name) == MAX_RUNS)
		return CL_SUCCESS;
	limited = limit_threads(threads[0], group ? group[0] : 0);
	wait(queue);
	since = now();
	status = enqueue(queue, kernel, 1, offset, &limited, group, num_waits, waits, NULL);
	wait(queue);
	add_time(name, since);
	return status;
}

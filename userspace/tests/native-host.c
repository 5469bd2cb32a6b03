// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The interface of virglrenderer's library is that of virglrenderer.h of version 1.1 or later;
 * the page and the requests are those of its drm_hw.h and asahi_proto.h, of which this has the
 * numbers. The library is opened at run time, as it is on no machine that builds this.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "native-host.h"

#define PAGE_BYTES	0x4000
#define FENCE_SECONDS	60

/* Flags of its start: no OpenGL, fences by callbacks, native contexts */
#define FLAG_NO_VIRGL		(1 << 7)
#define FLAG_ASYNC_FENCES	(1 << 8)
#define FLAG_NATIVE		(1 << 10)

#define BLOB_OF_THE_HOST	2
#define BLOB_MAPPABLE		1
#define FD_IS_DMABUF		1

struct callbacks {
	int version;
	void (*write_fence)(void *cookie, uint32_t fence);
	void *gl[3];
	int (*get_drm_fd)(void *cookie);
	void (*write_context_fence)(void *cookie, uint32_t context, uint32_t ring, uint64_t fence);
	int (*get_server_fd)(void *cookie, uint32_t version);
};

struct blob_args {
	uint32_t resource;
	uint32_t context;
	uint32_t memory;
	uint32_t flags;
	uint64_t id;
	uint64_t size;
	const void *iovecs;
	uint32_t num_iovecs;
};

/* The page: what was done, where answers are, how many requests have failed */
struct page {
	uint32_t sequence;
	uint32_t answers;
	uint32_t errors;
	uint32_t faults;
};

#define FUNCTIONS(f)									\
	f(int, init, (void *cookie, int flags, struct callbacks *callbacks))		\
	f(void, cleanup, (void *cookie))						\
	f(void, get_cap_set, (uint32_t set, uint32_t *version, uint32_t *size))		\
	f(void, fill_caps, (uint32_t set, uint32_t version, void *caps))		\
	f(int, context_create_with_flags,						\
	  (uint32_t context, uint32_t flags, uint32_t length, const char *name))	\
	f(void, context_destroy, (uint32_t context))					\
	f(int, context_create_fence,							\
	  (uint32_t context, uint32_t flags, uint32_t ring, uint64_t fence))		\
	f(int, submit_cmd, (void *words, int context, int count))			\
	f(int, resource_create_blob, (const struct blob_args *args))			\
	f(void, ctx_attach_resource, (int context, int resource))			\
	f(void, ctx_detach_resource, (int context, int resource))			\
	f(int, resource_map, (uint32_t resource, void **map, uint64_t *size))		\
	f(int, resource_unmap, (uint32_t resource))					\
	f(int, resource_export_blob, (uint32_t resource, uint32_t *type, int *fd))	\
	f(void, resource_unref, (uint32_t resource))

#define DECLARE(type, name, args)	static type (*virgl_##name) args;
FUNCTIONS(DECLARE)

static pthread_mutex_t host_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t host_change = PTHREAD_COND_INITIALIZER;
static uint64_t host_fence;

static void host_write_fence(void *cookie, uint32_t fence)
{
}

static void host_write_context_fence(void *cookie, uint32_t context, uint32_t ring, uint64_t fence)
{
	pthread_mutex_lock(&host_lock);
	host_fence = fence;
	pthread_cond_broadcast(&host_change);
	pthread_mutex_unlock(&host_lock);
}

static bool host_find_functions(void *library)
{
	bool found = true;

#define FIND(type, name, args)								\
	*(void **)&virgl_##name = dlsym(library, "virgl_renderer_" #name);		\
	found = found && virgl_##name;
	FUNCTIONS(FIND)
	return found;
}

int native_host_open(const char *path, struct native_caps *caps)
{
	static struct callbacks callbacks = {
		.version = 3,
		.write_fence = host_write_fence,
		.write_context_fence = host_write_context_fence,
	};
	void *library = dlopen(path, RTLD_NOW);
	uint32_t version = 0, size = 0;
	uint8_t all[4096] = { 0 };

	if (!library || !host_find_functions(library)) {
		printf("# %s\n", dlerror());
		return -ENOENT;
	}
	if (virgl_init(&callbacks, FLAG_NO_VIRGL | FLAG_ASYNC_FENCES | FLAG_NATIVE, &callbacks))
		return -ENOSYS;
	virgl_get_cap_set(NATIVE_CAPSET, &version, &size);
	if (size < sizeof(*caps) || size > sizeof(all))
		return -ENOSYS;
	virgl_fill_caps(NATIVE_CAPSET, version, all);
	memcpy(caps, all, sizeof(*caps));
	return caps->context_type == NATIVE_CONTEXT_ASAHI ? 0 : -ENOSYS;
}

void native_host_close(void)
{
	virgl_cleanup(NULL);
}

int native_context_new(struct native_host *host, uint32_t context)
{
	static const char name[] = "guest";
	struct native_blob page;
	int err;

	*host = (struct native_host){ .context = context, .resources = context << 16 };
	err = virgl_context_create_with_flags(context, NATIVE_CAPSET, strlen(name), name);
	if (err)
		return err;
	err = native_blob_new(host, 0, PAGE_BYTES, BLOB_MAPPABLE, &page);
	host->page = err ? NULL : page.map;
	return err;
}

void native_context_free(struct native_host *host)
{
	virgl_context_destroy(host->context);
}

static volatile struct page *host_page(const struct native_host *host)
{
	return (volatile struct page *)host->page;
}

volatile const void *native_request(struct native_host *host, struct native_request *request,
				    uint32_t answer_size)
{
	volatile struct page *page = host_page(host);
	volatile uint32_t *answer = (volatile uint32_t *)(host->page + page->answers);

	request->sequence = ++host->sequence;
	request->answer = 0;
	*answer = answer_size;
	if (virgl_submit_cmd(request, host->context, request->size / sizeof(uint32_t)))
		return NULL;
	return page->sequence == host->sequence ? answer + 1 : NULL;
}

uint32_t native_errors(const struct native_host *host)
{
	return host_page(host)->errors;
}

int native_blob_new(struct native_host *host, uint32_t id, uint64_t size, uint32_t flags,
		    struct native_blob *blob)
{
	const struct blob_args args = {
		.resource = ++host->resources,
		.context = host->context,
		.memory = BLOB_OF_THE_HOST,
		.flags = flags,
		.id = id,
		.size = size,
	};
	int err = virgl_resource_create_blob(&args);

	*blob = (struct native_blob){ .resource = args.resource };
	if (err)
		return err;
	virgl_ctx_attach_resource(host->context, blob->resource);
	return virgl_resource_map(blob->resource, &blob->map, &blob->size);
}

void native_blob_free(struct native_host *host, struct native_blob *blob)
{
	virgl_resource_unmap(blob->resource);
	virgl_ctx_detach_resource(host->context, blob->resource);
	virgl_resource_unref(blob->resource);
}

int native_blob_export(const struct native_blob *blob)
{
	uint32_t type = 0;
	int fd = -1, err = virgl_resource_export_blob(blob->resource, &type, &fd);

	if (err)
		return err < 0 ? err : -err;
	return type == FD_IS_DMABUF ? fd : -EBADF;
}

bool native_fence(struct native_host *host, uint32_t ring)
{
	uint64_t fence = ++host->fences | (uint64_t)host->context << 32;
	struct timespec end;
	int err;

	err = virgl_context_create_fence(host->context, 0, ring, fence);
	if (err)
		return false;
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += FENCE_SECONDS;
	pthread_mutex_lock(&host_lock);
	while (!err && host_fence != fence)
		err = pthread_cond_timedwait(&host_change, &host_lock, &end);
	pthread_mutex_unlock(&host_lock);
	return !err;
}

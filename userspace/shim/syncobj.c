// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Sync objects, binary and timeline, sync files, and eventfds that wait for points.
 *
 * A sync object is a reference to a fence, which is the last link of a timeline if the
 * object has points (fence.c). Ioctls for several sync objects copy handles and points into
 * the call's record first, and resolve all handles before they change the first object.
 *
 * A sync file is the reading end of a pipe, because poll() has to work on it without the
 * shim, and in each process that it is sent to. The shim keeps the writing end, and writes a
 * record when the fence signals, which says how and when. The record stays in the pipe: it is
 * copied by tee(). An eventfd is written to in a similar way. shim_sync_files_tell() does this
 * for all of them after each change, which fence.c announces.
 *
 * A sync file that another process has made is known by its mode, SHIM_SYNC_FILE_MODE. It gets
 * a fence here, which a thread signals when there is a record (watch.c). If the other process
 * ends before, there will be none, and the fence has the error ECANCELED. The same goes for a
 * sync file of the parent in a child that was forked.
 *
 * Everything is called with shim_lock held. Waits drop it, see shim_wait_change(): other
 * threads may destroy handles meanwhile, and a wait has references to all that it uses.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim.h"

/* How long a transfer waits for a point that nobody has submitted yet, as in the DRM core */
#define TRANSFER_PATIENCE_NS	INT64_C(5000000000)

#define WAIT_ALL	DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL
#define WAIT_FOR_SUBMIT	DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT
#define WAIT_AVAILABLE	DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE
#define WAIT_DEADLINE	DRM_SYNCOBJ_WAIT_FLAGS_WAIT_DEADLINE

struct shim_syncobj *shim_syncobj_get(struct shim_syncobj *syncobj)
{
	syncobj->refs++;
	return syncobj;
}

void shim_syncobj_put(struct shim_syncobj *syncobj)
{
	if (--syncobj->refs)
		return;
	shim_fence_put(syncobj->fence);
	free(syncobj);
}

void shim_syncobj_replace(struct shim_syncobj *syncobj, struct shim_fence *fence)
{
	shim_fence_put(syncobj->fence);
	syncobj->fence = fence;
	shim_changed();
}

void shim_syncobj_add_point(struct shim_syncobj *syncobj, struct shim_fence *fence,
			    uint64_t point)
{
	/* The link takes the sync object's reference to what came before. */
	syncobj->fence = shim_fence_new_link(fence, syncobj->fence, point);
	shim_changed();
}

/* Return: the fence of a point, no reference; or NULL. */
static struct shim_fence *syncobj_find_point(const struct shim_syncobj *syncobj, uint64_t point)
{
	return syncobj->fence ? shim_fence_find_point(syncobj->fence, point) : NULL;
}

int shim_syncobj_find_fence(struct shim_file *file, uint32_t handle, uint64_t point,
			    struct shim_fence **fence)
{
	struct shim_syncobj *syncobj = shim_table_get(&file->syncobjs, handle);

	if (!syncobj)
		return ENOENT;
	*fence = syncobj_find_point(syncobj, point);
	if (!*fence)
		return EINVAL;
	shim_fence_get(*fence);
	return 0;
}

/* Sync files and eventfds */

static struct shim_sync_file *syncobj_sync_files;

/* What is in the pipe of a sync file whose fence has signalled */
struct sync_record {
	uint64_t magic;
	uint64_t time_ns;
	int64_t error;
};

#define SYNC_RECORD_MAGIC	UINT64_C(0x65636e6566786761)

/* An eventfd that is written to once a point is signalled, or once it is submitted */
struct waiter {
	struct shim_syncobj *syncobj;
	uint64_t point;
	bool available;
	int fd;
	struct waiter *next;
};

static struct waiter *syncobj_waiters;

int shim_sync_file_new(struct shim_fence *fence)
{
	struct shim_sync_file *sync_file;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return -1;
	if (fchmod(fds[1], SHIM_SYNC_FILE_MODE)) {
		perror("asahi_shim: fchmod");
		abort();
	}
	sync_file = shim_alloc(sizeof(*sync_file));
	sync_file->fence = shim_fence_get(fence);
	sync_file->fd = fds[1];
	shim_fd_keep(&sync_file->fd);
	sync_file->next = syncobj_sync_files;
	syncobj_sync_files = sync_file;
	shim_fd_add(fds[0], SHIM_FD_SYNC_FILE, sync_file);
	shim_sync_files_tell();
	return fds[0];
}

void shim_sync_file_free(struct shim_sync_file *sync_file)
{
	struct shim_sync_file **link = &syncobj_sync_files;

	while (*link != sync_file)
		link = &(*link)->next;
	*link = sync_file->next;
	shim_fd_drop(&sync_file->fd);
	shim_fence_put(sync_file->fence);
	free(sync_file);
}

/* Writes the record of a fence that is signalled. Return: whether it was written. */
static bool syncobj_write_record(const struct shim_sync_file *sync_file)
{
	const struct sync_record record = {
		.magic = SYNC_RECORD_MAGIC,
		.time_ns = sync_file->fence->time_ns,
		.error = shim_fence_error(sync_file->fence),
	};

	return write(sync_file->fd, &record, sizeof(record)) == sizeof(record);
}

/* Copies the record that is in a pipe. Return: whether there is one. */
static bool syncobj_read_record(int fd, struct sync_record *record)
{
	int copy[2];
	bool ok;

	if (pipe2(copy, O_CLOEXEC))
		return false;
	ok = tee(fd, copy[1], sizeof(*record), SPLICE_F_NONBLOCK) == sizeof(*record) &&
	     read(copy[0], record, sizeof(*record)) == sizeof(*record) &&
	     record->magic == SYNC_RECORD_MAGIC && record->error <= 0 && record->error > -4096;
	shim_libc()->close(copy[0]);
	shim_libc()->close(copy[1]);
	return ok;
}

/* The other process has written a record, or has ended. Gives the fence's reference back. */
static void syncobj_foreign_over(int fd, void *object)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	struct shim_fence *fence = object;
	struct sync_record record;

	if (syncobj_read_record(fd, &record)) {
		shim_fence_signal(fence, record.error);
		fence->time_ns = record.time_ns;
	} else {
		/* A sandbox may allow no tee(); what is there is a record all the same. */
		poll(&ready, 1, 0);
		shim_fence_signal(fence, ready.revents & POLLIN ? 0 : -ECANCELED);
	}
	shim_fence_put(fence);
}

bool shim_sync_file_is_one(int fd)
{
	struct stat st;

	return !shim_libc()->fstat(fd, &st) && st.st_mode == (S_IFIFO | SHIM_SYNC_FILE_MODE);
}

struct shim_sync_file *shim_sync_file_find(int fd)
{
	struct shim_sync_file *sync_file = shim_fd_find(fd, SHIM_FD_SYNC_FILE);
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	struct shim_fence *fence;

	if (sync_file || !shim_sync_file_is_one(fd))
		return sync_file;
	fence = shim_fence_new();
	if (poll(&ready, 1, 0) == 1) {
		syncobj_foreign_over(fd, shim_fence_get(fence));
	} else if (shim_watch_add(fd, syncobj_foreign_over, shim_fence_get(fence))) {
		perror("asahi_shim: a sync file of another process");
		shim_fence_put(fence);
		shim_fence_put(fence);
		return NULL;
	}
	sync_file = shim_alloc(sizeof(*sync_file));
	*sync_file = (struct shim_sync_file){
		.fence = fence,
		.fd = -1,
		.told = true,
		.next = syncobj_sync_files,
	};
	syncobj_sync_files = sync_file;
	shim_fd_add(fd, SHIM_FD_SYNC_FILE, sync_file);
	return sync_file;
}

/* Writes to the eventfd if the time has come. Return: whether it has. */
static bool syncobj_waiter_tell(const struct waiter *waiter)
{
	struct shim_fence *fence = syncobj_find_point(waiter->syncobj, waiter->point);
	const uint64_t one = 1;

	if (!fence || !(waiter->available || shim_fence_is_signaled(fence)))
		return false;
	if (write(waiter->fd, &one, sizeof(one)) < 0)
		perror("asahi_shim: eventfd");
	return true;
}

void shim_sync_files_tell(void)
{
	struct waiter **link = &syncobj_waiters, *waiter;
	struct shim_sync_file *sync_file;

	for (sync_file = syncobj_sync_files; sync_file; sync_file = sync_file->next) {
		if (sync_file->told || !shim_fence_is_signaled(sync_file->fence))
			continue;
		sync_file->told = syncobj_write_record(sync_file);
	}
	while ((waiter = *link)) {
		if (!syncobj_waiter_tell(waiter)) {
			link = &waiter->next;
			continue;
		}
		*link = waiter->next;
		shim_fd_drop(&waiter->fd);
		shim_syncobj_put(waiter->syncobj);
		free(waiter);
	}
}

int shim_sync_file_merge(struct shim_file *file, union asahi_shim_args *all,
			 struct shim_call *call)
{
	struct sync_merge_data *args = &all->sync_merge;
	struct shim_sync_file *a = shim_fd_find(call->base.fd, SHIM_FD_SYNC_FILE);
	struct shim_sync_file *b = shim_sync_file_find(args->fd2);
	struct shim_fence *both;
	int fd, err;

	if (args->flags || args->pad)
		return EINVAL;
	if (!b)
		return ENOENT;
	both = shim_fence_new_link(shim_fence_get(a->fence), shim_fence_get(b->fence), 0);
	fd = shim_sync_file_new(both);
	err = fd < 0 ? errno : 0;
	shim_fence_put(both);
	args->fence = fd;
	return err;
}

int shim_sync_file_info(struct shim_file *file, union asahi_shim_args *all,
			struct shim_call *call)
{
	struct shim_sync_file *sync_file = shim_fd_find(call->base.fd, SHIM_FD_SYNC_FILE);
	struct sync_file_info *args = &all->sync_file_info;
	struct sync_fence_info info = { .obj_name = "asahi", .driver_name = "asahi" };

	if (args->flags || args->pad)
		return EINVAL;
	if (shim_fence_is_signaled(sync_file->fence)) {
		int error = shim_fence_error(sync_file->fence);

		info.status = error ? error : 1;
		info.timestamp_ns = sync_file->fence->time_ns;
	}
	snprintf(args->name, sizeof(args->name), "asahi-shim");
	args->status = info.status;
	if (args->num_fences && shim_copy_out(args->sync_fence_info, &info, sizeof(info)))
		return EFAULT;
	args->num_fences = 1;
	return 0;
}

/* Creation, destruction, export and import */

int shim_syncobj_create(struct shim_file *file, union asahi_shim_args *all,
			struct shim_call *call)
{
	struct drm_syncobj_create *args = &all->syncobj_create;
	struct shim_syncobj *syncobj;

	if (args->flags & ~DRM_SYNCOBJ_CREATE_SIGNALED)
		return EINVAL;
	syncobj = shim_alloc(sizeof(*syncobj));
	syncobj->refs = 1;
	if (args->flags)
		syncobj->fence = shim_fence_new_signaled();
	args->handle = shim_table_add(&file->syncobjs, syncobj, UINT32_MAX);
	return 0;
}

int shim_syncobj_destroy(struct shim_file *file, union asahi_shim_args *all,
			 struct shim_call *call)
{
	struct drm_syncobj_destroy *args = &all->syncobj_destroy;
	struct shim_syncobj *syncobj;

	if (args->pad)
		return EINVAL;
	syncobj = shim_table_remove(&file->syncobjs, args->handle);
	if (!syncobj)
		return EINVAL;
	shim_syncobj_put(syncobj);
	return 0;
}

static int syncobj_export_sync_file(struct shim_file *file, struct drm_syncobj_handle *args)
{
	struct shim_fence *fence;
	int err = shim_syncobj_find_fence(file, args->handle, 0, &fence);

	if (err)
		return err;
	args->fd = shim_sync_file_new(fence);
	err = args->fd < 0 ? errno : 0;
	shim_fence_put(fence);
	return err;
}

int shim_syncobj_handle_to_fd(struct shim_file *file, union asahi_shim_args *all,
			      struct shim_call *call)
{
	struct drm_syncobj_handle *args = &all->syncobj_handle;
	struct shim_syncobj *syncobj;

	if (args->pad ||
	    (args->flags & ~DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE))
		return EINVAL;
	if (args->flags)
		return syncobj_export_sync_file(file, args);
	syncobj = shim_table_get(&file->syncobjs, args->handle);
	if (!syncobj)
		return EINVAL;
	args->fd = shim_fd_try_token("asahi-shim-syncobj", 0);
	if (args->fd < 0)
		return errno;
	shim_fd_add(args->fd, SHIM_FD_SYNCOBJ, shim_syncobj_get(syncobj));
	return 0;
}

static int syncobj_import_sync_file(struct shim_file *file, const struct drm_syncobj_handle *args)
{
	struct shim_sync_file *sync_file = shim_sync_file_find(args->fd);
	struct shim_syncobj *syncobj = shim_table_get(&file->syncobjs, args->handle);

	if (!sync_file)
		return EINVAL;
	if (!syncobj)
		return ENOENT;
	shim_syncobj_replace(syncobj, shim_fence_get(sync_file->fence));
	return 0;
}

int shim_syncobj_fd_to_handle(struct shim_file *file, union asahi_shim_args *all,
			      struct shim_call *call)
{
	struct drm_syncobj_handle *args = &all->syncobj_handle;
	struct shim_syncobj *syncobj;

	if (args->pad ||
	    (args->flags & ~DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE))
		return EINVAL;
	if (args->flags)
		return syncobj_import_sync_file(file, args);
	syncobj = shim_fd_find(args->fd, SHIM_FD_SYNCOBJ);
	if (!syncobj)
		return EINVAL;
	args->handle = shim_table_add(&file->syncobjs, shim_syncobj_get(syncobj), UINT32_MAX);
	return 0;
}

/* Ioctls for several sync objects */

/* Copies @count handles, and points unless @points is 0, into the call. Return: 0 or EFAULT. */
static int syncobj_read_handles(struct shim_call *call, uint64_t handles, uint64_t points,
				uint32_t count)
{
	int err;

	err = shim_read_array(handles, count, sizeof(uint32_t), &call->base.handles);
	if (!err && points)
		err = shim_read_array(points, count, sizeof(uint64_t), &call->base.points);
	if (!err)
		call->base.num_handles = count;
	return err;
}

/* Return: as many sync objects as the call has handles, or NULL. */
static struct shim_syncobj **syncobj_find_all(struct shim_file *file, const struct shim_call *call)
{
	struct shim_syncobj **all = shim_alloc(call->base.num_handles * sizeof(*all));
	size_t i;

	for (i = 0; i < call->base.num_handles; i++) {
		all[i] = shim_table_get(&file->syncobjs, call->base.handles[i]);
		if (!all[i]) {
			free(all);
			return NULL;
		}
	}
	return all;
}

/* Calls a function for each of the call's handles, if all are valid. Return: 0 or ENOENT. */
static int syncobj_for_each(struct shim_file *file, struct shim_call *call,
			    void (*fn)(struct shim_syncobj *, uint64_t point))
{
	struct shim_syncobj **all = syncobj_find_all(file, call);
	size_t i;

	if (!all)
		return ENOENT;
	for (i = 0; i < call->base.num_handles; i++)
		fn(all[i], call->base.points ? call->base.points[i] : 0);
	free(all);
	return 0;
}

static void syncobj_reset(struct shim_syncobj *syncobj, uint64_t point)
{
	shim_syncobj_replace(syncobj, NULL);
}

static void syncobj_signal_now(struct shim_syncobj *syncobj, uint64_t point)
{
	shim_syncobj_replace(syncobj, shim_fence_new_signaled());
}

static void syncobj_signal_point(struct shim_syncobj *syncobj, uint64_t point)
{
	shim_syncobj_add_point(syncobj, shim_fence_new_signaled(), point);
}

static int syncobj_array(struct shim_file *file, const struct drm_syncobj_array *args,
			 struct shim_call *call, void (*fn)(struct shim_syncobj *, uint64_t))
{
	int err;

	if (args->pad || !args->count_handles)
		return EINVAL;
	err = syncobj_read_handles(call, args->handles, 0, args->count_handles);
	return err ? err : syncobj_for_each(file, call, fn);
}

int shim_syncobj_reset(struct shim_file *file, union asahi_shim_args *all, struct shim_call *call)
{
	return syncobj_array(file, &all->syncobj_array, call, syncobj_reset);
}

int shim_syncobj_signal(struct shim_file *file, union asahi_shim_args *all, struct shim_call *call)
{
	return syncobj_array(file, &all->syncobj_array, call, syncobj_signal_now);
}

int shim_syncobj_timeline_signal(struct shim_file *file, union asahi_shim_args *all,
				 struct shim_call *call)
{
	const struct drm_syncobj_timeline_array *args = &all->syncobj_timeline_array;
	int err;

	if (args->flags || !args->count_handles)
		return EINVAL;
	err = syncobj_read_handles(call, args->handles, args->points, args->count_handles);
	return err ? err : syncobj_for_each(file, call, syncobj_signal_point);
}

/* Return: the last point that was submitted, or up to which all are signalled; 0 for none. */
static uint64_t syncobj_query(const struct shim_syncobj *syncobj, bool submitted)
{
	struct shim_fence *fence = syncobj->fence;

	if (!fence || !fence->of)
		return 0;
	if (submitted || shim_fence_is_signaled(fence))
		return fence->point;
	while (fence->prev && fence->prev->of)
		fence = fence->prev;
	return fence->prev_point;
}

int shim_syncobj_query(struct shim_file *file, union asahi_shim_args *all, struct shim_call *call)
{
	const struct drm_syncobj_timeline_array *args = &all->syncobj_timeline_array;
	struct shim_syncobj **syncobjs;
	uint64_t *points;
	size_t i;
	int err;

	if ((args->flags & ~DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED) || !args->count_handles)
		return EINVAL;
	err = syncobj_read_handles(call, args->handles, 0, args->count_handles);
	if (err)
		return err;
	syncobjs = syncobj_find_all(file, call);
	if (!syncobjs)
		return ENOENT;
	points = shim_alloc(args->count_handles * sizeof(*points));
	call->base.points = points;
	for (i = 0; i < args->count_handles; i++)
		points[i] = syncobj_query(syncobjs[i], args->flags);
	free(syncobjs);
	return shim_copy_out(args->points, points, args->count_handles * sizeof(*points));
}

/* Waiting */

struct wait {
	struct shim_syncobj **syncobjs;
	/* the first fence that each object had at its point, or NULL as long as there is none */
	struct shim_fence **fences;
	const uint64_t *points;
	uint32_t count;
	uint32_t flags;
	uint32_t first;
};

/* Takes references to fences that were not there before. Return: whether all are there. */
static bool syncobj_wait_find(struct wait *wait)
{
	bool all = true;
	uint32_t i;

	for (i = 0; i < wait->count; i++) {
		if (wait->fences[i])
			continue;
		wait->fences[i] =
			syncobj_find_point(wait->syncobjs[i], wait->points ? wait->points[i] : 0);
		if (wait->fences[i])
			shim_fence_get(wait->fences[i]);
		else
			all = false;
	}
	return all;
}

/* Return: whether enough fences are signalled, or there. The first of them is noted. */
static bool syncobj_wait_over(struct wait *wait)
{
	uint32_t i, n = 0;

	for (i = 0; i < wait->count; i++) {
		if (!wait->fences[i] || !((wait->flags & WAIT_AVAILABLE) ||
					  shim_fence_is_signaled(wait->fences[i])))
			continue;
		if (!n++)
			wait->first = i;
	}
	return wait->flags & WAIT_ALL ? n == wait->count : n > 0;
}

/* Return: 0, ETIME at @deadline_ns, or EINVAL if there is no fence and none is waited for. */
static int syncobj_wait_loop(struct wait *wait, int64_t deadline_ns)
{
	if (!syncobj_wait_find(wait) && !(wait->flags & (WAIT_FOR_SUBMIT | WAIT_AVAILABLE)))
		return EINVAL;
	while (!syncobj_wait_over(wait)) {
		if (shim_wait_change(deadline_ns))
			return ETIME;
		syncobj_wait_find(wait);
	}
	return 0;
}

/* Waits with references of its own. *@first is the first object that is signalled. */
static int syncobj_wait_for(struct shim_file *file, struct shim_call *call, uint32_t flags,
			    int64_t deadline_ns, uint32_t *first)
{
	struct wait wait = {
		.syncobjs = syncobj_find_all(file, call),
		.points = call->base.points,
		.count = call->base.num_handles,
		.flags = flags,
	};
	uint32_t i;
	int err;

	if (!wait.syncobjs)
		return ENOENT;
	wait.fences = shim_alloc(wait.count * sizeof(*wait.fences));
	for (i = 0; i < wait.count; i++)
		shim_syncobj_get(wait.syncobjs[i]);
	err = syncobj_wait_loop(&wait, deadline_ns);
	for (i = 0; i < wait.count; i++) {
		shim_syncobj_put(wait.syncobjs[i]);
		shim_fence_put(wait.fences[i]);
	}
	free(wait.fences);
	free(wait.syncobjs);
	if (!err && !(flags & WAIT_ALL))
		*first = wait.first;
	return err;
}

int shim_syncobj_wait(struct shim_file *file, union asahi_shim_args *all, struct shim_call *call)
{
	struct drm_syncobj_wait *args = &all->syncobj_wait;
	int err;

	if (args->flags & ~(WAIT_ALL | WAIT_FOR_SUBMIT | WAIT_DEADLINE))
		return EINVAL;
	if (!args->count_handles)
		return 0;
	err = syncobj_read_handles(call, args->handles, 0, args->count_handles);
	return err ? err : syncobj_wait_for(file, call, args->flags, args->timeout_nsec,
					    &args->first_signaled);
}

int shim_syncobj_timeline_wait(struct shim_file *file, union asahi_shim_args *all,
			       struct shim_call *call)
{
	struct drm_syncobj_timeline_wait *args = &all->syncobj_timeline_wait;
	int err;

	if (args->flags & ~(WAIT_ALL | WAIT_FOR_SUBMIT | WAIT_AVAILABLE | WAIT_DEADLINE))
		return EINVAL;
	if (!args->count_handles)
		return 0;
	err = syncobj_read_handles(call, args->handles, args->points, args->count_handles);
	return err ? err : syncobj_wait_for(file, call, args->flags, args->timeout_nsec,
					    &args->first_signaled);
}

/*
 * Finds the fence of a point, and with @wait waits for it to be submitted, for
 * TRANSFER_PATIENCE_NS at most. Return: 0 and a reference, EINVAL or ETIME.
 */
static int syncobj_wait_for_fence(struct shim_syncobj *syncobj, uint64_t point, bool wait,
				  struct shim_fence **fence)
{
	int64_t deadline_ns = shim_now_ns() + TRANSFER_PATIENCE_NS;
	int err = 0;

	shim_syncobj_get(syncobj);
	while (!(*fence = syncobj_find_point(syncobj, point)) && !err)
		err = wait ? shim_wait_change(deadline_ns) : EINVAL;
	if (*fence) {
		shim_fence_get(*fence);
		err = 0;
	}
	shim_syncobj_put(syncobj);
	return err == ETIMEDOUT ? ETIME : err;
}

int shim_syncobj_transfer(struct shim_file *file, union asahi_shim_args *all,
			  struct shim_call *call)
{
	const struct drm_syncobj_transfer *args = &all->syncobj_transfer;
	struct shim_syncobj *to = shim_table_get(&file->syncobjs, args->dst_handle);
	struct shim_syncobj *from = shim_table_get(&file->syncobjs, args->src_handle);
	struct shim_fence *fence;
	int err;

	if (args->pad || (args->flags & ~WAIT_FOR_SUBMIT))
		return EINVAL;
	if (!to || !from)
		return ENOENT;
	shim_syncobj_get(to);
	err = syncobj_wait_for_fence(from, args->src_point, args->flags, &fence);
	if (!err && args->dst_point)
		shim_syncobj_add_point(to, fence, args->dst_point);
	else if (!err)
		shim_syncobj_replace(to, fence);
	shim_syncobj_put(to);
	return err;
}

int shim_syncobj_eventfd(struct shim_file *file, union asahi_shim_args *all,
			 struct shim_call *call)
{
	const struct drm_syncobj_eventfd *args = &all->syncobj_eventfd;
	struct shim_syncobj *syncobj = shim_table_get(&file->syncobjs, args->handle);
	struct waiter *waiter;
	int fd;

	/* as kernels before 6.6 */
	if (getenv("ASAHI_SHIM_NO_EVENTFD"))
		return EINVAL;
	if (args->pad || (args->flags & ~WAIT_AVAILABLE))
		return EINVAL;
	if (!syncobj)
		return ENOENT;
	fd = fcntl(args->fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return EBADF;
	waiter = shim_alloc(sizeof(*waiter));
	*waiter = (struct waiter){
		.syncobj = shim_syncobj_get(syncobj),
		.point = args->point,
		.available = args->flags,
		.fd = fd,
		.next = syncobj_waiters,
	};
	shim_fd_keep(&waiter->fd);
	syncobj_waiters = waiter;
	shim_sync_files_tell();
	return 0;
}

void shim_syncobj_forget(void)
{
	syncobj_sync_files = NULL;
	syncobj_waiters = NULL;
}

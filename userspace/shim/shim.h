/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Interfaces between the files of the shim. One lock, shim_lock, protects all objects;
 * functions are called with it held unless they say otherwise. Errors are positive errno
 * values, as programs get them.
 *
 * Objects count their references in a plain number, under the lock; a function "get" takes
 * one, "put" gives one back and frees the object with the last.
 *
 * A function "forget" runs in a child that was forked, where the calling thread is the only one.
 * It makes its file's variables what they are in a new process, and frees no memory.
 */
#ifndef SHIM_H
#define SHIM_H

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "asahi_shim.h"

/* Ground (shim_core.c) */

extern pthread_mutex_t shim_lock;

/* The libc's own functions, beside those that the shim puts in front of them. */
struct shim_libc {
	int (*open)(const char *path, int flags, ...);
	int (*openat)(int dir, const char *path, int flags, ...);
	FILE *(*fopen)(const char *path, const char *mode);
	int (*close)(int fd);
	int (*dup2)(int from, int to);
	int (*dup3)(int from, int to, int flags);
	int (*ioctl)(int fd, unsigned long request, ...);
	void *(*mmap)(void *addr, size_t size, int prot, int flags, int fd, off_t offset);
	int (*munmap)(void *addr, size_t size);
	int (*stat)(const char *path, struct stat *st);
	int (*lstat)(const char *path, struct stat *st);
	int (*fstat)(int fd, struct stat *st);
	int (*fstatat)(int dir, const char *path, struct stat *st, int flags);
	int (*access)(const char *path, int mode);
	ssize_t (*readlink)(const char *path, char *buf, size_t size);
	DIR *(*opendir)(const char *path);
	struct dirent *(*readdir)(DIR *dir);
	int (*closedir)(DIR *dir);
};

/* Any thread, without the lock. */
const struct shim_libc *shim_libc(void);

/* Return: @size zeroed bytes. Ends the process if there is no memory. Any thread. */
void *shim_alloc(size_t size);

/* A file of SHIM_COPY_BYTES for copies, or -1 */
#define SHIM_COPY_BYTES	65536
extern int shim_copy_fd;
/* Takes the file into use. */
void shim_copy_begin(void);
void shim_copy_forget(void);
/* Copy from and to memory of the caller's. Return: 0, or EFAULT if it is not there. */
int shim_copy_in(void *to, uint64_t from, size_t size);
int shim_copy_out(uint64_t to, const void *from, size_t size);
/*
 * Copies an array of the caller's. *@array becomes the copy, to be freed, in any case.
 * Return: 0 or EFAULT.
 */
int shim_read_array(uint64_t user, size_t count, size_t size, void *array);

/* Numbers for objects: the lowest that is free, from 1 on. */
struct shim_table {
	void **slots;
	uint32_t size;
	uint32_t used;
};

/* Return: the number, or 0 if there would be more than @max. */
uint32_t shim_table_add(struct shim_table *table, void *object, uint32_t max);
void *shim_table_get(const struct shim_table *table, uint32_t id);
void *shim_table_remove(struct shim_table *table, uint32_t id);
/* Return: the number of an object, or 0. */
uint32_t shim_table_find(const struct shim_table *table, const void *object);
void shim_table_fini(struct shim_table *table);

/*
 * Starts a thread that blocks all signals: they are for the program's own threads.
 * Return: 0 or an errno value.
 */
int shim_thread_start(pthread_t *thread, void *(*fn)(void *), void *arg);

/* The process (process.c); any thread, without the lock */

/* Notes that the process has objects of the shim, for the case that it is forked. */
void shim_process_begin(void);
/* Starts the GPU, if it does not run. Return: 0, or an errno value after a message. */
int shim_process_open(void);
/* Forgets all objects if they are those of the process from which this one was cloned. */
void shim_process_look(void);
/* Whether the process has forgotten objects of the one from which it was forked; asked once. */
bool shim_process_says_child(void);

/* Open files (file.c) */

struct shim_file {
	unsigned int refs;
	uint64_t id;
	/* struct shim_bo, shim_object, shim_vm, shim_queue, shim_syncobj */
	struct shim_table handles;
	struct shim_table objects;
	struct shim_table vms;
	struct shim_table queues;
	struct shim_table syncobjs;
};

int shim_file_open(int flags);
/*
 * Takes a descriptor of the device in that another process has opened: it becomes a file of
 * this process's GPU. Without the lock. Return: 0, ENOTTY if it is no such descriptor, or
 * another errno value if there is no GPU.
 */
int shim_file_take(int fd);
void shim_file_put(struct shim_file *file);
/* Lets go of the objects to which no descriptor leads any more; may wait for jobs. */
void shim_file_collect(void);

/* Descriptors (fd.c) */

/*
 * A descriptor of the shim is one of an unlinked file or of a pipe, recognised by its inode,
 * in whichever way it was duplicated or passed on.
 */
/*
 * Modes of the files of the device and of sync files, by which all processes with the shim
 * know them. Neither unlinked files nor pipes have a sticky bit otherwise.
 */
#define SHIM_NODE_MODE		(S_ISVTX | 0606)
#define SHIM_SYNC_FILE_MODE	(S_ISVTX | 0604)

enum shim_fd_kind { SHIM_FD_FILE, SHIM_FD_DMA_BUF, SHIM_FD_SYNCOBJ, SHIM_FD_SYNC_FILE, SHIM_FD_KINDS };

/*
 * Return: a descriptor of a new unlinked file of @size bytes, or -1 with errno. Any thread,
 * with or without the lock.
 */
int shim_fd_try_token(const char *name, uint64_t size);
/* The same, but ends the process if there can be no such file. */
int shim_fd_token(const char *name, uint64_t size);
/*
 * Keeps a descriptor that is the shim's own from the program: it is not closed with others, and
 * *fd changes if the program wants to have its number.
 */
void shim_fd_keep(int *fd);
/* Closes a descriptor that is kept; *fd becomes -1, or was. */
void shim_fd_drop(int *fd);
bool shim_fd_is_kept(int fd);
/* Return: the first descriptor that is kept, from a number on; or ULONG_MAX. */
unsigned long shim_fd_next_kept(unsigned int fd);
/* Gives a descriptor that is kept another number. Return: 0 or an errno value. */
int shim_fd_move(int fd);
/*
 * Opens a file for writing, with O_APPEND or O_TRUNC, whose descriptor is kept until fclose().
 * Return: the stream, or NULL with errno. Any thread, without the lock.
 */
FILE *shim_fd_stream(const char *path, int flags);
/* Notes that a descriptor leads to an object, whose reference is taken over. */
void shim_fd_add(int fd, enum shim_fd_kind kind, void *object);
/* Return: the object, or NULL; no reference. */
void *shim_fd_find(int fd, enum shim_fd_kind kind);
bool shim_fd_is_ours(int fd);
/* Whether the libc's fstat() tells of a file of the device, of this or another process. */
bool shim_fd_is_node(const struct stat *st);
unsigned int shim_fd_count(enum shim_fd_kind kind);
/* Counts the handles of all open files. */
void shim_fd_count_handles(unsigned int *buffers, unsigned int *syncobjs);
/* Marks the entries to which a descriptor leads. Return: false if nobody can tell. */
bool shim_fd_look(void);
/* Takes an entry out that is not marked. Return: its object, with its reference, or NULL. */
void *shim_fd_take_unseen(enum shim_fd_kind *kind);
/* Any thread, without the lock: false means that no descriptor of the program is ours. */
bool shim_fd_any(void);
/* Any thread, without the lock: false means that the shim has no descriptor of its own either. */
bool shim_fd_has_begun(void);
/* Whether the descriptors are this process's, and not those of the parent of a vfork(). */
bool shim_is_owner(void);
/* Makes this process the owner. */
void shim_fd_begin(void);
/* In a child that was forked: closes what the shim keeps, and knows no descriptor. */
void shim_fd_forget(void);

/* Paths (node.c); any thread, without the lock */

/* Like the libc's functions. *found is false for paths that are the libc's to answer. */
int shim_node_open(const char *path, int flags, bool *found);
FILE *shim_node_fopen(const char *path, const char *mode, bool *found);
int shim_node_stat(const char *path, struct stat *st, bool *found);
int shim_node_access(const char *path, int mode, bool *found);
ssize_t shim_node_readlink(const char *path, char *buf, size_t size, bool *found);
DIR *shim_node_opendir(const char *path, bool *found);
struct dirent *shim_node_readdir(DIR *dir, bool *found);
bool shim_node_closedir(DIR *dir);
/* Makes a file of ours look like the device. */
void shim_node_stat_device(struct stat *st);

/* Calls (record.c) */

struct shim_call {
	struct asahi_shim_call base;
	const char *name;
	struct shim_call *next;
	/* the copy of the command buffer that base.commands point into */
	uint8_t *cmdbuf;
};

/* Return: the error that a test wants this call to fail with, or 0. */
int shim_record_fail(unsigned int request);
/* Prints the call and keeps or frees it. */
void shim_record_add(struct shim_call *call);
/* Return: 0 or an errno value. */
int shim_record_log(const char *path);
void shim_record_forget(void);

/* Reports of jobs that failed (report.c); any thread, with or without the lock */

enum shim_use { SHIM_USE_OPEN, SHIM_USE_SUBMIT, SHIM_USES };

/* Return: 0 or an errno value. */
int shim_report_open(const char *path);
/* Return: the file for messages, or the standard error; each message is flushed. */
FILE *shim_report_stream(void);
void shim_report(const char *format, ...) __attribute__((format(printf, 1, 2), nonnull));
/* Notes in the file, once for each process, that it has used the GPU in this way. */
void shim_report_use(enum shim_use use);
void shim_report_failed(uint64_t queue, int error);
void shim_report_forget(void);

/* Ioctls (drm.c) */

/*
 * A handler gets a copy of the argument, which is copied out afterwards, and puts the arrays
 * that it reads into @call. Return: 0 or an errno value.
 */
typedef int shim_handler(struct shim_file *file, union asahi_shim_args *args,
			 struct shim_call *call);

/* Makes an ioctl on a descriptor of the shim; without the lock. Return: 0 or -1 with errno. */
int shim_drm_ioctl(int fd, unsigned int request, void *arg);

/* Buffers (gem.c) */

struct shim_bo {
	unsigned int refs;
	/* place in the memory of all buffers */
	uint64_t offset;
	uint64_t size;
	/* address space that it is private to, or 0 */
	uint64_t vm;
	/* file with its memory, which other processes may share, or -1 */
	int fd;
	dev_t dev;
	ino_t ino;
	/* by offset */
	struct shim_bo *next;
};

/* Makes the file for the memory of all buffers. Return: 0 or an errno value. */
int shim_bo_begin(void);
void shim_bo_forget(void);
/* Takes @fd over. Return: the buffer, or NULL if @size is wrong or there is no room. */
struct shim_bo *shim_bo_new_shared(int fd, uint64_t size);
/* Return: the buffer with this file, no reference; or NULL. */
struct shim_bo *shim_bo_find_memory(const struct stat *st);
struct shim_bo *shim_bo_get(struct shim_bo *bo);
void shim_bo_put(struct shim_bo *bo);
unsigned int shim_bo_count(void);
/* Writes @size bytes to a buffer's memory. */
void shim_bo_write(const struct shim_bo *bo, uint64_t offset, const void *data, size_t size);
/* Does what mmap() does on a descriptor of the shim; takes the lock. */
void *shim_bo_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset);
/* Notes that no buffer is mapped in a range any more; takes the lock. */
void shim_bo_unmapped(void *addr, size_t size);
unsigned int shim_bo_mapping_count(void);

shim_handler shim_gem_create, shim_gem_mmap_offset, shim_gem_close;

/* DMA buffers (dma_buf.c) */

/* Return: a descriptor of a new file for the memory of a buffer that can be shared, or -1. */
int shim_dma_buf_memory(uint64_t size);

shim_handler shim_prime_handle_to_fd, shim_prime_fd_to_handle;
/* For these, @file is NULL and the DMA buffer is that of call->base.fd. */
shim_handler shim_dma_buf_sync, shim_dma_buf_export_sync_file, shim_dma_buf_import_sync_file;

/* Memory for timestamps (object.c) */

struct shim_object {
	unsigned int refs;
	/* file that registered it */
	uint64_t owner;
	struct shim_bo *bo;
	uint64_t offset;
	uint64_t size;
	struct shim_object *next;
};

/* The memory for a time; @object is NULL if nobody wants it. */
struct shim_time {
	struct shim_object *object;
	uint32_t offset;
};

void shim_object_forget(void);
void shim_object_put(struct shim_object *object);
unsigned int shim_object_count(void);
/* Finds the memory for a time. Return: 0 and a reference in @time, or an errno value. */
int shim_time_find(const struct shim_file *file, const struct drm_asahi_timestamp *ts,
		   struct shim_time *time);
/* Writes a time there if @write is set, and gives the reference back. */
void shim_time_put(struct shim_time *time, bool write, uint64_t time_ns);

shim_handler shim_gem_bind_object;

/* Address spaces (vm.c) */

struct shim_binding {
	uint64_t addr;
	uint64_t range;
	uint64_t offset;
	uint32_t flags;
	struct shim_bo *bo;
	struct shim_binding *next;
};

struct shim_vm {
	unsigned int refs;
	uint64_t id;
	/* file that made it */
	uint64_t owner;
	uint64_t kernel_start;
	uint64_t kernel_end;
	/* by address, never overlapping */
	struct shim_binding *bindings;
	struct shim_vm *next;
};

void shim_vm_forget(void);
struct shim_vm *shim_vm_get(struct shim_vm *vm);
void shim_vm_put(struct shim_vm *vm);
unsigned int shim_vm_count(void);
/* Unbinds a buffer from the address spaces of a file. */
void shim_vm_close_bo(uint64_t owner, const struct shim_bo *bo);
void shim_binding_describe(const struct shim_binding *binding, struct asahi_shim_mapping *mapping);

shim_handler shim_vm_create, shim_vm_destroy, shim_vm_bind;

/* Fences (fence.c) */

/*
 * A fence, or a link of a timeline, which is signalled when @of is and all
 * links before it are. Links that are signalled are taken out of the timeline;
 * @prev_point remains.
 */
struct shim_fence {
	unsigned int refs;
	bool signaled;
	int error;
	uint64_t time_ns;
	struct shim_fence *of;
	struct shim_fence *prev;
	uint64_t point;
	uint64_t prev_point;
};

void shim_fence_forget(void);
unsigned int shim_fence_count(void);
struct shim_fence *shim_fence_new(void);
struct shim_fence *shim_fence_new_signaled(void);
/* Takes the references to @of and @prev over; @prev may be NULL. */
struct shim_fence *shim_fence_new_link(struct shim_fence *of, struct shim_fence *prev,
				       uint64_t point);
struct shim_fence *shim_fence_get(struct shim_fence *fence);
void shim_fence_put(struct shim_fence *fence);
bool shim_fence_is_signaled(struct shim_fence *fence);
/* The error of a fence that is signalled, negative or 0. */
int shim_fence_error(const struct shim_fence *fence);
void shim_fence_signal(struct shim_fence *fence, int error);
/* Return: the fence to wait for to reach a point, no reference; or NULL. */
struct shim_fence *shim_fence_find_point(struct shim_fence *fence, uint64_t point);
uint64_t shim_now_ns(void);

/* Wakes all waits, and tells sync files: a fence has signalled or a sync object has changed. */
void shim_changed(void);
/*
 * Waits, with the lock dropped, for the next change, up to a time of CLOCK_MONOTONIC.
 * Return: 0 or ETIMEDOUT.
 */
int shim_wait_change(int64_t deadline_ns);

/* Pipes of other processes (watch.c) */

/* Called with the lock held, once there is something to read, or nobody is left to write it. */
typedef void shim_watch_over(int fd, void *object);

/* @after is called after those, without the lock. */
void shim_watch_begin(void (*after)(void));
void shim_watch_forget(void);
bool shim_watch_any(void);
/* Return: 0 or an errno value. The descriptor is duplicated. */
int shim_watch_add(int fd, shim_watch_over *over, void *object);

/* Sync objects (syncobj.c) */

struct shim_syncobj {
	unsigned int refs;
	struct shim_fence *fence;
};

struct shim_sync_file {
	struct shim_fence *fence;
	/*
	 * writing end of the pipe, to which a record is written when the fence has signalled;
	 * -1 if another process has it
	 */
	int fd;
	/* the record was written, or is not for this process to write */
	bool told;
	struct shim_sync_file *next;
};

struct shim_syncobj *shim_syncobj_get(struct shim_syncobj *syncobj);
void shim_syncobj_put(struct shim_syncobj *syncobj);
/* Replaces the fence; its reference is taken over, and it may be NULL. */
void shim_syncobj_replace(struct shim_syncobj *syncobj, struct shim_fence *fence);
/* Appends a point to the timeline; the fence's reference is taken over. */
void shim_syncobj_add_point(struct shim_syncobj *syncobj, struct shim_fence *fence,
			    uint64_t point);
/* Return: 0 and a fence with a reference, ENOENT or EINVAL. */
int shim_syncobj_find_fence(struct shim_file *file, uint32_t handle, uint64_t point,
			    struct shim_fence **fence);
/* Return: a descriptor of a new sync file for a fence, or -1 with errno. */
int shim_sync_file_new(struct shim_fence *fence);
void shim_sync_file_free(struct shim_sync_file *sync_file);
/* Whether it is a descriptor of a sync file, of this or another process. Without the lock. */
bool shim_sync_file_is_one(int fd);
/*
 * Finds the sync file of a descriptor; that of another process is taken in.
 * Return: the sync file, no reference; or NULL.
 */
struct shim_sync_file *shim_sync_file_find(int fd);
void shim_syncobj_forget(void);
/* Writes to the pipes and eventfds whose fences have signalled since. */
void shim_sync_files_tell(void);

shim_handler shim_syncobj_create, shim_syncobj_destroy, shim_syncobj_wait,
	     shim_syncobj_timeline_wait, shim_syncobj_reset, shim_syncobj_signal,
	     shim_syncobj_timeline_signal, shim_syncobj_query, shim_syncobj_transfer,
	     shim_syncobj_handle_to_fd, shim_syncobj_fd_to_handle, shim_syncobj_eventfd;
/* For these, @file is NULL and the sync file is that of call->base.fd. */
shim_handler shim_sync_file_merge, shim_sync_file_info;

/* Queues and jobs (queue.c) */

/* Pairs of times for each command: of vertex and fragment work; compute work uses one. */
#define SHIM_COMMAND_TIMES	2

struct shim_times {
	struct shim_time start;
	struct shim_time end;
};

struct shim_job {
	struct asahi_shim_job base;
	struct shim_queue *queue;
	uint8_t *cmdbuf;
	/* buffers of base.mappings, with references */
	struct shim_bo **bos;
	/* fences that have to signal first */
	struct shim_fence **in;
	uint32_t num_in;
	struct shim_fence *done;
	/* SHIM_COMMAND_TIMES for each command */
	struct shim_times *times;
	uint64_t start_ns;
	/* the backend has it */
	bool runs;
	/* a job before it in its queue has failed, or the queue was destroyed */
	bool cancelled;
	struct shim_job *next;
};

struct shim_queue {
	unsigned int refs;
	uint64_t id;
	struct shim_vm *vm;
	uint64_t usc_exec_base;
	/* in the order of submission; only the first one may be running */
	struct shim_job *jobs;
	struct shim_queue *next;
};

void shim_queue_put(struct shim_queue *queue);
/*
 * Waits for a queue's jobs until @deadline_ns of CLOCK_MONOTONIC, cancels those that do not
 * run by then, and gives the reference of its ID back.
 */
void shim_queue_close(struct shim_queue *queue, int64_t deadline_ns);
unsigned int shim_queue_count(unsigned int *jobs);
/* Hands all jobs that are ready to the backend. Without the lock. */
void shim_queue_run_all(void);
/* Whether a test has chosen what executes jobs. */
bool shim_queue_has_backend(void);
void shim_queue_forget(void);

shim_handler shim_queue_create, shim_queue_destroy;

/* SUBMIT (submit.c) */

shim_handler shim_submit;

/* Render commands (render.c) */

/* Return: 0 or EINVAL */
int shim_render_check(const struct drm_asahi_cmd_render *cmd);

/* The backend that executes (vagx.c) */

/* Makes vagx the backend. Return: 0 or an errno value. Without the lock. */
int shim_vagx_start(void);
void shim_vagx_forget(void);

#endif /* SHIM_H */

// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Open files of the device, and which file descriptors lead to what.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include "shim.h"

pthread_mutex_t shim_lock = PTHREAD_MUTEX_INITIALIZER;

void *shim_alloc(size_t size)
{
	void *memory = calloc(1, size ? size : 1);

	if (!memory) {
		fprintf(stderr, "asahi_shim: no memory for %zu bytes\n", size);
		abort();
	}
	return memory;
}

/* The kernel copies: it answers EFAULT where memcpy() would be the end. */
static int copy(struct iovec *ours, struct iovec *theirs, bool in)
{
	size_t size = ours->iov_len;
	ssize_t done;

	if (!size)
		return 0;
	done = in ? process_vm_readv(getpid(), ours, 1, theirs, 1, 0) :
		    process_vm_writev(getpid(), ours, 1, theirs, 1, 0);
	if (done == (ssize_t)size)
		return 0;
	if (done >= 0 || errno == EFAULT)
		return EFAULT;
	/* Some sandboxes forbid it. */
	memcpy(in ? ours->iov_base : theirs->iov_base, in ? theirs->iov_base : ours->iov_base,
	       size);
	return 0;
}

int shim_copy_in(void *to, uint64_t from, size_t size)
{
	struct iovec ours = { to, size };
	struct iovec theirs = { (void *)(uintptr_t)from, size };

	return copy(&ours, &theirs, true);
}

int shim_copy_out(uint64_t to, const void *from, size_t size)
{
	struct iovec ours = { (void *)from, size };
	struct iovec theirs = { (void *)(uintptr_t)to, size };

	return copy(&ours, &theirs, false);
}

/* Tables */

uint32_t shim_table_add(struct shim_table *table, void *object, uint32_t max)
{
	uint32_t i, grown;

	if (table->used == max)
		return 0;
	if (table->used == table->size) {
		void **slots;

		grown = table->size ? 2 * table->size : 16;
		slots = shim_alloc(grown * sizeof(*slots));
		if (table->size)
			memcpy(slots, table->slots, table->size * sizeof(*slots));
		free(table->slots);
		table->slots = slots;
		table->size = grown;
	}
	for (i = 0; table->slots[i]; i++)
		;
	table->slots[i] = object;
	table->used++;
	return i + 1;
}

void *shim_table_get(const struct shim_table *table, uint32_t id)
{
	return id && id <= table->size ? table->slots[id - 1] : NULL;
}

void *shim_table_remove(struct shim_table *table, uint32_t id)
{
	void *object = shim_table_get(table, id);

	if (object) {
		table->slots[id - 1] = NULL;
		table->used--;
	}
	return object;
}

uint32_t shim_table_find(const struct shim_table *table, const void *object)
{
	uint32_t i;

	for (i = 0; i < table->size; i++)
		if (table->slots[i] == object)
			return i + 1;
	return 0;
}

void shim_table_fini(struct shim_table *table)
{
	free(table->slots);
	*table = (struct shim_table){ NULL, 0, 0 };
}

/* Descriptors */

struct fd_entry {
	enum shim_fd_kind kind;
	dev_t dev;
	ino_t ino;
	void *object;
	bool seen;
	struct fd_entry *next;
};

static struct fd_entry *entries;
static unsigned int counts[SHIM_FD_KINDS];
static atomic_bool any;
static pid_t owner;

/*
 * A child shares the buffers' file with its parent, which goes on to use it. Many close all
 * descriptors before they execute another program; that must not give anything back.
 */
bool shim_is_owner(void)
{
	return owner == getpid();
}

bool shim_fd_any(void)
{
	return atomic_load_explicit(&any, memory_order_acquire);
}

/* More descriptors than a shell allows are no reason to fail. */
static int token(const char *name)
{
	struct rlimit limit;
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 || errno != EMFILE || getrlimit(RLIMIT_NOFILE, &limit))
		return fd;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

int shim_fd_token(const char *name, uint64_t size)
{
	int fd = token(name);

	if (fd < 0 || ftruncate(fd, size)) {
		perror("asahi_shim: memfd");
		abort();
	}
	return fd;
}

void shim_fd_add(int fd, enum shim_fd_kind kind, void *object)
{
	struct fd_entry *entry = shim_alloc(sizeof(*entry));
	struct stat st;

	if (shim_libc()->fstat(fd, &st))
		abort();
	if (!entries)
		owner = getpid();
	*entry = (struct fd_entry){
		.kind = kind,
		.dev = st.st_dev,
		.ino = st.st_ino,
		.object = object,
		/* if a collection is under way, which may wait for jobs */
		.seen = true,
		.next = entries,
	};
	entries = entry;
	counts[kind]++;
	atomic_store_explicit(&any, true, memory_order_release);
}

static struct fd_entry *find_entry(int fd)
{
	struct fd_entry *entry = entries;
	struct stat st;

	if (!entry || fd < 0 || shim_libc()->fstat(fd, &st))
		return NULL;
	while (entry && (entry->ino != st.st_ino || entry->dev != st.st_dev))
		entry = entry->next;
	return entry;
}

void *shim_fd_find(int fd, enum shim_fd_kind kind)
{
	struct fd_entry *entry = find_entry(fd);

	return entry && entry->kind == kind ? entry->object : NULL;
}

bool shim_fd_is_ours(int fd)
{
	return find_entry(fd);
}

unsigned int shim_fd_count(enum shim_fd_kind kind)
{
	return counts[kind];
}

void shim_fd_count_handles(unsigned int *buffers, unsigned int *syncobjs)
{
	const struct fd_entry *entry;

	*buffers = 0;
	*syncobjs = 0;
	for (entry = entries; entry; entry = entry->next) {
		const struct shim_file *file = entry->object;

		if (entry->kind != SHIM_FD_FILE)
			continue;
		*buffers += file->handles.used;
		*syncobjs += file->syncobjs.used;
	}
}

static void release(struct fd_entry *entry)
{
	switch (entry->kind) {
	case SHIM_FD_FILE:
		shim_file_put(entry->object);
		break;
	case SHIM_FD_DMA_BUF:
		shim_bo_put(entry->object);
		break;
	case SHIM_FD_SYNCOBJ:
		shim_syncobj_put(entry->object);
		break;
	case SHIM_FD_SYNC_FILE:
		shim_sync_file_free(entry->object);
		break;
	default:
		break;
	}
	free(entry);
}

/* Takes one out that was not seen. */
static struct fd_entry *take_unseen(void)
{
	struct fd_entry **link, *entry;

	for (link = &entries; *link; link = &(*link)->next) {
		entry = *link;
		if (entry->seen)
			continue;
		*link = entry->next;
		counts[entry->kind]--;
		if (!entries)
			atomic_store_explicit(&any, false, memory_order_release);
		return entry;
	}
	return NULL;
}

/*
 * A pipe of ours has two ends, of which only one was handed out; and so was not the
 * descriptor that a buffer has itself.
 */
static bool is_inner_end(const struct fd_entry *entry, int fd)
{
	const struct shim_sync_file *sync_file = entry->object;
	const struct shim_bo *bo = entry->object;

	if (entry->kind == SHIM_FD_DMA_BUF)
		return bo->fd == fd;
	return entry->kind == SHIM_FD_SYNC_FILE && sync_file->fd == fd;
}

void shim_fd_collect(void)
{
	const struct shim_libc *libc = shim_libc();
	DIR *dir = libc->opendir("/proc/self/fd");
	struct fd_entry *entry;
	struct dirent *dirent;

	/* Nobody knows what is open: then everything is. */
	if (!dir)
		return;
	for (entry = entries; entry; entry = entry->next)
		entry->seen = false;
	while ((dirent = libc->readdir(dir))) {
		int fd = *dirent->d_name == '.' ? -1 : atoi(dirent->d_name);

		entry = find_entry(fd);
		if (entry && !is_inner_end(entry, fd))
			entry->seen = true;
	}
	libc->closedir(dir);
	while ((entry = take_unseen()))
		release(entry);
}

/* Files */

int shim_file_open(int flags)
{
	static uint64_t last_id;
	struct shim_file *file = shim_alloc(sizeof(*file));
	int fd = shim_fd_token("asahi-shim-node", 0);

	if (!(flags & O_CLOEXEC))
		fcntl(fd, F_SETFD, 0);
	file->refs = 1;
	pthread_mutex_lock(&shim_lock);
	file->id = ++last_id;
	shim_fd_add(fd, SHIM_FD_FILE, file);
	pthread_mutex_unlock(&shim_lock);
	shim_report_use(SHIM_USE_OPEN);
	return fd;
}

static void file_close(struct shim_file *file)
{
	int64_t deadline = shim_now_ns() + INT64_C(1000000000);
	void *object;
	uint32_t i;

	for (i = 1; i <= file->queues.size; i++) {
		object = shim_table_remove(&file->queues, i);
		if (object)
			shim_queue_close(object, deadline);
	}
	for (i = 1; i <= file->vms.size; i++) {
		object = shim_table_remove(&file->vms, i);
		if (object)
			shim_vm_put(object);
	}
	for (i = 1; i <= file->handles.size; i++) {
		object = shim_table_remove(&file->handles, i);
		if (object)
			shim_bo_put(object);
	}
	for (i = 1; i <= file->objects.size; i++) {
		object = shim_table_remove(&file->objects, i);
		if (object)
			shim_object_put(object);
	}
	for (i = 1; i <= file->syncobjs.size; i++) {
		object = shim_table_remove(&file->syncobjs, i);
		if (object)
			shim_syncobj_put(object);
	}
}

void shim_file_put(struct shim_file *file)
{
	if (--file->refs)
		return;
	file_close(file);
	shim_table_fini(&file->queues);
	shim_table_fini(&file->vms);
	shim_table_fini(&file->objects);
	shim_table_fini(&file->handles);
	shim_table_fini(&file->syncobjs);
	free(file);
}

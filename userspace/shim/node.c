// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The device's files in /dev and /sys, as much of them as libdrm looks at to find out that
 * there is a render node of a platform device.
 *
 * A constant table has the paths, with the text of files and the targets of links. Other
 * paths below /dev/dri and /sys/dev/char/226:* do not exist for the process, so that the GPUs
 * of the machine are hidden; all other paths are left to the libc, which each function tells
 * by *found. A file in /sys becomes an unlinked file with the text, a folder that is opened a
 * list entry whose address is the DIR, since the libc's DIR is opaque.
 *
 * Any thread may call this. The table needs no lock. The list of open folders is protected by
 * shim_lock; since readdir() is called often, an atomic variable tells whether there are any.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "shim.h"

#define DRM_MAJOR	226
#define NODE_MINOR	128

enum kind { DIRECTORY, TEXT, LINK, DEVICE };

static const struct node {
	const char *path;
	enum kind kind;
	const char *text;
} node_nodes[] = {
	{ "/dev/dri", DIRECTORY, NULL },
	{ ASAHI_SHIM_NODE, DEVICE, NULL },
	{ "/sys/dev/char/226:128", DIRECTORY, NULL },
	{ "/sys/dev/char/226:128/uevent", TEXT,
	  "MAJOR=226\nMINOR=128\nDEVNAME=dri/renderD128\nDEVTYPE=drm_minor\n" },
	{ "/sys/dev/char/226:128/device", DIRECTORY, NULL },
	{ "/sys/dev/char/226:128/device/drm", DIRECTORY, NULL },
	{ "/sys/dev/char/226:128/device/drm/renderD128", DIRECTORY, NULL },
	{ "/sys/dev/char/226:128/device/subsystem", LINK, "../../../../bus/platform" },
	{ "/sys/dev/char/226:128/device/uevent", TEXT,
	  "DRIVER=asahi\nOF_NAME=gpu\nOF_FULLNAME=/soc/gpu@206400000\n"
	  "OF_COMPATIBLE_0=apple,agx-g13g\nOF_COMPATIBLE_N=1\n"
	  "MODALIAS=of:NgpuT(null)Capple,agx-g13g\n" },
};

#define NODES	(sizeof(node_nodes) / sizeof(node_nodes[0]))

/* Return: whether a path is one of those of which only the table's exist. */
static bool node_is_hidden(const char *path)
{
	static const char *const prefixes[] = { "/dev/dri", "/sys/dev/char/226:" };
	size_t i;

	for (i = 0; i < 2; i++) {
		size_t n = strlen(prefixes[i]);

		if (!strncmp(path, prefixes[i], n) &&
		    (prefixes[i][n - 1] == ':' || !path[n] || path[n] == '/'))
			return true;
	}
	return false;
}

/* Return: the node, or NULL with ENOENT; *found is whether the path is the shim's to answer. */
static const struct node *node_find(const char *path, bool *found)
{
	size_t n, i;

	*found = path && node_is_hidden(path);
	if (!*found)
		return NULL;
	for (n = strlen(path); n && path[n - 1] == '/'; n--)
		;
	for (i = 0; i < NODES; i++)
		if (!strncmp(node_nodes[i].path, path, n) && !node_nodes[i].path[n])
			return &node_nodes[i];
	errno = ENOENT;
	return NULL;
}

static int node_open_text(const struct node *node, int flags)
{
	size_t n = strlen(node->text);
	int fd;

	if ((flags & O_ACCMODE) != O_RDONLY) {
		errno = EACCES;
		return -1;
	}
	fd = shim_fd_token("asahi-shim-text", 0);
	if (write(fd, node->text, n) != (ssize_t)n || lseek(fd, 0, SEEK_SET))
		abort();
	return fd;
}

/* Return: whether a path leads, through /proc, to a descriptor of the device. */
static bool node_is_open_device(const char *path)
{
	static const char prefix[] = "/proc/self/fd/";
	struct stat st;
	char *end;
	int fd;

	if (strncmp(path, prefix, sizeof(prefix) - 1))
		return false;
	fd = strtol(path + sizeof(prefix) - 1, &end, 10);
	return !*end && !shim_libc()->fstat(fd, &st) && shim_fd_is_node(&st);
}

int shim_node_open(const char *path, int flags, bool *found)
{
	const struct node *node;

	*found = path && node_is_open_device(path);
	if (*found)
		return shim_file_open(flags);
	node = node_find(path, found);
	if (!node)
		return -1;
	switch (node->kind) {
	case DEVICE:
		return shim_file_open(flags);
	case TEXT:
		return node_open_text(node, flags);
	default:
		/* Folders are read with opendir(). */
		errno = EACCES;
		return -1;
	}
}

FILE *shim_node_fopen(const char *path, const char *mode, bool *found)
{
	const struct node *node = node_find(path, found);

	if (!node)
		return NULL;
	if (node->kind != TEXT || *mode != 'r') {
		errno = EACCES;
		return NULL;
	}
	/* It is not written to. */
	return fmemopen((void *)node->text, strlen(node->text), "r");
}

void shim_node_stat_device(struct stat *st)
{
	st->st_mode = S_IFCHR | 0666;
	st->st_rdev = makedev(DRM_MAJOR, NODE_MINOR);
	st->st_size = 0;
}

int shim_node_stat(const char *path, struct stat *st, bool *found)
{
	const struct node *node = node_find(path, found);

	if (!node)
		return -1;
	memset(st, 0, sizeof(*st));
	st->st_nlink = 1;
	st->st_ino = 1 + (node - node_nodes);
	if (node->kind == DEVICE)
		shim_node_stat_device(st);
	else
		st->st_mode = node->kind == TEXT ? S_IFREG | 0444 : S_IFDIR | 0555;
	return 0;
}

int shim_node_access(const char *path, int mode, bool *found)
{
	const struct node *node = node_find(path, found);

	if (!node)
		return -1;
	if ((mode & W_OK) && node->kind != DEVICE) {
		errno = EACCES;
		return -1;
	}
	return 0;
}

ssize_t shim_node_readlink(const char *path, char *buf, size_t size, bool *found)
{
	const struct node *node = node_find(path, found);
	size_t n;

	if (!node)
		return -1;
	if (node->kind != LINK) {
		errno = EINVAL;
		return -1;
	}
	n = strlen(node->text);
	n = n < size ? n : size;
	memcpy(buf, node->text, n);
	return n;
}

/* A folder that is open; a pointer to it is the DIR that the program has. */
struct folder {
	const struct node *node;
	size_t next;
	struct dirent entry;
	struct folder *others;
};

static struct folder *node_folders;
static atomic_bool node_any_folder;

DIR *shim_node_opendir(const char *path, bool *found)
{
	const struct node *node = node_find(path, found);
	struct folder *folder;

	if (!node)
		return NULL;
	if (node->kind != DIRECTORY) {
		errno = ENOTDIR;
		return NULL;
	}
	folder = shim_alloc(sizeof(*folder));
	folder->node = node;
	shim_process_begin();
	pthread_mutex_lock(&shim_lock);
	folder->others = node_folders;
	node_folders = folder;
	atomic_store(&node_any_folder, true);
	pthread_mutex_unlock(&shim_lock);
	return (DIR *)folder;
}

/* Return: the link to an open folder, or the last link. With the lock held. */
static struct folder **node_folder_link(const DIR *dir)
{
	struct folder **link = &node_folders;

	while (*link && *link != (const struct folder *)dir)
		link = &(*link)->others;
	return link;
}

/* Return: whether a node is in a folder itself, and not deeper. */
static bool node_folder_has(const struct folder *folder, const struct node *node)
{
	size_t n = strlen(folder->node->path);

	return !strncmp(node->path, folder->node->path, n) && node->path[n] == '/' &&
	       !strchr(node->path + n + 1, '/');
}

static struct dirent *node_folder_read(struct folder *folder)
{
	static const unsigned char types[] = {
		[DIRECTORY] = DT_DIR, [TEXT] = DT_REG, [LINK] = DT_LNK, [DEVICE] = DT_CHR,
	};

	while (folder->next < NODES) {
		const struct node *node = &node_nodes[folder->next++];

		if (!node_folder_has(folder, node))
			continue;
		folder->entry.d_ino = folder->next;
		folder->entry.d_type = types[node->kind];
		folder->entry.d_reclen = sizeof(folder->entry);
		snprintf(folder->entry.d_name, sizeof(folder->entry.d_name), "%s",
			 strrchr(node->path, '/') + 1);
		return &folder->entry;
	}
	return NULL;
}

struct dirent *shim_node_readdir(DIR *dir, bool *found)
{
	struct dirent *entry = NULL;
	struct folder *folder;

	*found = false;
	if (!atomic_load(&node_any_folder))
		return NULL;
	shim_process_look();
	pthread_mutex_lock(&shim_lock);
	folder = *node_folder_link(dir);
	*found = folder;
	if (folder)
		entry = node_folder_read(folder);
	pthread_mutex_unlock(&shim_lock);
	return entry;
}

bool shim_node_closedir(DIR *dir)
{
	struct folder **link, *folder;
	bool found;

	if (!atomic_load(&node_any_folder))
		return false;
	shim_process_look();
	pthread_mutex_lock(&shim_lock);
	link = node_folder_link(dir);
	folder = *link;
	found = folder;
	if (found)
		*link = folder->others;
	atomic_store(&node_any_folder, node_folders);
	pthread_mutex_unlock(&shim_lock);
	free(folder);
	return found;
}

// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What a process sees of the device in /dev and /sys: as much as libdrm looks
 * at to find out that there is a render node of a platform device.
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
} nodes[] = {
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

#define NODES	(sizeof(nodes) / sizeof(nodes[0]))

/* Where nothing is but what we show: other GPUs of the machine are hidden. */
static bool is_hidden(const char *path)
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

/* Return: the node, or NULL; *found tells if the path is one of ours to answer. */
static const struct node *find(const char *path, bool *found)
{
	size_t n, i;

	*found = path && is_hidden(path);
	if (!*found)
		return NULL;
	for (n = strlen(path); n && path[n - 1] == '/'; n--)
		;
	for (i = 0; i < NODES; i++)
		if (!strncmp(nodes[i].path, path, n) && !nodes[i].path[n])
			return &nodes[i];
	errno = ENOENT;
	return NULL;
}

static int open_text(const struct node *node, int flags)
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

/* To open a device by its descriptor is to open it once more. */
static bool is_open_device(const char *path)
{
	static const char prefix[] = "/proc/self/fd/";
	bool is_device;
	char *end;
	int fd;

	if (!shim_fd_any() || strncmp(path, prefix, sizeof(prefix) - 1))
		return false;
	fd = strtol(path + sizeof(prefix) - 1, &end, 10);
	if (*end)
		return false;
	pthread_mutex_lock(&shim_lock);
	is_device = shim_fd_find(fd, SHIM_FD_FILE);
	pthread_mutex_unlock(&shim_lock);
	return is_device;
}

int shim_node_open(const char *path, int flags, bool *found)
{
	const struct node *node;

	*found = path && is_open_device(path);
	if (*found)
		return shim_file_open(flags);
	node = find(path, found);
	if (!node)
		return -1;
	switch (node->kind) {
	case DEVICE:
		return shim_file_open(flags);
	case TEXT:
		return open_text(node, flags);
	default:
		/* Folders are read with opendir(). */
		errno = EACCES;
		return -1;
	}
}

FILE *shim_node_fopen(const char *path, const char *mode, bool *found)
{
	const struct node *node = find(path, found);

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
	const struct node *node = find(path, found);

	if (!node)
		return -1;
	memset(st, 0, sizeof(*st));
	st->st_nlink = 1;
	st->st_ino = 1 + (node - nodes);
	if (node->kind == DEVICE)
		shim_node_stat_device(st);
	else
		st->st_mode = node->kind == TEXT ? S_IFREG | 0444 : S_IFDIR | 0555;
	return 0;
}

int shim_node_access(const char *path, int mode, bool *found)
{
	const struct node *node = find(path, found);

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
	const struct node *node = find(path, found);
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

/* Folders that are being read; the libc knows nothing of them. */
struct folder {
	const struct node *node;
	size_t next;
	struct dirent entry;
	struct folder *others;
};

static pthread_mutex_t folder_lock = PTHREAD_MUTEX_INITIALIZER;
static struct folder *folders;

DIR *shim_node_opendir(const char *path, bool *found)
{
	const struct node *node = find(path, found);
	struct folder *folder;

	if (!node)
		return NULL;
	if (node->kind != DIRECTORY) {
		errno = ENOTDIR;
		return NULL;
	}
	folder = shim_alloc(sizeof(*folder));
	folder->node = node;
	pthread_mutex_lock(&folder_lock);
	folder->others = folders;
	folders = folder;
	pthread_mutex_unlock(&folder_lock);
	return (DIR *)folder;
}

static struct folder **folder_link(const DIR *dir)
{
	struct folder **link = &folders;

	while (*link && *link != (const struct folder *)dir)
		link = &(*link)->others;
	return link;
}

static bool folder_has(const struct folder *folder, const struct node *node)
{
	size_t n = strlen(folder->node->path);

	return !strncmp(node->path, folder->node->path, n) && node->path[n] == '/' &&
	       !strchr(node->path + n + 1, '/');
}

static struct dirent *folder_read(struct folder *folder)
{
	static const unsigned char types[] = {
		[DIRECTORY] = DT_DIR, [TEXT] = DT_REG, [LINK] = DT_LNK, [DEVICE] = DT_CHR,
	};

	while (folder->next < NODES) {
		const struct node *node = &nodes[folder->next++];

		if (!folder_has(folder, node))
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

	pthread_mutex_lock(&folder_lock);
	folder = *folder_link(dir);
	*found = folder;
	if (folder)
		entry = folder_read(folder);
	pthread_mutex_unlock(&folder_lock);
	return entry;
}

bool shim_node_closedir(DIR *dir)
{
	struct folder **link, *folder;

	pthread_mutex_lock(&folder_lock);
	link = folder_link(dir);
	folder = *link;
	if (folder)
		*link = folder->others;
	pthread_mutex_unlock(&folder_lock);
	free(folder);
	return folder;
}

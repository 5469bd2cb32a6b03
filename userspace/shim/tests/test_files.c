// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What a process finds, and how long it has it.
 */
#include <dirent.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "shim_test.h"

static void test_paths(void **state)
{
	unsigned int names = 0;
	struct dirent *entry;
	struct stat st;
	char text[64];
	DIR *dir;
	int fd;

	assert_int_equal(stat(ASAHI_SHIM_NODE, &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(st.st_rdev, makedev(226, 128));
	assert_int_equal(access(ASAHI_SHIM_NODE, R_OK | W_OK), 0);

	dir = opendir("/dev/dri/");
	while ((entry = readdir(dir)))
		names += !strcmp(entry->d_name, "renderD128");
	assert_int_equal(closedir(dir), 0);
	assert_int_equal(names, 1);

	fd = open("/sys/dev/char/226:128/uevent", O_RDONLY);
	assert_int_equal(read(fd, text, 10), 10);
	assert_memory_equal(text, "MAJOR=226\n", 10);
	close(fd);
	assert_true(readlink("/sys/dev/char/226:128/device/subsystem", text, sizeof(text)) > 0);

	/* nothing but ours below these, and everything as it is elsewhere */
	assert_int_equal(open("/dev/dri/card0", O_RDWR), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(stat("/sys/dev/char/226:0", &st), -1);
	assert_null(fopen("/dev/dri/renderD129", "r"));
	assert_null(opendir(ASAHI_SHIM_NODE));
	assert_int_equal(errno, ENOTDIR);
	assert_int_equal(stat("/dev/null", &st), 0);
	fd = openat(AT_FDCWD, "/dev/null", O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(ioctl(fd, DRM_IOCTL_VERSION, text), -1);
	assert_int_equal(errno, ENOTTY);
	close(fd);
}

/* libdrm's way to find out what there is */
static void test_discovery(void **state)
{
	drmDevicePtr devices[4], device;
	drmVersionPtr version;
	char *name;
	int fd;

	assert_int_equal(drmGetDevices2(0, NULL, 0), 1);
	assert_int_equal(drmGetDevices2(0, devices, 4), 1);
	assert_int_equal(devices[0]->bustype, DRM_BUS_PLATFORM);
	assert_int_equal(devices[0]->available_nodes, 1 << DRM_NODE_RENDER);
	assert_string_equal(devices[0]->nodes[DRM_NODE_RENDER], ASAHI_SHIM_NODE);
	assert_string_equal(devices[0]->deviceinfo.platform->compatible[0], "apple,agx-g13g");
	fd = open(devices[0]->nodes[DRM_NODE_RENDER], O_RDWR);
	drmFreeDevices(devices, 1);

	version = drmGetVersion(fd);
	assert_string_equal(version->name, "asahi");
	drmFreeVersion(version);
	name = drmGetDeviceNameFromFd2(fd);
	assert_string_equal(name, ASAHI_SHIM_NODE);
	free(name);
	assert_int_equal(drmGetNodeTypeFromFd(fd), DRM_NODE_RENDER);
	assert_int_equal(drmGetDevice2(fd, 0, &device), 0);
	drmFreeDevice(&device);
	close(fd);
}

static void test_capabilities(void **state)
{
	uint64_t value = 0;

	assert_int_equal(drmGetCap(FD(state), DRM_CAP_SYNCOBJ_TIMELINE, &value), 0);
	assert_int_equal(value, 1);
	assert_int_equal(drmGetCap(FD(state), DRM_CAP_PRIME, &value), 0);
	assert_int_equal(value, DRM_PRIME_CAP_IMPORT | DRM_PRIME_CAP_EXPORT);
	assert_int_equal(drmGetCap(FD(state), DRM_CAP_DUMB_BUFFER, &value), -1);
	assert_int_equal(errno, EOPNOTSUPP);
}

/* A duplicate is the same file, and keeps it, however it was made. */
static void test_duplicates(void **state)
{
	struct asahi_shim_objects o;
	struct stat st;
	uint32_t bo;
	int fd, other, copy;

	fd = open(ASAHI_SHIM_NODE, O_RDWR);
	other = open(ASAHI_SHIM_NODE, O_RDWR);
	bo = new_bo(fd, PAGE);
	copy = dup(fd);
	close(fd);
	assert_int_equal(fstat(copy, &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(drmCloseBufferHandle(other, bo), -1);
	asahi_shim_objects(&o);
	assert_int_equal(o.files, 2);
	assert_int_equal(o.handles, 1);
	/* closed without close() */
	assert_int_equal(dup2(other, copy), copy);
	asahi_shim_objects(&o);
	assert_int_equal(o.files, 1);
	assert_int_equal(o.handles, 0);
	close(other);
	close(copy);
	assert_int_equal(asahi_shim_objects(&o), 0);
}

/* The last close() is the end, not the next time that somebody looks. */
static void test_close(void **state)
{
	int fd = open(ASAHI_SHIM_NODE, O_RDWR);
	uint32_t vm = new_vm(fd);
	const struct drm_asahi_gem_bind_op op = {
		.flags = DRM_ASAHI_BIND_READ,
		.handle = new_bo(fd, PAGE),
		.addr = 16 * GIB,
		.range = PAGE,
	};
	struct asahi_shim_mapping m;
	uint64_t size;
	int memory = asahi_shim_memory(&size);
	char byte = 'x';

	assert_int_equal(bind(fd, vm, op), 0);
	assert_true(asahi_shim_find_mapping(fd, vm, op.addr, &m));
	assert_int_equal(pwrite(memory, &byte, 1, m.offset), 1);
	close(fd);
	assert_int_equal(pread(memory, &byte, 1, m.offset), 1);
	assert_int_equal(byte, 0);
}

/* To open it by its descriptor is to open it again. */
static void test_reopen(void **state)
{
	int fd = open(ASAHI_SHIM_NODE, O_RDWR), other;
	char path[32];
	uint32_t bo;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	other = open(path, O_RDWR);
	bo = new_bo(fd, PAGE);
	assert_int_equal(drmCloseBufferHandle(other, bo), -1);
	assert_int_equal(drmCloseBufferHandle(fd, bo), 0);
	close(other);
	close(fd);
}

static void *map_bo(int fd, uint32_t bo, uint64_t size)
{
	struct drm_asahi_gem_mmap_offset args = { .handle = bo };

	assert_int_equal(call(fd, DRM_IOCTL_ASAHI_GEM_MMAP_OFFSET, &args), 0);
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, args.offset);
}

static void test_memory(void **state)
{
	uint32_t bo = new_bo(FD(state), 2 * PAGE), next;
	struct asahi_shim_objects o;
	uint8_t *map, *again;

	map = map_bo(FD(state), bo, 2 * PAGE);
	assert_ptr_not_equal(map, MAP_FAILED);
	assert_ptr_equal(map_bo(FD(state), bo, 3 * PAGE), MAP_FAILED);
	assert_int_equal(errno, EINVAL);
	memset(map, 0xaa, 2 * PAGE);
	again = map_bo(FD(state), bo, PAGE);
	assert_int_equal(again[PAGE - 1], 0xaa);
	assert_int_equal(munmap(again, PAGE), 0);

	/* memory stays as long as it is mapped, and nobody else gets it */
	assert_int_equal(drmCloseBufferHandle(FD(state), bo), 0);
	next = new_bo(FD(state), 2 * PAGE);
	again = map_bo(FD(state), next, 2 * PAGE);
	assert_int_equal(again[0], 0);
	assert_int_equal(map[0], 0xaa);
	/* half of it */
	assert_int_equal(munmap(map + PAGE, PAGE), 0);
	asahi_shim_objects(&o);
	assert_int_equal(o.buffers, 2);
	assert_int_equal(o.mappings, 2);
	/* the rest, by mapping something else there */
	assert_ptr_equal(mmap(map, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			 map);
	asahi_shim_objects(&o);
	assert_int_equal(o.buffers, 1);
	assert_int_equal(o.mappings, 1);
	munmap(map, PAGE);
	munmap(again, 2 * PAGE);
	assert_int_equal(drmCloseBufferHandle(FD(state), next), 0);
	/* what was used before comes back zeroed */
	next = new_bo(FD(state), 2 * PAGE);
	map = map_bo(FD(state), next, 2 * PAGE);
	assert_int_equal(map[0], 0);
	munmap(map, 2 * PAGE);
}

static void test_mmap_of_another_file(void **state)
{
	struct drm_asahi_gem_mmap_offset args = { .handle = new_bo(FD(state), PAGE) };
	int other = open(ASAHI_SHIM_NODE, O_RDWR);

	assert_int_equal(call(FD(state), DRM_IOCTL_ASAHI_GEM_MMAP_OFFSET, &args), 0);
	assert_ptr_equal(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, other, args.offset), MAP_FAILED);
	assert_int_equal(errno, EACCES);
	assert_ptr_equal(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, FD(state), args.offset + PAGE),
			 MAP_FAILED);
	assert_int_equal(errno, EINVAL);
	close(other);
}

static void test_dma_buf(void **state)
{
	uint32_t bo = new_bo(FD(state), 2 * PAGE), same, copy;
	int other = open(ASAHI_SHIM_NODE, O_RDWR), dma_buf, read_only;
	struct asahi_shim_objects o;

	assert_int_equal(drmPrimeHandleToFD(FD(state), bo, DRM_RDWR, &dma_buf), 0);
	assert_int_equal(lseek(dma_buf, 0, SEEK_END), 2 * PAGE);
	assert_int_equal(drmPrimeFDToHandle(FD(state), dma_buf, &same), 0);
	assert_int_equal(same, bo);
	assert_int_equal(drmPrimeFDToHandle(other, dma_buf, &copy), 0);
	assert_int_equal(drmCloseBufferHandle(FD(state), bo), 0);
	assert_int_equal(drmCloseBufferHandle(other, copy), 0);
	asahi_shim_objects(&o);
	assert_int_equal(o.buffers, 1);
	assert_int_equal(o.dma_bufs, 1);
	close(dma_buf);
	asahi_shim_objects(&o);
	assert_int_equal(o.buffers, 0);

	bo = new_bo(FD(state), PAGE);
	assert_int_equal(drmPrimeHandleToFD(FD(state), bo, 0, &read_only), 0);
	assert_ptr_equal(mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, read_only, 0), MAP_FAILED);
	assert_int_equal(errno, EACCES);
	close(read_only);
	assert_int_equal(drmPrimeFDToHandle(other, other, &copy), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(drmPrimeFDToHandle(other, -1, &copy), -1);
	assert_int_equal(errno, EBADF);
	close(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_discovery),
		NODE_TEST(test_capabilities),
		cmocka_unit_test(test_duplicates),
		cmocka_unit_test(test_close),
		cmocka_unit_test(test_reopen),
		NODE_TEST(test_memory),
		NODE_TEST(test_mmap_of_another_file),
		NODE_TEST(test_dma_buf),
	};

	return cmocka_run_group_tests_name("files", tests, NULL, NULL);
}

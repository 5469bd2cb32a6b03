// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What a process finds, and how long it has it.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

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
	assert_non_null(dir);
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
	char *memory = map_memory(&size);

	assert_int_equal(bind_bo(fd, vm, op), 0);
	assert_true(asahi_shim_find_mapping(fd, vm, op.addr, &m));
	memory[m.offset] = 'x';
	close(fd);
	assert_int_equal(memory[m.offset], 0);
	unmap_memory(memory, size);
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

/* As before another program is executed: what the parent has stays, in whatever order. */
static void test_child_closes_all(void **state)
{
	uint32_t bo = new_bo(FD(state), PAGE);
	uint32_t *map = map_bo(FD(state), bo, PAGE);
	int up, fd, status;
	pid_t pid;

	assert_ptr_not_equal(map, MAP_FAILED);
	map[7] = 0x600d;
	for (up = 0; up < 2; up++) {
		pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			munmap(map, PAGE);
			for (fd = STDERR_FILENO + 1; fd < 256; fd++)
				close(up ? fd : 255 + STDERR_FILENO + 1 - fd);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		assert_int_equal(map[7], 0x600d);
	}
	assert_int_equal(munmap(map, PAGE), 0);
	assert_int_equal(drmCloseBufferHandle(FD(state), bo), 0);
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

static void test_noise(void **state)
{
	uint8_t *first, *second;

	setenv("ASAHI_SHIM_NOISE", "1", 1);
	first = map_bo(FD(state), new_bo(FD(state), PAGE), PAGE);
	second = map_bo(FD(state), new_bo(FD(state), 2 * PAGE), 2 * PAGE);
	unsetenv("ASAHI_SHIM_NOISE");
	/* no page is like another one, nor like itself a bit further on */
	assert_memory_not_equal(first, second, PAGE);
	assert_memory_not_equal(second, second + PAGE, PAGE);
	assert_memory_not_equal(second, second + 4096, 4096);
	assert_memory_not_equal(second, second + 4, 4);
	munmap(first, PAGE);
	munmap(second, 2 * PAGE);
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

/* A page of a file, as another process would map it */
static char *map_page(int fd)
{
	char *map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	assert_ptr_not_equal(map, MAP_FAILED);
	return map;
}

static char *map_handle(int fd, uint32_t handle)
{
	struct drm_asahi_gem_mmap_offset args = { .handle = handle };
	char *map;

	assert_int_equal(call(fd, DRM_IOCTL_ASAHI_GEM_MMAP_OFFSET, &args), 0);
	map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, args.offset);
	assert_ptr_not_equal(map, MAP_FAILED);
	return map;
}

/* What another process has exported is a file with a name, which anybody can make. */
static void test_import(void **state)
{
	int theirs = memfd_create("asahi-shim-dma-buf", MFD_ALLOW_SEALING), again, other;
	uint32_t handle, same, vm = new_vm(FD(state));
	struct asahi_shim_mapping m;
	struct asahi_shim_objects o;
	char *map, *gpu, *memory;
	uint64_t size;

	assert_int_equal(ftruncate(theirs, PAGE), 0);
	assert_int_equal(fcntl(theirs, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	map = map_page(theirs);
	again = dup(theirs);
	assert_int_equal(drmPrimeFDToHandle(FD(state), theirs, &handle), 0);
	assert_int_equal(drmPrimeFDToHandle(FD(state), again, &same), 0);
	assert_int_equal(same, handle);
	close(again);
	close(theirs);

	/* program, GPU and the other process see the same memory */
	assert_int_equal(bind_bo(FD(state), vm, (struct drm_asahi_gem_bind_op){
				 .flags = DRM_ASAHI_BIND_READ,
				 .handle = handle,
				 .addr = 16 * GIB,
				 .range = PAGE,
			 }), 0);
	assert_true(asahi_shim_find_mapping(FD(state), vm, 16 * GIB, &m));
	memory = map_memory(&size);
	gpu = map_handle(FD(state), handle);
	strcpy(map, "from there");
	assert_string_equal(gpu, "from there");
	assert_string_equal(memory + m.offset, "from there");
	strcpy(memory + m.offset, "from here");
	assert_string_equal(map, "from here");
	munmap(gpu, PAGE);

	assert_int_equal(drmPrimeHandleToFD(FD(state), handle, DRM_RDWR, &again), 0);
	assert_int_equal(drmCloseBufferHandle(FD(state), handle), 0);
	assert_int_equal(drmPrimeFDToHandle(FD(state), again, &handle), 0);
	assert_int_equal(drmCloseBufferHandle(FD(state), handle), 0);
	close(again);
	call(FD(state), DRM_IOCTL_ASAHI_VM_DESTROY, &(struct drm_asahi_vm_destroy){ .vm_id = vm });
	asahi_shim_objects(&o);
	assert_int_equal(o.buffers, 0);
	assert_int_equal(o.dma_bufs, 0);
	assert_int_equal(memory[m.offset], 0);
	assert_string_equal(map, "from here");
	munmap(map, PAGE);
	unmap_memory(memory, size);

	/* a size that no buffer has, and another name */
	theirs = memfd_create("asahi-shim-dma-buf", 0);
	assert_int_equal(drmPrimeFDToHandle(FD(state), theirs, &handle), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ftruncate(theirs, PAGE / 2), 0);
	assert_int_equal(drmPrimeFDToHandle(FD(state), theirs, &handle), -1);
	assert_int_equal(errno, EINVAL);
	other = memfd_create("asahi-shim-dma-buffer", 0);
	assert_int_equal(ftruncate(other, PAGE), 0);
	assert_int_equal(drmPrimeFDToHandle(FD(state), other, &handle), -1);
	assert_int_equal(errno, EINVAL);
	close(theirs);
	close(other);
}

/* The other process, which has inherited the DMA buffer */
static int other_process(const char *fd)
{
	int node = open(ASAHI_SHIM_NODE, O_RDWR);
	uint32_t handle;
	char *map;

	if (drmPrimeFDToHandle(node, atoi(fd), &handle))
		return 1;
	map = map_handle(node, handle);
	if (strcmp(map, "question"))
		return 2;
	strcpy(map, "answer");
	return 0;
}

static void test_two_processes(void **state)
{
	uint32_t bo = new_bo(FD(state), PAGE);
	char *map = map_handle(FD(state), bo), number[16];
	int dma_buf, status;
	pid_t child;

	strcpy(map, "question");
	assert_int_equal(drmPrimeHandleToFD(FD(state), bo, DRM_RDWR, &dma_buf), 0);
	snprintf(number, sizeof(number), "%d", dma_buf);
	child = fork();
	if (!child) {
		execl("/proc/self/exe", "test_files", number, NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_string_equal(map, "answer");
	munmap(map, PAGE);
	close(dma_buf);
}

/* Without a new program, a child can go on with what it was given. */
static void test_child_asks(void **state)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid)
		_exit(new_bo(FD(state), PAGE) ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Memory that another process could take away again is none to be mapped. */
static void test_sealed(void **state)
{
	uint32_t bo = new_bo(FD(state), PAGE), handle;
	int dma_buf, foreign = memfd_create("asahi-shim-dma-buf", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_int_equal(drmPrimeHandleToFD(FD(state), bo, DRM_RDWR, &dma_buf), 0);
	assert_int_equal(ftruncate(dma_buf, 0), -1);
	assert_int_equal(errno, EPERM);
	close(dma_buf);

	assert_int_equal(ftruncate(foreign, PAGE), 0);
	assert_int_not_equal(drmPrimeFDToHandle(FD(state), foreign, &handle), 0);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(fcntl(foreign, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	assert_int_equal(drmPrimeFDToHandle(FD(state), foreign, &handle), 0);
	close(foreign);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_discovery),
		NODE_TEST(test_capabilities),
		cmocka_unit_test(test_duplicates),
		cmocka_unit_test(test_close),
		cmocka_unit_test(test_reopen),
		NODE_TEST(test_child_closes_all),
		NODE_TEST(test_child_asks),
		NODE_TEST(test_memory),
		NODE_TEST(test_noise),
		NODE_TEST(test_mmap_of_another_file),
		NODE_TEST(test_dma_buf),
		NODE_TEST(test_import),
		NODE_TEST(test_two_processes),
		NODE_TEST(test_sealed),
	};

	if (argc > 1)
		return other_process(argv[1]);
	return cmocka_run_group_tests_name("files", tests, NULL, NULL);
}

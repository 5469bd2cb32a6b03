// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/io_uring.h>
#include <linux/udmabuf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "asahi/asahi_ioctl.h"
#include "asahi/asahi_kvm.h"
#include "igt.h"

/**
 * TEST: asahi gem
 * Description: Buffer objects of the asahi driver.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: buffer objects
 * Test category: functionality test
 */

#define PAGE	IGT_ASAHI_PAGE
#define VA	0x100000000ULL

static const struct {
	const char *name;
	struct drm_asahi_gem_create args;
	int err;
} gem_bad_creates[] = {
	{ "size-zero", { .size = 0 }, EINVAL },
	{ "size-max", { .size = UINT64_MAX }, EINVAL },
	{ "size-rounds-to-zero", { .size = UINT64_MAX - 100 }, EINVAL },
	{ "size-beyond-range", { .size = 1ULL << 39 }, EINVAL },
	{ "size-beyond-memory", { .size = 1ULL << 38 }, ENOMEM },
	{ "flags-unknown", { .size = PAGE, .flags = 4 }, EINVAL },
	{ "flags-max", { .size = PAGE, .flags = UINT32_MAX }, EINVAL },
	{ "vm-without-private", { .size = PAGE, .vm_id = 1 }, EINVAL },
	{ "private-without-vm",
	  { .size = PAGE, .flags = DRM_ASAHI_GEM_VM_PRIVATE }, ENOENT },
	{ "private-unknown-vm",
	  { .size = PAGE, .flags = DRM_ASAHI_GEM_VM_PRIVATE, .vm_id = 0x7fffffff }, ENOENT },
	{ "pad", { .size = PAGE, .pad = 1 }, EINVAL },
};

static void gem_test_bad_create(int fd, const struct drm_asahi_gem_create *create, int err)
{
	struct drm_asahi_gem_create args = *create;

	do_ioctl_err(fd, DRM_IOCTL_ASAHI_GEM_CREATE, &args, err);
	igt_assert_eq(args.handle, 0);
}

static void gem_test_rounding(int fd)
{
	static const struct {
		uint64_t asked;
		uint64_t got;
	} sizes[] = {
		{ 1, PAGE }, { PAGE - 1, PAGE }, { PAGE, PAGE }, { PAGE + 1, 2 * PAGE },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		uint32_t handle = igt_asahi_gem_create(fd, sizes[i].asked, 0, 0, 0);
		int dma_buf = prime_handle_to_fd(fd, handle);

		igt_assert_eq_u64(lseek(dma_buf, 0, SEEK_END), sizes[i].got);
		close(dma_buf);
		gem_close(fd, handle);
	}
}

static void gem_test_map(int fd, uint32_t flags, uint32_t vm)
{
	const size_t size = 5 * PAGE;
	uint32_t handle = igt_asahi_gem_create(fd, size, flags, vm, 0);
	uint8_t *first = igt_asahi_gem_mmap(fd, handle, size);
	uint8_t *second = igt_asahi_gem_mmap(fd, handle, size);
	size_t i;

	for (i = 0; i < size; i++)
		igt_assert_eq(first[i], 0);
	for (i = 0; i < size; i++)
		first[i] = (uint8_t)(i * 7);
	/* The memory outlives the handle as long as it is mapped. */
	gem_close(fd, handle);
	for (i = 0; i < size; i++)
		igt_assert_eq(second[i], (uint8_t)(i * 7));
	munmap(first, size);
	munmap(second, size);
}

static long gem_minor_faults(void)
{
	struct rusage usage;

	igt_assert_eq(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_minflt;
}

/* How many faults it costs to write to pages that were read. */
static long gem_faults_of_writes(int fd, size_t pages)
{
	uint32_t handle = igt_asahi_gem_create(fd, pages * PAGE, 0, 0, 0);
	volatile uint8_t *map = igt_asahi_gem_mmap(fd, handle, pages * PAGE);
	long before, read, written;
	uint8_t sum = 0;
	size_t i;

	/* The first call faults in the pages that this function itself needs. */
	gem_minor_faults();
	before = gem_minor_faults();
	for (i = 0; i < pages; i++)
		sum |= map[i * PAGE];
	read = gem_minor_faults();
	for (i = 0; i < pages; i++)
		map[i * PAGE] = 1;
	written = gem_minor_faults();
	igt_assert_eq(sum, 0);
	igt_assert(read > before);
	munmap((void *)map, pages * PAGE);
	gem_close(fd, handle);
	return written - read;
}

/*
 * A page that was read is writable: KVM, which maps such memory into a guest, does not
 * fault for a second time. On a busy machine the kernel was once seen to fault for
 * reasons of its own, so the best of three tries counts; a mapping that is made writable
 * by its first write faults for each page in each of them.
 */
static void gem_test_map_writable(int fd)
{
	const size_t pages = 64;
	long least = pages;
	int i;

	for (i = 0; i < 3 && least >= (long)pages / 2; i++) {
		long faults = gem_faults_of_writes(fd, pages);

		if (i)
			igt_info("# retried: igt: asahi_gem@map-writable\n");
		igt_info("%ld faults\n", faults);
		least = faults < least ? faults : least;
	}
	igt_assert(least < (long)pages / 2);
}

/* The kernel copies to and from a mapping, as it does with any memory. */
static void gem_kernel_copies(uint8_t *map)
{
	const char text[] = "what the kernel copies";
	char back[sizeof(text)] = "";
	int ends[2];

	igt_assert_eq(pipe(ends), 0);
	igt_assert_eq(write(ends[1], text, sizeof(text)), sizeof(text));
	igt_assert_eq(read(ends[0], map, sizeof(text)), sizeof(text));
	igt_assert_eq(write(ends[1], map, sizeof(text)), sizeof(text));
	igt_assert_eq(read(ends[0], back, sizeof(back)), sizeof(back));
	igt_assert_eq(memcmp(back, text, sizeof(text)), 0);
	close(ends[0]);
	close(ends[1]);
}

/*
 * Pages of such a mapping cannot be pinned, as with all drivers that use mainline's helpers.
 * The kernel says so, or does all of it: nothing is done by halves.
 */
static void gem_kernel_pins(uint8_t *map)
{
	const int disk = open("/dev/vda", O_RDONLY | O_DIRECT);
	struct iovec from = { .iov_len = PAGE }, to = { .iov_base = map, .iov_len = PAGE };
	uint8_t *other = malloc(PAGE);
	ssize_t done;

	igt_assert(other);
	memset(other, 0x5a, PAGE);
	memset(map, 0xa5, PAGE);
	from.iov_base = other;
	done = process_vm_writev(getpid(), &from, 1, &to, 1, 0);
	/* A kernel may have been built without that call. */
	igt_assert(done == PAGE || (done < 0 && (errno == EFAULT || errno == ENOSYS)));
	igt_assert_eq(map[0], done == PAGE ? 0x5a : 0xa5);
	igt_assert_eq(map[PAGE - 1], map[0]);

	if (disk >= 0) {
		memset(map, 0xa5, PAGE);
		done = read(disk, map, PAGE);
		igt_assert(done == PAGE || (done < 0 && errno == EFAULT));
		igt_assert(done == PAGE || (map[0] == 0xa5 && map[PAGE - 1] == 0xa5));
		close(disk);
	}
	free(other);
}

/* A pipe takes pages as they are from a program, and copies them into it. */
static void gem_kernel_splices(uint8_t *map)
{
	const char text[] = "what goes through a pipe";
	struct iovec page = { .iov_base = map, .iov_len = sizeof(text) };
	char back[sizeof(text)] = "";
	int ends[2];
	ssize_t done;

	igt_assert_eq(pipe(ends), 0);
	igt_assert_eq(write(ends[1], text, sizeof(text)), sizeof(text));
	memset(map, 0xa5, sizeof(text));
	igt_assert_eq(vmsplice(ends[0], &page, 1, 0), sizeof(text));
	igt_assert_eq(memcmp(map, text, sizeof(text)), 0);
	done = vmsplice(ends[1], &page, 1, 0);
	igt_assert(done == sizeof(text) || (done < 0 && errno == EFAULT));
	if (done > 0) {
		igt_assert_eq(read(ends[0], back, sizeof(back)), sizeof(back));
		igt_assert_eq(memcmp(back, text, sizeof(text)), 0);
	}
	close(ends[0]);
	close(ends[1]);
}

/* Buffers of io_uring are pinned when they are registered, so that work never fails for them. */
static void gem_kernel_registers(uint8_t *map)
{
	struct iovec buffer = { .iov_base = map, .iov_len = PAGE };
	struct io_uring_params params = {};
	int ring = syscall(__NR_io_uring_setup, 1, &params);
	int err;

	/* A kernel may have been built without it. */
	if (ring < 0) {
		igt_assert(errno == ENOSYS || errno == EPERM);
		return;
	}
	err = syscall(__NR_io_uring_register, ring, IORING_REGISTER_BUFFERS, &buffer, 1);
	err = err ? errno : 0;
	igt_info("io_uring takes the buffer: %d\n", err);
	igt_assert(!err || err == EFAULT || err == EOPNOTSUPP);
	close(ring);
}

/* Read before it is written, or not, each page of its own. */
static void gem_test_map_kernel(int fd)
{
	const size_t size = 4 * PAGE;
	uint32_t handle = igt_asahi_gem_create(fd, size, DRM_ASAHI_GEM_WRITEBACK, 0, 0);
	int dma_buf = prime_handle_to_fd_for_mmap(fd, handle);
	uint8_t *maps[] = {
		igt_asahi_gem_mmap(fd, handle, size),
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, dma_buf, 0),
	};
	volatile uint8_t sum = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(maps); i++) {
		igt_assert(maps[i] != MAP_FAILED);
		gem_kernel_copies(maps[i] + (2 * i) * PAGE);
		sum |= maps[i][(2 * i + 1) * PAGE];
		gem_kernel_copies(maps[i] + (2 * i + 1) * PAGE);
		gem_kernel_pins(maps[i] + (2 * i) * PAGE);
		gem_kernel_splices(maps[i] + (2 * i) * PAGE);
		gem_kernel_registers(maps[i] + (2 * i) * PAGE);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(maps); i++)
		igt_assert_eq(munmap(maps[i], size), 0);
	close(dma_buf);
	gem_close(fd, handle);
}

/* A virtual machine writes to a page that nobody has touched, and to one that was only read. */
static void gem_kvm_writes(uint64_t *map)
{
	const size_t words = PAGE / sizeof(*map);
	struct asahi_kvm *kvm = igt_asahi_kvm_open(map, 3 * PAGE);
	volatile uint64_t *read = map + words, *written = map + 2 * words;

	igt_assert_eq_u64(igt_asahi_kvm_run(kvm, 0, 0x1234), 0);
	igt_assert_eq_u64(map[1], 0x1234);

	igt_assert_eq_u64(read[0], 0);
	igt_assert_eq_u64(igt_asahi_kvm_run(kvm, PAGE, 0x5678), 0);
	igt_assert_eq_u64(read[1], 0x5678);

	/* What one of them stores, the other one loads. */
	written[0] = 0x9abc;
	igt_assert_eq_u64(igt_asahi_kvm_run(kvm, 2 * PAGE, 0xdef0), 0x9abc);
	igt_assert_eq_u64(written[1], 0xdef0);
	igt_assert_eq_u64(igt_asahi_kvm_run(kvm, 2 * PAGE + 8, 0), 0xdef0);
	igt_asahi_kvm_close(kvm);
}

/* By the device, or by the file that others import it from, as muvm does it */
static void gem_test_map_kvm(int fd, bool exported)
{
	const size_t size = 3 * PAGE;
	uint32_t handle = igt_asahi_gem_create(fd, size, DRM_ASAHI_GEM_WRITEBACK, 0, 0);
	int dma_buf = prime_handle_to_fd_for_mmap(fd, handle);
	uint64_t *map = exported ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, dma_buf,
					0)
				 : igt_asahi_gem_mmap(fd, handle, size);

	igt_assert(map != MAP_FAILED);
	gem_kvm_writes(map);
	munmap(map, size);
	close(dma_buf);
	gem_close(fd, handle);
}

static void gem_test_map_beyond(int fd)
{
	uint32_t handle = igt_asahi_gem_create(fd, PAGE, 0, 0, 0);
	uint64_t offset = igt_asahi_gem_mmap_offset(fd, handle, 0);

	igt_assert(mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, offset) == MAP_FAILED);
	igt_assert(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, offset + PAGE) == MAP_FAILED);
	igt_assert(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, offset + (1ULL << 40)) ==
		   MAP_FAILED);
	gem_close(fd, handle);
	igt_assert(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, offset) == MAP_FAILED);
}

/* One client's offset is of no use to another. */
static void gem_test_map_other(int fd)
{
	uint32_t handle = igt_asahi_gem_create(fd, PAGE, 0, 0, 0);
	uint64_t offset = igt_asahi_gem_mmap_offset(fd, handle, 0);
	int other = drm_open_driver_render(DRIVER_ASAHI);

	igt_assert(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, other, offset) == MAP_FAILED);
	igt_assert_eq(errno, EACCES);
	drm_close_driver(other);
	gem_close(fd, handle);
}

static void gem_test_mmap_offset_bad(int fd)
{
	uint32_t handle = igt_asahi_gem_create(fd, PAGE, 0, 0, 0);
	struct drm_asahi_gem_mmap_offset args = { .handle = handle, .flags = 1 };

	do_ioctl_err(fd, DRM_IOCTL_ASAHI_GEM_MMAP_OFFSET, &args, EINVAL);
	igt_asahi_gem_mmap_offset(fd, 0, ENOENT);
	igt_asahi_gem_mmap_offset(fd, UINT32_MAX, ENOENT);
	gem_close(fd, handle);
	igt_asahi_gem_mmap_offset(fd, handle, ENOENT);
}

static void gem_test_close_twice(int fd)
{
	uint32_t handle = igt_asahi_gem_create(fd, PAGE, 0, 0, 0);
	struct drm_gem_close args = { .handle = handle };

	gem_close(fd, handle);
	do_ioctl_err(fd, DRM_IOCTL_GEM_CLOSE, &args, EINVAL);
}

static void gem_test_import_no_dmabuf(int fd)
{
	struct drm_prime_handle args = { .fd = fd };

	do_ioctl_err(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &args, EINVAL);
}

static void gem_test_export_private(int fd)
{
	uint32_t vm = igt_asahi_vm_create(fd);
	uint32_t handle = igt_asahi_gem_create(fd, PAGE, DRM_ASAHI_GEM_VM_PRIVATE, vm, 0);
	struct drm_prime_handle args = { .handle = handle, .flags = DRM_CLOEXEC };

	do_ioctl_err(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &args, EINVAL);
	gem_close(fd, handle);
	igt_asahi_vm_destroy(fd, vm, 0);
}

/* A client may destroy an address space before its private objects. */
static void gem_test_private_outlives_vm(int fd)
{
	uint32_t vm = igt_asahi_vm_create(fd);
	uint32_t handle = igt_asahi_gem_create(fd, PAGE, DRM_ASAHI_GEM_VM_PRIVATE, vm, 0);
	uint8_t *map = igt_asahi_gem_mmap(fd, handle, PAGE);

	igt_asahi_vm_bind_one(fd, vm, DRM_ASAHI_BIND_READ, handle, 0, PAGE, VA, 0);
	igt_asahi_vm_destroy(fd, vm, 0);
	map[0] = 1;
	gem_close(fd, handle);
	igt_assert_eq(map[0], 1);
	munmap(map, PAGE);
}

static void gem_sync_dma_buf(int dma_buf, uint64_t what)
{
	struct dma_buf_sync args = { .flags = DMA_BUF_SYNC_RW | what };

	igt_assert_eq(ioctl(dma_buf, DMA_BUF_IOCTL_SYNC, &args), 0);
}

static void gem_test_share(int fd)
{
	int other = drm_open_driver_render(DRIVER_ASAHI);
	uint32_t handle = igt_asahi_gem_create(fd, 2 * PAGE, DRM_ASAHI_GEM_WRITEBACK, 0, 0);
	int dma_buf = prime_handle_to_fd(fd, handle);
	uint8_t *map = igt_asahi_gem_mmap(fd, handle, 2 * PAGE);
	uint32_t imported, vm;
	uint8_t *seen;

	/* The same object, so the same handle. */
	igt_assert_eq(prime_fd_to_handle(fd, dma_buf), handle);
	imported = prime_fd_to_handle(other, dma_buf);
	gem_sync_dma_buf(dma_buf, DMA_BUF_SYNC_START);
	map[PAGE] = 0x42;
	gem_sync_dma_buf(dma_buf, DMA_BUF_SYNC_END);
	close(dma_buf);
	gem_close(fd, handle);
	munmap(map, 2 * PAGE);

	seen = igt_asahi_gem_mmap(other, imported, 2 * PAGE);
	igt_assert_eq(seen[PAGE], 0x42);
	munmap(seen, 2 * PAGE);
	vm = igt_asahi_vm_create(other);
	igt_asahi_vm_bind_one(other, vm, DRM_ASAHI_BIND_READ, imported, PAGE, PAGE, VA, 0);
	/* Now there is memory that the device knows of. */
	dma_buf = prime_handle_to_fd(other, imported);
	gem_sync_dma_buf(dma_buf, DMA_BUF_SYNC_START);
	gem_sync_dma_buf(dma_buf, DMA_BUF_SYNC_END);
	close(dma_buf);
	drm_close_driver(other);
}

static int gem_udmabuf_create(uint64_t size)
{
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	int memfd = memfd_create("asahi", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct udmabuf_create args = { .memfd = memfd, .size = size };
	int fd;

	if (device < 0)
		close(memfd);
	igt_require_f(device >= 0, "/dev/udmabuf\n");
	igt_assert_fd(memfd);
	igt_assert_eq(ftruncate(memfd, size), 0);
	igt_assert_eq(fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	fd = ioctl(device, UDMABUF_CREATE, &args);
	igt_assert_fd(fd);
	close(memfd);
	close(device);
	return fd;
}

/* Memory that another driver has made. */
static void gem_test_import_foreign(int fd)
{
	int dma_buf = gem_udmabuf_create(4 * PAGE);
	uint32_t handle = prime_fd_to_handle(fd, dma_buf);
	uint32_t vm = igt_asahi_vm_create(fd);
	uint8_t *map = igt_asahi_gem_mmap(fd, handle, 4 * PAGE);

	close(dma_buf);
	map[3 * PAGE] = 1;
	igt_asahi_vm_bind_one(fd, vm, DRM_ASAHI_BIND_READ | DRM_ASAHI_BIND_WRITE, handle, PAGE,
			      3 * PAGE, VA, 0);
	igt_asahi_vm_bind_one(fd, vm, DRM_ASAHI_BIND_READ, handle, PAGE, 4 * PAGE, VA, EINVAL);
	gem_close(fd, handle);
	munmap(map, 4 * PAGE);
	igt_asahi_vm_destroy(fd, vm, 0);
}

static void gem_test_fdinfo(int fd)
{
	const uint64_t size = 4 << 20;
	uint64_t total = igt_asahi_memory(fd, "drm-total-memory");
	uint64_t resident = igt_asahi_memory(fd, "drm-resident-memory");
	uint32_t handle = igt_asahi_gem_create(fd, size, 0, 0, 0);
	uint32_t vm = igt_asahi_vm_create(fd);
	int dma_buf;

	igt_assert_eq_u64(igt_asahi_memory(fd, "drm-total-memory"), total + size);
	igt_assert_eq_u64(igt_asahi_memory(fd, "drm-resident-memory"), resident);
	igt_asahi_vm_bind_one(fd, vm, DRM_ASAHI_BIND_READ, handle, 0, PAGE, VA, 0);
	igt_assert_eq_u64(igt_asahi_memory(fd, "drm-resident-memory"), resident + size);
	dma_buf = prime_handle_to_fd(fd, handle);
	igt_assert_lte_u64(size, igt_asahi_memory(fd, "drm-shared-memory"));
	close(dma_buf);
	gem_close(fd, handle);
	igt_assert_eq_u64(igt_asahi_memory(fd, "drm-total-memory"), total);
	igt_asahi_vm_destroy(fd, vm, 0);
}

static void gem_test_closed_file(void)
{
	unsigned int i;
	int with, fd;
	uint32_t vm;

	igt_asahi_settle();
	fd = drm_open_driver_render(DRIVER_ASAHI);
	vm = igt_asahi_vm_create(fd);

	for (i = 0; i < 100; i++) {
		uint32_t flags = i % 2 ? DRM_ASAHI_GEM_VM_PRIVATE : 0;
		uint32_t handle = igt_asahi_gem_create(fd, PAGE, flags, flags ? vm : 0, 0);

		igt_asahi_vm_bind_one(fd, vm, DRM_ASAHI_BIND_READ, handle, 0, PAGE,
				      VA + i * PAGE, 0);
	}
	with = igt_asahi_objects("gem-objects");
	igt_assert_lte(100, with);
	drm_close_driver(fd);
	igt_asahi_wait_objects("gem-objects", with - 100);
}

static void gem_test_killed(int fd)
{
	struct igt_helper_process victim = { .use_SIGKILL = true };
	int before;

	igt_asahi_settle();
	before = igt_asahi_objects("gem-objects");
	igt_fork_helper(&victim) {
		int own = drm_reopen_driver(fd);

		for (;;)
			igt_asahi_gem_create(own, PAGE, 0, 0, 0);
	}
	usleep(100000);
	igt_stop_helper(&victim);
	igt_asahi_wait_objects("gem-objects", before);
}

static void gem_undo_create(int fd, const void *arg)
{
	const struct drm_asahi_gem_create *args = arg;

	gem_close(fd, args->handle);
}

static void gem_test_allocations_fail(int fd)
{
	struct drm_asahi_gem_create args = { .size = 4 * PAGE };

	igt_asahi_fail_allocations(fd, DRM_IOCTL_ASAHI_GEM_CREATE, &args, gem_undo_create);
	args.flags = DRM_ASAHI_GEM_VM_PRIVATE;
	args.vm_id = igt_asahi_vm_create(fd);
	igt_asahi_fail_allocations(fd, DRM_IOCTL_ASAHI_GEM_CREATE, &args, gem_undo_create);
	igt_asahi_vm_destroy(fd, args.vm_id, 0);
}

int igt_main()
{
	int fd;
	unsigned int i;

	igt_fixture() {
		fd = drm_open_driver_render(DRIVER_ASAHI);
	}

	igt_describe("Arguments that have to be refused.");
	for (i = 0; i < ARRAY_SIZE(gem_bad_creates); i++) {
		igt_subtest_f("create-%s", gem_bad_creates[i].name) {
			gem_test_bad_create(fd, &gem_bad_creates[i].args, gem_bad_creates[i].err);
		}
	}

	igt_describe("Sizes are rounded up to pages of the GPU.");
	igt_subtest("create-rounding") {
		gem_test_rounding(fd);
	}

	igt_describe("Memory is zeroed, can be mapped twice, and outlives its handle.");
	igt_subtest("map") {
		gem_test_map(fd, 0, 0);
	}
	igt_describe("A page that was read can be written without another fault.");
	igt_subtest("map-writable") {
		gem_test_map_writable(fd);
	}
	igt_describe("What the kernel does with a mapping that it is given.");
	igt_subtest("map-kernel") {
		gem_test_map_kernel(fd);
	}
	igt_describe("A guest of KVM has a mapping for memory.");
	igt_subtest("map-kvm") {
		gem_test_map_kvm(fd, false);
		gem_test_map_kvm(fd, true);
	}
	igt_describe("As map, for cached memory.");
	igt_subtest("map-writeback") {
		gem_test_map(fd, DRM_ASAHI_GEM_WRITEBACK, 0);
	}
	igt_subtest("map-private") {
		uint32_t vm = igt_asahi_vm_create(fd);

		gem_test_map(fd, DRM_ASAHI_GEM_VM_PRIVATE, vm);
		igt_asahi_vm_destroy(fd, vm, 0);
	}

	igt_describe("Nothing but the object can be mapped, and only by its clients.");
	igt_subtest("map-beyond") {
		gem_test_map_beyond(fd);
	}
	igt_subtest("map-other-file") {
		gem_test_map_other(fd);
	}
	igt_subtest("mmap-offset-bad") {
		gem_test_mmap_offset_bad(fd);
	}

	igt_subtest("close-twice") {
		gem_test_close_twice(fd);
	}

	igt_describe("Private objects stay where they are.");
	igt_subtest("export-private") {
		gem_test_export_private(fd);
	}
	igt_subtest("private-outlives-vm") {
		gem_test_private_outlives_vm(fd);
	}

	igt_describe("Sharing with other files and other drivers.");
	igt_subtest("share") {
		gem_test_share(fd);
	}
	igt_subtest("import-no-dmabuf") {
		gem_test_import_no_dmabuf(fd);
	}
	igt_subtest("import-foreign") {
		gem_test_import_foreign(fd);
	}

	igt_describe("What fdinfo says of memory.");
	igt_subtest("fdinfo-memory") {
		gem_test_fdinfo(fd);
	}

	igt_describe("Nothing is left of a client.");
	igt_subtest("closed-file") {
		gem_test_closed_file();
	}
	igt_subtest("killed-client") {
		gem_test_killed(fd);
	}

	igt_describe("Each allocation fails in its turn, where the kernel can do that.");
	igt_subtest("create-allocations-fail") {
		gem_test_allocations_fail(fd);
	}

	igt_fixture() {
		drm_close_driver(fd);
	}
}

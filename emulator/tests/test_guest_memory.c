// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "helpers.h"

#define RW	(VAGX_MEM_READ | VAGX_MEM_WRITE)

struct fixture {
	struct vagx_mem *mem;
	int fd;
};

static struct fixture fixture;

static int setup(void **state)
{
	fixture.mem = vagx_mem_new();
	fixture.fd = memfd_create("ram", MFD_CLOEXEC);
	*state = &fixture;
	return fixture.fd < 0 || ftruncate(fixture.fd, 0x100000);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	vagx_mem_free(f->mem);
	close(f->fd);
	return 0;
}

static void maps_and_finds(void **state)
{
	struct fixture *f = *state;
	uint8_t *p;

	assert_int_equal(vagx_mem_map(f->mem, 0x40000000, 0x80000, f->fd, 0, RW), 0);
	assert_int_equal(vagx_mem_map(f->mem, 0x80000000, 0x80000, f->fd, 0x80000, RW), 0);
	p = vagx_mem_ptr(f->mem, 0x80000010, 4);
	assert_non_null(p);
	memcpy(p, "abcd", 4);
	p = mmap(NULL, 0x1000, PROT_READ, MAP_SHARED, f->fd, 0x80000);
	assert_memory_equal(p + 0x10, "abcd", 4);
	munmap(p, 0x1000);

	assert_null(vagx_mem_ptr(f->mem, 0x3fffffff, 2));
	assert_null(vagx_mem_ptr(f->mem, 0x4007ffff, 2));
	assert_non_null(vagx_mem_ptr(f->mem, 0x4007fffe, 2));
	assert_null(vagx_mem_ptr(f->mem, 0x40080000, 1));
	assert_null(vagx_mem_ptr(f->mem, 0x40000000, SIZE_MAX));
	assert_null(vagx_mem_ptr(f->mem, UINT64_MAX, 2));
}

static void refuses_nonsense(void **state)
{
	struct fixture *f = *state;
	struct vagx_mem *mem = f->mem;

	assert_int_equal(vagx_mem_map(mem, 0, 0, f->fd, 0, RW), -EINVAL);
	assert_int_equal(vagx_mem_map(mem, 1, 0x1000, f->fd, 0, RW), -EINVAL);
	assert_int_equal(vagx_mem_map(mem, 0, 0x1001, f->fd, 0, RW), -EINVAL);
	assert_int_equal(vagx_mem_map(mem, 0, 0x1000, f->fd, 1, RW), -EINVAL);
	assert_int_equal(vagx_mem_map(mem, 0, 0x1000, f->fd, 0, 0), -EINVAL);
	assert_int_equal(vagx_mem_map(mem, 0, 0x1000, f->fd, 0, VAGX_MEM_WRITE), -EINVAL);
	assert_int_equal(vagx_mem_map(mem, -0x1000ULL, 0x2000, f->fd, 0, RW), -EINVAL);
	assert_int_equal(vagx_mem_map(mem, 0, 0x2000, f->fd, -0x1000ULL, RW), -EINVAL);
	assert_int_equal(vagx_mem_map(mem, 0, 0x101000, f->fd, 0, RW), -EINVAL);
	assert_int_equal(vagx_mem_map(mem, 0, 0x1000, f->fd, 0x100000, RW), -EINVAL);
	assert_int_equal(vagx_mem_map(mem, 0, -0x1000ULL, f->fd, 0, RW), -EINVAL);
	assert_int_equal(vagx_mem_map(mem, 0, 0x2000, f->fd, 0, RW), 0);
	assert_int_equal(vagx_mem_map(mem, 0x1000, 0x1000, f->fd, 0, RW), -EEXIST);
	assert_int_equal(vagx_mem_map(mem, 0x2000, 0x1000, f->fd, 0, RW), 0);
}

static void has_a_limit(void **state)
{
	struct fixture *f = *state;
	int ret = 0;

	for (uint64_t i = 0; i < 10000 && !ret; i++) {
		ret = vagx_mem_map(f->mem, i * 0x1000, 0x1000, f->fd, 0, RW);
		if (!ret)
			assert_int_equal(vagx_mem_unmap(f->mem, i * 0x1000,
							0x1000), 0);
	}
	assert_int_equal(ret, -ENOSPC);
}

static void read_only_is_not_handed_out(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(vagx_mem_map(f->mem, 0, 0x1000, f->fd, 0,
				      VAGX_MEM_READ), 0);
	assert_null(vagx_mem_ptr(f->mem, 0, 1));
	/* Known to the client as DMA memory, but out of our reach */
	assert_int_equal(vagx_mem_map(f->mem, 0x1000, 0x1000, -1, 0, RW), 0);
	assert_null(vagx_mem_ptr(f->mem, 0x1000, 1));
	assert_int_equal(vagx_mem_unmap(f->mem, 0x1000, 0x1000), 0);
}

static void old_pointers_stay_harmless(void **state)
{
	struct fixture *f = *state;
	volatile uint8_t *p;

	assert_int_equal(vagx_mem_map(f->mem, 0x4000, 0x4000, f->fd, 0, RW), 0);
	p = vagx_mem_ptr(f->mem, 0x4000, 1);
	*p = 42;
	assert_int_equal(vagx_mem_unmap(f->mem, 0x4000, 0x2000), -EINVAL);
	assert_int_equal(vagx_mem_unmap(f->mem, 0, 0x3000), -ENOENT);
	assert_int_equal(vagx_mem_unmap(f->mem, 0x5000, -1ULL), -EINVAL);
	assert_int_equal(vagx_mem_unmap(f->mem, 0, 0x10000), 0);
	assert_null(vagx_mem_ptr(f->mem, 0x4000, 1));
	assert_int_equal(*p, 0);
	*p = 1;

	/* The same place again is another mapping */
	assert_int_equal(vagx_mem_map(f->mem, 0x4000, 0x4000, f->fd, 0, RW), 0);
	assert_int_equal(*(uint8_t *)vagx_mem_ptr(f->mem, 0x4000, 1), 42);
	vagx_mem_unmap_all(f->mem);
	assert_null(vagx_mem_ptr(f->mem, 0x4000, 1));
}

static void survives_a_file_that_shrinks(void **state)
{
	struct fixture *f = *state;
	struct pollfd poll_fd = { .events = POLLIN };
	volatile uint8_t *p;

	/* The test runner took the signal for itself since setup() */
	vagx_mem_free(f->mem);
	f->mem = vagx_mem_new();
	poll_fd.fd = vagx_mem_lost_fd(f->mem);

	assert_int_equal(vagx_mem_map(f->mem, 0, 0x100000, f->fd, 0, RW), 0);
	p = vagx_mem_ptr(f->mem, 0, 0x100000);
	p[0x80000] = 7;
	assert_false(vagx_mem_lost(f->mem));
	assert_int_equal(poll(&poll_fd, 1, 0), 0);

	assert_int_equal(ftruncate(f->fd, 0x1000), 0);
	assert_int_equal(p[0x80000], 0);
	p[0x81000] = 9;
	assert_int_equal(p[0x81000], 9);
	assert_true(vagx_mem_lost(f->mem));
	assert_int_equal(poll(&poll_fd, 1, 0), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(maps_and_finds, setup, teardown),
		cmocka_unit_test_setup_teardown(refuses_nonsense, setup, teardown),
		cmocka_unit_test_setup_teardown(has_a_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(read_only_is_not_handed_out, setup, teardown),
		cmocka_unit_test_setup_teardown(old_pointers_stay_harmless, setup, teardown),
		cmocka_unit_test_setup_teardown(survives_a_file_that_shrinks, setup, teardown),
	};

	return cmocka_run_group_tests_name("guest-memory", tests, NULL, NULL);
}

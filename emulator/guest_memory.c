// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The guest's RAM as a table of mappings, which is searched from its start: a virtual machine has
 * about five. Why a mapping keeps its host addresses after its removal is said in the header.
 *
 * Only the MMIO thread adds and retires mappings. Any thread looks them up without a lock: an
 * entry is complete before @count tells of it, and only @live changes afterwards. A file that
 * shrinks under its mapping raises SIGBUS in whatever thread reads it, and the handler puts zeroes
 * in its place.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest_memory.h"

/*
 * Mappings over the lifetime of an address space. A virtual machine has
 * about five; a removed one keeps its place, see the header.
 */
#define MAX_MAPPINGS 256

#define HOST_PAGE 4096ULL

/*
 * Entries are only ever appended. @live is written last and read first, so
 * readers need no lock: everything else in an entry never changes.
 */
struct mapping {
	uint64_t gpa;
	uint64_t size;
	uint8_t *host;			/* NULL: known, but not accessible */
	bool writable;
	bool live;			/* atomic */
};

struct vagx_mem {
	struct mapping mapping[MAX_MAPPINGS];
	unsigned int count;		/* atomic; entries ever used */
	int lost_fd;
	bool lost;			/* atomic */
	struct sigaction old_sigbus;
};

/* The address space for the SIGBUS handler, which gets no argument of ours */
static struct vagx_mem *guest_memory_current_mem;

static struct mapping *guest_memory_mapping_of_host(struct vagx_mem *mem, uintptr_t address)
{
	unsigned int count = __atomic_load_n(&mem->count, __ATOMIC_ACQUIRE);

	for (unsigned int i = 0; i < count; i++) {
		struct mapping *m = &mem->mapping[i];
		uintptr_t start = (uintptr_t)m->host;

		if (start && address >= start && address - start < m->size)
			return m;
	}
	return NULL;
}

/*
 * Part of a mapped file went away: puts zeroes in the place of the page, and tells the owner, who
 * ends the connection. Only async-signal-safe calls.
 */
static void guest_memory_on_sigbus(int signal, siginfo_t *info, void *context)
{
	uintptr_t page = (uintptr_t)info->si_addr & ~(uintptr_t)(HOST_PAGE - 1);
	struct vagx_mem *mem = __atomic_load_n(&guest_memory_current_mem, __ATOMIC_ACQUIRE);
	int saved_errno = errno;
	uint64_t one = 1;
	void *ptr = MAP_FAILED;

	(void)context;
	if (mem && guest_memory_mapping_of_host(mem, page))
		ptr = mmap((void *)page, HOST_PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (ptr == MAP_FAILED) {
		struct sigaction action = { .sa_handler = SIG_DFL };

		/* The address is not guest memory: the access is repeated, and ends the process */
		sigaction(signal, &action, NULL);
		return;
	}

	__atomic_store_n(&mem->lost, true, __ATOMIC_RELEASE);
	if (write(mem->lost_fd, &one, sizeof(one)) < 0) {
		/* The counter is full, so the owner has been told already */
	}
	errno = saved_errno;
}

struct vagx_mem *vagx_mem_new(void)
{
	struct sigaction action = {
		.sa_sigaction = guest_memory_on_sigbus,
		.sa_flags = SA_SIGINFO | SA_RESTART,
	};
	struct vagx_mem *mem = calloc(1, sizeof(*mem));

	if (!mem)
		return NULL;

	mem->lost_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (mem->lost_fd < 0) {
		free(mem);
		return NULL;
	}

	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, &mem->old_sigbus);
	__atomic_store_n(&guest_memory_current_mem, mem, __ATOMIC_RELEASE);
	return mem;
}

void vagx_mem_free(struct vagx_mem *mem)
{
	if (!mem)
		return;

	__atomic_store_n(&guest_memory_current_mem, NULL, __ATOMIC_RELEASE);
	sigaction(SIGBUS, &mem->old_sigbus, NULL);
	for (unsigned int i = 0; i < mem->count; i++) {
		struct mapping *m = &mem->mapping[i];

		if (m->host)
			munmap(m->host, m->size);
	}
	close(mem->lost_fd);
	free(mem);
}

static bool guest_memory_overlaps(const struct mapping *m, uint64_t gpa, uint64_t size)
{
	return m->live && gpa < m->gpa + m->size && m->gpa < gpa + size;
}

static int guest_memory_check_file(int fd, uint64_t offset, uint64_t size)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (st.st_size < 0 || offset > (uint64_t)st.st_size ||
	    size > (uint64_t)st.st_size - offset)
		return -EINVAL;
	return 0;
}

int vagx_mem_map(struct vagx_mem *mem, uint64_t gpa, uint64_t size, int fd,
		 uint64_t offset, unsigned int prot)
{
	uint8_t *host = NULL;
	struct mapping *m;

	if (!size || (gpa | size | offset) % HOST_PAGE || gpa + size < gpa ||
	    offset + size < offset || size > SIZE_MAX / 2 ||
	    !(prot & VAGX_MEM_READ))
		return -EINVAL;
	if (mem->count == MAX_MAPPINGS)
		return -ENOSPC;
	for (unsigned int i = 0; i < mem->count; i++) {
		if (guest_memory_overlaps(&mem->mapping[i], gpa, size))
			return -EEXIST;
	}

	if (fd >= 0) {
		int ret = guest_memory_check_file(fd, offset, size);

		if (ret)
			return ret;
		host = mmap(NULL, size, PROT_READ |
			    (prot & VAGX_MEM_WRITE ? PROT_WRITE : 0),
			    MAP_SHARED | MAP_NORESERVE, fd, (off_t)offset);
		if (host == MAP_FAILED)
			return -errno;
	}

	m = &mem->mapping[mem->count];
	m->gpa = gpa;
	m->size = size;
	m->host = host;
	m->writable = prot & VAGX_MEM_WRITE;
	__atomic_store_n(&m->live, true, __ATOMIC_RELEASE);
	__atomic_store_n(&mem->count, mem->count + 1, __ATOMIC_RELEASE);
	return 0;
}

static void guest_memory_retire(struct mapping *m)
{
	__atomic_store_n(&m->live, false, __ATOMIC_RELEASE);
	if (!m->host)
		return;
	/*
	 * If this fails, the guest's memory stays mapped, which is no worse
	 * than a client that forgot to unmap it.
	 */
	if (mmap(m->host, m->size, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		 MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
		return;
}

int vagx_mem_unmap(struct vagx_mem *mem, uint64_t gpa, uint64_t size)
{
	unsigned int found = 0;

	if (!size || gpa + size < gpa)
		return -EINVAL;

	for (unsigned int i = 0; i < mem->count; i++) {
		const struct mapping *m = &mem->mapping[i];

		if (!guest_memory_overlaps(m, gpa, size))
			continue;
		if (m->gpa < gpa || m->gpa + m->size > gpa + size)
			return -EINVAL;
		found++;
	}
	if (!found)
		return -ENOENT;

	for (unsigned int i = 0; i < mem->count; i++) {
		if (guest_memory_overlaps(&mem->mapping[i], gpa, size))
			guest_memory_retire(&mem->mapping[i]);
	}
	return 0;
}

void vagx_mem_unmap_all(struct vagx_mem *mem)
{
	for (unsigned int i = 0; i < mem->count; i++) {
		if (mem->mapping[i].live)
			guest_memory_retire(&mem->mapping[i]);
	}
}

void *vagx_mem_ptr(struct vagx_mem *mem, uint64_t gpa, size_t len)
{
	unsigned int count = __atomic_load_n(&mem->count, __ATOMIC_ACQUIRE);

	for (unsigned int i = 0; i < count; i++) {
		struct mapping *m = &mem->mapping[i];

		if (!__atomic_load_n(&m->live, __ATOMIC_ACQUIRE) ||
		    !m->host || !m->writable)
			continue;
		if (gpa >= m->gpa && gpa - m->gpa < m->size &&
		    len <= m->size - (gpa - m->gpa))
			return m->host + (gpa - m->gpa);
	}
	return NULL;
}

bool vagx_mem_lost(const struct vagx_mem *mem)
{
	return __atomic_load_n(&mem->lost, __ATOMIC_ACQUIRE);
}

int vagx_mem_lost_fd(const struct vagx_mem *mem)
{
	return mem->lost_fd;
}

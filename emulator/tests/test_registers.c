// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors

#include <linux/pci_regs.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agx/agx_regs.h"
#include "carrier_regs.h"
#include "clock.h"
#include "helpers.h"
#include "mailbox.h"
#include "pci.h"
#include "sgx.h"
#include "soc.h"

static int setup(void **state)
{
	*state = machine_new();
	return 0;
}

static int teardown(void **state)
{
	machine_free(*state);
	return 0;
}

static struct vagx_sgx *sgx_of(struct machine *m, const char *soc)
{
	return vagx_sgx_new(&vagx_soc_find(soc)->id, m->report);
}

/* All registers are those of a public log of an M1 */
static void gpu_says_who_it_is(void **state)
{
	struct machine *m = *state;
	struct vagx_sgx *sgx = sgx_of(m, "t8103");

	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_ID_VERSION, 4), 0x4021100);
	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_ID_VERSION + 8, 4), 0x40a04);
	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_ID_COUNTS_1, 4), 0x30808);
	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_ID_COUNTS_2, 4), 0x40404);
	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_ID_VERSION + 0x18, 4), 0x1320300);
	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_ID_CLUSTERS, 4), 0x101311);
	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_CORE_MASK_0, 4), 0xff);
	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_CORE_MASK_1, 4), 0);
	/* What m1n1 also reads, and what it writes before all else */
	assert_int_equal(vagx_sgx_read(sgx, 0xd08024, 4), 0);
	assert_int_equal(vagx_sgx_read(sgx, 0xd14000, 4), 0);
	vagx_sgx_write(sgx, 0xd14000, 4, 0x70001);
	assert_int_equal(vagx_sgx_read(sgx, 0xd14000, 4), 0x70001);
	vagx_sgx_reset(sgx);
	assert_int_equal(vagx_sgx_read(sgx, 0xd14000, 4), 0);
	assert_rule(m, REG_UNKNOWN, 0);
	assert_false(vagx_report_failed(m->report));

	vagx_sgx_write(sgx, AGX_SGX_ID_VERSION, 4, 0);
	vagx_sgx_write(sgx, AGX_SGX_FAULT_INFO, 8, 0);
	assert_rule(m, REG_READ_ONLY, 2);
	vagx_sgx_read(sgx, 0, 4);
	vagx_sgx_write(sgx, AGX_SGX_SIZE - 4, 4, 0);
	assert_rule(m, REG_UNKNOWN, 2);
	vagx_sgx_free(sgx);
}

static void fault_register(void **state)
{
	const struct vagx_uat_fault fault = {
		.va = 0x7fdeadbec0, .slot = 63, .access = VAGX_READ,
		.reason = VAGX_FAULT_WRITE_ONLY,
	};
	struct machine *m = *state;
	struct vagx_sgx *sgx = sgx_of(m, "t8103");
	uint64_t info;

	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_FAULT_INFO, 8), 0);
	vagx_sgx_set_fault(sgx, &fault, 0xe9);
	info = vagx_sgx_read(sgx, AGX_SGX_FAULT_INFO, 8);
	assert_true(info & AGX_FAULT_VALID);
	assert_true(info & AGX_FAULT_READ);
	assert_int_equal(info >> AGX_FAULT_ADDR_SHIFT << 6, fault.va);
	assert_int_equal(info >> AGX_FAULT_SLOT_SHIFT & AGX_FAULT_SLOT_MASK, 63);
	assert_int_equal(info >> AGX_FAULT_UNIT_SHIFT & AGX_FAULT_UNIT_MASK, 0xe9);
	assert_int_equal(info >> AGX_FAULT_REASON_SHIFT & AGX_FAULT_REASON_MASK,
			 AGX_FAULT_REASON_WRITE_ONLY);
	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_FAULT_INFO + 4, 4), info >> 32);
	vagx_sgx_reset(sgx);
	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_FAULT_INFO, 8), 0);
	vagx_sgx_free(sgx);
}

static unsigned int count_bits(uint64_t set)
{
	return __builtin_popcountll(set);
}

/* Level and sideband are drawn by the seed, and nothing else; without a seed they are fixed */
static void fault_bits(void **state)
{
	const uint64_t varied = AGX_FAULT_LEVEL_MASK << AGX_FAULT_LEVEL_SHIFT |
				AGX_FAULT_SIDEBAND_MASK << AGX_FAULT_SIDEBAND_SHIFT;
	const struct vagx_uat_fault fault = { .va = 0x7fdeadbec0, .slot = 63 };
	struct machine *m = *state;
	struct vagx_sgx *sgx[3];
	uint64_t levels = 0, sidebands[2] = { 0 }, plain, same, info;

	for (unsigned int i = 0; i < 3; i++)
		sgx[i] = sgx_of(m, "t8103");
	vagx_sgx_vary_faults(sgx[1], 7);
	vagx_sgx_vary_faults(sgx[2], 7);
	for (unsigned int n = 0; n < 256; n++) {
		for (unsigned int i = 0; i < 3; i++)
			vagx_sgx_set_fault(sgx[i], &fault, 0xe9);
		plain = vagx_sgx_read(sgx[0], AGX_SGX_FAULT_INFO, 8);
		info = vagx_sgx_read(sgx[1], AGX_SGX_FAULT_INFO, 8);
		same = vagx_sgx_read(sgx[2], AGX_SGX_FAULT_INFO, 8);
		assert_int_equal(plain & varied, 3 << AGX_FAULT_LEVEL_SHIFT);
		assert_int_equal(info & ~varied, plain & ~varied);
		assert_int_equal(info, same);
		levels |= 1 << (info >> AGX_FAULT_LEVEL_SHIFT & AGX_FAULT_LEVEL_MASK);
		info = info >> AGX_FAULT_SIDEBAND_SHIFT & AGX_FAULT_SIDEBAND_MASK;
		sidebands[info / 64] |= 1ULL << info % 64;
	}
	assert_int_equal(levels, 0xf);
	assert_true(count_bits(sidebands[0]) + count_bits(sidebands[1]) > 64);
	for (unsigned int i = 0; i < 3; i++)
		vagx_sgx_free(sgx[i]);
}

/* Clusters, dies and masks of the largest of each kind */
static void ultras_say_who_they_are(void **state)
{
	struct machine *m = *state;
	struct vagx_sgx *sgx = sgx_of(m, "t6002");

	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_ID_VERSION, 4) >> 16, 0x0404);
	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_ID_COUNTS_1, 4) & 0xff, 8);
	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_ID_CLUSTERS, 4) >> 12 & 0xff, 8);
	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_CORE_MASK_0, 4), UINT32_MAX);
	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_CORE_MASK_1, 4), UINT32_MAX);
	vagx_sgx_free(sgx);

	sgx = sgx_of(m, "t6022");
	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_ID_VERSION, 4) >> 16, 0x0604);
	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_ID_COUNTS_1, 4), 0x2040a);
	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_CORE_MASKS_G14X, 4), UINT32_MAX);
	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_CORE_MASKS_G14X + 4, 4), UINT32_MAX);
	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_CORE_MASKS_G14X + 8, 4), 0xffff);
	assert_rule(m, REG_UNKNOWN, 0);
	vagx_sgx_read(sgx, AGX_SGX_CORE_MASK_0, 4);
	vagx_sgx_read(sgx, AGX_SGX_FAULT_INFO, 8);
	assert_rule(m, REG_UNKNOWN, 2);
	vagx_sgx_free(sgx);
}

/* Whatever bits of unknown meaning are beside them, the counts are those of the SoC */
static void counts_of_each_soc(void **state)
{
	struct machine *m = *state;
	const struct vagx_soc *soc;

	for (unsigned int i = 0; (soc = vagx_soc_at(i)); i++) {
		struct vagx_sgx *sgx = sgx_of(m, soc->name);
		uint32_t counts = vagx_sgx_read(sgx, AGX_SGX_ID_COUNTS_1, 4);
		uint32_t clusters = vagx_sgx_read(sgx, AGX_SGX_ID_CLUSTERS, 4);

		assert_int_equal(counts & AGX_ID_CORES_MASK, soc->id.cores);
		if (soc->id.generation == AGX_ID_GENERATION_G14X)
			assert_int_equal((counts >> 8 & 0xff) * (counts >> 16 & 0xf),
					 soc->id.clusters);
		else
			assert_int_equal(clusters >> 12 & 0xff, soc->id.clusters);
		assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_ID_COUNTS_2, 4) >> 16 & 0xff, 4);
		assert_int_equal(vagx_gpu_active_cores(&soc->id), vagx_soc_cores(soc));
		vagx_sgx_free(sgx);
	}
}

/* Cores that were fused off are missing in the masks, and counted all the same */
static void binned(void **state)
{
	struct machine *m = *state;
	struct vagx_gpu_id id = vagx_soc_find("t8103")->id;
	struct vagx_sgx *sgx;

	id.core_mask[0] = 0xfe;
	sgx = vagx_sgx_new(&id, m->report);
	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_CORE_MASK_0, 4), 0xfe);
	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_CORE_MASK_1, 4), 0);
	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_ID_COUNTS_1, 4), 0x30808);
	assert_int_equal(vagx_gpu_active_cores(&id), 7);
	vagx_sgx_free(sgx);

	/* Masks of ten bits, over the end of a word; one cluster without any core */
	id = vagx_soc_find("t6022")->id;
	for (unsigned int i = 0; i < 8; i++)
		id.core_mask[i] = 0x3ff;
	id.core_mask[3] = 0x1fe;
	id.core_mask[7] = 0;
	sgx = vagx_sgx_new(&id, m->report);
	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_CORE_MASKS_G14X, 4), 0xbfffffff);
	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_CORE_MASKS_G14X + 4, 4), 0xffffff7f);
	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_CORE_MASKS_G14X + 8, 4), 0x3f);
	assert_int_equal(vagx_gpu_active_cores(&id), 68);
	vagx_sgx_free(sgx);
}

static void fault_registers_of_g14x(void **state)
{
	const struct vagx_uat_fault fault = {
		.va = 0x7fdeadbec0, .slot = 63, .access = VAGX_WRITE,
		.reason = VAGX_FAULT_READ_ONLY,
	};
	struct machine *m = *state;
	struct vagx_sgx *sgx = sgx_of(m, "t6020");
	uint64_t info;

	vagx_sgx_set_fault(sgx, &fault, 0xd0);
	info = vagx_sgx_read(sgx, AGX_SGX_FAULT_INFO_G14X, 8);
	assert_true(info & AGX_FAULT_VALID);
	assert_int_equal(info >> AGX_FAULT_ADDR_SHIFT, 0);
	assert_int_equal(info >> AGX_FAULT_UNIT_SHIFT & AGX_FAULT_UNIT_MASK, 0xd0);
	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_FAULT_ADDR_G14X, 8) << 6, fault.va);
	assert_rule(m, REG_UNKNOWN, 0);
	vagx_sgx_write(sgx, AGX_SGX_FAULT_ADDR_G14X, 8, 0);
	assert_rule(m, REG_READ_ONLY, 1);
	vagx_sgx_reset(sgx);
	assert_int_equal(vagx_sgx_read(sgx, AGX_SGX_FAULT_INFO_G14X, 8), 0);
	vagx_sgx_free(sgx);
}

static void count_fire(void *ctx, unsigned int irq)
{
	unsigned int *fired = ctx;

	fired[irq]++;
}

static void carrier(void **state)
{
	struct machine *m = *state;
	unsigned int fired[VAGX_MAILBOX_IRQ_COUNT] = { 0 };
	struct vagx_mailbox_config config = {
		.report = m->report, .fire = count_fire, .ctx = fired,
	};
	struct vagx_carrier_regs regs = {
		.report = m->report,
		.clock = vagx_clock_new(),
		.mailbox = vagx_mailbox_new(&config),
	};
	uint64_t host, now;

	assert_int_equal(vagx_carrier_read(&regs, VAGX_CARRIER_ID, 8),
			 0x158474156ULL);
	vagx_carrier_write(&regs, VAGX_CARRIER_REEVALUATE, 8, 0xf);
	assert_int_equal(fired[VAGX_MAILBOX_SEND_EMPTY], 1);
	assert_int_equal(fired[VAGX_MAILBOX_RECV_NOT_EMPTY], 0);
	assert_int_equal(vagx_carrier_read(&regs, VAGX_CARRIER_LEVELS, 8),
			 1 << VAGX_MAILBOX_SEND_EMPTY | 1 << VAGX_MAILBOX_RECV_EMPTY);
	vagx_mailbox_send(regs.mailbox, 0, 1, false);
	assert_int_equal(vagx_carrier_read(&regs, VAGX_CARRIER_LEVELS, 8),
			 1 << VAGX_MAILBOX_SEND_EMPTY | 1 << VAGX_MAILBOX_RECV_NOT_EMPTY);
	assert_int_equal(fired[VAGX_MAILBOX_RECV_NOT_EMPTY], 1);

	assert_int_equal(vagx_clock_frequency(regs.clock), 24000000);
	host = vagx_carrier_read(&regs, VAGX_CARRIER_HOST_TIME, 8);
	/* A sample without a frequency is none */
	vagx_carrier_write(&regs, VAGX_CARRIER_SAMPLE_HOST_TIME, 8, host);
	assert_int_equal(vagx_clock_frequency(regs.clock), 24000000);
	vagx_carrier_write(&regs, VAGX_CARRIER_COUNTER_RATE, 8, 1000000000);
	vagx_carrier_write(&regs, VAGX_CARRIER_SAMPLE_COUNTER, 8, 1ULL << 60);
	vagx_carrier_write(&regs, VAGX_CARRIER_SAMPLE_HOST_TIME, 8, host);
	now = vagx_clock_now(regs.clock);
	assert_true(now >= 1ULL << 60 && now < (1ULL << 60) + 10000000000);
	assert_int_equal(vagx_clock_frequency(regs.clock), 1000000000);
	/* More than CNTFRQ_EL0 can say, which nothing is computed with */
	vagx_carrier_write(&regs, VAGX_CARRIER_COUNTER_RATE, 8, ~0ULL);
	vagx_carrier_write(&regs, VAGX_CARRIER_SAMPLE_HOST_TIME, 8, ~0ULL);
	assert_int_equal(vagx_clock_frequency(regs.clock), 1000000000);
	vagx_clock_now(regs.clock);
	vagx_carrier_write(&regs, VAGX_CARRIER_COUNTER_RATE, 8, UINT32_MAX);
	vagx_carrier_write(&regs, VAGX_CARRIER_SAMPLE_HOST_TIME, 8, ~0ULL);
	assert_int_equal(vagx_clock_frequency(regs.clock), UINT32_MAX);
	vagx_clock_now(regs.clock);
	/* A sample from the future */
	vagx_clock_set(regs.clock, 1000000000, 5000000000,
		       vagx_clock_host_ns() + 1000000000);
	assert_true(vagx_clock_now(regs.clock) < 5000000000);

	assert_false(vagx_report_failed(m->report));
	vagx_carrier_write(&regs, VAGX_CARRIER_ID, 8, 0);
	assert_rule(m, REG_READ_ONLY, 1);
	vagx_carrier_read(&regs, VAGX_CARRIER_COUNTER_RATE, 8);
	vagx_carrier_write(&regs, 0x3ff8, 8, 0);
	assert_rule(m, REG_UNKNOWN, 2);
	vagx_mailbox_free(regs.mailbox);
	vagx_clock_free(regs.clock);
}

static uint32_t config32(struct vagx_pci *pci, unsigned int offset)
{
	uint32_t value;

	vagx_pci_config_read(pci, offset, &value, sizeof(value));
	return value;
}

static void bars_are_sized(void **state)
{
	static const uint32_t ones = ~0U;
	struct vagx_pci pci = { 0 };

	vagx_pci_init(&pci);
	assert_int_equal(config32(&pci, PCI_VENDOR_ID), 0x10f01af4);
	assert_int_equal(config32(&pci, PCI_CLASS_REVISION) >> 8, 0x120000);
	vagx_pci_config_write(&pci, PCI_VENDOR_ID, &ones, 4);
	assert_int_equal(config32(&pci, PCI_VENDOR_ID), 0x10f01af4);
	for (unsigned int bar = 0; bar < VAGX_PCI_BARS; bar++) {
		unsigned int offset = PCI_BASE_ADDRESS_0 + bar * 4;
		uint64_t size = vagx_pci_bar_size(bar);

		vagx_pci_config_write(&pci, offset, &ones, 4);
		assert_int_equal(config32(&pci, offset),
				 size ? (uint32_t)~(size - 1) : 0);
	}
	vagx_pci_reset(&pci);
	assert_int_equal(config32(&pci, PCI_BASE_ADDRESS_0), 0);
	/* The capability: four vectors, table and pending bits in BAR 2 */
	assert_int_equal(pci.config[PCI_CAPABILITY_LIST], 0x40);
	assert_int_equal(config32(&pci, 0x40), 0x00030011);
	assert_int_equal(config32(&pci, 0x44), 2);
	assert_int_equal(config32(&pci, 0x48), 0x802);
	vagx_pci_config_write(&pci, 0x40, &ones, 4);
	assert_int_equal(config32(&pci, 0x40), 0xc0030011);
	vagx_pci_fini(&pci);
}

static bool readable(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, 0) == 1;
}

static void vectors_fire(void **state)
{
	struct vagx_pci pci = { 0 };
	uint64_t pending, count;
	uint8_t entry[16];
	int a = eventfd(0, EFD_NONBLOCK), b = eventfd(0, EFD_NONBLOCK);

	vagx_pci_init(&pci);
	vagx_pci_fire(&pci, 3);
	vagx_pci_msix_read(&pci, 0x800, &pending, sizeof(pending));
	assert_int_equal(pending, 8);
	vagx_pci_set_vector(&pci, 3, dup(a));
	assert_true(readable(a));
	vagx_pci_msix_read(&pci, 0x800, &pending, sizeof(pending));
	assert_int_equal(pending, 0);
	assert_int_equal(read(a, &count, 8), 8);

	vagx_pci_set_vector(&pci, 3, dup(b));
	vagx_pci_fire(&pci, 3);
	assert_true(readable(b));
	assert_false(readable(a));
	vagx_pci_set_vector(&pci, 3, -1);

	memset(entry, 0xff, sizeof(entry));
	vagx_pci_msix_write(&pci, 0x10, entry, sizeof(entry));
	vagx_pci_msix_read(&pci, 0x10, entry, sizeof(entry));
	assert_int_equal(entry[11], 0xff);
	assert_int_equal(entry[12], 1);
	assert_int_equal(entry[13], 0);
	vagx_pci_msix_write(&pci, VAGX_PCI_BAR_MSIX_SIZE - 16, entry, sizeof(entry));
	vagx_pci_fini(&pci);
	close(a);
	close(b);
}

struct shooter {
	struct vagx_pci pci;
	bool stop;			/* atomic */
};

static void *shoot(void *arg)
{
	struct shooter *s = arg;

	while (!__atomic_load_n(&s->stop, __ATOMIC_ACQUIRE))
		vagx_pci_fire(&s->pci, 0);
	return NULL;
}

/* Descriptors come and go while another thread fires */
static void vectors_change(void **state)
{
	uint64_t full = UINT64_MAX - 1;
	struct shooter s = { 0 };
	pthread_t thread;
	int fd, other;

	vagx_pci_init(&s.pci);
	/* Nobody reads this one, and it was made to block */
	fd = eventfd(0, 0);
	assert_int_equal(write(fd, &full, sizeof(full)), sizeof(full));
	vagx_pci_set_vector(&s.pci, 0, fd);
	vagx_pci_fire(&s.pci, 0);

	assert_int_equal(pthread_create(&thread, NULL, shoot, &s), 0);
	for (unsigned int i = 0; i < 2000; i++) {
		vagx_pci_set_vector(&s.pci, 0, eventfd(0, 0));
		vagx_pci_set_vector(&s.pci, 0, -1);
		/* Takes the number that has just become free */
		other = eventfd(0, EFD_NONBLOCK);
		assert_false(readable(other));
		close(other);
	}
	__atomic_store_n(&s.stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	/* Not a descriptor at all */
	vagx_pci_set_vector(&s.pci, 0, 1000000);
	vagx_pci_fire(&s.pci, 0);
	vagx_pci_fini(&s.pci);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(gpu_says_who_it_is, setup, teardown),
		cmocka_unit_test_setup_teardown(ultras_say_who_they_are, setup, teardown),
		cmocka_unit_test_setup_teardown(counts_of_each_soc, setup, teardown),
		cmocka_unit_test_setup_teardown(binned, setup, teardown),
		cmocka_unit_test_setup_teardown(fault_register, setup, teardown),
		cmocka_unit_test_setup_teardown(fault_bits, setup, teardown),
		cmocka_unit_test_setup_teardown(fault_registers_of_g14x, setup, teardown),
		cmocka_unit_test_setup_teardown(carrier, setup, teardown),
		cmocka_unit_test(bars_are_sized),
		cmocka_unit_test(vectors_fire),
		cmocka_unit_test(vectors_change),
	};

	return cmocka_run_group_tests_name("registers", tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The device as a whole. It builds all parts and connects them by callbacks, sends accesses to BAR
 * 0 to the block of registers that has the offset (device_blocks), and holds the coprocessor's
 * FIFO while its CPU does not read it (HELD_*).
 *
 * The MMIO thread does nearly all of it: device_serve() waits in poll() for vfio-user's client,
 * signals, the control socket and @wake_fd. The firmware's threads call device_firmware_*(), and
 * any thread that changes a level of the mailbox calls device_fire(). Those touch only what has a
 * lock of its own (mailbox, RTKit, PCI function), the registers of a fault, which are atomic, and
 * @held, which is atomic, too. So there is no lock here.
 */
#include <errno.h>
#include <limits.h>
#include <linux/vfio.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agx/agx_regs.h"
#include "agx_stream.h"
#include "carrier_regs.h"
#include "clock.h"
#include "control.h"
#include "device.h"
#include "draw.h"
#include "firmware/firmware.h"
#include "gpu/gpu.h"
#include "gpu/trace.h"
#include "guest_memory.h"
#include "mailbox.h"
#include "pci.h"
#include "pmgr.h"
#include "report.h"
#include "rtkit.h"
#include "sgx.h"
#include "snoop.h"
#include "soc.h"
#include "uat.h"
#include "vfio_user.h"

/* BAR 0 */
#define ASC_BASE	0
#define MAILBOX_BASE	(ASC_BASE + 0x8000)
#define PMGR_BASE	0x50000
#define SGX_BASE	0x1000000

/* Source: m1n1 hw/asc.py */
#define CPU_STATUS		0x48
#define CPU_STATUS_RUNNING	(1U << 0)
#define CPU_STATUS_STOPPED	(1U << 1)
#define CPU_STATUS_IDLE		(1U << 5)

/* How often the MMIO thread looks whether a late message is due */
#define DELAY_POLL_MS		5
/* Between two pauses the coprocessor takes PAUSE_GAP messages and up to PAUSE_GAP_DRAW - 1 more */
#define PAUSE_GAP		100
#define PAUSE_GAP_DRAW		201

/* Why the coprocessor leaves messages in its FIFO */
enum {
	HELD_DEAF = 1 << 0,		/* the firmware has halted, or is silent */
	HELD_FULL = 1 << 1,		/* the control socket wants it full */
	HELD_STOPPED = 1 << 2,		/* the CPU has stopped without being told */
	HELD_PAUSE = 1 << 3,		/* it comes to them later */
};

struct vagx_device {
	struct vagx_report *report;
	struct vagx_mem *mem;
	struct vagx_clock *clock;
	struct vagx_uat *uat;
	struct vagx_boot *boot;
	struct vagx_mailbox *mailbox;
	struct vagx_sgx *sgx;
	struct vagx_rtkit *rtkit;
	struct vagx_trace *trace;	/* of @gpu, or NULL */
	struct vagx_gpu *gpu;
	struct vagx_firmware *firmware;
	struct vagx_carrier_regs carrier;
	struct vagx_pmgr pmgr;
	struct vagx_pci pci;
	uint32_t cpu_control;
	uint64_t seed;
	unsigned int mailbox_delay_ms;	/* of a pause, at most; 0: there are none */
	uint64_t pauses;		/* so far */
	unsigned int until_pause;	/* messages */
	uint64_t pause_ends_ns;		/* 0: none goes on */
	unsigned int held;		/* atomic, HELD_* */
	int wake_fd;			/* eventfd: look at the FIFO again */
	struct vagx_control *control;
	void (*command)(struct vagx_device *device, char *line, char *answer, size_t size);
	struct vagx_snoop *snoop;
};

static bool device_is_held(struct vagx_device *device)
{
	return __atomic_load_n(&device->held, __ATOMIC_ACQUIRE) ||
	       vagx_rtkit_is_crashed(device->rtkit);
}

static void device_hold(struct vagx_device *device, unsigned int reason)
{
	__atomic_or_fetch(&device->held, reason, __ATOMIC_RELEASE);
}

/* Any thread. Wakes the MMIO thread, which takes the messages that have come meanwhile. */
static void device_let_go(struct vagx_device *device, unsigned int reason)
{
	__atomic_and_fetch(&device->held, ~reason, __ATOMIC_RELEASE);
	eventfd_write(device->wake_fd, 1);
}

static void device_fire(void *ctx, unsigned int irq)
{
	struct vagx_device *device = ctx;

	vagx_pci_fire(&device->pci, irq);
}

/* Callbacks of the firmware, on its threads */

static void device_firmware_send(void *ctx, uint8_t ep, uint64_t msg)
{
	struct vagx_device *device = ctx;

	vagx_rtkit_send(device->rtkit, ep, msg);
}

static void device_firmware_set_fault(void *ctx, const struct vagx_uat_fault *fault,
				      unsigned int unit)
{
	struct vagx_device *device = ctx;

	vagx_sgx_set_fault(device->sgx, fault, unit);
}

static void device_firmware_set_fault_value(void *ctx, uint64_t value)
{
	struct vagx_device *device = ctx;

	vagx_sgx_set_fault_value(device->sgx, value);
}

static void device_firmware_set_deaf(void *ctx, bool deaf)
{
	struct vagx_device *device = ctx;

	if (deaf)
		device_hold(device, HELD_DEAF);
	else
		device_let_go(device, HELD_DEAF);
}

static void device_firmware_crashed(void *ctx, const char *message)
{
	struct vagx_device *device = ctx;

	vagx_rtkit_crash(device->rtkit, message);
}

/* Callbacks of RTKit, on the MMIO thread */

static void device_rtkit_start(void *ctx)
{
	struct vagx_device *device = ctx;

	vagx_boot_start(device->boot, device->mem);
	vagx_fw_start(device->firmware);
}

static void device_rtkit_message(void *ctx, uint8_t ep, uint64_t msg)
{
	struct vagx_device *device = ctx;

	vagx_fw_message(device->firmware, ep, msg);
}

static void device_rtkit_quiesce(void *ctx)
{
	struct vagx_device *device = ctx;

	vagx_fw_quiesce(device->firmware);
}

static void device_rtkit_wake(void *ctx)
{
	struct vagx_device *device = ctx;

	vagx_fw_wake(device->firmware);
}

static const struct vagx_rtkit_ops device_rtkit_ops = {
	.start = device_rtkit_start,
	.message = device_rtkit_message,
	.quiesce = device_rtkit_quiesce,
	.wake = device_rtkit_wake,
};

/* Callbacks of the power manager, on the MMIO thread */

static void device_lose_state(struct vagx_device *device)
{
	device_let_go(device, HELD_FULL | HELD_STOPPED | HELD_PAUSE);
	vagx_rtkit_reset(device->rtkit);
	vagx_sgx_reset(device->sgx);
	vagx_uat_forget(device->uat);
	device->cpu_control = 0;
	device->pause_ends_ns = 0;
}

/*
 * The power domain loses its state: coprocessor, mailbox, MMU, units. Guest memory and the vectors
 * of the PCI function are outside of it.
 */
static void device_power_cut(void *ctx)
{
	struct vagx_device *device = ctx;

	vagx_log(device->report, VAGX_LOG_INFO, "the GPU's power domain is cut");
	/* A thread of the firmware may wait for room in the FIFO, which only this one can make */
	vagx_mailbox_close(device->mailbox);
	vagx_fw_cut(device->firmware);
	vagx_mailbox_set_power(device->mailbox, false);
	vagx_mailbox_open(device->mailbox);
	device_lose_state(device);
}

static void device_power_back(void *ctx)
{
	struct vagx_device *device = ctx;

	vagx_log(device->report, VAGX_LOG_INFO, "the GPU's power domain is back");
	vagx_mailbox_set_power(device->mailbox, true);
}

static bool device_build_firmware(struct vagx_device *device,
				  const struct vagx_device_config *config)
{
	bool soft_faults = vagx_boot_soft_faults(device->boot);
	struct vagx_gpu_config gpu = {
		.uat = device->uat,
		.report = device->report,
		.clock = device->clock,
		.units = config->soc->units,
		.cores = config->cores,
		.jit = config->jit,
		.sanitizer = config->sanitizer,
		.seed = config->unkind,
		.no_exec = config->no_exec,
		.soft_faults = soft_faults,
		.stream_features =
			config->soc->id.generation == AGX_ID_GENERATION_G14X ?
			AGX_STREAM_G14X : 0,
	};
	struct vagx_fw_config fw = {
		.mem = device->mem,
		.uat = device->uat,
		.report = device->report,
		.clock = device->clock,
		.soc = config->soc,
		.abi = config->firmware,
		.handoff =
			config->boot.regions.region[VAGX_REGION_HANDOFF].base,
		.job_timeout_ms = config->job_timeout_ms,
		.halt_delay_ms = config->halt_delay_ms,
		.event_delay_ms = config->event_delay_ms,
		.doorbell_delay_ms = config->doorbell_delay_ms,
		.serial = config->serial,
		.unfair = config->unfair,
		.statistics = config->statistics,
		.late_threshold = config->late_threshold,
		.tvb_pages = config->tvb_pages,
		.tvb_grow = config->tvb_grow,
		.dump = config->dump,
		.no_exec = config->no_exec,
		.seed = config->seed,
		.power_off = config->power_off,
		.poison = config->poison,
		.soft_faults = soft_faults,
		.send = device_firmware_send,
		.set_fault_regs = device_firmware_set_fault,
		.set_fault_value = device_firmware_set_fault_value,
		.set_deaf = device_firmware_set_deaf,
		.crashed = device_firmware_crashed,
		.ctx = device,
	};

	if (config->trace) {
		device->trace = vagx_trace_open(config->trace, device->clock);
		if (!device->trace) {
			vagx_log(device->report, VAGX_LOG_ERROR, "%s: %s", config->trace,
				 strerror(errno));
			return false;
		}
	}
	gpu.trace = device->trace;
	device->gpu = vagx_gpu_new(&gpu);
	if (!device->gpu)
		return false;
	fw.gpu = device->gpu;
	device->firmware = vagx_fw_new(&fw);
	return device->firmware;
}

static bool device_build(struct vagx_device *device,
			 const struct vagx_device_config *config)
{
	const struct vagx_regions *regions = &config->boot.regions;
	struct vagx_boot_config boot = config->boot;
	struct vagx_uat_config uat = {
		.report = device->report,
		.ttbs = regions->region[VAGX_REGION_TTBS].base,
		.oas_bits = config->soc->oas_bits,
		.poison = config->poison,
		.write_back = config->write_back,
		.seed = config->seed,
	};
	struct vagx_mailbox_config mailbox = {
		.report = device->report,
		.fire = device_fire,
		.ctx = device,
	};
	struct vagx_rtkit_config rtkit = {
		.report = device->report,
		.version = config->firmware,
		.ops = &device_rtkit_ops,
		.ctx = device,
	};

	boot.report = device->report;
	boot.soc = config->soc;
	boot.firmware = config->firmware;
	device->boot = vagx_boot_new(&boot);
	device->mem = vagx_mem_new();
	device->clock = vagx_clock_new();
	if (!device->boot || !device->mem || !device->clock)
		return false;

	uat.mem = device->mem;
	/* Only forgiven accesses go on where nothing is mapped */
	uat.keep_holes = config->keep_holes && vagx_boot_soft_faults(device->boot);
	device->uat = vagx_uat_new(&uat);
	device->mailbox = vagx_mailbox_new(&mailbox);
	device->sgx = vagx_sgx_new(&config->soc->id, device->report);
	if (device->sgx && config->fault_bits)
		vagx_sgx_vary_faults(device->sgx, config->seed);
	rtkit.uat = device->uat;
	rtkit.mailbox = device->mailbox;
	device->rtkit = vagx_rtkit_new(&rtkit);
	if (!device->uat || !device->mailbox || !device->sgx || !device->rtkit)
		return false;

	device->carrier = (struct vagx_carrier_regs) {
		.report = device->report,
		.clock = device->clock,
		.mailbox = device->mailbox,
	};
	device->pmgr = (struct vagx_pmgr) {
		.report = device->report,
		.cut = device_power_cut,
		.back = device_power_back,
		.ctx = device,
	};
	vagx_pmgr_reset(&device->pmgr);
	return device_build_firmware(device, config);
}

static void device_obey(void *ctx, char *line, char *answer, size_t size)
{
	struct vagx_device *device = ctx;

	device->command(device, line, answer, size);
}

static bool device_open_control(struct vagx_device *device, const char *path)
{
	struct vagx_control_config config = {
		.report = device->report,
		.path = path,
		.command = device_obey,
		.ctx = device,
	};

	if (!path)
		return true;
	device->control = vagx_control_new(&config);
	if (!device->control)
		vagx_log(device->report, VAGX_LOG_ERROR, "%s: %s", path,
			 strerror(errno));
	return device->control;
}

static bool device_open_snoop(struct vagx_device *device, const char *path)
{
	if (!path)
		return true;
	device->snoop = vagx_snoop_new(path, device->uat, device->report);
	if (!device->snoop)
		vagx_log(device->report, VAGX_LOG_ERROR, "%s: %s", path, strerror(errno));
	return device->snoop;
}

/* Two pauses are never so close that one wait for an answer can meet both */
static unsigned int device_draw_until_pause(const struct vagx_device *device)
{
	if (!device->mailbox_delay_ms)
		return UINT_MAX;
	return PAUSE_GAP + vagx_draw(device->seed, VAGX_DRAW_PAUSE_GAP, device->pauses, 0) %
				   PAUSE_GAP_DRAW;
}

struct vagx_device *vagx_device_new(const struct vagx_device_config *config)
{
	struct vagx_device *device = calloc(1, sizeof(*device));

	if (!device)
		return NULL;

	device->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	device->report = config->report;
	device->command = config->command;
	device->seed = config->seed;
	device->mailbox_delay_ms = config->mailbox_delay_ms;
	device->until_pause = device_draw_until_pause(device);
	vagx_pci_init(&device->pci);
	if (device->wake_fd < 0 || !device_build(device, config) ||
	    !device_open_control(device, config->control) ||
	    !device_open_snoop(device, config->tlbi)) {
		vagx_log(device->report, VAGX_LOG_ERROR,
			 "the device cannot be built: %s", strerror(errno));
		vagx_device_free(device);
		return NULL;
	}
	return device;
}

uint64_t vagx_device_findings(struct vagx_device *device)
{
	return vagx_gpu_findings(device->gpu);
}

void vagx_device_free(struct vagx_device *device)
{
	if (!device)
		return;

	/* A firmware thread may wait for a guest that reads nothing any more */
	if (device->mailbox)
		vagx_mailbox_close(device->mailbox);
	vagx_snoop_free(device->snoop);
	vagx_fw_free(device->firmware);
	vagx_gpu_free(device->gpu);
	if (vagx_trace_close(device->trace))
		vagx_log(device->report, VAGX_LOG_ERROR, "the trace is not complete");
	vagx_rtkit_free(device->rtkit);
	vagx_sgx_free(device->sgx);
	vagx_mailbox_free(device->mailbox);
	vagx_uat_free(device->uat);
	vagx_clock_free(device->clock);
	vagx_mem_free(device->mem);
	vagx_boot_free(device->boot);
	vagx_pci_fini(&device->pci);
	vagx_control_free(device->control);
	if (device->wake_fd >= 0)
		close(device->wake_fd);
	free(device);
}

/* The coprocessor's control registers */

static uint64_t device_asc_read(struct vagx_device *device, uint64_t offset,
				size_t size)
{
	switch (offset) {
	case AGX_ASC_CPU_CONTROL:
		return device->cpu_control;
	case CPU_STATUS:
		return device->cpu_control & AGX_ASC_CPU_CONTROL_RUN ?
			CPU_STATUS_RUNNING | CPU_STATUS_IDLE :
			CPU_STATUS_STOPPED;
	}
	vagx_violation(device->report, VAGX_RULE_REG_UNKNOWN, offset, "asc",
		       "read of %zu bytes", size);
	return 0;
}

/* Messages in the FIFO were meant for the CPU before it stopped, so they are dropped */
static void device_start_cpu(struct vagx_device *device)
{
	if (__atomic_load_n(&device->held, __ATOMIC_ACQUIRE) & HELD_STOPPED) {
		vagx_mailbox_set_power(device->mailbox, true);
		device_let_go(device, HELD_STOPPED);
	}
	vagx_rtkit_start_cpu(device->rtkit);
}

static void device_asc_write(struct vagx_device *device, uint64_t offset, size_t size,
			     uint64_t value)
{
	switch (offset) {
	case AGX_ASC_CPU_CONTROL:
		device->cpu_control = value;
		if (value & AGX_ASC_CPU_CONTROL_RUN)
			device_start_cpu(device);
		return;
	case CPU_STATUS:
		vagx_violation(device->report, VAGX_RULE_REG_READ_ONLY, offset,
			       "asc", "write of 0x%llx",
			       (unsigned long long)value);
		return;
	}
	vagx_violation(device->report, VAGX_RULE_REG_UNKNOWN, offset, "asc",
		       "write of %zu bytes, 0x%llx", size,
		       (unsigned long long)value);
}

/* Lets the next message wait, and those behind it, for up to @mailbox_delay_ms by the seed */
static void device_begin_pause(struct vagx_device *device)
{
	uint64_t draw = vagx_draw(device->seed, VAGX_DRAW_PAUSE, device->pauses, 0);

	device->pause_ends_ns =
		vagx_clock_host_ns() + draw % (device->mailbox_delay_ms * UINT64_C(1000000)) + 1;
	device->pauses++;
	device->until_pause = device_draw_until_pause(device);
	device_hold(device, HELD_PAUSE);
}

static void device_drain(struct vagx_device *device)
{
	unsigned int taken;

	if (device_is_held(device)) {
		vagx_mailbox_settle(device->mailbox);
		return;
	}
	taken = vagx_rtkit_process(device->rtkit, device->until_pause);
	if (!device->mailbox_delay_ms)
		return;
	device->until_pause -= taken;
	if (!device->until_pause && vagx_mailbox_waiting(device->mailbox))
		device_begin_pause(device);
}

static void device_mailbox_write(struct vagx_device *device, uint64_t offset,
				 size_t size, uint64_t value)
{
	vagx_mailbox_write(device->mailbox, offset, size, value);
	device_drain(device);
}

static uint64_t device_mailbox_read(struct vagx_device *device, uint64_t offset,
				    size_t size)
{
	return vagx_mailbox_read(device->mailbox, offset, size);
}

static uint64_t device_carrier_read(struct vagx_device *device, uint64_t offset,
				    size_t size)
{
	return vagx_carrier_read(&device->carrier, offset, size);
}

static void device_carrier_write(struct vagx_device *device, uint64_t offset,
				 size_t size, uint64_t value)
{
	vagx_carrier_write(&device->carrier, offset, size, value);
}

static uint64_t device_pmgr_read(struct vagx_device *device, uint64_t offset,
				 size_t size)
{
	return vagx_pmgr_read(&device->pmgr, offset, size);
}

static void device_pmgr_write(struct vagx_device *device, uint64_t offset,
			      size_t size, uint64_t value)
{
	vagx_pmgr_write(&device->pmgr, offset, size, value);
}

static uint64_t device_sgx_read(struct vagx_device *device, uint64_t offset,
				size_t size)
{
	return vagx_sgx_read(device->sgx, offset, size);
}

static void device_sgx_write(struct vagx_device *device, uint64_t offset, size_t size,
			     uint64_t value)
{
	vagx_sgx_write(device->sgx, offset, size, value);
}

/* BAR 0; the first block that has an offset serves it */
static const struct block {
	const char *name;
	uint64_t base, size;
	bool in_domain;			/* of power */
	uint64_t (*read)(struct vagx_device *device, uint64_t offset,
			 size_t size);
	void (*write)(struct vagx_device *device, uint64_t offset, size_t size,
		      uint64_t value);
} device_blocks[] = {
	{ "sgx", SGX_BASE, AGX_SGX_SIZE, true, device_sgx_read, device_sgx_write },
	{ "pmgr", PMGR_BASE, VAGX_PMGR_SIZE, false, device_pmgr_read, device_pmgr_write },
	{ "carrier", VAGX_CARRIER_PAGE, VAGX_CARRIER_PAGE_SIZE, false, device_carrier_read,
	  device_carrier_write },
	{ "mailbox", MAILBOX_BASE, VAGX_MAILBOX_SIZE, true, device_mailbox_read,
	  device_mailbox_write },
	/* All other offsets below SGX_BASE */
	{ "asc", ASC_BASE, SGX_BASE, true, device_asc_read, device_asc_write },
};

static const struct block *device_find_block(uint64_t offset)
{
	const struct block *block = device_blocks;

	while (offset < block->base || offset - block->base >= block->size)
		block++;
	return block;
}

/* Without power a real bus answers with an error; here reads give 0 and writes vanish */
static bool device_reachable(struct vagx_device *device, const struct block *block,
			     uint64_t offset, const char *what)
{
	if (!block->in_domain || vagx_pmgr_is_on(&device->pmgr))
		return true;
	vagx_violation(device->report, VAGX_RULE_REG_UNPOWERED,
		       offset - block->base, block->name,
		       "%s while the domain's register is 0x%08x", what,
		       device->pmgr.gfx);
	return false;
}

static uint64_t device_register_read(struct vagx_device *device, uint64_t offset,
				     size_t size)
{
	const struct block *block = device_find_block(offset);

	if (!device_reachable(device, block, offset, "read"))
		return 0;
	return block->read(device, offset - block->base, size);
}

static void device_register_write(struct vagx_device *device, uint64_t offset,
				  size_t size, uint64_t value)
{
	const struct block *block = device_find_block(offset);

	if (device_reachable(device, block, offset, "write"))
		block->write(device, offset - block->base, size, value);
}

/* Whether an access is one that registers take: 4 or 8 bytes, aligned */
static bool device_is_register_access(uint64_t offset, size_t len)
{
	return (len == 4 || len == 8) && offset % len == 0;
}

/* Operations of the vfio-user client, on the MMIO thread */

static int device_region_read(void *ctx, uint32_t region, uint64_t offset, void *buf,
			      size_t len)
{
	struct vagx_device *device = ctx;
	uint64_t value;

	switch (region) {
	case VFIO_PCI_CONFIG_REGION_INDEX:
		vagx_pci_config_read(&device->pci, offset, buf, len);
		return 0;
	case VFIO_PCI_BAR2_REGION_INDEX:
		vagx_pci_msix_read(&device->pci, offset, buf, len);
		return 0;
	case VFIO_PCI_BAR0_REGION_INDEX:
		if (!device_is_register_access(offset, len))
			return -EINVAL;
		value = device_register_read(device, offset, len);
		memcpy(buf, &value, len);
		vagx_log(device->report, VAGX_LOG_TRACE,
			 "register 0x%llx is 0x%llx",
			 (unsigned long long)offset,
			 (unsigned long long)value);
		return 0;
	}
	return -EINVAL;
}

static int device_region_write(void *ctx, uint32_t region, uint64_t offset,
			       const void *buf, size_t len)
{
	struct vagx_device *device = ctx;
	uint64_t value = 0;

	switch (region) {
	case VFIO_PCI_CONFIG_REGION_INDEX:
		vagx_pci_config_write(&device->pci, offset, buf, len);
		return 0;
	case VFIO_PCI_BAR2_REGION_INDEX:
		vagx_pci_msix_write(&device->pci, offset, buf, len);
		return 0;
	case VFIO_PCI_BAR0_REGION_INDEX:
		if (!device_is_register_access(offset, len))
			return -EINVAL;
		memcpy(&value, buf, len);
		vagx_log(device->report, VAGX_LOG_TRACE,
			 "register 0x%llx becomes 0x%llx",
			 (unsigned long long)offset,
			 (unsigned long long)value);
		device_register_write(device, offset, len, value);
		return 0;
	}
	return -EINVAL;
}

static int device_dma_map(void *ctx, uint64_t address, uint64_t size, bool writable,
			  int fd, uint64_t offset)
{
	struct vagx_device *device = ctx;
	int ret;

	ret = vagx_mem_map(device->mem, address, size, fd, offset,
			   VAGX_MEM_READ | (writable ? VAGX_MEM_WRITE : 0));
	vagx_log(device->report, VAGX_LOG_DEBUG,
		 "memory 0x%llx, 0x%llx bytes, %s%s: %s",
		 (unsigned long long)address, (unsigned long long)size,
		 writable ? "writable" : "read-only",
		 fd < 0 ? ", without a file" : "", strerror(-ret));
	if (!ret)
		vagx_boot_run(device->boot, device->mem);
	return ret;
}

static int device_dma_unmap(void *ctx, uint64_t address, uint64_t size)
{
	struct vagx_device *device = ctx;

	return vagx_mem_unmap(device->mem, address, size);
}

static int device_dma_unmap_all(void *ctx)
{
	struct vagx_device *device = ctx;

	vagx_mem_unmap_all(device->mem);
	return 0;
}

static int device_set_irq(void *ctx, uint32_t index, uint32_t vector, int fd)
{
	struct vagx_device *device = ctx;

	if (index == VFIO_PCI_MSIX_IRQ_INDEX) {
		vagx_pci_set_vector(&device->pci, vector, fd);
		return 0;
	}
	/* Bus errors do not happen; the other indices have no vectors */
	if (fd >= 0)
		close(fd);
	return index == VFIO_PCI_ERR_IRQ_INDEX ? 0 : -EINVAL;
}

static int device_trigger_irq(void *ctx, uint32_t index, uint32_t vector)
{
	struct vagx_device *device = ctx;

	if (index != VFIO_PCI_MSIX_IRQ_INDEX)
		return -EINVAL;
	vagx_pci_fire(&device->pci, vector);
	return 0;
}

static int device_reset(void *ctx)
{
	struct vagx_device *device = ctx;

	vagx_log(device->report, VAGX_LOG_INFO, "reset");
	vagx_mailbox_close(device->mailbox);
	vagx_fw_reset(device->firmware);
	vagx_mailbox_reset(device->mailbox);
	vagx_mailbox_open(device->mailbox);
	device_lose_state(device);
	vagx_pmgr_reset(&device->pmgr);
	vagx_pci_reset(&device->pci);
	vagx_boot_again(device->boot);
	vagx_boot_run(device->boot, device->mem);
	return 0;
}

static const struct vagx_vfu_ops device_vfu_ops = {
	.dma_map = device_dma_map,
	.dma_unmap = device_dma_unmap,
	.dma_unmap_all = device_dma_unmap_all,
	.region_read = device_region_read,
	.region_write = device_region_write,
	.set_irq = device_set_irq,
	.trigger_irq = device_trigger_irq,
	.reset = device_reset,
};

static const struct vagx_vfu_region device_regions[VFIO_PCI_NUM_REGIONS] = {
	[VFIO_PCI_BAR0_REGION_INDEX] = { VAGX_PCI_BAR_REGS_SIZE, true, true },
	[VFIO_PCI_BAR2_REGION_INDEX] = { VAGX_PCI_BAR_MSIX_SIZE, true, true },
	[VFIO_PCI_CONFIG_REGION_INDEX] = { VAGX_PCI_CONFIG_SIZE, true, true },
};

static const struct vagx_vfu_irq device_irqs[VFIO_PCI_NUM_IRQS] = {
	[VFIO_PCI_MSIX_IRQ_INDEX] = { VAGX_CARRIER_IRQS, true },
	[VFIO_PCI_ERR_IRQ_INDEX] = { 1, true },
};

/* Return: milliseconds for poll(), -1 when nothing waits */
static int device_mailbox_timeout(struct vagx_device *device)
{
	const bool delaying = vagx_mailbox_delaying(device->mailbox);
	uint64_t now = vagx_clock_host_ns();

	if (device->pause_ends_ns && now >= device->pause_ends_ns) {
		device->pause_ends_ns = 0;
		device_let_go(device, HELD_PAUSE);
	}
	if (delaying)
		return DELAY_POLL_MS;
	if (!device->pause_ends_ns)
		return -1;
	return device->pause_ends_ns > now ? (device->pause_ends_ns - now + 999999) / 1000000 : 0;
}

int vagx_device_crash(struct vagx_device *device, const char *text)
{
	struct vagx_fw_injection what = { .kind = VAGX_FW_INJECT_CRASH };

	if (!(device->cpu_control & AGX_ASC_CPU_CONTROL_RUN))
		return -ENODEV;
	snprintf(what.text, sizeof(what.text), "%s", text);
	/* RTKit can also crash before the firmware is up, and after it has gone */
	if (vagx_fw_inject(device->firmware, &what))
		vagx_rtkit_crash(device->rtkit, text);
	return 0;
}

void vagx_device_hold_mailbox(struct vagx_device *device, bool on)
{
	if (on)
		device_hold(device, HELD_FULL);
	else
		device_let_go(device, HELD_FULL);
}

void vagx_device_set_chatter(struct vagx_device *device, bool on)
{
	vagx_rtkit_set_chatter(device->rtkit, on);
}

void vagx_device_drop_message(struct vagx_device *device, unsigned int n)
{
	vagx_mailbox_drop(device->mailbox, n);
}

void vagx_device_delay_message(struct vagx_device *device, unsigned int n, unsigned int ms)
{
	vagx_mailbox_delay(device->mailbox, n, ms);
}

void vagx_device_power_loss(struct vagx_device *device)
{
	vagx_mailbox_lose(device->mailbox);
	vagx_pmgr_fail(&device->pmgr);
	device_hold(device, HELD_STOPPED);
}

int vagx_device_inject(struct vagx_device *device,
		       const struct vagx_fw_injection *what)
{
	return vagx_fw_inject(device->firmware, what);
}

static const char *device_yes(bool value)
{
	return value ? "yes" : "no";
}

void vagx_device_status(struct vagx_device *device, char *text, size_t size)
{
	struct vagx_maintained maintained = vagx_uat_maintained(device->uat);
	struct vagx_fw_status fw = { .state = "busy" };

	vagx_fw_get_status(device->firmware, &fw);
	snprintf(text, size,
		 "pmgr=0x%08x cpu-control=0x%x firmware=%s crashed=%s halted=%s silent=%s queues=%u mailbox-held=%s mailbox-waiting=%u mailbox-drop=%u mailbox-delay=%u grown=%u partial-renders=%u pages-zeroed=%llu pages-cleaned=%llu pages-invalidated=%llu violations=%llu",
		 device->pmgr.gfx, device->cpu_control, fw.state,
		 device_yes(vagx_rtkit_is_crashed(device->rtkit)), device_yes(fw.halted),
		 device_yes(fw.silent), fw.queues, device_yes(device_is_held(device)),
		 vagx_mailbox_waiting(device->mailbox),
		 vagx_mailbox_dropping(device->mailbox),
		 vagx_mailbox_to_delay(device->mailbox), fw.grown, fw.partial_renders,
		 (unsigned long long)maintained.zeroed, (unsigned long long)maintained.cleaned,
		 (unsigned long long)maintained.invalidated,
		 (unsigned long long)vagx_report_total(device->report,
						       VAGX_SEVERITY_VIOLATION));
}

int vagx_device_at_rest(struct vagx_device *device, bool closed, char *text, size_t size)
{
	return vagx_fw_at_rest(device->firmware, closed, text, size);
}

static void device_wake(struct vagx_device *device)
{
	eventfd_t count;

	eventfd_read(device->wake_fd, &count);
	device_drain(device);
}

static int device_serve(struct vagx_device *device, struct vagx_vfu *vfu,
			int signal_fd)
{
	enum { CLIENT, SIGNAL, LOST, WAKE, CONTROL };
	struct pollfd fds[CONTROL + VAGX_CONTROL_FDS] = {
		[CLIENT] = { .fd = vagx_vfu_fd(vfu), .events = POLLIN },
		[SIGNAL] = { .fd = signal_fd, .events = POLLIN },
		[LOST] = { .fd = vagx_mem_lost_fd(device->mem),
			   .events = POLLIN },
		[WAKE] = { .fd = device->wake_fd, .events = POLLIN },
	};

	for (;;) {
		unsigned int count = vagx_control_poll(device->control,
						       fds + CONTROL);
		int ret = poll(fds, CONTROL + count, device_mailbox_timeout(device));

		if (ret < 0 && errno != EINTR)
			return -errno;
		if (ret <= 0)
			continue;
		if (fds[LOST].revents || vagx_mem_lost(device->mem)) {
			vagx_log(device->report, VAGX_LOG_ERROR,
				 "guest memory vanished from under its mapping; closing the connection");
			return -EFAULT;
		}
		if (fds[SIGNAL].revents) {
			vagx_log(device->report, VAGX_LOG_INFO,
				 "ended by a signal");
			return 0;
		}
		if (fds[WAKE].revents)
			device_wake(device);
		vagx_control_process(device->control, fds + CONTROL, count);
		if (!fds[CLIENT].revents)
			continue;
		ret = vagx_vfu_process(vfu);
		if (ret <= 0)
			return ret;
	}
}

int vagx_device_serve(struct vagx_device *device, int fd, int signal_fd)
{
	struct vagx_vfu_config config = {
		.report = device->report,
		.ops = &device_vfu_ops,
		.ctx = device,
		.regions = device_regions,
		.num_regions = VFIO_PCI_NUM_REGIONS,
		.irqs = device_irqs,
		.num_irqs = VFIO_PCI_NUM_IRQS,
	};
	struct vagx_vfu *vfu = vagx_vfu_new(&config, fd);
	struct vagx_vfu_stats stats;
	int ret;

	if (!vfu) {
		vagx_log(device->report, VAGX_LOG_ERROR,
			 "the connection cannot be served: %s", strerror(errno));
		return -EINVAL;
	}

	ret = device_serve(device, vfu, signal_fd);
	if (ret < 0)
		vagx_log(device->report, VAGX_LOG_ERROR,
			 "the connection failed: %s", strerror(-ret));
	vagx_vfu_get_stats(vfu, &stats);
	vagx_log(device->report, VAGX_LOG_INFO,
		 "%llu register reads, %llu writes (%llu posted, %llu batches)",
		 (unsigned long long)stats.reads,
		 (unsigned long long)stats.writes,
		 (unsigned long long)stats.posted,
		 (unsigned long long)stats.batches);
	vagx_vfu_free(vfu);
	return ret;
}

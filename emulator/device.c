// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors

#include <errno.h>
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
#include "commands.h"
#include "control.h"
#include "device.h"
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

/* How often is looked whether the time of a late message has come */
#define DELAY_POLL_MS		5

/* Why the coprocessor leaves messages in its FIFO */
enum {
	HELD_DEAF = 1 << 0,		/* the firmware has halted, or is silent */
	HELD_FULL = 1 << 1,		/* the control socket wants it full */
	HELD_STOPPED = 1 << 2,		/* the CPU has stopped without being told */
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
	unsigned int mailbox_delay_ms;
	uint64_t mailbox_due_ns;	/* 0: nothing waits */
	unsigned int held;		/* atomic, HELD_* */
	int wake_fd;			/* eventfd: look at the FIFO again */
	struct vagx_control *control;
	struct vagx_snoop *snoop;
};

static bool is_held(struct vagx_device *device)
{
	return __atomic_load_n(&device->held, __ATOMIC_ACQUIRE) ||
	       vagx_rtkit_is_crashed(device->rtkit);
}

static void hold(struct vagx_device *device, unsigned int reason)
{
	__atomic_or_fetch(&device->held, reason, __ATOMIC_RELEASE);
}

/* Any thread; the MMIO thread then takes what has come meanwhile */
static void let_go(struct vagx_device *device, unsigned int reason)
{
	__atomic_and_fetch(&device->held, ~reason, __ATOMIC_RELEASE);
	eventfd_write(device->wake_fd, 1);
}

static void fire(void *ctx, unsigned int irq)
{
	struct vagx_device *device = ctx;

	vagx_pci_fire(&device->pci, irq);
}

/* What the firmware calls, on its own threads */

static void firmware_send(void *ctx, uint8_t ep, uint64_t msg)
{
	struct vagx_device *device = ctx;

	vagx_rtkit_send(device->rtkit, ep, msg);
}

static void firmware_set_fault(void *ctx, const struct vagx_uat_fault *fault,
			       unsigned int unit)
{
	struct vagx_device *device = ctx;

	vagx_sgx_set_fault(device->sgx, fault, unit);
}

static void firmware_set_fault_value(void *ctx, uint64_t value)
{
	struct vagx_device *device = ctx;

	vagx_sgx_set_fault_value(device->sgx, value);
}

static void firmware_set_deaf(void *ctx, bool deaf)
{
	struct vagx_device *device = ctx;

	if (deaf)
		hold(device, HELD_DEAF);
	else
		let_go(device, HELD_DEAF);
}

static void firmware_crashed(void *ctx, const char *message)
{
	struct vagx_device *device = ctx;

	vagx_rtkit_crash(device->rtkit, message);
}

/* What RTKit calls, on the MMIO thread */

static void rtkit_start(void *ctx)
{
	struct vagx_device *device = ctx;

	vagx_fw_start(device->firmware);
}

static void rtkit_message(void *ctx, uint8_t ep, uint64_t msg)
{
	struct vagx_device *device = ctx;

	vagx_fw_message(device->firmware, ep, msg);
}

static void rtkit_quiesce(void *ctx)
{
	struct vagx_device *device = ctx;

	vagx_fw_quiesce(device->firmware);
}

static void rtkit_wake(void *ctx)
{
	struct vagx_device *device = ctx;

	vagx_fw_wake(device->firmware);
}

static const struct vagx_rtkit_ops rtkit_ops = {
	.start = rtkit_start,
	.message = rtkit_message,
	.quiesce = rtkit_quiesce,
	.wake = rtkit_wake,
};

/* What the power manager calls, on the MMIO thread */

static void lose_state(struct vagx_device *device)
{
	let_go(device, HELD_FULL | HELD_STOPPED);
	vagx_rtkit_reset(device->rtkit);
	vagx_sgx_reset(device->sgx);
	vagx_uat_forget(device->uat);
	device->cpu_control = 0;
	device->mailbox_due_ns = 0;
}

/* Everything in the domain is lost. Memory is not, and the interrupts' wires are not in it. */
static void power_cut(void *ctx)
{
	struct vagx_device *device = ctx;

	vagx_log(device->report, VAGX_LOG_INFO, "the GPU's power domain is cut");
	/* A firmware thread may be waiting for room that only we can make */
	vagx_mailbox_close(device->mailbox);
	vagx_fw_cut(device->firmware);
	vagx_mailbox_set_power(device->mailbox, false);
	vagx_mailbox_open(device->mailbox);
	lose_state(device);
}

static void power_back(void *ctx)
{
	struct vagx_device *device = ctx;

	vagx_log(device->report, VAGX_LOG_INFO, "the GPU's power domain is back");
	vagx_mailbox_set_power(device->mailbox, true);
}

static bool build_firmware(struct vagx_device *device,
			   const struct vagx_device_config *config)
{
	bool soft_faults = vagx_boot_soft_faults(device->boot);
	struct vagx_gpu_config gpu = {
		.uat = device->uat,
		.report = device->report,
		.clock = device->clock,
		.units = config->soc->units,
		.cores = config->cores,
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
		.serial = config->serial,
		.tvb_pages = config->tvb_pages,
		.tvb_grow = config->tvb_grow,
		.dump = config->dump,
		.no_exec = config->no_exec,
		.seed = config->seed,
		.power_off = config->power_off,
		.poison = config->poison,
		.soft_faults = soft_faults,
		.send = firmware_send,
		.set_fault_regs = firmware_set_fault,
		.set_fault_value = firmware_set_fault_value,
		.set_deaf = firmware_set_deaf,
		.crashed = firmware_crashed,
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

static bool build(struct vagx_device *device,
		  const struct vagx_device_config *config)
{
	const struct vagx_regions *regions = &config->boot.regions;
	struct vagx_boot_config boot = config->boot;
	struct vagx_uat_config uat = {
		.report = device->report,
		.ttbs = regions->region[VAGX_REGION_TTBS].base,
		.oas_bits = config->soc->oas_bits,
		.poison = config->poison,
	};
	struct vagx_mailbox_config mailbox = {
		.report = device->report,
		.fire = fire,
		.ctx = device,
	};
	struct vagx_rtkit_config rtkit = {
		.report = device->report,
		.version = config->firmware,
		.ops = &rtkit_ops,
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
	device->uat = vagx_uat_new(&uat);
	device->mailbox = vagx_mailbox_new(&mailbox);
	device->sgx = vagx_sgx_new(&config->soc->id, device->report);
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
		.cut = power_cut,
		.back = power_back,
		.ctx = device,
	};
	vagx_pmgr_reset(&device->pmgr);
	return build_firmware(device, config);
}

static void obey(void *ctx, char *line, char *answer, size_t size)
{
	vagx_command(ctx, line, answer, size);
}

static bool open_control(struct vagx_device *device, const char *path)
{
	struct vagx_control_config config = {
		.report = device->report,
		.path = path,
		.command = obey,
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

static bool open_snoop(struct vagx_device *device, const char *path)
{
	if (!path)
		return true;
	device->snoop = vagx_snoop_new(path, device->uat, device->report);
	if (!device->snoop)
		vagx_log(device->report, VAGX_LOG_ERROR, "%s: %s", path, strerror(errno));
	return device->snoop;
}

struct vagx_device *vagx_device_new(const struct vagx_device_config *config)
{
	struct vagx_device *device = calloc(1, sizeof(*device));

	if (!device)
		return NULL;

	device->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	device->report = config->report;
	device->mailbox_delay_ms = config->mailbox_delay_ms;
	vagx_pci_init(&device->pci);
	if (device->wake_fd < 0 || !build(device, config) ||
	    !open_control(device, config->control) || !open_snoop(device, config->tlbi)) {
		vagx_log(device->report, VAGX_LOG_ERROR,
			 "the device cannot be built: %s", strerror(errno));
		vagx_device_free(device);
		return NULL;
	}
	return device;
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

static uint64_t asc_read(struct vagx_device *device, uint64_t offset,
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

/* What lies in the FIFO was meant for the CPU that has stopped */
static void start_cpu(struct vagx_device *device)
{
	if (__atomic_load_n(&device->held, __ATOMIC_ACQUIRE) & HELD_STOPPED) {
		vagx_mailbox_set_power(device->mailbox, true);
		let_go(device, HELD_STOPPED);
	}
	vagx_rtkit_start_cpu(device->rtkit);
}

static void asc_write(struct vagx_device *device, uint64_t offset, size_t size,
		      uint64_t value)
{
	switch (offset) {
	case AGX_ASC_CPU_CONTROL:
		device->cpu_control = value;
		if (value & AGX_ASC_CPU_CONTROL_RUN)
			start_cpu(device);
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

static void drain(struct vagx_device *device)
{
	if (is_held(device))
		vagx_mailbox_settle(device->mailbox);
	else
		vagx_rtkit_process(device->rtkit);
}

static void mailbox_write(struct vagx_device *device, uint64_t offset,
			  size_t size, uint64_t value)
{
	vagx_mailbox_write(device->mailbox, offset, size, value);
	if (!device->mailbox_delay_ms)
		drain(device);
	else if (!device->mailbox_due_ns)
		device->mailbox_due_ns = vagx_clock_host_ns() +
			device->mailbox_delay_ms * 1000000ULL;
}

static uint64_t mailbox_read(struct vagx_device *device, uint64_t offset,
			     size_t size)
{
	return vagx_mailbox_read(device->mailbox, offset, size);
}

static uint64_t carrier_read(struct vagx_device *device, uint64_t offset,
			     size_t size)
{
	return vagx_carrier_read(&device->carrier, offset, size);
}

static void carrier_write(struct vagx_device *device, uint64_t offset,
			  size_t size, uint64_t value)
{
	vagx_carrier_write(&device->carrier, offset, size, value);
}

static uint64_t pmgr_read(struct vagx_device *device, uint64_t offset,
			  size_t size)
{
	return vagx_pmgr_read(&device->pmgr, offset, size);
}

static void pmgr_write(struct vagx_device *device, uint64_t offset,
		       size_t size, uint64_t value)
{
	vagx_pmgr_write(&device->pmgr, offset, size, value);
}

static uint64_t sgx_read(struct vagx_device *device, uint64_t offset,
			 size_t size)
{
	return vagx_sgx_read(device->sgx, offset, size);
}

static void sgx_write(struct vagx_device *device, uint64_t offset, size_t size,
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
} blocks[] = {
	{ "sgx", SGX_BASE, AGX_SGX_SIZE, true, sgx_read, sgx_write },
	{ "pmgr", PMGR_BASE, VAGX_PMGR_SIZE, false, pmgr_read, pmgr_write },
	{ "carrier", VAGX_CARRIER_PAGE, VAGX_CARRIER_PAGE_SIZE, false, carrier_read,
	  carrier_write },
	{ "mailbox", MAILBOX_BASE, VAGX_MAILBOX_SIZE, true, mailbox_read,
	  mailbox_write },
	/* ... and what nobody has */
	{ "asc", ASC_BASE, SGX_BASE, true, asc_read, asc_write },
};

static const struct block *find_block(uint64_t offset)
{
	const struct block *block = blocks;

	while (offset < block->base || offset - block->base >= block->size)
		block++;
	return block;
}

/* Without power the bus has an error for who asks; here it is 0 */
static bool reachable(struct vagx_device *device, const struct block *block,
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

static uint64_t register_read(struct vagx_device *device, uint64_t offset,
			      size_t size)
{
	const struct block *block = find_block(offset);

	if (!reachable(device, block, offset, "read"))
		return 0;
	return block->read(device, offset - block->base, size);
}

static void register_write(struct vagx_device *device, uint64_t offset,
			   size_t size, uint64_t value)
{
	const struct block *block = find_block(offset);

	if (reachable(device, block, offset, "write"))
		block->write(device, offset - block->base, size, value);
}

/* A register is read or written whole */
static bool is_register_access(uint64_t offset, size_t len)
{
	return (len == 4 || len == 8) && offset % len == 0;
}

/* What the vfio-user client calls */

static int region_read(void *ctx, uint32_t region, uint64_t offset, void *buf,
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
		if (!is_register_access(offset, len))
			return -EINVAL;
		value = register_read(device, offset, len);
		memcpy(buf, &value, len);
		vagx_log(device->report, VAGX_LOG_TRACE,
			 "register 0x%llx is 0x%llx",
			 (unsigned long long)offset,
			 (unsigned long long)value);
		return 0;
	}
	return -EINVAL;
}

static int region_write(void *ctx, uint32_t region, uint64_t offset,
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
		if (!is_register_access(offset, len))
			return -EINVAL;
		memcpy(&value, buf, len);
		vagx_log(device->report, VAGX_LOG_TRACE,
			 "register 0x%llx becomes 0x%llx",
			 (unsigned long long)offset,
			 (unsigned long long)value);
		register_write(device, offset, len, value);
		return 0;
	}
	return -EINVAL;
}

static int dma_map(void *ctx, uint64_t address, uint64_t size, bool writable,
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

static int dma_unmap(void *ctx, uint64_t address, uint64_t size)
{
	struct vagx_device *device = ctx;

	return vagx_mem_unmap(device->mem, address, size);
}

static int dma_unmap_all(void *ctx)
{
	struct vagx_device *device = ctx;

	vagx_mem_unmap_all(device->mem);
	return 0;
}

static int set_irq(void *ctx, uint32_t index, uint32_t vector, int fd)
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

static int trigger_irq(void *ctx, uint32_t index, uint32_t vector)
{
	struct vagx_device *device = ctx;

	if (index != VFIO_PCI_MSIX_IRQ_INDEX)
		return -EINVAL;
	vagx_pci_fire(&device->pci, vector);
	return 0;
}

static int reset(void *ctx)
{
	struct vagx_device *device = ctx;

	vagx_log(device->report, VAGX_LOG_INFO, "reset");
	vagx_mailbox_close(device->mailbox);
	vagx_fw_reset(device->firmware);
	vagx_mailbox_reset(device->mailbox);
	vagx_mailbox_open(device->mailbox);
	lose_state(device);
	vagx_pmgr_reset(&device->pmgr);
	vagx_pci_reset(&device->pci);
	vagx_boot_again(device->boot);
	vagx_boot_run(device->boot, device->mem);
	return 0;
}

static const struct vagx_vfu_ops vfu_ops = {
	.dma_map = dma_map,
	.dma_unmap = dma_unmap,
	.dma_unmap_all = dma_unmap_all,
	.region_read = region_read,
	.region_write = region_write,
	.set_irq = set_irq,
	.trigger_irq = trigger_irq,
	.reset = reset,
};

static const struct vagx_vfu_region regions[VFIO_PCI_NUM_REGIONS] = {
	[VFIO_PCI_BAR0_REGION_INDEX] = { VAGX_PCI_BAR_REGS_SIZE, true, true },
	[VFIO_PCI_BAR2_REGION_INDEX] = { VAGX_PCI_BAR_MSIX_SIZE, true, true },
	[VFIO_PCI_CONFIG_REGION_INDEX] = { VAGX_PCI_CONFIG_SIZE, true, true },
};

static const struct vagx_vfu_irq irqs[VFIO_PCI_NUM_IRQS] = {
	[VFIO_PCI_MSIX_IRQ_INDEX] = { VAGX_CARRIER_IRQS, true },
	[VFIO_PCI_ERR_IRQ_INDEX] = { 1, true },
};

/* Return: milliseconds for poll(), -1 when nothing waits */
static int mailbox_timeout(struct vagx_device *device)
{
	const bool delaying = vagx_mailbox_delaying(device->mailbox);
	uint64_t now = vagx_clock_host_ns();

	if (device->mailbox_due_ns && now >= device->mailbox_due_ns) {
		device->mailbox_due_ns = 0;
		drain(device);
	}
	if (delaying)
		return DELAY_POLL_MS;
	if (!device->mailbox_due_ns)
		return -1;
	return (device->mailbox_due_ns - now + 999999) / 1000000;
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
		hold(device, HELD_FULL);
	else
		let_go(device, HELD_FULL);
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
	hold(device, HELD_STOPPED);
}

int vagx_device_inject(struct vagx_device *device,
		       const struct vagx_fw_injection *what)
{
	return vagx_fw_inject(device->firmware, what);
}

static const char *yes(bool value)
{
	return value ? "yes" : "no";
}

void vagx_device_status(struct vagx_device *device, char *text, size_t size)
{
	struct vagx_fw_status fw = { .state = "busy" };

	vagx_fw_get_status(device->firmware, &fw);
	snprintf(text, size,
		 "pmgr=0x%08x cpu-control=0x%x firmware=%s crashed=%s halted=%s silent=%s queues=%u mailbox-held=%s mailbox-waiting=%u mailbox-drop=%u mailbox-delay=%u grown=%u partial-renders=%u violations=%llu",
		 device->pmgr.gfx, device->cpu_control, fw.state,
		 yes(vagx_rtkit_is_crashed(device->rtkit)), yes(fw.halted),
		 yes(fw.silent), fw.queues, yes(is_held(device)),
		 vagx_mailbox_waiting(device->mailbox),
		 vagx_mailbox_dropping(device->mailbox),
		 vagx_mailbox_to_delay(device->mailbox), fw.grown, fw.partial_renders,
		 (unsigned long long)vagx_report_total(device->report,
						       VAGX_SEVERITY_VIOLATION));
}

static void wake(struct vagx_device *device)
{
	eventfd_t count;

	eventfd_read(device->wake_fd, &count);
	drain(device);
}

static int serve(struct vagx_device *device, struct vagx_vfu *vfu,
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
		int ret = poll(fds, CONTROL + count, mailbox_timeout(device));

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
			wake(device);
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
		.ops = &vfu_ops,
		.ctx = device,
		.regions = regions,
		.num_regions = VFIO_PCI_NUM_REGIONS,
		.irqs = irqs,
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

	ret = serve(device, vfu, signal_fd);
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

// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * What the boot loader leaves to the kernel in its reserved-memory regions: calibration data
 * (calibration.c, or files of the command line), and zeroes for the rest. The root of the page
 * table of the kernel's half is zero, too, until the coprocessor starts and enters its own tables.
 *
 * The MMIO thread alone, so there is no lock. vagx_boot_run() is called at each mapping of guest
 * memory, and fills the regions once all of them are mapped; again after a reset of the machine.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot.h"
#include "calibration.h"
#include "guest_memory.h"
#include "report.h"
#include "soc.h"
#include "uat.h"

/*
 * The kernel half's root and, behind it, the tables of the two entries that
 * the firmware keeps for itself.
 */
#define FW_ROOT_ENTRIES	2
#define PAGETABLES_MIN	((1 + FW_ROOT_ENTRIES) * AGX_PAGE_SIZE)

struct vagx_boot {
	struct vagx_report *report;
	struct vagx_regions regions;
	struct vagx_calibration calibration;
	bool done;
};

/* Bytes for the start of a region, or NULL; the rest of the region becomes zero */
struct content {
	const char *name;
	const void *data;
	uint64_t size;
};

static struct content boot_content_of(const struct vagx_boot *boot,
				      enum vagx_region_id id)
{
	const struct vagx_calibration *cal = &boot->calibration;

	switch (id) {
	case VAGX_REGION_TTBS:
		return (struct content){ "ttbs", NULL, AGX_TTBS_SIZE };
	case VAGX_REGION_PAGETABLES:
		return (struct content){ "pagetables", NULL, PAGETABLES_MIN };
	case VAGX_REGION_HANDOFF:
		return (struct content){ "handoff", NULL, AGX_HANDOFF_SIZE };
	case VAGX_REGION_HW_CAL_A:
		return (struct content){ "hw-cal-a", cal->hw_cal_a, cal->hw_cal_a_size };
	case VAGX_REGION_HW_CAL_B:
		return (struct content){ "hw-cal-b", cal->hw_cal_b, cal->hw_cal_b_size };
	case VAGX_REGION_GLOBALS:
		return (struct content){ "globals", cal->globals, cal->globals_size };
	case VAGX_REGION_COUNT:
		break;
	}
	return (struct content){ "", NULL, 0 };
}

static bool boot_load_file(const struct vagx_boot_config *config, const char *path, void *to,
			   size_t size)
{
	char extra;
	size_t got;
	FILE *file;
	bool fits;

	if (!path)
		return true;

	file = fopen(path, "rb");
	if (!file) {
		vagx_log(config->report, VAGX_LOG_ERROR, "%s: %s", path, strerror(errno));
		return false;
	}
	got = fread(to, 1, size, file);
	fits = got == size && fread(&extra, 1, 1, file) == 0 && !ferror(file);
	fclose(file);
	if (!fits)
		vagx_log(config->report, VAGX_LOG_ERROR,
			 "%s: for firmware %s on %s this has to have exactly 0x%zx bytes", path,
			 config->firmware, config->soc->name, size);
	return fits;
}

static bool boot_check_region(struct vagx_report *report, const char *name,
			      const struct vagx_region *region, uint64_t min)
{
	if (region->base % AGX_PAGE_SIZE || region->size < min) {
		vagx_log(report, VAGX_LOG_ERROR,
			 "region %s: 0x%llx bytes at 0x%llx; it needs at least 0x%llx, aligned to 16K",
			 name, (unsigned long long)region->size,
			 (unsigned long long)region->base,
			 (unsigned long long)min);
		return false;
	}
	return true;
}

struct vagx_boot *vagx_boot_new(const struct vagx_boot_config *config)
{
	struct vagx_boot *boot = calloc(1, sizeof(*boot));
	struct vagx_calibration *cal;
	struct vagx_power power;
	enum fw_abi abi;

	if (!boot)
		return NULL;

	boot->report = config->report;
	boot->regions = config->regions;
	if (!vagx_soc_abi(config->soc, config->firmware, &abi)) {
		vagx_log(boot->report, VAGX_LOG_ERROR, "firmware %s is not for %s",
			 config->firmware, config->soc->name);
		goto fail;
	}

	cal = &boot->calibration;
	vagx_power_default(&power, config->soc);
	vagx_calibration_fill(cal, config->soc, abi, &power,
			      config->regions.region[VAGX_REGION_TTBS].base,
			      config->soft_faults);
	for (unsigned int i = 0; i < VAGX_REGION_COUNT; i++) {
		struct content content = boot_content_of(boot, i);

		if (!boot_check_region(boot->report, content.name,
				       &boot->regions.region[i], content.size))
			goto fail;
	}

	if (!boot_load_file(config, config->hw_cal_a, cal->hw_cal_a, cal->hw_cal_a_size) ||
	    !boot_load_file(config, config->hw_cal_b, cal->hw_cal_b, cal->hw_cal_b_size) ||
	    !boot_load_file(config, config->globals, cal->globals, cal->globals_size))
		goto fail;
	return boot;

fail:
	free(boot);
	return NULL;
}

void vagx_boot_free(struct vagx_boot *boot)
{
	free(boot);
}

static bool boot_save_file(struct vagx_report *report, const char *folder,
			   const struct content *content)
{
	char path[PATH_MAX];
	bool good = false;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.bin", folder, content->name);
	file = fopen(path, "wb");
	if (file) {
		good = fwrite(content->data, 1, content->size, file) == content->size;
		good = !fclose(file) && good;
	}
	if (!good)
		vagx_log(report, VAGX_LOG_ERROR, "%s: %s", path, strerror(errno));
	return good;
}

bool vagx_boot_save(const struct vagx_boot *boot, const char *folder)
{
	for (unsigned int i = 0; i < VAGX_REGION_COUNT; i++) {
		struct content content = boot_content_of(boot, i);

		if (content.data && !boot_save_file(boot->report, folder, &content))
			return false;
	}
	return true;
}

bool vagx_boot_soft_faults(const struct vagx_boot *boot)
{
	uint32_t value;

	memcpy(&value, boot->calibration.globals + boot->calibration.fault_control,
	       sizeof(value));
	return value == VAGX_FAULT_CONTROL_SOFT;
}

bool vagx_boot_run(struct vagx_boot *boot, struct vagx_mem *mem)
{
	void *host[VAGX_REGION_COUNT];

	if (boot->done)
		return true;

	for (unsigned int i = 0; i < VAGX_REGION_COUNT; i++) {
		const struct vagx_region *region = &boot->regions.region[i];

		host[i] = vagx_mem_ptr(mem, region->base, region->size);
		if (!host[i])
			return false;
	}

	for (unsigned int i = 0; i < VAGX_REGION_COUNT; i++) {
		struct content content = boot_content_of(boot, i);

		memset(host[i], 0, boot->regions.region[i].size);
		if (content.data)
			memcpy(host[i], content.data, content.size);
	}
	boot->done = true;
	vagx_log(boot->report, VAGX_LOG_INFO,
		 "boot: the reserved regions are filled");
	return true;
}

void vagx_boot_start(struct vagx_boot *boot, struct vagx_mem *mem)
{
	const struct vagx_region *region = &boot->regions.region[VAGX_REGION_PAGETABLES];
	uint64_t *root = vagx_mem_ptr(mem, region->base, PAGETABLES_MIN);

	if (!root) {
		vagx_log(boot->report, VAGX_LOG_ERROR,
			 "the page table of the kernel's half, 0x%llx, is not in RAM",
			 (unsigned long long)region->base);
		return;
	}
	for (unsigned int i = 0; i < FW_ROOT_ENTRIES; i++)
		__atomic_store_n(&root[i],
				 (region->base + (i + 1) * AGX_PAGE_SIZE) | AGX_PTE_TYPE,
				 __ATOMIC_RELEASE);
}

void vagx_boot_again(struct vagx_boot *boot)
{
	boot->done = false;
}

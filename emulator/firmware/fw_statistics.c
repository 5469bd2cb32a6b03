// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Statistics that are written for as long as the coprocessor runs, whether there is work or not,
 * and also when RTKit has put the application to rest. A driver that gives their memory back while
 * the firmware is alive finds a counter in it.
 */
#include "fw_internal.h"

#define FW_STATISTICS_NS	10000000

static const char *const fw_statistics_names[FW_PIPES] = {
	[FW_PIPE_VERTEX] = "StatsTa",
	[FW_PIPE_FRAGMENT] = "Stats3d",
	[FW_PIPE_COMPUTE] = "StatsCp",
};

void fw_statistics_begin(struct vagx_firmware *fw, enum fw_pipe pipe, uint64_t va)
{
	fw->statistics[pipe] = fw->config.statistics ? va : 0;
	fw->statistics_due = 0;
}

void fw_statistics_forget(struct vagx_firmware *fw)
{
	for (unsigned int i = 0; i < FW_PIPES; i++)
		fw->statistics[i] = 0;
}

/*
 * Counts in one word. When the driver takes its page away, the firmware gives the word up for
 * good.
 */
static void fw_statistics_count(struct vagx_firmware *fw, enum fw_pipe pipe)
{
	uint64_t va = fw->statistics[pipe];
	uint32_t value = fw->statistics_count, *word;

	if (!va)
		return;
	word = vagx_uat_ptr(fw->config.uat, 0, va, sizeof(value), VAGX_AGENT_FW, VAGX_WRITE, NULL);
	if (!word) {
		vagx_log(fw->config.report, VAGX_LOG_DEBUG, "firmware: %s is gone",
			 fw_statistics_names[pipe]);
		fw->statistics[pipe] = 0;
		return;
	}
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	fw_cache_written(fw->cache, &fw->access, va, &value, sizeof(value));
}

static bool fw_statistics_is_counting(const struct vagx_firmware *fw)
{
	return fw->statistics[FW_PIPE_VERTEX] || fw->statistics[FW_PIPE_FRAGMENT] ||
	       fw->statistics[FW_PIPE_COMPUTE];
}

uint64_t fw_statistics(struct vagx_firmware *fw, uint64_t now_ns)
{
	if (!fw_statistics_is_counting(fw) || fw->inject.silent || fw->state == FW_STATE_RESET ||
	    fw->state == FW_STATE_CRASHED)
		return 0;
	if (now_ns >= fw->statistics_due) {
		fw->statistics_count++;
		for (unsigned int i = 0; i < FW_PIPES; i++)
			fw_statistics_count(fw, i);
		fw->statistics_due = now_ns + FW_STATISTICS_NS;
	}
	return fw_statistics_is_counting(fw) ? fw->statistics_due : 0;
}

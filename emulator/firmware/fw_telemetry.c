// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * What the firmware tells of clock, utilisation, power and temperature through the ring of
 * statistics. Nobody knows how the real firmware chooses a performance state: here the state
 * follows the share of time in which there was a job on the units, one step each period.
 *
 * A message is written when work is announced, and before the event about work that has ended,
 * so there is no notification for it. Messages that find the ring full are lost. With the
 * firmware's lock held.
 */
#include "../clock.h"
#include "../soc.h"
#include "../soc_figures.h"
#include "fw_internal.h"

/* Types of messages (m1n1 fw/agx/channels.py) */
enum {
	FW_STATS_POWER = 0x00,
	FW_STATS_POWER_ON = 0x02,
	FW_STATS_POWER_OFF = 0x03,
	FW_STATS_UTIL = 0x04,
	FW_STATS_AVG_POWER = 0x09,
	FW_STATS_TEMP = 0x0a,
	FW_STATS_POWER_STATE = 0x0b,
	FW_STATS_FW_BUSY = 0x0c,
	FW_STATS_PSTATE = 0x0d,
	FW_STATS_TEMP_SENSOR = 0x0e,
};

/* The period of the firmware's control loops on M1 (macOS' device tree, gpu-power-sample-period) */
#define FW_TELEMETRY_PERIOD_NS	8000000
/* So many periods without a job, and the GPU is switched off */
#define FW_TELEMETRY_OFF_NS	(125 * (uint64_t)FW_TELEMETRY_PERIOD_NS)
/* Averages and temperatures come with each of so many periods */
#define FW_TELEMETRY_SLOW	16

#define FW_TELEMETRY_POWER_UNIT	8192	/* of a milliwatt */
#define FW_TELEMETRY_DEGREE	64
#define FW_TELEMETRY_SCALE	8
#define FW_TELEMETRY_COOL	30	/* degrees Celsius, without work */
#define FW_TELEMETRY_WARM	40	/* degrees more, with nothing but work */

static uint64_t fw_telemetry_ticks(const struct vagx_firmware *fw, uint64_t ns)
{
	return (unsigned __int128)ns * vagx_clock_frequency(fw->config.clock) / 1000000000;
}

static unsigned int fw_telemetry_top_state(const struct vagx_firmware *fw)
{
	return vagx_soc_figures(fw->config.soc)->num_pstates - 1;
}

/* Return: the power of the present state with so many percent of work, in milliwatts */
static uint64_t fw_telemetry_power(const struct vagx_firmware *fw, unsigned int percent)
{
	const struct vagx_pstate_figures *state =
		&vagx_soc_figures(fw->config.soc)->pstates[fw->telemetry.state];

	return (uint64_t)state->mv * state->weight / 10 * fw->config.soc->id.clusters * percent / 100;
}

/* Return: a message of that type to be filled in, without an address if there is no room */
static struct fw_view fw_telemetry_begin(struct vagx_firmware *fw, struct fw_access *access,
					 enum fw_struct_id type, uint32_t number)
{
	static const uint8_t zero[0x40];
	struct fw_view msg = fw_view(access, type, fw_ring_room(access, fw, &fw->stats));
	struct fw_view head = fw_view(access, FW_S_StatsMsg, msg.va);

	if (!msg.va)
		return msg;
	fw_write(access, msg.va, zero, fw_size(&head), "StatsMsg");
	fw_set(&head, FW_StatsMsg_msg_type, number);
	return msg;
}

/* Writes a field of a message, if there is room for one */
static void fw_telemetry_put(const struct fw_view *msg, enum fw_field_id field, uint64_t value)
{
	if (msg->va)
		fw_set(msg, field, value);
}

static void fw_telemetry_end(struct vagx_firmware *fw, const struct fw_view *msg)
{
	if (msg->va)
		fw_ring_push(msg->access, &fw->stats);
}

static void fw_telemetry_tell_switch(struct vagx_firmware *fw, struct fw_access *access,
				     uint32_t number, uint64_t ns)
{
	struct fw_view msg = fw_telemetry_begin(fw, access, FW_S_StatsPowerSwitch, number);

	fw_telemetry_put(&msg, FW_StatsPowerSwitch_ticks, fw_telemetry_ticks(fw, ns));
	fw_telemetry_end(fw, &msg);
}

static void fw_telemetry_tell_util(struct vagx_firmware *fw, struct fw_access *access)
{
	struct fw_view msg = fw_telemetry_begin(fw, access, FW_S_StatsUtil, FW_STATS_UTIL);

	fw_telemetry_put(&msg, FW_StatsUtil_timestamp, vagx_clock_now(fw->config.clock));
	/* On a machine with work for all units, all four are 100. */
	for (unsigned int i = 0; msg.va && i < 4; i++)
		fw_set_at(&msg, FW_StatsUtil_util, i, fw->telemetry.percent);
	fw_telemetry_end(fw, &msg);
}

static void fw_telemetry_tell_state(struct vagx_firmware *fw, struct fw_access *access)
{
	struct fw_view msg = fw_telemetry_begin(fw, access, FW_S_StatsPowerState,
						FW_STATS_POWER_STATE);
	uint64_t now = vagx_clock_now(fw->config.clock);

	fw_telemetry_put(&msg, FW_StatsPowerState_timestamp, now);
	fw_telemetry_put(&msg, FW_StatsPowerState_last_busy_ts, now);
	fw_telemetry_put(&msg, FW_StatsPowerState_active, 1);
	fw_telemetry_put(&msg, FW_StatsPowerState_pstate, fw->telemetry.state);
	fw_telemetry_end(fw, &msg);
}

static void fw_telemetry_tell_range(struct vagx_firmware *fw, struct fw_access *access)
{
	struct fw_view msg = fw_telemetry_begin(fw, access, FW_S_StatsPState, FW_STATS_PSTATE);

	fw_telemetry_put(&msg, FW_StatsPState_ps_min, 1);
	fw_telemetry_put(&msg, FW_StatsPState_ps_max, fw_telemetry_top_state(fw));
	fw_telemetry_end(fw, &msg);
}

static void fw_telemetry_tell_busy(struct vagx_firmware *fw, struct fw_access *access)
{
	struct fw_view msg = fw_telemetry_begin(fw, access, FW_S_StatsFwBusy, FW_STATS_FW_BUSY);

	fw_telemetry_put(&msg, FW_StatsFwBusy_timestamp, vagx_clock_now(fw->config.clock));
	fw_telemetry_put(&msg, FW_StatsFwBusy_flag, 1);
	fw_telemetry_end(fw, &msg);
}

static void fw_telemetry_tell_power(struct vagx_firmware *fw, struct fw_access *access)
{
	struct fw_view msg = fw_telemetry_begin(fw, access, FW_S_StatsPower, FW_STATS_POWER);

	fw_telemetry_put(&msg, FW_StatsPower_power,
			 fw_telemetry_power(fw, fw->telemetry.percent) * FW_TELEMETRY_POWER_UNIT);
	fw_telemetry_end(fw, &msg);
}

static void fw_telemetry_tell_average(struct vagx_firmware *fw, struct fw_access *access)
{
	struct fw_view msg = fw_telemetry_begin(fw, access, FW_S_StatsAvgPower,
						FW_STATS_AVG_POWER);

	fw_telemetry_put(&msg, FW_StatsAvgPower_active_cs, fw->telemetry.active_ns / 10000000);
	fw_telemetry_put(&msg, FW_StatsAvgPower_avg_power,
			 fw_telemetry_power(fw, fw->telemetry.average));
	fw_telemetry_end(fw, &msg);
}

static void fw_telemetry_tell_temperature(struct vagx_firmware *fw, struct fw_access *access,
					  uint32_t number)
{
	struct fw_view msg = fw_telemetry_begin(fw, access, FW_S_StatsTemp, number);
	uint32_t raw = (FW_TELEMETRY_COOL * 100 + FW_TELEMETRY_WARM * fw->telemetry.average) *
		       FW_TELEMETRY_DEGREE * FW_TELEMETRY_SCALE / 100;

	fw_telemetry_put(&msg, FW_StatsTemp_raw_value, raw);
	fw_telemetry_put(&msg, FW_StatsTemp_scale, FW_TELEMETRY_SCALE);
	fw_telemetry_put(&msg, FW_StatsTemp_tmin, raw);
	fw_telemetry_put(&msg, FW_StatsTemp_tmax, raw);
	fw_telemetry_end(fw, &msg);
}

/* Takes the time until now into account. Return: the share with a job in percent. */
static unsigned int fw_telemetry_measure(struct vagx_firmware *fw, uint64_t now)
{
	struct fw_telemetry *telemetry = &fw->telemetry;
	uint64_t window = now - telemetry->sampled;
	uint64_t busy = telemetry->busy_ns + (telemetry->busy ? now - telemetry->busy_since : 0);

	telemetry->active_ns += busy;
	telemetry->busy_ns = 0;
	telemetry->busy_since = now;
	telemetry->sampled = now;
	return busy >= window ? 100 : busy * 100 / window;
}

static void fw_telemetry_step(struct vagx_firmware *fw)
{
	struct fw_telemetry *telemetry = &fw->telemetry;
	unsigned int wanted = 1 + telemetry->percent * (fw_telemetry_top_state(fw) - 1) / 100;

	if (telemetry->state < wanted)
		telemetry->state++;
	else if (telemetry->state > wanted)
		telemetry->state--;
}

/* The first message of all, and the first one after a time without work */
static void fw_telemetry_wake(struct vagx_firmware *fw, struct fw_access *access, uint64_t idle)
{
	if (fw->telemetry.samples) {
		fw_telemetry_tell_switch(fw, access, FW_STATS_POWER_OFF,
					 fw->telemetry.off_at - fw->telemetry.on_at);
		fw_telemetry_tell_switch(fw, access, FW_STATS_POWER_ON, idle - FW_TELEMETRY_OFF_NS);
	}
	fw->telemetry.on_at = fw->telemetry.sampled;
	fw->telemetry.state = 1;
	fw_telemetry_tell_busy(fw, access);
	fw_telemetry_tell_range(fw, access);
	fw_telemetry_tell_state(fw, access);
}

void fw_telemetry_tell(struct vagx_firmware *fw, struct fw_access *access)
{
	struct fw_telemetry *telemetry = &fw->telemetry;
	uint64_t now = fw_now_ns(), idle;
	unsigned int before = telemetry->state;

	if (fw->state != FW_STATE_READY || now - telemetry->sampled < FW_TELEMETRY_PERIOD_NS)
		return;
	idle = telemetry->busy ? 0 : now - telemetry->busy_until;
	telemetry->percent = fw_telemetry_measure(fw, now);
	telemetry->average = (telemetry->average * (FW_TELEMETRY_SLOW - 1) + telemetry->percent) /
			     FW_TELEMETRY_SLOW;
	if (!telemetry->samples || idle >= FW_TELEMETRY_OFF_NS) {
		telemetry->off_at = telemetry->busy_until + FW_TELEMETRY_OFF_NS;
		fw_telemetry_wake(fw, access, idle);
		before = telemetry->state;
	}
	fw_telemetry_step(fw);
	fw_telemetry_tell_util(fw, access);
	fw_telemetry_tell_power(fw, access);
	if (telemetry->state != before)
		fw_telemetry_tell_state(fw, access);
	if (telemetry->samples++ % FW_TELEMETRY_SLOW)
		return;
	fw_telemetry_tell_average(fw, access);
	fw_telemetry_tell_temperature(fw, access, FW_STATS_TEMP);
	fw_telemetry_tell_temperature(fw, access, FW_STATS_TEMP_SENSOR);
}

void fw_telemetry_units(struct vagx_firmware *fw)
{
	struct fw_telemetry *telemetry = &fw->telemetry;
	uint64_t now = fw_now_ns();

	if (telemetry->busy == !!fw->on_units)
		return;
	telemetry->busy = fw->on_units;
	if (telemetry->busy) {
		telemetry->busy_since = now;
	} else {
		telemetry->busy_ns += now - telemetry->busy_since;
		telemetry->busy_until = now;
	}
}

void fw_telemetry_forget(struct vagx_firmware *fw)
{
	uint64_t now = fw_now_ns();

	fw->telemetry = (struct fw_telemetry){ .state = 1, .busy_until = now, .on_at = now };
}

// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * RTKit as a state machine (enum handshake): once its CPU runs, the coprocessor says hello, agrees
 * on a version, sends the map of its endpoints page by page, and is booted; then the guest starts
 * endpoints, gives buffers to the system's endpoints, and sets power states. A coprocessor that
 * sleeps says hello again when it is woken by INIT. Sources: m1n1 fw/asc/, linux
 * drivers/soc/apple/rtkit.c.
 *
 * The MMIO thread takes the guest's messages and owns the session's state. Any thread sends, logs
 * and crashes: @lock protects what these need, the buffers' addresses, the crash and the indices
 * of the syslog. It is never held while a message is sent.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mailbox.h"
#include "report.h"
#include "rtkit.h"
#include "uat.h"

#define EP_MGMT		0x00
#define EP_CRASHLOG	0x01
#define EP_SYSLOG	0x02
#define EP_DEBUG	0x03
#define EP_IOREPORT	0x04
#define EP_OSLOG	0x08
#define EP_APPLICATION	0x20

/* Endpoints of each page of 32 that the endpoint map names */
static const uint32_t rtkit_epmap[] = {
	1U << EP_MGMT | 1U << EP_CRASHLOG | 1U << EP_SYSLOG |
		1U << EP_DEBUG | 1U << EP_IOREPORT | 1U << EP_OSLOG,
	0x3,				/* 0x20 firmware, 0x21 doorbell */
};
#define EPMAP_PAGES	(sizeof(rtkit_epmap) / sizeof(rtkit_epmap[0]))

#define TYPE(msg)	((msg) >> 52 & 0xff)
#define MSG(type)	((uint64_t)(type) << 52)

#define MGMT_HELLO		1
#define MGMT_HELLO_REPLY	2
#define MGMT_PING		3
#define MGMT_PONG		4
#define MGMT_START_EP		5
#define MGMT_SET_IOP_POWER	6
#define MGMT_IOP_POWER_ACK	7
#define MGMT_EPMAP		8
#define MGMT_AP_POWER		0xb

#define VERSION_MIN	11
#define VERSION_MAX	12

#define EPMAP_LAST	(1ULL << 51)
#define EPMAP_MORE	(1ULL << 0)
#define EPMAP_BASE(msg)	((msg) >> 32 & 7)

#define EP_FLAG_STOP	1
#define EP_FLAG_START	2

enum power {
	POWER_OFF = 0x00,
	POWER_SLEEP = 0x01,
	POWER_QUIESCED = 0x10,
	POWER_ON = 0x20,
	POWER_IDLE = 0x201,
	POWER_INIT = 0x220,
};

#define BUFFER_REQUEST	1
#define BUFFER_MSG(size, va) (MSG(BUFFER_REQUEST) | (uint64_t)(size) >> 12 << 44 | (va))
#define BUFFER_SIZE(msg) (((msg) >> 44 & 0xff) << 12)

#define OSLOG_REQUEST(size) (1ULL << 56 | (uint64_t)(size) << 36)
#define OSLOG_TYPE(msg)	((msg) >> 56)
#define OSLOG_SIZE(msg)	((msg) >> 36 & 0xfffff)

#define SYSLOG_LOG	5
#define SYSLOG_INIT	8
#define SYSLOG_ENTRIES	16
#define SYSLOG_HEADER	0x20
#define SYSLOG_CONTEXT	24
#define SYSLOG_ENTRY	(SYSLOG_HEADER + VAGX_RTKIT_SYSLOG_TEXT)

#define KDEBUG_TYPE(msg) ((msg) >> 48 & 0xff)
#define KDEBUG_START	0x8

#define IOREPORT_REPORT	0x8
#define IOREPORT_START	0xc

enum handshake {
	CPU_STOPPED,
	HELLO_SENT,
	EPMAP_SENT,
	BOOTED,
	ASLEEP,				/* needs an INIT to go on */
	SWITCHED_OFF,			/* for good */
};

enum buffer_id {
	BUFFER_SYSLOG,
	BUFFER_CRASHLOG,
	BUFFER_IOREPORT,
	BUFFER_OSLOG,
	BUFFER_COUNT
};

static const struct {
	uint8_t ep;
	uint32_t size;
} rtkit_buffers[BUFFER_COUNT] = {
	[BUFFER_SYSLOG] = { EP_SYSLOG, 0x4000 },
	[BUFFER_CRASHLOG] = { EP_CRASHLOG, 0x4000 },
	[BUFFER_IOREPORT] = { EP_IOREPORT, 0x4000 },
	[BUFFER_OSLOG] = { EP_OSLOG, 0x4000 },
};

struct vagx_rtkit {
	struct vagx_report *report;
	struct vagx_mailbox *mailbox;
	struct vagx_uat *uat;
	const char *version;
	const struct vagx_rtkit_ops *ops;
	void *ctx;

	/* The MMIO thread's alone */
	enum handshake state;
	unsigned int epmap_page;
	bool started[256];
	bool requested[BUFFER_COUNT];
	unsigned int ap_power, iop_power;
	bool cpu_started;
	bool quiesced;			/* the application was told */
	bool chatters;			/* it says more after its last word */

	pthread_mutex_t lock;		/* all below */
	uint64_t buffer[BUFFER_COUNT];	/* addresses, 0 when not given */
	bool crashed;
	unsigned int syslog_next, syslog_pending;
};

struct vagx_rtkit *vagx_rtkit_new(const struct vagx_rtkit_config *config)
{
	struct vagx_rtkit *rtkit = calloc(1, sizeof(*rtkit));

	if (!rtkit)
		return NULL;

	rtkit->report = config->report;
	rtkit->mailbox = config->mailbox;
	rtkit->uat = config->uat;
	rtkit->version = config->version;
	rtkit->ops = config->ops;
	rtkit->ctx = config->ctx;
	pthread_mutex_init(&rtkit->lock, NULL);
	return rtkit;
}

void vagx_rtkit_free(struct vagx_rtkit *rtkit)
{
	if (!rtkit)
		return;

	pthread_mutex_destroy(&rtkit->lock);
	free(rtkit);
}

bool vagx_rtkit_is_crashed(struct vagx_rtkit *rtkit)
{
	bool crashed;

	pthread_mutex_lock(&rtkit->lock);
	crashed = rtkit->crashed;
	pthread_mutex_unlock(&rtkit->lock);
	return crashed;
}

static void rtkit_trace(struct vagx_rtkit *rtkit, const char *way, uint8_t ep,
			uint64_t msg)
{
	vagx_log(rtkit->report, VAGX_LOG_TRACE, "rtkit: %s 0x%02x 0x%016llx",
		 way, ep, (unsigned long long)msg);
}

/*
 * Sends without waiting, as the MMIO thread must not wait for the guest. While the firmware is
 * being stopped the mailbox is closed, and what one of its threads still says is lost like the
 * thread's other messages.
 */
static void rtkit_reply(struct vagx_rtkit *rtkit, uint8_t ep, uint64_t msg)
{
	rtkit_trace(rtkit, "to guest, endpoint", ep, msg);
	if (vagx_mailbox_send(rtkit->mailbox, ep, msg, false) == -EAGAIN)
		vagx_violation(rtkit->report, VAGX_RULE_MBOX_NOT_READ, 0,
			       "mailbox",
			       "answer 0x%016llx of endpoint 0x%02x is lost",
			       (unsigned long long)msg, ep);
}

static void rtkit_bad_message(struct vagx_rtkit *rtkit, enum vagx_rule clause, uint8_t ep,
			      uint64_t msg)
{
	vagx_violation(rtkit->report, clause, ep, "RTKit message", "endpoint 0x%02x, 0x%016llx",
		       ep, (unsigned long long)msg);
}

static void rtkit_forget_session(struct vagx_rtkit *rtkit)
{
	memset(rtkit->started, 0, sizeof(rtkit->started));
	memset(rtkit->requested, 0, sizeof(rtkit->requested));
	rtkit->started[EP_MGMT] = true;

	pthread_mutex_lock(&rtkit->lock);
	memset(rtkit->buffer, 0, sizeof(rtkit->buffer));
	rtkit->syslog_next = 0;
	rtkit->syslog_pending = 0;
	pthread_mutex_unlock(&rtkit->lock);
}

static void rtkit_quiesce(struct vagx_rtkit *rtkit)
{
	if (rtkit->quiesced || !rtkit->cpu_started)
		return;

	rtkit->quiesced = true;
	/* A thread of the firmware may wait for room in the FIFO, which only this one can make */
	vagx_mailbox_close(rtkit->mailbox);
	rtkit->ops->quiesce(rtkit->ctx);
	vagx_mailbox_open(rtkit->mailbox);
}

static void rtkit_hello(struct vagx_rtkit *rtkit)
{
	rtkit_forget_session(rtkit);
	rtkit->ap_power = POWER_OFF;
	rtkit->iop_power = POWER_INIT;
	rtkit->state = HELLO_SENT;
	if (rtkit->quiesced) {
		rtkit->quiesced = false;
		rtkit->ops->wake(rtkit->ctx);
	}
	rtkit_reply(rtkit, EP_MGMT,
		    MSG(MGMT_HELLO) | VERSION_MAX << 16 | VERSION_MIN);
}

void vagx_rtkit_start_cpu(struct vagx_rtkit *rtkit)
{
	if (rtkit->cpu_started)
		return;

	rtkit->cpu_started = true;
	vagx_log(rtkit->report, VAGX_LOG_INFO, "rtkit: CPU started");
	rtkit->ops->start(rtkit->ctx);
	rtkit_hello(rtkit);
}

static void rtkit_send_epmap(struct vagx_rtkit *rtkit, unsigned int page)
{
	uint64_t msg = MSG(MGMT_EPMAP) | (uint64_t)page << 32 | rtkit_epmap[page];

	if (page == EPMAP_PAGES - 1)
		msg |= EPMAP_LAST;
	rtkit->epmap_page = page;
	rtkit->state = EPMAP_SENT;
	rtkit_reply(rtkit, EP_MGMT, msg);
}

static void rtkit_got_hello(struct vagx_rtkit *rtkit, uint64_t msg)
{
	unsigned int min = msg & 0xffff;
	unsigned int max = msg >> 16 & 0xffff;

	if (rtkit->state != HELLO_SENT) {
		rtkit_bad_message(rtkit, VAGX_CLAUSE_RTKIT_BAD_MESSAGE_hello, EP_MGMT, msg);
		return;
	}
	if (min != max || min < VERSION_MIN || max > VERSION_MAX) {
		rtkit_bad_message(rtkit, VAGX_CLAUSE_RTKIT_BAD_MESSAGE_version, EP_MGMT, msg);
		return;
	}
	rtkit_send_epmap(rtkit, 0);
}

static void rtkit_got_epmap(struct vagx_rtkit *rtkit, uint64_t msg)
{
	bool last = rtkit->epmap_page == EPMAP_PAGES - 1;

	if (rtkit->state != EPMAP_SENT ||
	    EPMAP_BASE(msg) != rtkit->epmap_page ||
	    !!(msg & EPMAP_LAST) != last || !!(msg & EPMAP_MORE) == last) {
		rtkit_bad_message(rtkit, VAGX_CLAUSE_RTKIT_BAD_MESSAGE_map, EP_MGMT, msg);
		return;
	}
	if (!last) {
		rtkit_send_epmap(rtkit, rtkit->epmap_page + 1);
		return;
	}

	rtkit->state = BOOTED;
	rtkit->iop_power = POWER_ON;
	rtkit_reply(rtkit, EP_MGMT, MSG(MGMT_IOP_POWER_ACK) | POWER_ON);
}

static bool rtkit_ep_exists(uint8_t ep)
{
	return ep / 32U < EPMAP_PAGES && rtkit_epmap[ep / 32U] >> ep % 32U & 1;
}

static void rtkit_request_buffer(struct vagx_rtkit *rtkit, enum buffer_id id)
{
	rtkit->requested[id] = true;
	if (id == BUFFER_OSLOG)
		rtkit_reply(rtkit, EP_OSLOG, OSLOG_REQUEST(rtkit_buffers[id].size));
	else
		rtkit_reply(rtkit, rtkit_buffers[id].ep, BUFFER_MSG(rtkit_buffers[id].size, 0));
}

static void rtkit_start_system_ep(struct vagx_rtkit *rtkit, uint8_t ep)
{
	if (ep == EP_SYSLOG)
		rtkit_reply(rtkit, ep, MSG(SYSLOG_INIT) | SYSLOG_ENTRIES |
			    (uint64_t)VAGX_RTKIT_SYSLOG_TEXT << 24);
	for (unsigned int id = 0; id < BUFFER_COUNT; id++) {
		if (rtkit_buffers[id].ep == ep)
			rtkit_request_buffer(rtkit, id);
	}
}

static void rtkit_start_ep(struct vagx_rtkit *rtkit, uint64_t msg)
{
	uint8_t ep = msg >> 32;
	unsigned int flags = msg & 3;

	if (!rtkit_ep_exists(ep)) {
		vagx_violation(rtkit->report, VAGX_CLAUSE_RTKIT_UNKNOWN_ENDPOINT_start,
			       ep, "RTKit message", "start of endpoint 0x%02x",
			       ep);
		return;
	}
	if (rtkit->state != BOOTED ||
	    (flags != EP_FLAG_START && flags != EP_FLAG_STOP)) {
		rtkit_bad_message(rtkit, VAGX_CLAUSE_RTKIT_BAD_MESSAGE_start, EP_MGMT, msg);
		return;
	}
	if (flags == EP_FLAG_STOP) {
		rtkit->started[ep] = false;
		return;
	}
	if (rtkit->started[ep])
		return;
	rtkit->started[ep] = true;
	rtkit_start_system_ep(rtkit, ep);
}

static void rtkit_iop_init(struct vagx_rtkit *rtkit)
{
	switch (rtkit->state) {
	case CPU_STOPPED:
	case HELLO_SENT:
	case EPMAP_SENT:
		/* The handshake is under way already */
		return;
	case BOOTED:
		vagx_violation(rtkit->report, VAGX_RULE_RTKIT_INIT_WHILE_ON, 0,
			       "RTKit message",
			       "AP power 0x%x, IOP power 0x%x",
			       rtkit->ap_power, rtkit->iop_power);
		rtkit_quiesce(rtkit);
		break;
	case ASLEEP:
	case SWITCHED_OFF:
		break;
	}
	rtkit_hello(rtkit);
}

/* Sends messages that no firmware sends once it has said that it sleeps (command "chatter") */
static void rtkit_chatter(struct vagx_rtkit *rtkit, uint64_t last)
{
	static const struct {
		uint8_t ep;
		uint64_t msg;
	} more[] = {
		{ EP_APPLICATION, 0x0042000000000000 },
		{ EP_APPLICATION, ~0ULL },
		{ EP_APPLICATION + 1, 0x0083000000000010 },
		{ EP_OSLOG, MSG(0x3f) },
		{ 0x77, 0 },
		{ EP_MGMT, MSG(MGMT_PONG) },
		{ EP_MGMT, MSG(0x3f) },
	};

	if (!rtkit->chatters)
		return;

	for (unsigned int i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		rtkit_reply(rtkit, more[i].ep, more[i].msg);
	rtkit_reply(rtkit, EP_MGMT, last);
}

static void rtkit_acknowledge_power(struct vagx_rtkit *rtkit, unsigned int type, unsigned int power)
{
	rtkit_reply(rtkit, EP_MGMT, MSG(type) | power);
	if (power != POWER_ON)
		rtkit_chatter(rtkit, MSG(type) | power);
}

static void rtkit_set_iop_power(struct vagx_rtkit *rtkit, unsigned int power)
{
	switch (power) {
	case POWER_INIT:
		rtkit_iop_init(rtkit);
		return;
	case POWER_OFF:
		rtkit->state = SWITCHED_OFF;
		rtkit_quiesce(rtkit);
		break;
	case POWER_SLEEP:
	case POWER_QUIESCED:
	case POWER_IDLE:
		rtkit->state = ASLEEP;
		rtkit_quiesce(rtkit);
		break;
	case POWER_ON:
		break;
	default:
		rtkit_bad_message(rtkit, VAGX_CLAUSE_RTKIT_BAD_MESSAGE_iop, EP_MGMT,
				  MSG(MGMT_SET_IOP_POWER) | power);
		return;
	}
	rtkit->iop_power = power;
	vagx_log(rtkit->report, VAGX_LOG_DEBUG, "rtkit: IOP power 0x%x", power);
	rtkit_acknowledge_power(rtkit, MGMT_IOP_POWER_ACK, power);
}

static void rtkit_set_ap_power(struct vagx_rtkit *rtkit, unsigned int power)
{
	switch (power) {
	case POWER_OFF:
	case POWER_SLEEP:
	case POWER_QUIESCED:
	case POWER_IDLE:
		rtkit_quiesce(rtkit);
		break;
	case POWER_ON:
		if (rtkit->state == BOOTED)
			break;
		/* fall through */
	default:
		rtkit_bad_message(rtkit, VAGX_CLAUSE_RTKIT_BAD_MESSAGE_ap, EP_MGMT,
				  MSG(MGMT_AP_POWER) | power);
		return;
	}
	rtkit->ap_power = power;
	vagx_log(rtkit->report, VAGX_LOG_DEBUG, "rtkit: AP power 0x%x", power);
	rtkit_acknowledge_power(rtkit, MGMT_AP_POWER, power);
}

static void rtkit_mgmt_message(struct vagx_rtkit *rtkit, uint64_t msg)
{
	switch (TYPE(msg)) {
	case MGMT_HELLO_REPLY:
		rtkit_got_hello(rtkit, msg);
		break;
	case MGMT_EPMAP:
		rtkit_got_epmap(rtkit, msg);
		break;
	case MGMT_PING:
		rtkit_reply(rtkit, EP_MGMT, MSG(MGMT_PONG));
		break;
	case MGMT_START_EP:
		rtkit_start_ep(rtkit, msg);
		break;
	case MGMT_SET_IOP_POWER:
		rtkit_set_iop_power(rtkit, msg & 0xffff);
		break;
	case MGMT_AP_POWER:
		rtkit_set_ap_power(rtkit, msg & 0xffff);
		break;
	default:
		rtkit_bad_message(rtkit, VAGX_CLAUSE_RTKIT_BAD_MESSAGE_type, EP_MGMT, msg);
	}
}

/* Extends the sign of an address that has only @bits bits in its message */
static uint64_t rtkit_extend(uint64_t va, unsigned int bits)
{
	return va >> (bits - 1) & 1 ? va | ~0ULL << bits : va;
}

static bool rtkit_writable(struct vagx_rtkit *rtkit, uint64_t va, uint64_t size,
			   struct vagx_uat_fault *fault)
{
	for (uint64_t done = 0; done < size; done += 0x1000) {
		if (!vagx_uat_ptr(rtkit->uat, 0, va + done, 1, VAGX_AGENT_FW,
				  VAGX_WRITE, fault))
			return false;
	}
	return true;
}

/* Return: whether the buffer can be used */
static bool rtkit_got_buffer(struct vagx_rtkit *rtkit, enum buffer_id id,
			     uint64_t msg, uint64_t va, uint64_t size)
{
	struct vagx_uat_fault fault = { 0 };

	if (!rtkit->requested[id]) {
		rtkit_bad_message(rtkit, VAGX_CLAUSE_RTKIT_BAD_MESSAGE_buffer, rtkit_buffers[id].ep,
				  msg);
		return false;
	}
	if (size < rtkit_buffers[id].size || va % 0x1000) {
		vagx_violation(rtkit->report,
			       size < rtkit_buffers[id].size ?
				       VAGX_CLAUSE_RTKIT_BAD_BUFFER_size :
				       VAGX_CLAUSE_RTKIT_BAD_BUFFER_alignment,
			       va, "RTKit buffer", "endpoint 0x%02x: 0x%llx bytes instead of 0x%x",
			       rtkit_buffers[id].ep, (unsigned long long)size,
			       rtkit_buffers[id].size);
		return false;
	}
	if (!rtkit_writable(rtkit, va, rtkit_buffers[id].size, &fault)) {
		vagx_violation(rtkit->report, VAGX_CLAUSE_RTKIT_BAD_BUFFER_mapped,
			       fault.va, "RTKit buffer",
			       "endpoint 0x%02x: not writable for the firmware: %s",
			       rtkit_buffers[id].ep,
			       vagx_fault_reason_name(fault.reason));
		return false;
	}

	rtkit->requested[id] = false;
	pthread_mutex_lock(&rtkit->lock);
	rtkit->buffer[id] = va;
	pthread_mutex_unlock(&rtkit->lock);
	return true;
}

static bool rtkit_got_common_buffer(struct vagx_rtkit *rtkit, enum buffer_id id,
				    uint64_t msg)
{
	return rtkit_got_buffer(rtkit, id, msg, rtkit_extend(msg & 0xfffffffffffULL, 44),
				BUFFER_SIZE(msg));
}

static void rtkit_greet(struct vagx_rtkit *rtkit)
{
	char text[VAGX_RTKIT_SYSLOG_TEXT];

	snprintf(text, sizeof(text), "virtual AGX, firmware %s",
		 rtkit->version);
	vagx_rtkit_syslog(rtkit, "vagx", text);
}

static void rtkit_syslog_acknowledged(struct vagx_rtkit *rtkit, uint64_t msg)
{
	bool expected;

	pthread_mutex_lock(&rtkit->lock);
	expected = rtkit->syslog_pending > 0;
	if (expected)
		rtkit->syslog_pending--;
	pthread_mutex_unlock(&rtkit->lock);

	if (!expected)
		rtkit_bad_message(rtkit, VAGX_CLAUSE_RTKIT_BAD_MESSAGE_line, EP_SYSLOG, msg);
}

static void rtkit_system_message(struct vagx_rtkit *rtkit, uint8_t ep, uint64_t msg)
{
	switch (ep) {
	case EP_SYSLOG:
		if (TYPE(msg) == SYSLOG_LOG)
			rtkit_syslog_acknowledged(rtkit, msg);
		else if (TYPE(msg) != BUFFER_REQUEST)
			rtkit_bad_message(rtkit, VAGX_CLAUSE_RTKIT_BAD_MESSAGE_type, ep, msg);
		else if (rtkit_got_common_buffer(rtkit, BUFFER_SYSLOG, msg))
			rtkit_greet(rtkit);
		break;
	case EP_CRASHLOG:
		if (TYPE(msg) == BUFFER_REQUEST)
			rtkit_got_common_buffer(rtkit, BUFFER_CRASHLOG, msg);
		else
			rtkit_bad_message(rtkit, VAGX_CLAUSE_RTKIT_BAD_MESSAGE_type, ep, msg);
		break;
	case EP_DEBUG:
		/* m1n1 fw/asc/kdebug.py; without a buffer there is nothing to say */
		if (KDEBUG_TYPE(msg) != KDEBUG_START)
			rtkit_bad_message(rtkit, VAGX_CLAUSE_RTKIT_BAD_MESSAGE_type, ep, msg);
		break;
	case EP_IOREPORT:
		if (TYPE(msg) == IOREPORT_START ||
		    TYPE(msg) == IOREPORT_REPORT)
			break;
		if (TYPE(msg) != BUFFER_REQUEST)
			rtkit_bad_message(rtkit, VAGX_CLAUSE_RTKIT_BAD_MESSAGE_type, ep, msg);
		else if (rtkit_got_common_buffer(rtkit, BUFFER_IOREPORT, msg))
			rtkit_reply(rtkit, ep, MSG(IOREPORT_START));
		break;
	case EP_OSLOG:
		if (OSLOG_TYPE(msg) != 1)
			rtkit_bad_message(rtkit, VAGX_CLAUSE_RTKIT_BAD_MESSAGE_type, ep, msg);
		else
			rtkit_got_buffer(rtkit, BUFFER_OSLOG, msg,
					 rtkit_extend((msg & 0xfffffffffULL) << 12, 48),
					 OSLOG_SIZE(msg));
		break;
	default:
		/* The endpoint map has no others */
		break;
	}
}

static void rtkit_app_message(struct vagx_rtkit *rtkit, uint8_t ep, uint64_t msg)
{
	if (rtkit->ap_power != POWER_ON || rtkit->iop_power != POWER_ON) {
		vagx_violation(rtkit->report,
			       rtkit->ap_power != POWER_ON ? VAGX_CLAUSE_RTKIT_NOT_RUNNING_ap :
							     VAGX_CLAUSE_RTKIT_NOT_RUNNING_iop,
			       ep, "RTKit message",
			       "0x%016llx while AP power is 0x%x, IOP power 0x%x",
			       (unsigned long long)msg, rtkit->ap_power,
			       rtkit->iop_power);
		return;
	}
	rtkit->ops->message(rtkit->ctx, ep, msg);
}

static void rtkit_message(struct vagx_rtkit *rtkit, uint8_t ep, uint64_t msg)
{
	rtkit_trace(rtkit, "from guest, endpoint", ep, msg);

	if (vagx_rtkit_is_crashed(rtkit)) {
		/* The guest may have sent it before it could know */
		vagx_log(rtkit->report, VAGX_LOG_DEBUG,
			 "rtkit: message to a crashed coprocessor is dropped");
		return;
	}
	if (!rtkit->cpu_started) {
		rtkit_bad_message(rtkit, VAGX_CLAUSE_RTKIT_BAD_MESSAGE_cpu, ep, msg);
		return;
	}
	if (rtkit->state == SWITCHED_OFF) {
		vagx_violation(rtkit->report, VAGX_RULE_RTKIT_AFTER_OFF, ep,
			       "RTKit message", "0x%016llx",
			       (unsigned long long)msg);
		return;
	}
	if (!rtkit_ep_exists(ep)) {
		vagx_violation(rtkit->report, VAGX_CLAUSE_RTKIT_UNKNOWN_ENDPOINT_message,
			       ep, "RTKit message", "0x%016llx",
			       (unsigned long long)msg);
		return;
	}
	if (ep == EP_MGMT) {
		rtkit_mgmt_message(rtkit, msg);
		return;
	}
	if (!rtkit->started[ep]) {
		vagx_violation(rtkit->report,
			       VAGX_RULE_RTKIT_ENDPOINT_NOT_STARTED, ep,
			       "RTKit message", "0x%016llx",
			       (unsigned long long)msg);
		return;
	}
	if (ep < EP_APPLICATION)
		rtkit_system_message(rtkit, ep, msg);
	else
		rtkit_app_message(rtkit, ep, msg);
}

unsigned int vagx_rtkit_process(struct vagx_rtkit *rtkit, unsigned int max)
{
	unsigned int taken = 0;
	uint64_t msg;
	uint8_t ep;

	for (; taken < max && vagx_mailbox_take(rtkit->mailbox, &ep, &msg); taken++)
		rtkit_message(rtkit, ep, msg);
	vagx_mailbox_settle(rtkit->mailbox);
	return taken;
}

void vagx_rtkit_reset(struct vagx_rtkit *rtkit)
{
	rtkit_forget_session(rtkit);
	rtkit->state = CPU_STOPPED;
	rtkit->cpu_started = false;
	rtkit->quiesced = false;
	rtkit->chatters = false;
	rtkit->ap_power = POWER_OFF;
	rtkit->iop_power = POWER_OFF;

	pthread_mutex_lock(&rtkit->lock);
	rtkit->crashed = false;
	pthread_mutex_unlock(&rtkit->lock);
}

void vagx_rtkit_set_chatter(struct vagx_rtkit *rtkit, bool on)
{
	rtkit->chatters = on;
}

void vagx_rtkit_send(struct vagx_rtkit *rtkit, uint8_t ep, uint64_t msg)
{
	if (vagx_rtkit_is_crashed(rtkit))
		return;

	rtkit_trace(rtkit, "to guest, endpoint", ep, msg);
	if (vagx_mailbox_send(rtkit->mailbox, ep, msg, true))
		vagx_log(rtkit->report, VAGX_LOG_DEBUG,
			 "rtkit: the firmware is being stopped, message 0x%016llx is dropped",
			 (unsigned long long)msg);
}

void vagx_rtkit_syslog(struct vagx_rtkit *rtkit, const char *context,
		       const char *text)
{
	uint8_t entry[SYSLOG_ENTRY] = { 0 };
	unsigned int index;
	uint64_t va;

	pthread_mutex_lock(&rtkit->lock);
	va = rtkit->buffer[BUFFER_SYSLOG];
	if (!va || rtkit->crashed || rtkit->syslog_pending == SYSLOG_ENTRIES) {
		pthread_mutex_unlock(&rtkit->lock);
		return;
	}
	index = rtkit->syslog_next++ % SYSLOG_ENTRIES;
	rtkit->syslog_pending++;
	pthread_mutex_unlock(&rtkit->lock);

	snprintf((char *)entry + 8, SYSLOG_CONTEXT, "%s", context);
	snprintf((char *)entry + SYSLOG_HEADER, VAGX_RTKIT_SYSLOG_TEXT, "%s",
		 text);
	if (vagx_uat_write(rtkit->uat, 0, va + index * SYSLOG_ENTRY, entry,
			   sizeof(entry), VAGX_AGENT_FW, NULL)) {
		vagx_violation(rtkit->report, VAGX_CLAUSE_RTKIT_BAD_BUFFER_syslog, va,
			       "RTKit buffer", "syslog buffer is gone");
		return;
	}
	rtkit_reply(rtkit, EP_SYSLOG, MSG(SYSLOG_LOG) | index);
}

struct crashlog {
	uint8_t data[0x400];
	size_t used;
};

static void rtkit_crashlog_u32(struct crashlog *log, size_t at, uint32_t value)
{
	memcpy(log->data + at, &value, sizeof(value));
}

static void rtkit_crashlog_section(struct crashlog *log, const char *name,
				   const void *payload, size_t size)
{
	size_t start = log->used;
	size_t total = (16 + size + 15) / 16 * 16;

	/* The name is a number with the first character on top */
	for (unsigned int i = 0; i < 4; i++)
		log->data[start + i] = name[3 - i];
	rtkit_crashlog_u32(log, start + 12, total);
	if (size)
		memcpy(log->data + start + 16, payload, size);
	log->used += total;
}

/*
 * Builds a crash log: version, time and one message, between two headers. The reader takes a
 * section's whole length as payload and so looks 16 bytes too far; the closing header keeps that
 * inside the log.
 */
static void rtkit_crashlog_build(struct crashlog *log, const char *version,
				 const char *reason)
{
	uint8_t payload[256] = { 0 };
	uint64_t now = (uint64_t)time(NULL);

	memset(log, 0, sizeof(*log));
	log->used = 0x20;

	snprintf((char *)payload + 16, 64, "vagx %s", version);
	rtkit_crashlog_section(log, "Cver", payload, 16 + 64);
	rtkit_crashlog_section(log, "Ctim", &now, sizeof(now));
	memset(payload, 0, sizeof(payload));
	snprintf((char *)payload + 4, sizeof(payload) - 4, "%s", reason);
	rtkit_crashlog_section(log, "Cstr", payload, sizeof(payload));
	rtkit_crashlog_section(log, "CLHE", payload, 0);
	log->used += 0x10;

	memcpy(log->data, "EHLC", 4);
	rtkit_crashlog_u32(log, 4, 1);
	rtkit_crashlog_u32(log, 8, log->used);
}

void vagx_rtkit_crash(struct vagx_rtkit *rtkit, const char *reason)
{
	struct crashlog log;
	bool again;
	uint64_t va;

	pthread_mutex_lock(&rtkit->lock);
	again = rtkit->crashed;
	rtkit->crashed = true;
	va = rtkit->buffer[BUFFER_CRASHLOG];
	pthread_mutex_unlock(&rtkit->lock);
	if (again)
		return;

	vagx_log(rtkit->report, VAGX_LOG_ERROR, "rtkit: crash: %s", reason);
	if (!va) {
		vagx_log(rtkit->report, VAGX_LOG_WARNING,
			 "rtkit: the guest gave no buffer for the crash log");
		return;
	}
	rtkit_crashlog_build(&log, rtkit->version, reason);
	if (vagx_uat_write(rtkit->uat, 0, va, log.data, log.used,
			   VAGX_AGENT_FW, NULL))
		vagx_violation(rtkit->report, VAGX_CLAUSE_RTKIT_BAD_BUFFER_crashlog, va,
			       "RTKit buffer", "crashlog buffer is gone");
	rtkit_reply(rtkit, EP_CRASHLOG, BUFFER_MSG(rtkit_buffers[BUFFER_CRASHLOG].size,
						   va & 0xfffffffffffULL));
}

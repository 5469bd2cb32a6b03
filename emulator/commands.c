// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The commands of the control socket: their words, and what they mean to the
 * device.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "device.h"

#define MAX_ARGUMENTS	16

struct argument {
	const char *key;		/* "" for a word alone */
	const char *value;
	bool used;
};

struct request {
	struct vagx_device *device;
	const char *word;
	struct argument argument[MAX_ARGUMENTS];
	unsigned int count;
	char *answer;			/* behind "ok" */
	size_t size;
	const char *wrong;		/* name of what is missing or wrong */
};

/* "text" takes what is left of the line, as text has spaces */
static bool split(struct request *request, char *line)
{
	char *rest = line, *word;

	request->word = strsep(&rest, " \t");
	while (rest) {
		struct argument *argument = &request->argument[request->count];
		char *equals;

		rest += strspn(rest, " \t");
		if (!*rest)
			break;
		if (request->count++ == MAX_ARGUMENTS)
			return false;
		if (!strncmp(rest, "text=", 5)) {
			*argument = (struct argument){ "text", rest + 5, false };
			break;
		}
		word = strsep(&rest, " \t");
		equals = strchr(word, '=');
		if (equals)
			*equals = '\0';
		*argument = equals ?
			(struct argument){ word, equals + 1, false } :
			(struct argument){ "", word, false };
	}
	return true;
}

static const char *get(struct request *request, const char *key)
{
	for (unsigned int i = 0; i < request->count; i++) {
		struct argument *argument = &request->argument[i];

		if (!argument->used && !strcmp(argument->key, key)) {
			argument->used = true;
			return argument->value;
		}
	}
	return NULL;
}

static const char *get_unused(const struct request *request)
{
	for (unsigned int i = 0; i < request->count; i++) {
		if (!request->argument[i].used)
			return *request->argument[i].key ?
				request->argument[i].key :
				request->argument[i].value;
	}
	return NULL;
}

/* Whether everything that was said is understood, so that it may happen */
static bool is_good(const struct request *request)
{
	return !request->wrong && !get_unused(request);
}

/* A number in @min to @max; it is an error when there is none */
static long long number(struct request *request, const char *key,
			long long min, long long max)
{
	const char *text = get(request, key);
	long long value;
	char *end;

	errno = 0;
	value = text ? strtoll(text, &end, 0) : 0;
	if (!text || errno || end == text || *end || value < min ||
	    value > max) {
		request->wrong = key;
		return 0;
	}
	return value;
}

/* Hexadecimal, with 0x or without */
static uint64_t hexadecimal(struct request *request, const char *key,
			    uint64_t max)
{
	const char *text = get(request, key);
	unsigned long long value;
	char *end;

	errno = 0;
	value = text ? strtoull(text, &end, 16) : 0;
	if (!text || errno || end == text || *end || *text == '-' ||
	    value > max) {
		request->wrong = key;
		return 0;
	}
	return value;
}

static bool on_or_off(struct request *request)
{
	const char *text = get(request, "");

	if (!text || (strcmp(text, "on") && strcmp(text, "off")))
		request->wrong = "on|off";
	return text && !strcmp(text, "on");
}

static unsigned int pipe_number(struct request *request)
{
	static const char *const names[] = { "vertex", "fragment", "compute" };
	const char *text = get(request, "pipe");

	for (unsigned int i = 0; text && i < 3; i++) {
		if (!strcmp(text, names[i]))
			return i;
	}
	request->wrong = "pipe";
	return 0;
}

static void text_of(struct request *request, char *text, size_t size,
		    const char *otherwise)
{
	const char *value = get(request, "text");

	snprintf(text, size, "%s", value ? value : otherwise);
}

/* The handlers: each sets @wrong, or does it and returns an error of errno */

static int inject(struct request *request, enum vagx_fw_injection_kind kind,
		  int64_t value)
{
	struct vagx_fw_injection what = { .kind = kind, .value = value };

	return is_good(request) ? vagx_device_inject(request->device, &what) : 0;
}

static int on_pipe(struct request *request, enum vagx_fw_injection_kind kind,
		   unsigned int pipe, int64_t value)
{
	struct vagx_fw_injection what = {
		.kind = kind,
		.pipe = pipe,
		.value = value,
	};

	return is_good(request) ? vagx_device_inject(request->device, &what) : 0;
}

static int do_crash(struct request *request)
{
	char text[VAGX_FW_INJECT_TEXT];

	text_of(request, text, sizeof(text), "asked for by the control socket");
	return is_good(request) ? vagx_device_crash(request->device, text) : 0;
}

static int do_silence(struct request *request)
{
	return inject(request, VAGX_FW_INJECT_SILENCE, on_or_off(request));
}

static int do_mailbox_full(struct request *request)
{
	bool on = on_or_off(request);

	if (is_good(request))
		vagx_device_hold_mailbox(request->device, on);
	return 0;
}

static int do_drop_message(struct request *request)
{
	unsigned int n = number(request, "n", 0, 100000);

	if (is_good(request))
		vagx_device_drop_message(request->device, n);
	return 0;
}

static int do_delay_message(struct request *request)
{
	unsigned int n = number(request, "n", 0, 100000);
	unsigned int ms = number(request, "ms", 0, 100000);

	if (is_good(request))
		vagx_device_delay_message(request->device, n, ms);
	return 0;
}

static int do_chatter(struct request *request)
{
	bool on = on_or_off(request);

	if (is_good(request))
		vagx_device_set_chatter(request->device, on);
	return 0;
}

static int do_hold_lock(struct request *request)
{
	return inject(request, VAGX_FW_INJECT_HOLD_LOCK, on_or_off(request));
}

static int do_channel_error(struct request *request)
{
	unsigned int pipe = pipe_number(request);

	return on_pipe(request, VAGX_FW_INJECT_CHANNEL_ERROR, pipe,
		       number(request, "type", 0, INT32_MAX));
}

static int do_hang(struct request *request)
{
	return on_pipe(request, VAGX_FW_INJECT_HANG, pipe_number(request), 0);
}

static int do_timeout(struct request *request)
{
	return inject(request, VAGX_FW_INJECT_TIMEOUT,
		      number(request, "slot", INT32_MIN, INT32_MAX));
}

static int do_fault_register(struct request *request)
{
	return inject(request, VAGX_FW_INJECT_FAULT_REGISTER,
		      hexadecimal(request, "value", UINT64_MAX));
}

static int do_hold_stamps(struct request *request)
{
	return inject(request, VAGX_FW_INJECT_HOLD_STAMPS, on_or_off(request));
}

static int do_late_flush(struct request *request)
{
	return inject(request, VAGX_FW_INJECT_LATE_FLUSH,
		      number(request, "ms", 0, 3600000));
}

static int do_flush_state(struct request *request)
{
	return inject(request, VAGX_FW_INJECT_FLUSH_STATE,
		      number(request, "value", 0, INT64_MAX));
}

static int do_event(struct request *request)
{
	struct vagx_fw_injection what = { .kind = VAGX_FW_INJECT_EVENT };

	for (unsigned int i = 0; i < VAGX_FW_EVENT_WORDS; i++) {
		char key[8];

		snprintf(key, sizeof(key), "word%u", i);
		for (unsigned int n = 0; n < request->count; n++) {
			if (!strcmp(request->argument[n].key, key))
				what.word[i] = hexadecimal(request, key,
							   UINT32_MAX);
		}
		/* @key ends here */
		if (request->wrong)
			request->wrong = "word";
	}
	return is_good(request) ? vagx_device_inject(request->device, &what) : 0;
}

static int do_event_ring(struct request *request)
{
	const char *how = get(request, "");

	if (!how || strcmp(how, "broken"))
		request->wrong = "broken";
	return inject(request, VAGX_FW_INJECT_BREAK_EVENT_RING, 0);
}

static int do_grow(struct request *request)
{
	struct vagx_fw_injection what = { .kind = VAGX_FW_INJECT_GROW };

	what.word[0] = number(request, "context", 0, UINT32_MAX);
	what.word[1] = number(request, "slot", 0, UINT32_MAX);
	return is_good(request) ? vagx_device_inject(request->device, &what) : 0;
}

static int do_wrong_stamp(struct request *request)
{
	return inject(request, VAGX_FW_INJECT_WRONG_STAMP,
		      number(request, "step", INT32_MIN, INT32_MAX));
}

static int do_ring_pointers(struct request *request)
{
	return inject(request, VAGX_FW_INJECT_RING_POINTERS,
		      hexadecimal(request, "value", UINT32_MAX));
}

static int do_power_loss(struct request *request)
{
	if (is_good(request))
		vagx_device_power_loss(request->device);
	return 0;
}

static int do_log(struct request *request)
{
	struct vagx_fw_injection what = { .kind = VAGX_FW_INJECT_LOG };

	what.value = number(request, "level", 0, VAGX_FW_LOG_CHANNELS - 1);
	text_of(request, what.text, sizeof(what.text), "");
	return is_good(request) ? vagx_device_inject(request->device, &what) : 0;
}

static int do_log_flood(struct request *request)
{
	return inject(request, VAGX_FW_INJECT_LOG_FLOOD, number(request, "lines", 1, 100000));
}

static int do_status(struct request *request)
{
	vagx_device_status(request->device, request->answer, request->size);
	return 0;
}

static int do_help(struct request *request);

static const struct {
	const char *word, *arguments;
	int (*obey)(struct request *request);
} commands[] = {
	{ "help", "", do_help },
	{ "status", "", do_status },
	{ "crash", "[text=...]", do_crash },
	{ "silence", "on|off", do_silence },
	{ "mailbox-full", "on|off", do_mailbox_full },
	{ "drop-message", "n=N", do_drop_message },
	{ "delay-message", "n=N ms=N", do_delay_message },
	{ "chatter", "on|off", do_chatter },
	{ "hold-lock", "on|off", do_hold_lock },
	{ "channel-error", "pipe=vertex|fragment|compute type=N",
	  do_channel_error },
	{ "hang", "pipe=vertex|fragment|compute", do_hang },
	{ "timeout", "slot=N", do_timeout },
	{ "fault-register", "value=HEX", do_fault_register },
	{ "hold-stamps", "on|off", do_hold_stamps },
	{ "late-flush", "ms=N", do_late_flush },
	{ "flush-state", "value=N", do_flush_state },
	{ "event", "word0=HEX ... word13=HEX", do_event },
	{ "event-ring", "broken", do_event_ring },
	{ "grow", "context=N slot=N", do_grow },
	{ "wrong-stamp", "step=N", do_wrong_stamp },
	{ "ring-pointers", "value=HEX", do_ring_pointers },
	{ "power-loss", "", do_power_loss },
	{ "log", "level=N text=...", do_log },
	{ "log-flood", "lines=N", do_log_flood },
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int do_help(struct request *request)
{
	size_t used = 0;

	for (unsigned int i = 0; i < COMMANDS && used < request->size; i++)
		used += snprintf(request->answer + used, request->size - used,
				 "%s%s%s%s", i ? "; " : "", commands[i].word,
				 *commands[i].arguments ? " " : "",
				 commands[i].arguments);
	return 0;
}

static const char *reason(int error)
{
	switch (error) {
	case ENODEV:
		return "the firmware is not up";
	case EBUSY:
	case ETIMEDOUT:
		return "the firmware waits for the driver; it will come to this later";
	}
	return strerror(error);
}

static void run(struct request *request, unsigned int index, char *answer,
		size_t size)
{
	char told[VAGX_DEVICE_STATUS] = "";
	const char *unused;
	int ret;

	request->answer = told;
	request->size = sizeof(told);
	ret = commands[index].obey(request);
	unused = get_unused(request);
	if (request->wrong)
		snprintf(answer, size, "error %s: %s is missing or wrong; usage: %s %s",
			 request->word, request->wrong, request->word,
			 commands[index].arguments);
	else if (ret)
		snprintf(answer, size, "error %s: %s", request->word,
			 reason(-ret));
	else if (unused)
		snprintf(answer, size, "error %s: %s is superfluous",
			 request->word, unused);
	else
		snprintf(answer, size, "ok%s%s", *told ? " " : "", told);
	request->answer = NULL;
}

void vagx_command(struct vagx_device *device, char *line, char *answer,
		  size_t size)
{
	struct request request = { .device = device };

	if (!split(&request, line + strspn(line, " \t"))) {
		snprintf(answer, size, "error too many arguments");
		return;
	}
	for (unsigned int i = 0; i < COMMANDS; i++) {
		if (!strcmp(request.word, commands[i].word)) {
			run(&request, i, answer, size);
			return;
		}
	}
	snprintf(answer, size, "error unknown command; try help");
}

// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The commands of the control socket. A line is split into its word and arguments, "key=value" or
 * a word alone; the table has a handler for each word, which takes the arguments that it knows
 * and, if all were right and none is left over, does what they say to the device.
 *
 * The MMIO thread, one line at a time.
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

/*
 * Splits a line into its word and arguments. "text=" takes all that is left of the line, as text
 * has spaces. Return: false if there are more than MAX_ARGUMENTS.
 */
static bool commands_split(struct request *request, char *line)
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

static const char *commands_get(struct request *request, const char *key)
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

static const char *commands_get_unused(const struct request *request)
{
	for (unsigned int i = 0; i < request->count; i++) {
		if (!request->argument[i].used)
			return *request->argument[i].key ?
				request->argument[i].key :
				request->argument[i].value;
	}
	return NULL;
}

/* Whether all arguments were right and none is left over, so that the command may be done */
static bool commands_is_good(const struct request *request)
{
	return !request->wrong && !commands_get_unused(request);
}

/* Takes the argument @key, a number from @min to @max; sets @wrong if there is none */
static long long commands_number(struct request *request, const char *key,
				 long long min, long long max)
{
	const char *text = commands_get(request, key);
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

/* Takes the argument @key, hexadecimal with 0x or without, up to @max; or sets @wrong */
static uint64_t commands_hexadecimal(struct request *request, const char *key,
				     uint64_t max)
{
	const char *text = commands_get(request, key);
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

static bool commands_on_or_off(struct request *request)
{
	const char *text = commands_get(request, "");

	if (!text || (strcmp(text, "on") && strcmp(text, "off")))
		request->wrong = "on|off";
	return text && !strcmp(text, "on");
}

static unsigned int commands_pipe_number(struct request *request)
{
	static const char *const names[] = { "vertex", "fragment", "compute" };
	const char *text = commands_get(request, "pipe");

	for (unsigned int i = 0; text && i < 3; i++) {
		if (!strcmp(text, names[i]))
			return i;
	}
	request->wrong = "pipe";
	return 0;
}

static void commands_text_of(struct request *request, char *text, size_t size,
			     const char *otherwise)
{
	const char *value = commands_get(request, "text");

	snprintf(text, size, "%s", value ? value : otherwise);
}

/* The handlers. Each sets @wrong, or does it and returns 0 or a negative errno. */

static int commands_inject(struct request *request, enum vagx_fw_injection_kind kind,
			   int64_t value)
{
	struct vagx_fw_injection what = { .kind = kind, .value = value };

	return commands_is_good(request) ? vagx_device_inject(request->device, &what) : 0;
}

static int commands_on_pipe(struct request *request, enum vagx_fw_injection_kind kind,
			    unsigned int pipe, int64_t value)
{
	struct vagx_fw_injection what = {
		.kind = kind,
		.pipe = pipe,
		.value = value,
	};

	return commands_is_good(request) ? vagx_device_inject(request->device, &what) : 0;
}

static int commands_do_crash(struct request *request)
{
	char text[VAGX_FW_INJECT_TEXT];

	commands_text_of(request, text, sizeof(text), "asked for by the control socket");
	return commands_is_good(request) ? vagx_device_crash(request->device, text) : 0;
}

static int commands_do_silence(struct request *request)
{
	return commands_inject(request, VAGX_FW_INJECT_SILENCE, commands_on_or_off(request));
}

static int commands_do_mailbox_full(struct request *request)
{
	bool on = commands_on_or_off(request);

	if (commands_is_good(request))
		vagx_device_hold_mailbox(request->device, on);
	return 0;
}

static int commands_do_drop_message(struct request *request)
{
	unsigned int n = commands_number(request, "n", 0, 100000);

	if (commands_is_good(request))
		vagx_device_drop_message(request->device, n);
	return 0;
}

static int commands_do_delay_message(struct request *request)
{
	unsigned int n = commands_number(request, "n", 0, 100000);
	unsigned int ms = commands_number(request, "ms", 0, 100000);

	if (commands_is_good(request))
		vagx_device_delay_message(request->device, n, ms);
	return 0;
}

static int commands_do_chatter(struct request *request)
{
	bool on = commands_on_or_off(request);

	if (commands_is_good(request))
		vagx_device_set_chatter(request->device, on);
	return 0;
}

static int commands_do_hold_lock(struct request *request)
{
	return commands_inject(request, VAGX_FW_INJECT_HOLD_LOCK, commands_on_or_off(request));
}

static int commands_do_channel_error(struct request *request)
{
	unsigned int pipe = commands_pipe_number(request);

	return commands_on_pipe(request, VAGX_FW_INJECT_CHANNEL_ERROR, pipe,
				commands_number(request, "type", 0, INT32_MAX));
}

static int commands_do_hang(struct request *request)
{
	return commands_on_pipe(request, VAGX_FW_INJECT_HANG, commands_pipe_number(request), 0);
}

static int commands_do_timeout(struct request *request)
{
	return commands_inject(request, VAGX_FW_INJECT_TIMEOUT,
			       commands_number(request, "slot", INT32_MIN, INT32_MAX));
}

static int commands_do_fault_register(struct request *request)
{
	return commands_inject(request, VAGX_FW_INJECT_FAULT_REGISTER,
			       commands_hexadecimal(request, "value", UINT64_MAX));
}

static int commands_do_hold_stamps(struct request *request)
{
	return commands_inject(request, VAGX_FW_INJECT_HOLD_STAMPS, commands_on_or_off(request));
}

static int commands_do_late_flush(struct request *request)
{
	return commands_inject(request, VAGX_FW_INJECT_LATE_FLUSH,
			       commands_number(request, "ms", 0, 3600000));
}

static int commands_do_flush_state(struct request *request)
{
	return commands_inject(request, VAGX_FW_INJECT_FLUSH_STATE,
			       commands_number(request, "value", 0, INT64_MAX));
}

/* Takes the words of a message; those that are not given are 0 */
static void commands_words(struct request *request, uint32_t *word)
{
	for (unsigned int i = 0; i < VAGX_FW_EVENT_WORDS; i++) {
		char key[8];

		snprintf(key, sizeof(key), "word%u", i);
		for (unsigned int n = 0; n < request->count; n++) {
			if (!strcmp(request->argument[n].key, key))
				word[i] = commands_hexadecimal(request, key, UINT32_MAX);
		}
		/* @key ends here, so @wrong must not point to it */
		if (request->wrong)
			request->wrong = "word";
	}
}

static int commands_do_event(struct request *request)
{
	struct vagx_fw_injection what = { .kind = VAGX_FW_INJECT_EVENT };

	commands_words(request, what.word);
	return commands_is_good(request) ? vagx_device_inject(request->device, &what) : 0;
}

static enum vagx_fw_ring commands_ring(struct request *request)
{
	static const char *const names[VAGX_FW_RINGS] = {
		[VAGX_FW_RING_LOG] = "log",
		[VAGX_FW_RING_LOG_TEXT] = "log-text",
		[VAGX_FW_RING_KTRACE] = "ktrace",
		[VAGX_FW_RING_STATISTICS] = "statistics",
	};
	const char *text = commands_get(request, "ring");

	for (unsigned int i = 0; text && i < VAGX_FW_RINGS; i++) {
		if (!strcmp(text, names[i]))
			return i;
	}
	request->wrong = "ring";
	return 0;
}

static int commands_do_message(struct request *request)
{
	struct vagx_fw_injection what = { .kind = VAGX_FW_INJECT_MESSAGE };
	const char *wrong;

	what.value = commands_ring(request);
	wrong = request->wrong;
	request->wrong = NULL;
	commands_words(request, what.word);
	if (wrong)
		request->wrong = wrong;
	return commands_is_good(request) ? vagx_device_inject(request->device, &what) : 0;
}

static int commands_do_event_ring(struct request *request)
{
	const char *how = commands_get(request, "");

	if (!how || strcmp(how, "broken"))
		request->wrong = "broken";
	return commands_inject(request, VAGX_FW_INJECT_BREAK_EVENT_RING, 0);
}

static int commands_do_grow(struct request *request)
{
	struct vagx_fw_injection what = { .kind = VAGX_FW_INJECT_GROW };

	what.word[0] = commands_number(request, "context", 0, UINT32_MAX);
	what.word[1] = commands_number(request, "slot", 0, UINT32_MAX);
	return commands_is_good(request) ? vagx_device_inject(request->device, &what) : 0;
}

static int commands_do_wrong_stamp(struct request *request)
{
	return commands_inject(request, VAGX_FW_INJECT_WRONG_STAMP,
			       commands_number(request, "step", INT32_MIN, INT32_MAX));
}

static int commands_do_ring_pointers(struct request *request)
{
	return commands_inject(request, VAGX_FW_INJECT_RING_POINTERS,
			       commands_hexadecimal(request, "value", UINT32_MAX));
}

static int commands_do_power_loss(struct request *request)
{
	if (commands_is_good(request))
		vagx_device_power_loss(request->device);
	return 0;
}

static int commands_do_log(struct request *request)
{
	struct vagx_fw_injection what = { .kind = VAGX_FW_INJECT_LOG };

	what.value = commands_number(request, "level", 0, VAGX_FW_LOG_CHANNELS - 1);
	commands_text_of(request, what.text, sizeof(what.text), "");
	return commands_is_good(request) ? vagx_device_inject(request->device, &what) : 0;
}

static int commands_do_log_flood(struct request *request)
{
	return commands_inject(request, VAGX_FW_INJECT_LOG_FLOOD,
			       commands_number(request, "lines", 1, 100000));
}

static int commands_do_status(struct request *request)
{
	vagx_device_status(request->device, request->answer, request->size);
	return 0;
}

/* Whether nothing is left is in the status of vagx-ctl, and what is left is in the answer. */
static int commands_do_at_rest(struct request *request)
{
	const char *how = commands_get(request, "");
	int left;

	if (how && strcmp(how, "closed"))
		request->wrong = "closed";
	if (!commands_is_good(request))
		return 0;
	left = vagx_device_at_rest(request->device, how, request->answer, request->size);
	return left > 0 ? -ENOTEMPTY : left;
}

static int commands_do_help(struct request *request);

static const struct {
	const char *word, *arguments;
	int (*obey)(struct request *request);
} commands[] = {
	{ "help", "", commands_do_help },
	{ "status", "", commands_do_status },
	{ "at-rest", "[closed]", commands_do_at_rest },
	{ "crash", "[text=...]", commands_do_crash },
	{ "silence", "on|off", commands_do_silence },
	{ "mailbox-full", "on|off", commands_do_mailbox_full },
	{ "drop-message", "n=N", commands_do_drop_message },
	{ "delay-message", "n=N ms=N", commands_do_delay_message },
	{ "chatter", "on|off", commands_do_chatter },
	{ "hold-lock", "on|off", commands_do_hold_lock },
	{ "channel-error", "pipe=vertex|fragment|compute type=N",
	  commands_do_channel_error },
	{ "hang", "pipe=vertex|fragment|compute", commands_do_hang },
	{ "timeout", "slot=N", commands_do_timeout },
	{ "fault-register", "value=HEX", commands_do_fault_register },
	{ "hold-stamps", "on|off", commands_do_hold_stamps },
	{ "late-flush", "ms=N", commands_do_late_flush },
	{ "flush-state", "value=N", commands_do_flush_state },
	{ "event", "word0=HEX ... word13=HEX", commands_do_event },
	{ "event-ring", "broken", commands_do_event_ring },
	{ "message", "ring=log|log-text|ktrace|statistics word0=HEX ... word13=HEX",
	  commands_do_message },
	{ "grow", "context=N slot=N", commands_do_grow },
	{ "wrong-stamp", "step=N", commands_do_wrong_stamp },
	{ "ring-pointers", "value=HEX", commands_do_ring_pointers },
	{ "power-loss", "", commands_do_power_loss },
	{ "log", "level=N text=...", commands_do_log },
	{ "log-flood", "lines=N", commands_do_log_flood },
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int commands_do_help(struct request *request)
{
	size_t used = 0;

	for (unsigned int i = 0; i < COMMANDS && used < request->size; i++)
		used += snprintf(request->answer + used, request->size - used,
				 "%s%s%s%s", i ? "; " : "", commands[i].word,
				 *commands[i].arguments ? " " : "",
				 commands[i].arguments);
	return 0;
}

static const char *commands_reason(int error)
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

static void commands_run(struct request *request, unsigned int index, char *answer,
			 size_t size)
{
	char told[VAGX_DEVICE_STATUS] = "";
	const char *unused;
	int ret;

	request->answer = told;
	request->size = sizeof(told);
	ret = commands[index].obey(request);
	unused = commands_get_unused(request);
	if (request->wrong)
		snprintf(answer, size, "error %s: %s is missing or wrong; usage: %s %s",
			 request->word, request->wrong, request->word,
			 commands[index].arguments);
	else if (ret)
		snprintf(answer, size, "error %s: %s", request->word,
			 *told ? told : commands_reason(-ret));
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

	if (!commands_split(&request, line + strspn(line, " \t"))) {
		snprintf(answer, size, "error too many arguments");
		return;
	}
	for (unsigned int i = 0; i < COMMANDS; i++) {
		if (!strcmp(request.word, commands[i].word)) {
			commands_run(&request, i, answer, size);
			return;
		}
	}
	snprintf(answer, size, "error unknown command; try help");
}

// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The control socket without what is behind it: lines, clients, nonsense.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helpers.h"

#include "control.h"
#include "listen.h"

struct fixture {
	char folder[32], path[64];
	struct vagx_report *report;
	FILE *null;
	struct vagx_control *control;
	unsigned int commands;
	char last[VAGX_CONTROL_LINE];
	const char *answer;
};

static void on_command(void *ctx, char *line, char *answer, size_t size)
{
	struct fixture *f = ctx;

	f->commands++;
	strcpy(f->last, line);
	snprintf(answer, size, "%s", f->answer);
}

static int setup(void **state)
{
	struct vagx_report_config report = { .level = VAGX_LOG_ERROR };
	struct fixture *f = calloc(1, sizeof(*f));
	struct vagx_control_config config = { .command = on_command, .ctx = f };

	assert_non_null(f);
	strcpy(f->folder, "/tmp/vagx-test-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	snprintf(f->path, sizeof(f->path), "%s/control", f->folder);
	f->null = fopen("/dev/null", "w");
	report.stream = f->null;
	f->report = vagx_report_new(&report);
	f->answer = "ok";
	config.report = f->report;
	config.path = f->path;
	f->control = vagx_control_new(&config);
	assert_non_null(f->control);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	vagx_control_free(f->control);
	assert_int_equal(access(f->path, F_OK), -1);
	rmdir(f->folder);
	vagx_report_free(f->report);
	fclose(f->null);
	free(f);
	return 0;
}

/* As long as there is something to do */
static void serve(struct fixture *f)
{
	struct pollfd fds[VAGX_CONTROL_FDS];
	unsigned int count = vagx_control_poll(f->control, fds);

	while (poll(fds, count, 0) > 0) {
		vagx_control_process(f->control, fds, count);
		count = vagx_control_poll(f->control, fds);
	}
}

static int connect_to(struct fixture *f)
{
	int fd = vagx_connect(f->path);

	assert_true(fd >= 0);
	return fd;
}

static void say(int fd, const char *text, size_t len)
{
	assert_int_equal(send(fd, text, len, MSG_NOSIGNAL), len);
}

static void expect(int fd, const char *text)
{
	char got[4096] = "";
	ssize_t len = recv(fd, got, sizeof(got) - 1, MSG_DONTWAIT);

	assert_int_equal(len, strlen(text));
	assert_string_equal(got, text);
}

static bool is_closed(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
}

static void one_line_one_answer(void **state)
{
	struct fixture *f = *state;
	int fd = connect_to(f);

	say(fd, "status\n", 7);
	serve(f);
	assert_string_equal(f->last, "status");
	expect(fd, "ok\n");
	f->answer = "error because";
	say(fd, "crash text=a b\r\n", 16);
	serve(f);
	assert_string_equal(f->last, "crash text=a b");
	expect(fd, "error because\n");
	close(fd);
}

static void lines_in_parts_and_in_heaps(void **state)
{
	struct fixture *f = *state;
	int fd = connect_to(f);

	say(fd, "sta", 3);
	serve(f);
	assert_int_equal(f->commands, 0);
	say(fd, "tus\na\nb\nc", 9);
	serve(f);
	assert_int_equal(f->commands, 3);
	assert_string_equal(f->last, "b");
	expect(fd, "ok\nok\nok\n");
	say(fd, "\n\n", 2);
	serve(f);
	assert_int_equal(f->commands, 5);
	assert_string_equal(f->last, "");
	close(fd);
	serve(f);
}

/* An answer is one line, whatever the command says */
static void answers_are_lines(void **state)
{
	struct fixture *f = *state;
	char answer[VAGX_CONTROL_ANSWER * 2];
	char got[VAGX_CONTROL_ANSWER * 2] = "";
	int fd = connect_to(f);

	f->answer = "ok\nerror";
	say(fd, "x\n", 2);
	serve(f);
	expect(fd, "ok\n");
	memset(answer, 'y', sizeof(answer) - 1);
	answer[sizeof(answer) - 1] = '\0';
	f->answer = answer;
	say(fd, "x\n", 2);
	serve(f);
	assert_int_equal(recv(fd, got, sizeof(got), MSG_DONTWAIT),
			 VAGX_CONTROL_ANSWER);
	assert_int_equal(got[VAGX_CONTROL_ANSWER - 1], '\n');
	close(fd);
}

static void nonsense_is_refused(void **state)
{
	static const struct {
		const char *text;
		size_t len;
	} nonsense[] = {
		{ "sta\0tus\n", 8 }, { "\x01\n", 2 }, { "a\x7f\n", 3 },
		{ "\x1b[2J\n", 5 }, { "\0\n", 2 },
	};
	struct fixture *f = *state;

	for (unsigned int i = 0; i < 5; i++) {
		int fd = connect_to(f);

		say(fd, nonsense[i].text, nonsense[i].len);
		serve(f);
		expect(fd, "error not a line of text\n");
		assert_true(is_closed(fd));
		close(fd);
	}
	assert_int_equal(f->commands, 0);
}

static void too_long_a_line(void **state)
{
	struct fixture *f = *state;
	char line[VAGX_CONTROL_LINE];
	int fd = connect_to(f);

	memset(line, 'a', sizeof(line));
	line[sizeof(line) - 1] = '\n';
	say(fd, line, sizeof(line));
	serve(f);
	assert_int_equal(f->commands, 1);
	expect(fd, "ok\n");
	line[sizeof(line) - 1] = 'a';
	say(fd, line, sizeof(line));
	serve(f);
	expect(fd, "error the line is too long\n");
	assert_true(is_closed(fd));
	assert_int_equal(f->commands, 1);
	close(fd);
}

static void clients_after_each_other(void **state)
{
	struct fixture *f = *state;

	for (unsigned int i = 0; i < 50; i++) {
		int fd = connect_to(f);

		if (i % 3)
			say(fd, "x\n", i % 3);
		if (i % 2)
			serve(f);
		close(fd);
		serve(f);
	}
	assert_int_equal(f->commands, 16);
}

/* More than are served at once wait for their turn */
static void clients_beside_each_other(void **state)
{
	struct fixture *f = *state;
	int fd[VAGX_CONTROL_CLIENTS + 3];

	for (unsigned int i = 0; i < VAGX_CONTROL_CLIENTS + 3; i++) {
		fd[i] = connect_to(f);
		say(fd[i], "x\n", 2);
		serve(f);
	}
	assert_int_equal(f->commands, VAGX_CONTROL_CLIENTS);
	for (unsigned int i = 0; i < VAGX_CONTROL_CLIENTS + 3; i++) {
		expect(fd[i], "ok\n");
		close(fd[i]);
		serve(f);
	}
	assert_int_equal(f->commands, VAGX_CONTROL_CLIENTS + 3);
}

/* Who reads no answers loses the connection, and nobody waits for that */
static void answers_that_nobody_reads(void **state)
{
	struct fixture *f = *state;
	int fd = connect_to(f);
	unsigned int sent = 0;

	while (send(fd, "x\n", 2, MSG_DONTWAIT | MSG_NOSIGNAL) == 2 &&
	       sent++ < 1000000)
		serve(f);
	assert_true(sent < 1000000);
	close(fd);
	fd = connect_to(f);
	say(fd, "y\n", 2);
	serve(f);
	expect(fd, "ok\n");
	close(fd);
}

static void random_bytes(void **state)
{
	struct fixture *f = *state;
	unsigned int seed = 1;

	for (unsigned int i = 0; i < 300; i++) {
		char bytes[300];
		int fd = connect_to(f);

		for (unsigned int n = 0; n < sizeof(bytes); n++)
			bytes[n] = rand_r(&seed) % (i % 2 ? 256 : 128);
		send(fd, bytes, rand_r(&seed) % sizeof(bytes), MSG_NOSIGNAL);
		if (i % 4)
			serve(f);
		close(fd);
	}
	serve(f);
}

static void where_it_listens(void **state)
{
	struct fixture *f = *state;
	struct vagx_control_config config = {
		.report = f->report,
		.path = f->path,
		.command = on_command,
		.ctx = f,
	};
	struct vagx_control *second;
	char other[80];
	FILE *file;

	/* A socket that was left behind is replaced */
	second = vagx_control_new(&config);
	assert_non_null(second);
	vagx_control_free(second);
	/* ... a file is not */
	snprintf(other, sizeof(other), "%s/file", f->folder);
	file = fopen(other, "w");
	assert_non_null(file);
	fclose(file);
	config.path = other;
	assert_null(vagx_control_new(&config));
	assert_int_equal(errno, EADDRINUSE);
	assert_int_equal(access(other, F_OK), 0);
	unlink(other);
	config.path = "/nonexistent/control";
	assert_null(vagx_control_new(&config));
	assert_int_equal(errno, ENOENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_line_one_answer),
		TEST(lines_in_parts_and_in_heaps),
		TEST(answers_are_lines),
		TEST(nonsense_is_refused),
		TEST(too_long_a_line),
		TEST(clients_after_each_other),
		TEST(clients_beside_each_other),
		TEST(answers_that_nobody_reads),
		TEST(random_bytes),
		TEST(where_it_listens),
	};

	return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}

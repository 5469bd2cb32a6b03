// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A fuzzer of the driver's ioctls: processes that run programs by chance, and one that
 * looks after them. Prints TAP.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

#define MAX_SEEDS		8
#define MAX_FINDINGS		5
/* The last programs of each process, in a file that outlives the machine */
#define KEPT			16
/* Programs between two questions whether the driver works */
#define SANITY_EVERY		40
#define SANITY_TRIES		8

struct fuzz_shared *fuzz_shared;

static const struct fuzz_options defaults = {
	.seed = 1, .seconds = 10, .workers = 2, .threads = 3, .patience_ms = 3000,
	.hang_seconds = 60,
};

static struct fuzz_options *options;
static int shared_fd;
static struct fuzz_program *seeds[MAX_SEEDS];
static int seed_count;
static unsigned int results, failed;

static unsigned long seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static void map_shared(int fd)
{
	fuzz_shared = mmap(NULL, sizeof(*fuzz_shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fuzz_shared == MAP_FAILED) {
		perror("asahi-fuzz: mmap");
		exit(2);
	}
	shared_fd = fd;
	options = &fuzz_shared->options;
}

static void make_shared(void)
{
	int fd = memfd_create("asahi-fuzz", 0);

	if (fd < 0 || ftruncate(fd, sizeof(*fuzz_shared))) {
		perror("asahi-fuzz: shared memory");
		exit(2);
	}
	map_shared(fd);
	*options = defaults;
}

static void report(bool good, const char *name)
{
	printf("%s %u - %s\n", good ? "ok" : "not ok", ++results, name);
	failed += !good;
	fflush(stdout);
}

/* Return: the length; a program that is too long is cut, and not read again. */
static size_t to_text(const struct fuzz_program *program, char *text, size_t room)
{
	FILE *out = fmemopen(text, room, "w");
	long size;

	if (!out)
		abort();
	fuzz_program_print(program, out);
	fflush(out);
	size = ftell(out);
	fclose(out);
	text[room - 1] = '\0';
	return size > 0 && (size_t)size < room ? (size_t)size : room - 1;
}

static struct fuzz_program *from_text(const char *text)
{
	return fuzz_program_read(&text);
}

/* Corpus */

static void remember(const char *text)
{
	size_t size = strlen(text) + 1;
	size_t at = atomic_fetch_add(&fuzz_shared->used, size);
	unsigned int index;

	if (at + size > FUZZ_TEXTS)
		return;
	memcpy(fuzz_shared->texts + at, text, size);
	index = atomic_fetch_add(&fuzz_shared->corpus_count, 1);
	if (index < FUZZ_MAX_CORPUS)
		atomic_store(&fuzz_shared->corpus[index], at + 1);
}

/* NULL if another process is still writing it */
static const char *remembered(unsigned int index)
{
	unsigned long at = atomic_load(&fuzz_shared->corpus[index]);

	return at ? fuzz_shared->texts + at - 1 : NULL;
}

/* What is printed is what is read: the text is all that is left of a crash. */
static bool is_faithful(const char *printed)
{
	static char text[FUZZ_MAX_TEXT];
	struct fuzz_program *program = from_text(printed);

	if (!program)
		return false;
	to_text(program, text, sizeof(text));
	fuzz_program_free(program);
	return !strcmp(text, printed);
}

static bool texts_are_faithful(void)
{
	unsigned int count = atomic_load(&fuzz_shared->corpus_count);
	unsigned int i;

	for (i = 0; i < count; i++)
		if (!is_faithful(remembered(i)))
			return false;
	return count;
}

static void read_seeds(void)
{
	unsigned int i;

	for (i = 0; i < fuzz_shared->seed_count; i++) {
		seeds[i] = from_text(remembered(i));
		if (!seeds[i])
			abort();
		seed_count++;
	}
}

static void free_seeds(void)
{
	while (seed_count)
		fuzz_program_free(seeds[--seed_count]);
}

static struct fuzz_program *without_expectations(struct fuzz_program *program)
{
	unsigned int i = program ? program->count : 0;

	while (i--)
		if (program->calls[i]->op->action == FUZZ_EXPECT)
			fuzz_program_remove(program, i);
	return program;
}

static unsigned int basic_count(void)
{
	unsigned int count = 0;

	while (fuzz_basics[count])
		count++;
	return count;
}

/* Seeds are worth more than others, and what came last may lead on. */
static struct fuzz_program *recall(struct fuzz_random *random)
{
	unsigned int count = atomic_load(&fuzz_shared->corpus_count);
	unsigned int recent;
	const char *text;

	if (count > FUZZ_MAX_CORPUS)
		count = FUZZ_MAX_CORPUS;
	/* What needs no work of the GPU is soon done: many of these, and some of those. */
	if (fuzz_chance(random, 35)) {
		text = remembered(seed_count + fuzz_below(random, basic_count()));
		return text ? from_text(text) : NULL;
	}
	if (fuzz_chance(random, 10))
		return without_expectations(
			fuzz_program_clone(seeds[fuzz_below(random, seed_count)]));
	recent = count > 64 && fuzz_chance(random, 40) ? 64 : count;
	text = remembered(count - recent + fuzz_below(random, recent));
	return text ? without_expectations(from_text(text)) : NULL;
}

/* Workers */

struct worker {
	unsigned int index;
	struct fuzz_random random;
	struct fuzz_choices choices;
	unsigned long count;
	unsigned long share;
	/* how many programs are run as they are */
	unsigned long unchanged;
	int file;
};

static void keep(struct worker *worker, const char *text, size_t size)
{
	static char slot[FUZZ_MAX_TEXT];

	if (worker->file < 0)
		return;
	/* What is behind a shorter program is blank, and skipped when it is read. */
	memcpy(slot, text, size);
	memset(slot + size, '\n', 1024);
	if (pwrite(worker->file, slot, size + 1024 < sizeof(slot) ? size + 1024 : size,
		   worker->count % KEPT * FUZZ_MAX_TEXT) < 0)
		perror("asahi-fuzz: keeping a program");
}

static struct fuzz_program *next_program(struct worker *worker)
{
	struct fuzz_program *program = NULL, *other;

	/* First of all, those to begin with, as they are */
	if (worker->count < worker->unchanged) {
		program = without_expectations(from_text(remembered(worker->count)));
		if (program)
			return program;
	}
	if (!fuzz_chance(&worker->random, 20))
		program = recall(&worker->random);
	if (!program) {
		program = fuzz_generate(&worker->choices);
	} else {
		other = recall(&worker->random);
		fuzz_mutate(&worker->choices, program, other);
		fuzz_program_free(other);
	}
	program->number = ((uint64_t)worker->index << 32) | worker->count;
	return program;
}

/* Return: whether work still gives the right results. */
static bool sanity(void)
{
	unsigned int i;
	int seed;

	for (seed = 0; seed < seed_count; seed++) {
		for (i = 0; i < SANITY_TRIES; i++) {
			struct fuzz_outcome outcome = fuzz_run(seeds[seed], 20000);

			if (outcome.finished && outcome.expected &&
			    outcome.expected == outcome.right)
				break;
			/* Other processes' bad work may have cost this one its own. */
			atomic_fetch_add(&fuzz_shared->sanity_again, 1);
			usleep(200000);
		}
		if (i == SANITY_TRIES)
			return false;
		atomic_fetch_add(&fuzz_shared->sanity_good, 1);
	}
	return true;
}

static void run_one(struct worker *worker)
{
	struct fuzz_worker_state *state = &fuzz_shared->workers[worker->index];
	struct fuzz_program *program = next_program(worker);
	struct fuzz_outcome outcome;
	size_t size;

	size = to_text(program, state->program, sizeof(state->program));
	keep(worker, state->program, size);
	atomic_store(&state->begun, seconds_now());
	outcome = fuzz_run(program, options->patience_ms);
	atomic_store(&state->begun, 0);
	if (outcome.edges && size < FUZZ_MAX_TEXT / 2)
		remember(state->program);
	fuzz_program_free(program);
	atomic_fetch_add(&fuzz_shared->programs, 1);
	worker->count++;
}

#define EXIT_INSANE	77

static int open_kept(unsigned int index)
{
	char path[4096];

	if (!*options->out)
		return -1;
	snprintf(path, sizeof(path), "%s/programs-%u", options->out, index);
	return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
}

static int work(unsigned int index, unsigned int life)
{
	struct worker worker = {
		.index = index,
		.random = { options->seed * 1000 + index + 100 * life },
		.choices = { .fail = options->fail, .max_threads = options->threads },
		.share = options->programs / options->workers,
		.unchanged = index || life ? 0 : fuzz_shared->seed_count + basic_count(),
		.file = open_kept(index),
	};
	unsigned long next_sanity = SANITY_EVERY;
	int status = 0;

	worker.choices.random = &worker.random;
	fuzz_cover_init();
	while (!atomic_load(&fuzz_shared->stop) &&
	       !(worker.share && worker.count >= worker.share)) {
		run_one(&worker);
		if (worker.count != next_sanity)
			continue;
		next_sanity += SANITY_EVERY;
		if (!options->no_gpu && !sanity()) {
			status = EXIT_INSANE;
			break;
		}
	}
	/* To end can take for ever, too. */
	atomic_store(&fuzz_shared->workers[index].begun, seconds_now());
	return status;
}

/* Findings */

static void print_program(const char *title, const char *text)
{
	printf("# %s\n", title);
	for (; *text; text++) {
		const char *end = strchrnul(text, '\n');

		printf("#   %.*s\n", (int)(end - text), text);
		if (!*end)
			break;
		text = end;
	}
	fflush(stdout);
}

/* Return: the process, which does one thing; see child(). */
static pid_t spawn(const char *role, unsigned int index, unsigned int life)
{
	char numbers[3][16];
	char *arguments[] = {
		"asahi-fuzz", "--child", (char *)role, numbers[0], numbers[1], numbers[2], NULL,
	};
	pid_t pid;

	snprintf(numbers[0], sizeof(numbers[0]), "%d", shared_fd);
	snprintf(numbers[1], sizeof(numbers[1]), "%u", index);
	snprintf(numbers[2], sizeof(numbers[2]), "%u", life);
	fflush(NULL);
	pid = fork();
	if (pid)
		return pid;
	execv("/proc/self/exe", arguments);
	_exit(127);
}

/* Return: how it has ended; a process that takes too long is killed. */
static int finish(pid_t pid, unsigned int seconds)
{
	unsigned long end = seconds_now() + seconds;
	int status = 0;

	if (pid < 0)
		return 1;
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (seconds_now() > end)
			kill(pid, SIGKILL);
		usleep(2000);
	}
	return status;
}

/* A few times: races do not always break. */
static int try_program(void)
{
	struct fuzz_program *program = from_text(fuzz_shared->workers[0].program);
	unsigned int i;

	if (!program)
		return 0;
	for (i = 0; i < (program->threads > 1 ? 10 : 2); i++)
		fuzz_run(program, options->patience_ms);
	fuzz_program_free(program);
	return 0;
}

/* Return: whether each call of the programs to begin with succeeds. */
static bool basics(void)
{
	bool good = true;
	unsigned int i;

	for (i = 0; fuzz_basics[i]; i++) {
		struct fuzz_program *program = from_text(fuzz_basics[i]);
		struct fuzz_outcome outcome = fuzz_run(program, options->patience_ms);

		fuzz_program_free(program);
		if (!outcome.refused)
			continue;
		fprintf(stderr, "asahi-fuzz: %u calls of program %u to begin with fail\n",
			outcome.refused, i);
		good = false;
	}
	return good;
}

static bool broken(const struct fuzz_program *program)
{
	char *text = fuzz_shared->workers[0].program;

	fuzz_kernel_complains();
	to_text(program, text, FUZZ_MAX_TEXT);
	return finish(spawn("try", 0, 0), 20) || fuzz_kernel_complains();
}

static void save(const char *text, unsigned int number)
{
	char path[4096];
	FILE *file;

	if (!*options->out)
		return;
	snprintf(path, sizeof(path), "%s/finding-%u", options->out, number);
	file = fopen(path, "w");
	if (!file)
		return;
	fputs(text, file);
	fclose(file);
	printf("# in %s\n", path);
}

static void minimise_and_print(struct fuzz_program *program)
{
	static char text[FUZZ_MAX_TEXT];

	if (fuzz_minimise(program, broken)) {
		to_text(program, text, sizeof(text));
		print_program("made smaller:", text);
	} else {
		printf("# run alone, it breaks nothing\n");
	}
}

/* A program that was running when something happened */
static void found(const char *what, const char *text)
{
	struct fuzz_program *program;

	report(false, what);
	print_program("program:", text);
	save(text, failed);
	program = from_text(text);
	if (program)
		minimise_and_print(program);
	fuzz_program_free(program);
}

static void worker_ended(unsigned int index, int status)
{
	static char text[FUZZ_MAX_TEXT];
	char what[128];

	memcpy(text, fuzz_shared->workers[index].program, sizeof(text));
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_INSANE)
		snprintf(what, sizeof(what), "work still gives the right results");
	else
		snprintf(what, sizeof(what), "a process lives on (status 0x%x)", status);
	found(what, text);
}

/* Looking after the workers */

struct watch {
	pid_t pids[FUZZ_MAX_WORKERS];
	unsigned int lives[FUZZ_MAX_WORKERS];
	unsigned int alive;
	unsigned long next_line;
};

static void start(struct watch *watch, unsigned int index)
{
	watch->pids[index] = spawn("work", index, watch->lives[index]++);
	watch->alive++;
}

static void collect(struct watch *watch)
{
	unsigned int i;
	int status;

	for (i = 0; i < options->workers; i++) {
		if (watch->pids[i] <= 0 || waitpid(watch->pids[i], &status, WNOHANG) <= 0)
			continue;
		watch->pids[i] = 0;
		watch->alive--;
		if (!status)
			continue;
		worker_ended(i, status);
		if (failed < MAX_FINDINGS && !atomic_load(&fuzz_shared->stop))
			start(watch, i);
	}
}

static void print_stacks(pid_t pid)
{
	char command[128];

	snprintf(command, sizeof(command),
		 "cat /proc/%d/task/*/stack 2>/dev/null | sed 's/^/#   /'", pid);
	fflush(stdout);
	if (system(command))
		printf("# no stacks\n");
}

static void look_for_hangs(struct watch *watch)
{
	unsigned int i;

	for (i = 0; i < options->workers; i++) {
		unsigned long begun = atomic_load(&fuzz_shared->workers[i].begun);

		if (watch->pids[i] <= 0 || !begun || seconds_now() < begun + options->hang_seconds)
			continue;
		print_stacks(watch->pids[i]);
		kill(watch->pids[i], SIGKILL);
		atomic_store(&fuzz_shared->workers[i].begun, 0);
	}
}

/*
 * The kernel does not say whose program it was. They are tried when nobody else makes it
 * complain any more.
 */
static void kernel_complained(struct watch *watch)
{
	static char texts[FUZZ_MAX_WORKERS][FUZZ_MAX_TEXT];
	bool running[FUZZ_MAX_WORKERS] = { false };
	unsigned int i;

	atomic_store(&fuzz_shared->stop, 1);
	for (i = 0; i < options->workers; i++) {
		running[i] = watch->pids[i] > 0;
		memcpy(texts[i], fuzz_shared->workers[i].program, sizeof(texts[i]));
	}
	while (watch->alive) {
		usleep(50000);
		look_for_hangs(watch);
		collect(watch);
	}
	for (i = 0; i < options->workers; i++)
		if (running[i])
			found("the kernel does not complain", texts[i]);
}

static void print_line(struct watch *watch)
{
	if (seconds_now() < watch->next_line)
		return;
	watch->next_line = seconds_now() + 10;
	printf("# %lu programs, %lu edges, %u programs kept\n",
	       atomic_load(&fuzz_shared->programs), atomic_load(&fuzz_shared->edge_count),
	       atomic_load(&fuzz_shared->corpus_count));
	fflush(stdout);
}

static void fuzz(void)
{
	struct watch watch = { .alive = 0 };
	unsigned long end = seconds_now() + options->seconds;
	unsigned int i;

	fuzz_kernel_complains();
	for (i = 0; i < options->workers; i++)
		start(&watch, i);
	while (watch.alive) {
		usleep(50000);
		print_line(&watch);
		if (!options->programs && seconds_now() >= end)
			atomic_store(&fuzz_shared->stop, 1);
		if (!atomic_load(&fuzz_shared->stop) && fuzz_kernel_complains())
			kernel_complained(&watch);
		look_for_hangs(&watch);
		collect(&watch);
	}
}

/* At the end */

static void print_statistics(void)
{
	unsigned long calls = 0;
	unsigned int i;

	for (i = 0; i < fuzz_op_count; i++) {
		struct fuzz_op_stats *stats = &fuzz_shared->ops[i];
		unsigned long all = atomic_load(&stats->calls);

		calls += all;
		printf("# %-24s %9lu calls, %3lu %% succeed\n", fuzz_ops[i].name, all,
		       all ? 100 * atomic_load(&stats->good) / all : 0);
	}
	printf("# %lu programs, %lu calls, %lu edges, %u programs kept\n",
	       atomic_load(&fuzz_shared->programs), calls, atomic_load(&fuzz_shared->edge_count),
	       atomic_load(&fuzz_shared->corpus_count));
	printf("# work: %lu ended well, %lu failed, %lu were not waited for to their end\n",
	       atomic_load(&fuzz_shared->fences_good), atomic_load(&fuzz_shared->fences_bad),
	       atomic_load(&fuzz_shared->fences_late));
	printf("# known work: %lu times right, tried again %lu times; %lu allocations failed\n",
	       atomic_load(&fuzz_shared->sanity_good), atomic_load(&fuzz_shared->sanity_again),
	       atomic_load(&fuzz_shared->failures_injected));
}

static void judge(unsigned long begin_edges)
{
	bool all = true;
	unsigned int i;

	for (i = 0; i < fuzz_op_count; i++) {
		if (atomic_load(&fuzz_shared->ops[i].good) ||
		    (options->no_gpu && (fuzz_ops[i].action == FUZZ_EXPECT)))
			continue;
		printf("# %s has never succeeded\n", fuzz_ops[i].name);
		all = false;
	}
	report(all, "each call has succeeded");
	report(atomic_load(&fuzz_shared->fences_good) > 10, "work has ended well");
	if (!options->no_gpu)
		report(atomic_load(&fuzz_shared->sanity_good), "known work gives its results");
	if (atomic_load(&fuzz_shared->edge_count))
		report(atomic_load(&fuzz_shared->edge_count) > begin_edges,
		       "programs reach what the first ones did not");
	if (options->fail)
		report(atomic_load(&fuzz_shared->failures_injected), "allocations have failed");
}

static int record_seeds(void)
{
	static char text[FUZZ_MAX_TEXT];
	int i;

	seed_count = fuzz_seeds(seeds, MAX_SEEDS);
	if (seed_count < 0) {
		printf("# clients do not work: %s\n", strerror(-seed_count));
		return 1;
	}
	for (i = 0; i < seed_count; i++) {
		if (to_text(seeds[i], text, sizeof(text)) == sizeof(text) - 1) {
			printf("# the program of client %d is too long\n", i);
			return 1;
		}
		remember(text);
	}
	fuzz_shared->seed_count = seed_count;
	for (i = 0; fuzz_basics[i]; i++)
		remember(fuzz_basics[i]);
	return 0;
}

/* What opens the device are processes of their own, which execute this program anew: it
 * may break, and the shim is nothing that outlives a fork.
 */
static int child(char **arguments)
{
	const char *role = arguments[0];
	unsigned int index = atoi(arguments[2]);
	int status;

	map_shared(atoi(arguments[1]));
	if (!strcmp(role, "record")) {
		status = record_seeds();
	} else {
		read_seeds();
		if (!strcmp(role, "try"))
			status = try_program();
		else if (!strcmp(role, "basics"))
			status = !basics();
		else if (!strcmp(role, "sanity"))
			status = !sanity();
		else
			status = work(index, atoi(arguments[3]));
	}
	free_seeds();
	return status;
}

static void check(const char *role, const char *name)
{
	report(!finish(spawn(role, 0, 0), 300), name);
}

static int replay(void)
{
	static char text[KEPT * FUZZ_MAX_TEXT + 1];
	FILE *file = fopen(options->replay, "r");
	const char *at = text;
	struct fuzz_program *program;
	unsigned int count = 0;

	if (!file) {
		perror(options->replay);
		return 2;
	}
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	while ((program = fuzz_program_read(&at))) {
		if (broken(program)) {
			report(false, "nothing breaks");
			if (options->minimise)
				minimise_and_print(program);
		}
		fuzz_program_free(program);
		count++;
	}
	if (!at || !count) {
		printf("Bail out! %s is no program, or is not one from its line %u on\n",
		       options->replay, count);
		return 2;
	}
	printf("# %u programs replayed\n", count);
	if (!failed)
		report(true, "nothing breaks");
	return failed != 0;
}

static void usage(FILE *out)
{
	fputs("usage: asahi-fuzz [OPTION]...\n"
	      "Calls the driver by chance, and looks whether something breaks. Prints TAP.\n\n"
	      "  -s, --seed=N        the same programs again; of one process, and without KCOV\n"
	      "  -t, --seconds=N     how long (10)\n"
	      "  -n, --programs=N    how many programs, instead\n"
	      "  -w, --workers=N     processes (2)\n"
	      "  -T, --threads=N     most threads of a program (3)\n"
	      "  -p, --patience=MS   how long a program waits for work (3000)\n"
	      "  -f, --fail          let allocations of the kernel fail\n"
	      "  -g, --no-gpu        the device does not do the work it is given\n"
	      "  -o, --out=DIR       keep the last programs of each process there\n"
	      "  -r, --replay=FILE   run programs that were kept or printed\n"
	      "  -m, --minimise      ... and make those smaller that break something\n"
	      "  -h, --help          this text\n", out);
}

static unsigned long number(const char *text, unsigned long max)
{
	char *end;
	unsigned long n = strtoul(text, &end, 0);

	if (!*text || *end || n > max) {
		fprintf(stderr, "asahi-fuzz: '%s' is no number up to %lu\n", text, max);
		exit(2);
	}
	return n;
}

static void copy(char *to, size_t room, const char *from)
{
	if (snprintf(to, room, "%s", from) >= (int)room) {
		fprintf(stderr, "asahi-fuzz: '%s' is too long\n", from);
		exit(2);
	}
}

static void parse_arguments(int argc, char **argv)
{
	static const struct option names[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "seconds", required_argument, NULL, 't' },
		{ "programs", required_argument, NULL, 'n' },
		{ "workers", required_argument, NULL, 'w' },
		{ "threads", required_argument, NULL, 'T' },
		{ "patience", required_argument, NULL, 'p' },
		{ "fail", no_argument, NULL, 'f' },
		{ "no-gpu", no_argument, NULL, 'g' },
		{ "out", required_argument, NULL, 'o' },
		{ "replay", required_argument, NULL, 'r' },
		{ "minimise", no_argument, NULL, 'm' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "s:t:n:w:T:p:fgo:r:mh", names, NULL)) != -1) {
		switch (c) {
		case 's':
			options->seed = number(optarg, UINT32_MAX);
			break;
		case 't':
			options->seconds = number(optarg, 1000000);
			break;
		case 'n':
			options->programs = number(optarg, UINT32_MAX);
			break;
		case 'w':
			options->workers = number(optarg, FUZZ_MAX_WORKERS);
			break;
		case 'T':
			options->threads = number(optarg, FUZZ_MAX_THREADS);
			break;
		case 'p':
			options->patience_ms = number(optarg, 100000);
			break;
		case 'f':
			options->fail = true;
			break;
		case 'g':
			options->no_gpu = true;
			break;
		case 'o':
			copy(options->out, sizeof(options->out), optarg);
			break;
		case 'r':
			copy(options->replay, sizeof(options->replay), optarg);
			break;
		case 'm':
			options->minimise = true;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			exit(2);
		}
	}
}

int main(int argc, char **argv)
{
	unsigned long begin_edges;
	int status;

	if (argc == 6 && !strcmp(argv[1], "--child"))
		return child(argv + 2);
	make_shared();
	parse_arguments(argc, argv);
	if (!options->workers || !options->threads) {
		usage(stderr);
		return 2;
	}
	if (*options->replay)
		return replay();
	status = finish(spawn("record", 0, 0), 300);
	if (status) {
		printf("Bail out! recording clients ends with status 0x%x\n", status);
		return 2;
	}
	report(texts_are_faithful(), "programs are read as they were printed");
	check("basics", "each call of the programs to begin with succeeds");
	begin_edges = atomic_load(&fuzz_shared->edge_count);
	if (!options->no_gpu)
		check("sanity", "the device works");
	fuzz();
	if (!options->no_gpu)
		check("sanity", "the device still works");
	print_statistics();
	judge(begin_edges);
	if (!failed)
		report(true, "nothing was found");
	printf("1..%u\n", results);
	return failed != 0;
}

// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A fuzzer of the driver's ioctls. Prints TAP.
 *
 * It works as coverage-guided fuzzers do. Programs, sequences of calls, are generated from a
 * description of the interface or mutated from a corpus, and run; a program that takes a
 * branch which none has taken before is added to the corpus. The corpus begins with seeds,
 * which are recorded from clients that compute and draw (record.c), and basics, which are
 * written by hand (basics.c).
 *
 * Why not syzkaller, whose description (tools/syzkaller) it shares:
 *
 * - Much of what the driver and the GPU are given is in memory: control streams, shaders,
 *   records. Here a seed writes that memory as calls of its own, which are mutated like
 *   arguments, and says what the GPU has to write. So the fuzzer also asks, after every
 *   SANITY_EVERY programs, whether work still gives the right results.
 * - The same programs run against the shim, in a process on the host under the sanitizers,
 *   with the branches that the compiler counts: a unit test of a few seconds.
 * - A finding is made smaller by this program, where it was found, in the guest or on the
 *   shim, bytes of GPU memory included; no manager, network or Go toolchain is needed.
 *
 * Processes: the first one never opens the device, because that may hang or break a process.
 * It executes itself anew for each role, see fuzz_child():
 * one that records the seeds, ones that check, and the workers, each with its own random
 * numbers. They share one mapping, struct fuzz_shared, which has no lock: counters and the
 * corpus are atomic, and a worker's program is written before it runs, so that the first
 * process can read it when the worker has died, hangs, or the kernel has complained
 * (/dev/kmsg). It then stops all workers if need be, and tries the programs one by one in
 * new processes to find and minimise the one that breaks something. With --out the last
 * KEPT programs of each worker are also in a file, for when the machine dies.
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
/* Programs of each worker that are kept in its file, the last ones */
#define KEPT			16
/* Programs of a worker between two checks that the device works */
#define SANITY_EVERY		40
#define SANITY_TRIES		8	/* of each seed, since other workers may have spoiled it */

struct fuzz_shared *fuzz_shared;

static const struct fuzz_options fuzz_default_options = {
	.seed = 1, .seconds = 10, .workers = 2, .threads = 3, .patience_ms = 3000,
	.hang_seconds = 60,
};

static struct fuzz_options *fuzz_options;
static int fuzz_shared_fd;
static struct fuzz_program *fuzz_seed_programs[MAX_SEEDS];
static int fuzz_seed_count;
static unsigned int fuzz_results, fuzz_failed;

static unsigned long fuzz_seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static void fuzz_map_shared(int fd)
{
	fuzz_shared = mmap(NULL, sizeof(*fuzz_shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fuzz_shared == MAP_FAILED) {
		perror("asahi-fuzz: mmap");
		exit(2);
	}
	fuzz_shared_fd = fd;
	fuzz_options = &fuzz_shared->options;
}

static void fuzz_make_shared(void)
{
	int fd = memfd_create("asahi-fuzz", 0);

	if (fd < 0 || ftruncate(fd, sizeof(*fuzz_shared))) {
		perror("asahi-fuzz: shared memory");
		exit(2);
	}
	fuzz_map_shared(fd);
	*fuzz_options = fuzz_default_options;
}

static void fuzz_report(bool good, const char *name)
{
	printf("%s %u - %s\n", good ? "ok" : "not ok", ++fuzz_results, name);
	fuzz_failed += !good;
	fflush(stdout);
}

/* Prints a program into @text. Return: the length; room - 1 if the program was cut. */
static size_t fuzz_to_text(const struct fuzz_program *program, char *text, size_t room)
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

static struct fuzz_program *fuzz_from_text(const char *text)
{
	return fuzz_program_read(&text);
}

/* Corpus */

/* Adds a text to the corpus, unless it is full. Any process. */
static void fuzz_remember(const char *text)
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

/* Return: a text of the corpus, or NULL if another process is still writing it. */
static const char *fuzz_remembered(unsigned int index)
{
	unsigned long at = atomic_load(&fuzz_shared->corpus[index]);

	return at ? fuzz_shared->texts + at - 1 : NULL;
}

/* Return: whether a text, when read and printed, is the same: only texts outlive a crash. */
static bool fuzz_text_is_faithful(const char *printed)
{
	static char text[FUZZ_MAX_TEXT];
	struct fuzz_program *program = fuzz_from_text(printed);

	if (!program)
		return false;
	fuzz_to_text(program, text, sizeof(text));
	fuzz_program_free(program);
	return !strcmp(text, printed);
}

static bool fuzz_texts_are_faithful(void)
{
	unsigned int count = atomic_load(&fuzz_shared->corpus_count);
	unsigned int i;

	for (i = 0; i < count; i++)
		if (!fuzz_text_is_faithful(fuzz_remembered(i)))
			return false;
	return count;
}

static void fuzz_read_seeds(void)
{
	unsigned int i;

	for (i = 0; i < fuzz_shared->seed_count; i++) {
		fuzz_seed_programs[i] = fuzz_from_text(fuzz_remembered(i));
		if (!fuzz_seed_programs[i])
			abort();
		fuzz_seed_count++;
	}
}

static void fuzz_free_seeds(void)
{
	while (fuzz_seed_count)
		fuzz_program_free(fuzz_seed_programs[--fuzz_seed_count]);
}

/* Removes the checks of results, which a mutated program cannot meet. */
static struct fuzz_program *fuzz_without_expectations(struct fuzz_program *program)
{
	unsigned int i = program ? program->count : 0;

	while (i--)
		if (program->calls[i]->op->action == FUZZ_EXPECT)
			fuzz_program_remove(program, i);
	return program;
}

static unsigned int fuzz_basic_count(void)
{
	unsigned int count = 0;

	while (fuzz_basics[count])
		count++;
	return count;
}

/*
 * Picks a program of the corpus: a basic in 35 % of cases, since they take little time, then
 * a seed in 10 % of the others, then in 40 % one of the last 64 that were added.
 * Return: a copy, or NULL if another process is still writing it.
 */
static struct fuzz_program *fuzz_recall_program(struct fuzz_random *random)
{
	unsigned int count = atomic_load(&fuzz_shared->corpus_count);
	unsigned int recent;
	const char *text;

	if (count > FUZZ_MAX_CORPUS)
		count = FUZZ_MAX_CORPUS;
	if (fuzz_chance(random, 35)) {
		text = fuzz_remembered(fuzz_seed_count + fuzz_below(random, fuzz_basic_count()));
		return text ? fuzz_from_text(text) : NULL;
	}
	if (fuzz_chance(random, 10))
		return fuzz_without_expectations(fuzz_program_clone(
			fuzz_seed_programs[fuzz_below(random, fuzz_seed_count)]));
	recent = count > 64 && fuzz_chance(random, 40) ? 64 : count;
	text = fuzz_remembered(count - recent + fuzz_below(random, recent));
	return text ? fuzz_without_expectations(fuzz_from_text(text)) : NULL;
}

/* Workers */

struct worker {
	unsigned int index;
	struct fuzz_random random;
	struct fuzz_choices choices;
	unsigned long count;
	unsigned long share;
	/* programs of the corpus that are run first, without mutation */
	unsigned long unchanged;
	int file;
};

/* Writes a program to the worker's file, over its oldest one, before it runs. */
static void fuzz_keep_program(struct worker *worker, const char *text, size_t size)
{
	static char slot[FUZZ_MAX_TEXT];

	if (worker->file < 0)
		return;
	/* The rest of a longer program that was there becomes blank, and is not read. */
	memcpy(slot, text, size);
	memset(slot + size, '\n', 1024);
	if (pwrite(worker->file, slot, size + 1024 < sizeof(slot) ? size + 1024 : size,
		   worker->count % KEPT * FUZZ_MAX_TEXT) < 0)
		perror("asahi-fuzz: keeping a program");
}

/* Return: a program to run, generated in a fifth of cases and otherwise mutated. */
static struct fuzz_program *fuzz_next_program(struct worker *worker)
{
	struct fuzz_program *program = NULL, *other;

	if (worker->count < worker->unchanged) {
		program = fuzz_without_expectations(fuzz_from_text(fuzz_remembered(worker->count)));
		if (program)
			return program;
	}
	if (!fuzz_chance(&worker->random, 20))
		program = fuzz_recall_program(&worker->random);
	if (!program) {
		program = fuzz_generate(&worker->choices);
	} else {
		other = fuzz_recall_program(&worker->random);
		fuzz_mutate(&worker->choices, program, other);
		fuzz_program_free(other);
	}
	program->number = ((uint64_t)worker->index << 32) | worker->count;
	return program;
}

/* Runs each seed until its work gives the right results. Return: whether each has. */
static bool fuzz_is_sane(void)
{
	unsigned int i;
	int seed;

	for (seed = 0; seed < fuzz_seed_count; seed++) {
		for (i = 0; i < SANITY_TRIES; i++) {
			struct fuzz_outcome outcome = fuzz_run(fuzz_seed_programs[seed], 20000);

			if (outcome.finished && outcome.expected &&
			    outcome.expected == outcome.right)
				break;
			/* Work of other processes may have reset the GPU meanwhile. */
			atomic_fetch_add(&fuzz_shared->sanity_again, 1);
			usleep(200000);
		}
		if (i == SANITY_TRIES)
			return false;
		atomic_fetch_add(&fuzz_shared->sanity_good, 1);
	}
	return true;
}

/* Runs one program, and adds it to the corpus if it has taken a new branch. */
static void fuzz_run_one(struct worker *worker)
{
	struct fuzz_worker_state *state = &fuzz_shared->workers[worker->index];
	struct fuzz_program *program = fuzz_next_program(worker);
	struct fuzz_outcome outcome;
	size_t size;

	size = fuzz_to_text(program, state->program, sizeof(state->program));
	fuzz_keep_program(worker, state->program, size);
	atomic_store(&state->begun, fuzz_seconds_now());
	outcome = fuzz_run(program, fuzz_options->patience_ms);
	atomic_store(&state->begun, 0);
	if (outcome.edges && size < FUZZ_MAX_TEXT / 2)
		fuzz_remember(state->program);
	fuzz_program_free(program);
	atomic_fetch_add(&fuzz_shared->programs, 1);
	worker->count++;
}

#define EXIT_INSANE	77

static int fuzz_open_kept(unsigned int index)
{
	char path[4096];

	if (!*fuzz_options->out)
		return -1;
	snprintf(path, sizeof(path), "%s/programs-%u", fuzz_options->out, index);
	return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
}

/*
 * Runs programs until it is time to stop. @life counts the processes that this worker has
 * been, so that one that takes a dead one's place gets other random numbers.
 * Return: the process's exit status.
 */
static int fuzz_work(unsigned int index, unsigned int life)
{
	struct worker worker = {
		.index = index,
		.random = { fuzz_options->seed * 1000 + index + 100 * life },
		.choices = { .fail = fuzz_options->fail, .max_threads = fuzz_options->threads },
		.share = fuzz_options->programs / fuzz_options->workers,
		.unchanged = index || life ? 0 : fuzz_shared->seed_count + fuzz_basic_count(),
		.file = fuzz_open_kept(index),
	};
	unsigned long next_sanity = SANITY_EVERY;
	int status = 0;

	worker.choices.random = &worker.random;
	fuzz_cover_init();
	while (!atomic_load(&fuzz_shared->stop) &&
	       !(worker.share && worker.count >= worker.share)) {
		fuzz_run_one(&worker);
		if (worker.count != next_sanity)
			continue;
		next_sanity += SANITY_EVERY;
		if (!fuzz_options->no_gpu && !fuzz_is_sane()) {
			status = EXIT_INSANE;
			break;
		}
	}
	/* The end of the process can hang in the driver, too: it is timed like a program. */
	atomic_store(&fuzz_shared->workers[index].begun, fuzz_seconds_now());
	return status;
}

/* Findings */

static void fuzz_print_program(const char *title, const char *text)
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

/* Starts this program anew for a role, see fuzz_child(). Return: its process. */
static pid_t fuzz_spawn(const char *role, unsigned int index, unsigned int life)
{
	char numbers[3][16];
	char *arguments[] = {
		"asahi-fuzz", "--child", (char *)role, numbers[0], numbers[1], numbers[2], NULL,
	};
	pid_t pid;

	snprintf(numbers[0], sizeof(numbers[0]), "%d", fuzz_shared_fd);
	snprintf(numbers[1], sizeof(numbers[1]), "%u", index);
	snprintf(numbers[2], sizeof(numbers[2]), "%u", life);
	fflush(NULL);
	pid = fork();
	if (pid)
		return pid;
	execv("/proc/self/exe", arguments);
	_exit(127);
}

/* Waits for a process and kills it after @seconds. Return: its status from waitpid(). */
static int fuzz_finish_process(pid_t pid, unsigned int seconds)
{
	unsigned long end = fuzz_seconds_now() + seconds;
	int status = 0;

	if (pid < 0)
		return 1;
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (fuzz_seconds_now() > end)
			kill(pid, SIGKILL);
		usleep(2000);
	}
	return status;
}

/* Runs the program in the first worker's place twice, or ten times if it has threads. */
static int fuzz_try_program(void)
{
	struct fuzz_program *program = fuzz_from_text(fuzz_shared->workers[0].program);
	unsigned int i;

	if (!program)
		return 0;
	for (i = 0; i < (program->threads > 1 ? 10 : 2); i++)
		fuzz_run(program, fuzz_options->patience_ms);
	fuzz_program_free(program);
	return 0;
}

/* Return: whether each call of the programs to begin with succeeds. */
static bool fuzz_basics_succeed(void)
{
	bool good = true;
	unsigned int i;

	for (i = 0; fuzz_basics[i]; i++) {
		struct fuzz_program *program = fuzz_from_text(fuzz_basics[i]);
		struct fuzz_outcome outcome = fuzz_run(program, fuzz_options->patience_ms);

		fuzz_program_free(program);
		if (!outcome.refused)
			continue;
		fprintf(stderr, "asahi-fuzz: %u calls of program %u to begin with fail\n",
			outcome.refused, i);
		good = false;
	}
	return good;
}

/* Runs a program in a new process. Return: whether that ends badly or the kernel complains. */
static bool fuzz_is_broken(const struct fuzz_program *program)
{
	char *text = fuzz_shared->workers[0].program;

	fuzz_kernel_complains();
	fuzz_to_text(program, text, FUZZ_MAX_TEXT);
	return fuzz_finish_process(fuzz_spawn("try", 0, 0), 20) || fuzz_kernel_complains();
}

static void fuzz_save_program(const char *text, unsigned int fuzz_number)
{
	char path[4096];
	FILE *file;

	if (!*fuzz_options->out)
		return;
	snprintf(path, sizeof(path), "%s/finding-%u", fuzz_options->out, fuzz_number);
	file = fopen(path, "w");
	if (!file)
		return;
	fputs(text, file);
	fclose(file);
	printf("# in %s\n", path);
}

static void fuzz_minimise_and_print(struct fuzz_program *program)
{
	static char text[FUZZ_MAX_TEXT];

	if (fuzz_minimise(program, fuzz_is_broken)) {
		fuzz_to_text(program, text, sizeof(text));
		fuzz_print_program("made smaller:", text);
	} else {
		printf("# run alone, it breaks nothing\n");
	}
}

/* Reports the program that ran when something happened, and tries to make it smaller. */
static void fuzz_report_program(const char *what, const char *text)
{
	struct fuzz_program *program;

	fuzz_report(false, what);
	fuzz_print_program("program:", text);
	fuzz_save_program(text, fuzz_failed);
	program = fuzz_from_text(text);
	if (program)
		fuzz_minimise_and_print(program);
	fuzz_program_free(program);
}

static void fuzz_worker_ended(unsigned int index, int status)
{
	static char text[FUZZ_MAX_TEXT];
	char what[128];

	memcpy(text, fuzz_shared->workers[index].program, sizeof(text));
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_INSANE)
		snprintf(what, sizeof(what), "work still gives the right results");
	else
		snprintf(what, sizeof(what), "a process lives on (status 0x%x)", status);
	fuzz_report_program(what, text);
}

/* Looking after the workers */

struct watch {
	pid_t pids[FUZZ_MAX_WORKERS];
	unsigned int lives[FUZZ_MAX_WORKERS];
	unsigned int alive;
	unsigned long next_line;
};

static void fuzz_start_worker(struct watch *watch, unsigned int index)
{
	watch->pids[index] = fuzz_spawn("work", index, watch->lives[index]++);
	watch->alive++;
}

/* Waits for workers that have ended; those that ended badly are reported and started anew. */
static void fuzz_collect_workers(struct watch *watch)
{
	unsigned int i;
	int status;

	for (i = 0; i < fuzz_options->workers; i++) {
		if (watch->pids[i] <= 0 || waitpid(watch->pids[i], &status, WNOHANG) <= 0)
			continue;
		watch->pids[i] = 0;
		watch->alive--;
		if (!status)
			continue;
		fuzz_worker_ended(i, status);
		if (fuzz_failed < MAX_FINDINGS && !atomic_load(&fuzz_shared->stop))
			fuzz_start_worker(watch, i);
	}
}

static void fuzz_print_stacks(pid_t pid)
{
	char command[128];

	snprintf(command, sizeof(command),
		 "cat /proc/%d/task/*/stack 2>/dev/null | sed 's/^/#   /'", pid);
	fflush(stdout);
	if (system(command))
		printf("# no stacks\n");
}

/* Kills workers whose program has run for hang_seconds, and prints their kernel stacks. */
static void fuzz_look_for_hangs(struct watch *watch)
{
	unsigned int i;

	for (i = 0; i < fuzz_options->workers; i++) {
		unsigned long begun = atomic_load(&fuzz_shared->workers[i].begun);

		if (watch->pids[i] <= 0 || !begun ||
		    fuzz_seconds_now() < begun + fuzz_options->hang_seconds)
			continue;
		fuzz_print_stacks(watch->pids[i]);
		kill(watch->pids[i], SIGKILL);
		atomic_store(&fuzz_shared->workers[i].begun, 0);
	}
}

/*
 * Stops all workers, and then tries the programs that they were running, since the kernel
 * does not say which of them it complained about.
 */
static void fuzz_kernel_complained(struct watch *watch)
{
	static char texts[FUZZ_MAX_WORKERS][FUZZ_MAX_TEXT];
	bool running[FUZZ_MAX_WORKERS] = { false };
	unsigned int i;

	atomic_store(&fuzz_shared->stop, 1);
	for (i = 0; i < fuzz_options->workers; i++) {
		running[i] = watch->pids[i] > 0;
		memcpy(texts[i], fuzz_shared->workers[i].program, sizeof(texts[i]));
	}
	while (watch->alive) {
		usleep(50000);
		fuzz_look_for_hangs(watch);
		fuzz_collect_workers(watch);
	}
	for (i = 0; i < fuzz_options->workers; i++)
		if (running[i])
			fuzz_report_program("the kernel does not complain", texts[i]);
}

static void fuzz_print_line(struct watch *watch)
{
	if (fuzz_seconds_now() < watch->next_line)
		return;
	watch->next_line = fuzz_seconds_now() + 10;
	printf("# %lu programs, %lu edges, %u programs kept\n",
	       atomic_load(&fuzz_shared->programs), atomic_load(&fuzz_shared->edge_count),
	       atomic_load(&fuzz_shared->corpus_count));
	fflush(stdout);
}

static void fuzz_run_workers(void)
{
	struct watch watch = { .alive = 0 };
	unsigned long end = fuzz_seconds_now() + fuzz_options->seconds;
	unsigned int i;

	fuzz_kernel_complains();
	for (i = 0; i < fuzz_options->workers; i++)
		fuzz_start_worker(&watch, i);
	while (watch.alive) {
		usleep(50000);
		fuzz_print_line(&watch);
		if (!fuzz_options->programs && fuzz_seconds_now() >= end)
			atomic_store(&fuzz_shared->stop, 1);
		if (!atomic_load(&fuzz_shared->stop) && fuzz_kernel_complains())
			fuzz_kernel_complained(&watch);
		fuzz_look_for_hangs(&watch);
		fuzz_collect_workers(&watch);
	}
}

/* The end of a run */

static void fuzz_print_statistics(void)
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

/* Reports whether the run was worth something; @begin_edges were reached by the first ones. */
static void fuzz_judge(unsigned long begin_edges)
{
	bool all = true;
	unsigned int i;

	for (i = 0; i < fuzz_op_count; i++) {
		if (atomic_load(&fuzz_shared->ops[i].good) ||
		    (fuzz_options->no_gpu && (fuzz_ops[i].action == FUZZ_EXPECT)))
			continue;
		printf("# %s has never succeeded\n", fuzz_ops[i].name);
		all = false;
	}
	fuzz_report(all, "each call has succeeded");
	fuzz_report(atomic_load(&fuzz_shared->fences_good) > 10, "work has ended well");
	if (!fuzz_options->no_gpu)
		fuzz_report(atomic_load(&fuzz_shared->sanity_good), "known work gives its results");
	if (atomic_load(&fuzz_shared->edge_count))
		fuzz_report(atomic_load(&fuzz_shared->edge_count) > begin_edges,
			    "programs reach what the first ones did not");
	if (fuzz_options->fail)
		fuzz_report(atomic_load(&fuzz_shared->failures_injected),
			    "allocations have failed");
}

static int fuzz_record_seeds(void)
{
	static char text[FUZZ_MAX_TEXT];
	int i;

	fuzz_seed_count = fuzz_seeds(fuzz_seed_programs, MAX_SEEDS);
	if (fuzz_seed_count < 0) {
		printf("# clients do not work: %s\n", strerror(-fuzz_seed_count));
		return 1;
	}
	for (i = 0; i < fuzz_seed_count; i++) {
		if (fuzz_to_text(fuzz_seed_programs[i], text, sizeof(text)) == sizeof(text) - 1) {
			printf("# the program of client %d is too long\n", i);
			return 1;
		}
		fuzz_remember(text);
	}
	fuzz_shared->seed_count = fuzz_seed_count;
	for (i = 0; fuzz_basics[i]; i++)
		fuzz_remember(fuzz_basics[i]);
	return 0;
}

/*
 * The main function of a process that opens the device: records, tries a program, checks the
 * basics or the seeds, or is a worker. Return: its exit status, 0 if all is well.
 */
static int fuzz_child(char **arguments)
{
	const char *role = arguments[0];
	unsigned int index = atoi(arguments[2]);
	int status;

	fuzz_map_shared(atoi(arguments[1]));
	if (!strcmp(role, "record")) {
		status = fuzz_record_seeds();
	} else {
		fuzz_read_seeds();
		if (!strcmp(role, "try"))
			status = fuzz_try_program();
		else if (!strcmp(role, "basics"))
			status = !fuzz_basics_succeed();
		else if (!strcmp(role, "sanity"))
			status = !fuzz_is_sane();
		else
			status = fuzz_work(index, atoi(arguments[3]));
	}
	fuzz_free_seeds();
	return status;
}

static void fuzz_check_role(const char *role, const char *name)
{
	fuzz_report(!fuzz_finish_process(fuzz_spawn(role, 0, 0), 300), name);
}

/* Runs the programs of a file, one by one. Return: exit status. */
static int fuzz_replay(void)
{
	static char text[KEPT * FUZZ_MAX_TEXT + 1];
	FILE *file = fopen(fuzz_options->replay, "r");
	const char *at = text;
	struct fuzz_program *program;
	unsigned int count = 0;

	if (!file) {
		perror(fuzz_options->replay);
		return 2;
	}
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	while ((program = fuzz_program_read(&at))) {
		if (fuzz_is_broken(program)) {
			fuzz_report(false, "nothing breaks");
			if (fuzz_options->minimise)
				fuzz_minimise_and_print(program);
		}
		fuzz_program_free(program);
		count++;
	}
	if (!at || !count) {
		printf("Bail out! %s is no program, or is not one from its line %u on\n",
		       fuzz_options->replay, count);
		return 2;
	}
	printf("# %u programs replayed\n", count);
	if (!fuzz_failed)
		fuzz_report(true, "nothing breaks");
	return fuzz_failed != 0;
}

static void fuzz_usage(FILE *out)
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

static unsigned long fuzz_number(const char *text, unsigned long max)
{
	char *end;
	unsigned long n = strtoul(text, &end, 0);

	if (!*text || *end || n > max) {
		fprintf(stderr, "asahi-fuzz: '%s' is no number up to %lu\n", text, max);
		exit(2);
	}
	return n;
}

static void fuzz_copy_option(char *to, size_t room, const char *from)
{
	if (snprintf(to, room, "%s", from) >= (int)room) {
		fprintf(stderr, "asahi-fuzz: '%s' is too long\n", from);
		exit(2);
	}
}

static void fuzz_parse_arguments(int argc, char **argv)
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
			fuzz_options->seed = fuzz_number(optarg, UINT32_MAX);
			break;
		case 't':
			fuzz_options->seconds = fuzz_number(optarg, 1000000);
			break;
		case 'n':
			fuzz_options->programs = fuzz_number(optarg, UINT32_MAX);
			break;
		case 'w':
			fuzz_options->workers = fuzz_number(optarg, FUZZ_MAX_WORKERS);
			break;
		case 'T':
			fuzz_options->threads = fuzz_number(optarg, FUZZ_MAX_THREADS);
			break;
		case 'p':
			fuzz_options->patience_ms = fuzz_number(optarg, 100000);
			break;
		case 'f':
			fuzz_options->fail = true;
			break;
		case 'g':
			fuzz_options->no_gpu = true;
			break;
		case 'o':
			fuzz_copy_option(fuzz_options->out, sizeof(fuzz_options->out), optarg);
			break;
		case 'r':
			fuzz_copy_option(fuzz_options->replay, sizeof(fuzz_options->replay),
					 optarg);
			break;
		case 'm':
			fuzz_options->minimise = true;
			break;
		case 'h':
			fuzz_usage(stdout);
			exit(0);
		default:
			fuzz_usage(stderr);
			exit(2);
		}
	}
}

int main(int argc, char **argv)
{
	unsigned long begin_edges;
	int status;

	if (argc == 6 && !strcmp(argv[1], "--child"))
		return fuzz_child(argv + 2);
	fuzz_make_shared();
	fuzz_parse_arguments(argc, argv);
	if (!fuzz_options->workers || !fuzz_options->threads) {
		fuzz_usage(stderr);
		return 2;
	}
	if (*fuzz_options->replay)
		return fuzz_replay();
	status = fuzz_finish_process(fuzz_spawn("record", 0, 0), 300);
	if (status) {
		printf("Bail out! recording clients ends with status 0x%x\n", status);
		return 2;
	}
	fuzz_report(fuzz_texts_are_faithful(), "programs are read as they were printed");
	fuzz_check_role("basics", "each call of the programs to begin with succeeds");
	begin_edges = atomic_load(&fuzz_shared->edge_count);
	if (!fuzz_options->no_gpu)
		fuzz_check_role("sanity", "the device works");
	fuzz_run_workers();
	if (!fuzz_options->no_gpu)
		fuzz_check_role("sanity", "the device still works");
	fuzz_print_statistics();
	fuzz_judge(begin_edges);
	if (!fuzz_failed)
		fuzz_report(true, "nothing was found");
	printf("1..%u\n", fuzz_results);
	return fuzz_failed != 0;
}

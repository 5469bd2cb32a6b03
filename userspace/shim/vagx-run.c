// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Runs a command with Mesa's drivers on vagx, in its own processes: the shim is preloaded
 * into them.
 *
 * vagx-run finds the shim beside itself or in the folder of the installation, chooses Mesa's
 * drivers (run_mesa.c), says so if the command is a program that takes no preloaded library
 * (run_program.c), sets the environment, and executes itself once with --try, to see
 * whether the shim works in a process on this machine. With --x11 it starts a display
 * (run_display.c). Then it forks and executes the command, passes signals on and waits. The
 * processes of the command append to a report, those of the display to another, which are read
 * at the end: the first words of a line say whether it tells of use or of trouble, and
 * the exit status is chosen by that. There is one thread; only vagx_run_pass_on() runs in a
 * signal handler.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <drm/asahi_drm.h>

#include "run_display.h"
#include "run_mesa.h"
#include "run_program.h"

/* Exit statuses of vagx-run itself, besides the command's */
enum {
	/* no job has failed, but the sanitizer has reported shaders */
	EXIT_FINDINGS = 122,
	/* jobs have failed, or something was not supported, but the command has returned 0 */
	EXIT_GPU = 123,
	/* the command has used no GPU */
	EXIT_UNUSED = 124,
	/* as env(1) and timeout(1) have them */
	EXIT_OURS = 125,
	EXIT_CANNOT_RUN = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_SIGNAL = 128,
};

/* of the options without a letter */
enum { OPT_THREAD = 256, OPT_CHECK_MEMORY };

/* As emulator/sanitizer/sanitizer.h has it */
#define MAX_CHECK_MIB	65536

#define NODE		"/dev/dri/renderD128"
/* Buffers are made of such pages, which the host has to be able to map one by one */
#define GPU_PAGE	16384
/* Far more than a person reads; the file has all */
#define REPORT_BYTES	100000

static struct {
	char *scratch;
	char *report;
	bool keep_report;
	volatile sig_atomic_t child;
} vagx_run;

static void vagx_run_usage(FILE *file)
{
	fputs("usage: vagx-run [OPTION ...] COMMAND [ARGUMENT ...]\n"
	      "Run a command with Mesa's Vulkan, OpenGL and OpenCL for Apple's GPUs, on a\n"
	      "virtual GPU in its own processes. No GPU, kernel module or privilege is needed.\n"
	      "\n"
	      "  -s, --soc=SOC       the SoC whose GPU it is, t8103 if not given\n"
	      "  -m, --mesa=DIR      use the Mesa in DIR: the prefix that it was installed to, the\n"
	      "                      DESTDIR of that, or its build folder (Vulkan only)\n"
	      "  -x, --x11[=SIZE]    give it a display for X11 that draws on the virtual GPU:\n"
	      "                      Weston with Xwayland, 800x600 if no other size is given\n"
	      "  -r, --record=FILE   write each ioctl into FILE\n"
	      "  -t, --trace=FILE    write what the GPU's units did and when, for Perfetto\n"
	      "  -o, --report=FILE   write what goes wrong on the GPU into FILE, and keep it\n"
	      "  -c, --check[=FILE]  report what shaders do wrong that a machine would punish;\n"
	      "                      FILE names reports that are known\n"
	      "      --check-memory=MIB\n"
	      "                      memory at most for what --check knows of device memory, 64 if\n"
	      "                      not given: with less it misses more races\n"
	      "  -u, --unkind=SEED   have the cores do late what a machine may do late, and begin\n"
	      "                      with garbage that is chosen by this number\n"
	      "  -b, --break=SHADER[+OFFSET]\n"
	      "                      print a thread's registers each time when it comes there;\n"
	      "                      shaders are named as in reports of --check\n"
	      "      --thread=X,Y,Z  the thread: a place in the grid; a pixel and its layer; a\n"
	      "                      vertex, its instance and 0. The first active one if not given\n"
	      "  -p, --profile[=FILE]\n"
	      "                      count shaders' instructions, and estimate their stalls: a table\n"
	      "                      at the end, and a trace for Perfetto in FILE\n"
	      "  -h, --help          print this text\n"
	      "  -V, --version       print the version\n"
	      "\n"
	      "The exit status is the command's if that is not 0; otherwise\n"
	      "  0    all jobs of the GPU were executed\n"
	      "  122  they were, but --check has reported shaders\n"
	      "  123  one failed: a fault, or what vagx does not know; it is described at the end\n"
	      "  124  the command did not open the GPU\n"
	      "  125  vagx-run could not do its part\n"
	      "  126, 127  the command could not be executed, or was not found\n"
	      "  128+N     the command was ended by signal N\n", file);
}

/* Checks of the machine */

/* Return: path of the shim, or NULL after a message */
static char *vagx_run_find_shim(void)
{
	/* folder of the build, and that of the installation relative to the command's */
	static const char *const folders[] = { ".", VAGX_RUN_SHIM_DIR };
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *end;
	size_t i;

	self[n > 0 ? n : 0] = '\0';
	end = strrchr(self, '/');
	if (end)
		*end = '\0';
	for (i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		char *path = run_format("%s/%s/libasahi_shim.so", self, folders[i]);
		char *shim = realpath(path, NULL);

		free(path);
		if (shim)
			return shim;
	}
	fprintf(stderr, "vagx-run: there is no libasahi_shim.so in %s, nor in %s below it\n", self,
		VAGX_RUN_SHIM_DIR);
	return NULL;
}

static bool vagx_run_host_is_fit(void)
{
	long page = sysconf(_SC_PAGESIZE);

	if (page <= GPU_PAGE)
		return true;
	fprintf(stderr, "vagx-run: this kernel has pages of %ld KiB; the GPU's have 16 KiB: "
		"boot a kernel with pages of 4 or 16 KiB\n", page / 1024);
	return false;
}

/* Opens the device in a process with the shim. Return: exit status, after a message. */
static int vagx_run_try_shim(void)
{
	char name[16] = "";
	struct drm_version version = { .name_len = sizeof(name) - 1, .name = name };
	int fd = open(NODE, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		perror("vagx-run: the shim is preloaded, but " NODE);
		return EXIT_OURS;
	}
	if (ioctl(fd, DRM_IOCTL_VERSION, &version) || strcmp(name, "asahi")) {
		fprintf(stderr, "vagx-run: " NODE " is not the shim's: this system preloads nothing\n");
		return EXIT_OURS;
	}
	return EXIT_SUCCESS;
}

static int vagx_run_wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return EXIT_OURS;
	}
	return WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Tries the shim in a process. Return: false after a message. */
static bool vagx_run_shim_works(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		/* It is not the command's, and shall not be recorded, reported or traced. */
		run_set("ASAHI_SHIM_LOG", NULL);
		run_set("ASAHI_SHIM_REPORT", NULL);
		run_set("ASAHI_SHIM_TRACE", NULL);
		run_set("ASAHI_SHIM_PROFILE", NULL);
		execl("/proc/self/exe", "vagx-run", "--try", NULL);
		_exit(EXIT_OURS);
	}
	status = pid < 0 ? EXIT_OURS : vagx_run_wait_for(pid);
	if (!status)
		return true;
	fprintf(stderr, "vagx-run: the GPU does not come up in a process here (status %d)\n", status);
	return false;
}

/* The environment */

/*
 * The processes open the report when they open the GPU. Root's may have dropped their privileges
 * by then: anybody may append, if he knows the folder's name. Return: false after a message.
 */
static bool vagx_run_share_report(const char *given)
{
	int fd;

	if (given || geteuid())
		return true;
	fd = open(vagx_run.report, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0622);
	if (fd < 0 || fchmod(fd, 0622) || chmod(vagx_run.scratch, 0711)) {
		fprintf(stderr, "vagx-run: %s: %s\n", vagx_run.report, strerror(errno));
		if (fd >= 0)
			close(fd);
		return false;
	}
	close(fd);
	return true;
}

static bool vagx_run_prepare_files(const char *record, const char *report, const char *trace)
{
	char folder[] = "/tmp/vagx-run.XXXXXX";
	const char *tmp = getenv("TMPDIR");

	vagx_run.scratch =
		tmp && *tmp ? run_format("%s/vagx-run.XXXXXX", tmp) : run_format("%s", folder);
	if (!mkdtemp(vagx_run.scratch)) {
		fprintf(stderr, "vagx-run: %s: %s\n", vagx_run.scratch, strerror(errno));
		free(vagx_run.scratch);
		vagx_run.scratch = NULL;
		return false;
	}
	vagx_run.keep_report = report;
	vagx_run.report =
		report ? run_format("%s", report) : run_format("%s/report", vagx_run.scratch);
	if (!vagx_run_share_report(report))
		return false;
	if (record)
		run_set("ASAHI_SHIM_LOG", record);
	if (trace)
		run_set("ASAHI_SHIM_TRACE", trace);
	run_set("ASAHI_SHIM_REPORT", vagx_run.report);
	return true;
}

/* Creates or empties a file. Return: its absolute path, or NULL after a message. */
static char *vagx_run_new_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	char *whole = fd < 0 ? NULL : realpath(path, NULL);

	if (!whole)
		fprintf(stderr, "vagx-run: %s: %s\n", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return whole;
}

/* Closes the array whose elements the processes have written. Return: false after a message. */
static bool vagx_run_end_trace(const char *path)
{
	FILE *file = fopen(path, "ae");
	bool ok = file && !fseek(file, 0, SEEK_END);

	ok = ok && fputs(ftell(file) ? "\n]\n" : "[]\n", file) >= 0;
	ok = file && !fclose(file) && ok;
	if (!ok)
		fprintf(stderr, "vagx-run: %s: %s\n", path, strerror(errno));
	return ok;
}

/* Programs take the display that there is. One of our own gets the GPU's buffers. */
static void vagx_run_prepare_windows(void)
{
	const char *display = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");

	if ((!display || !*display) && (!wayland || !*wayland))
		run_set_default("EGL_PLATFORM", "surfaceless");
	/* Another X server cannot import the shim's buffers: it gets copies of Vulkan's images. */
	if (display && *display)
		run_set_default("MESA_VK_WSI_DEBUG", "sw");
}

static void vagx_run_prepare_gpu(const char *shim, const char *soc)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	char *number = run_format("%ld", cores < 1 ? 1 : cores > 16 ? 16 : cores);

	run_prepend("LD_PRELOAD", shim, ':');
	/* The address sanitizer would refuse to start with a library preloaded before its own. */
	run_prepend("ASAN_OPTIONS", "verify_asan_link_order=0", ':');
	run_set("ASAHI_SHIM_BACKEND", "vagx");
	run_set_default("ASAHI_SHIM_CORES", number);
	if (soc)
		run_set("ASAHI_SHIM_SOC", soc);
	/* Shaders in the cache may be another Mesa's. */
	run_set_default("MESA_SHADER_CACHE_DISABLE", "true");
	/* OpenCL asks for a driver's name; Mesa's has none that it takes by itself. */
	run_set_default("RUSTICL_ENABLE", "asahi");
	free(number);
}

/* The command */

static void vagx_run_pass_on(int number)
{
	if (vagx_run.child)
		kill(vagx_run.child, number);
}

static void vagx_run_wait_on(int number)
{
}

/*
 * Passes SIGHUP and SIGTERM on to the command. SIGINT and SIGQUIT come from the terminal,
 * which sends them to the command itself; vagx-run only must not end before it.
 */
static void vagx_run_handle_signals(void)
{
	const struct sigaction pass = { .sa_handler = vagx_run_pass_on };
	const struct sigaction wait = { .sa_handler = vagx_run_wait_on };

	sigaction(SIGHUP, &pass, NULL);
	sigaction(SIGTERM, &pass, NULL);
	sigaction(SIGINT, &wait, NULL);
	sigaction(SIGQUIT, &wait, NULL);
}

static int vagx_run_execute(char **argv)
{
	pid_t pid;
	int err;

	vagx_run_handle_signals();
	pid = fork();
	if (pid < 0) {
		perror("vagx-run: fork");
		return EXIT_OURS;
	}
	if (!pid) {
		execvp(argv[0], argv);
		err = errno;
		fprintf(stderr, "vagx-run: %s: %s\n", argv[0], strerror(err));
		_exit(err == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN);
	}
	vagx_run.child = pid;
	return vagx_run_wait_for(pid);
}

/* The reports of the processes */

static bool vagx_run_begins(const char *line, const char *with)
{
	return !strncmp(line, with, strlen(with));
}

struct summary {
	unsigned int opened;
	unsigned int submitted;
	unsigned int failed;
	/* processes whose shaders the sanitizer has reported */
	unsigned int reported;
	bool trouble;
	/* a line of a report has been printed */
	bool shown;
};

/*
 * Adds the lines of processes that have used the GPU to @summary, and prints all others.
 * Return: false, with errno, if the report cannot be read.
 */
static bool vagx_run_read_report(const char *path, struct summary *summary)
{
	FILE *file = fopen(path, "re");
	size_t size = 0, printed = 0;
	bool harmless = false;
	char *line = NULL;
	ssize_t n;

	/* The shim makes it, in the first process that it comes into. */
	if (!file)
		return errno == ENOENT;
	while ((n = getline(&line, &size, file)) > 0) {
		if (vagx_run_begins(line, "asahi_shim: opened by ")) {
			summary->opened++;
			continue;
		}
		if (vagx_run_begins(line, "asahi_shim: submitted to by ")) {
			summary->submitted++;
			continue;
		}
		summary->failed += vagx_run_begins(line, "asahi_shim: a job of queue ");
		summary->reported += vagx_run_begins(line, "asahi_shim: the sanitizer has reported ");
		if (!summary->shown)
			fputs("vagx-run: on the GPU:\n", stderr);
		summary->shown = true;
		/*
		 * What is seen in a shader before it runs may be a guess, and what is watched or
		 * counted is no mistake. Lines that go on with the one before begin with a space.
		 */
		if (*line != ' ')
			harmless = strstr(line, " warning: lint: ") ||
				   strstr(line, " warning: watch: ") ||
				   strstr(line, " warning: profile: ");
		summary->trouble |= !harmless;
		if (printed < REPORT_BYTES)
			fputs(line, stderr);
		printed += n;
	}
	if (printed >= REPORT_BYTES)
		fputs("vagx-run: and more; --report keeps it all\n", stderr);
	free(line);
	fclose(file);
	return true;
}

/* Says how the command has used the GPU. */
static void vagx_run_tell_use(const struct summary *summary, const struct run_mesa *mesa)
{
	if (!summary->opened) {
		fputs("vagx-run: no process of the command has opened the GPU\n", stderr);
		run_mesa_explain(mesa);
		return;
	}
	fprintf(stderr, "vagx-run: processes with the GPU: %u, with work for it: %u; failed jobs: %u\n",
		summary->opened, summary->submitted, summary->failed);
	if (!summary->submitted)
		fputs("vagx-run: the GPU has got no work: the command has only looked at it, or has worked elsewhere\n",
		      stderr);
}

/*
 * Adds the failures of the display's processes. That they use the GPU says nothing of the
 * command.
 */
static void vagx_run_read_display_report(struct summary *summary)
{
	char *path = run_display_report(vagx_run.scratch);
	struct summary display = { .trouble = summary->trouble, .shown = summary->shown };

	if (!vagx_run_read_report(path, &display))
		fprintf(stderr, "vagx-run: %s: %s\n", path, strerror(errno));
	summary->failed += display.failed;
	summary->reported += display.reported;
	summary->trouble = display.trouble;
	summary->shown = display.shown;
	free(path);
}

static int vagx_run_conclude(int status, const struct run_mesa *mesa)
{
	struct summary summary = { .opened = 0 };

	if (!vagx_run_read_report(vagx_run.report, &summary)) {
		fprintf(stderr, "vagx-run: %s: %s\n", vagx_run.report, strerror(errno));
		return EXIT_OURS;
	}
	vagx_run_read_display_report(&summary);
	if (status != EXIT_NOT_FOUND && status != EXIT_CANNOT_RUN)
		vagx_run_tell_use(&summary, mesa);
	if (status)
		return status;
	if (summary.reported && !summary.failed)
		return EXIT_FINDINGS;
	if (summary.trouble)
		return EXIT_GPU;
	return summary.opened ? EXIT_SUCCESS : EXIT_UNUSED;
}

static void vagx_run_clean_up(void)
{
	if (!vagx_run.scratch)
		return;
	run_display_clean_up(vagx_run.scratch);
	run_mesa_clean_up(vagx_run.scratch);
	if (vagx_run.report && !vagx_run.keep_report)
		unlink(vagx_run.report);
	rmdir(vagx_run.scratch);
}

/* What the options ask for. Each is NULL if it was not given. */
struct vagx_run_options {
	const char *soc;
	const char *mesa;
	/* absolute paths of files */
	char *record;
	char *report;
	char *trace;
	/* report what shaders do wrong, but for what this file names, if there is one */
	bool check;
	char *suppressions;
	const char *check_memory;
	const char *unkind;
	/* "-": count instructions; and the file of a trace, if there shall be one */
	const char *profile;
	char *profile_file;
	const char *place;
	const char *thread;
	const struct run_display *display;
};

/* Whether the value of an option is a number from 1 to @max; says so if it is not */
static bool vagx_run_is_number(const char *option, const char *text, unsigned long max)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (*text >= '0' && *text <= '9' && !*end && number && number <= max)
		return true;
	fprintf(stderr, "vagx-run: --%s=%s: expected a number from 1 to %lu\n", option, text, max);
	return false;
}

static int vagx_run_command(char **argv, const struct vagx_run_options *options)
{
	struct run_mesa mesa = { .dir = options->mesa };
	char *shim;
	int status;

	if (!vagx_run_host_is_fit())
		return EXIT_OURS;
	shim = vagx_run_find_shim();
	if (shim && strpbrk(shim, " :")) {
		fprintf(stderr, "vagx-run: %s: a path with a space or a colon cannot be preloaded\n",
			shim);
		free(shim);
		return EXIT_OURS;
	}
	if (!shim || !vagx_run_prepare_files(options->record, options->report, options->trace))
		return EXIT_OURS;
	mesa.scratch = vagx_run.scratch;
	if (!run_mesa_choose(&mesa))
		return EXIT_OURS;
	vagx_run_prepare_gpu(shim, options->soc);
	free(shim);
	if (options->check)
		run_set("ASAHI_SHIM_CHECK", "1");
	if (options->check_memory)
		run_set("ASAHI_SHIM_CHECK_MEMORY", options->check_memory);
	if (options->unkind)
		run_set("ASAHI_SHIM_UNKIND", options->unkind);
	if (options->profile)
		run_set("ASAHI_SHIM_PROFILE",
			options->profile_file ? options->profile_file : options->profile);
	if (options->place)
		run_set("ASAHI_SHIM_BREAK", options->place);
	if (options->thread)
		run_set("ASAHI_SHIM_THREAD", options->thread);
	if (options->suppressions)
		run_set("ASAHI_SHIM_SUPPRESSIONS", options->suppressions);
	if (!vagx_run_shim_works())
		return EXIT_OURS;
	run_program_look(argv[0]);
	if (options->display && !run_display_start(options->display, vagx_run.scratch))
		return EXIT_OURS;
	if (!options->display)
		vagx_run_prepare_windows();
	status = vagx_run_execute(argv);
	if (options->display && !run_display_stop() && !status)
		status = EXIT_OURS;
	status = vagx_run_conclude(status, &mesa);
	return options->trace && !vagx_run_end_trace(options->trace) && !status ? EXIT_OURS : status;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "soc", required_argument, NULL, 's' },
		{ "x11", optional_argument, NULL, 'x' },
		{ "mesa", required_argument, NULL, 'm' },
		{ "record", required_argument, NULL, 'r' },
		{ "report", required_argument, NULL, 'o' },
		{ "trace", required_argument, NULL, 't' },
		{ "check", optional_argument, NULL, 'c' },
		{ "check-memory", required_argument, NULL, OPT_CHECK_MEMORY },
		{ "unkind", required_argument, NULL, 'u' },
		{ "break", required_argument, NULL, 'b' },
		{ "profile", optional_argument, NULL, 'p' },
		{ "thread", required_argument, NULL, OPT_THREAD },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ "try", no_argument, NULL, 'T' },
		{ 0 },
	};
	struct vagx_run_options chosen = { .soc = NULL };
	struct run_display display;
	int c;

	/* Options end where the command begins. */
	while ((c = getopt_long(argc, argv, "+s:m:x::r:o:t:c::u:b:p::hV", options, NULL)) >= 0) {
		switch (c) {
		case 's':
			chosen.soc = optarg;
			break;
		case 'm':
			chosen.mesa = optarg;
			break;
		case 'x':
			if (!run_display_parse(&display, optarg))
				return EXIT_OURS;
			chosen.display = &display;
			break;
		case 'r':
			chosen.record = vagx_run_new_file(optarg);
			if (!chosen.record)
				return EXIT_OURS;
			break;
		case 'o':
			chosen.report = vagx_run_new_file(optarg);
			if (!chosen.report)
				return EXIT_OURS;
			break;
		case 't':
			chosen.trace = vagx_run_new_file(optarg);
			if (!chosen.trace)
				return EXIT_OURS;
			break;
		case 'c':
			chosen.check = true;
			chosen.suppressions = optarg ? realpath(optarg, NULL) : NULL;
			if (optarg && !chosen.suppressions) {
				fprintf(stderr, "vagx-run: %s: %s\n", optarg, strerror(errno));
				return EXIT_OURS;
			}
			break;
		case 'b':
			chosen.place = optarg;
			break;
		case 'p':
			chosen.profile = "-";
			chosen.profile_file = optarg ? vagx_run_new_file(optarg) : NULL;
			if (optarg && !chosen.profile_file)
				return EXIT_OURS;
			break;
		case OPT_THREAD:
			chosen.thread = optarg;
			break;
		case 'u':
			chosen.unkind = optarg;
			if (!vagx_run_is_number("unkind", optarg, INT_MAX))
				return EXIT_OURS;
			break;
		case OPT_CHECK_MEMORY:
			chosen.check_memory = optarg;
			if (!vagx_run_is_number("check-memory", optarg, MAX_CHECK_MIB))
				return EXIT_OURS;
			break;
		case 'T':
			return vagx_run_try_shim();
		case 'h':
			vagx_run_usage(stdout);
			return EXIT_SUCCESS;
		case 'V':
			puts("vagx-run " VAGX_RUN_VERSION);
			return EXIT_SUCCESS;
		default:
			vagx_run_usage(stderr);
			return EXIT_OURS;
		}
	}
	if (optind == argc) {
		vagx_run_usage(stderr);
		return EXIT_OURS;
	}
	c = vagx_run_command(argv + optind, &chosen);
	vagx_run_clean_up();
	free(chosen.profile_file);
	free(chosen.record);
	free(chosen.report);
	free(chosen.suppressions);
	free(chosen.trace);
	free(vagx_run.report);
	free(vagx_run.scratch);
	return c;
}

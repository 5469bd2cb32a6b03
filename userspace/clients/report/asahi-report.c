// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * asahi-report: collects all that helps to find out why the GPU does not work, writes
 * it into one archive, and prints a page that says what is wrong and what to do.
 */
#include <errno.h>
#include <ftw.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "report.h"

static void report_usage(FILE *fp)
{
	fputs("usage: asahi-report [OPTION]...\n"
	      "Says why Apple's GPU does not work, and writes all that helps to find out more\n"
	      "into an archive. Run it as root: else logs and dumps are left out.\n\n"
	      "  -o, --output=FILE      the archive (default: asahi-report-TIME.tar.gz)\n"
	      "  -c, --calibration      put the calibration regions into the archive, not only\n"
	      "                         their checksums\n"
	      "  -r, --root=FOLDER      read the files below this folder, not this machine's\n"
	      "  -h, --help             this text\n"
	      "  -V, --version          the version\n\n"
	      "Status: 0 if nothing is wrong, 1 if something is, 2 if the report failed.\n",
	      fp);
}

static int report_remove_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

/* Return: 0, or -1 after a message. */
static int report_run_tar(const char *folder, const char *name, const char *output)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		execlp("tar", "tar", "-czf", output, "-C", folder, name, NULL);
		fprintf(stderr, "asahi-report: tar: %s\n", strerror(errno));
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "asahi-report: %s cannot be written\n", output);
		return -1;
	}
	return 0;
}

static void report_print_findings(const struct report *report, FILE *file)
{
	if (!report->findings)
		fputs("Nothing is wrong as far as this program can see.\n", file);
	for (unsigned int i = 0; i < report->findings; i++)
		fprintf(file, "%u. %s\n", i + 1, report->finding[i]);
}

/* The page: what is wrong comes first, then the facts. */
static void report_print_page(const struct report *report, const char *title, const char *facts,
			      FILE *file)
{
	fprintf(file, "%s\n\n", title);
	report_print_findings(report, file);
	fputs(facts, file);
}

static void report_look(struct report *report)
{
	report_tree(report);
	report_driver(report);
	report_device(report);
	report_calibration(report);
	report_logs(report);
}

/* Return: 0, or -1 after a message. */
static int report_write(struct report *report, const char *folder, const char *name,
			const char *output)
{
	char *facts = NULL, *title;
	size_t size;
	FILE *file;
	int ret = -1;

	report->page = open_memstream(&facts, &size);
	if (!report->page || asprintf(&title, "%s", name) < 0)
		return -1;
	report_look(report);
	if (!fclose(report->page)) {
		file = report_open(report, "report.txt");
		if (file) {
			report_print_page(report, title, facts, file);
			ret = fclose(file);
		}
		report_print_page(report, title, facts, stdout);
	}
	if (!ret)
		ret = report_run_tar(folder, name, output);
	if (!ret)
		printf("\nThe archive is %s\n", output);
	free(title);
	free(facts);
	return ret;
}

static int report_make(struct report *report, const char *output)
{
	char folder[] = "/tmp/asahi-report-XXXXXX", name[64], *dir;
	char archive[sizeof(name) + 8];
	time_t now = time(NULL);
	int ret;

	strftime(name, sizeof(name), "asahi-report-%Y%m%d-%H%M%S", gmtime(&now));
	snprintf(archive, sizeof(archive), "%s.tar.gz", name);
	if (!mkdtemp(folder)) {
		fprintf(stderr, "asahi-report: %s: %s\n", folder, strerror(errno));
		return EXIT_USAGE;
	}
	ret = asprintf(&dir, "%s/%s", folder, name);
	if (ret >= 0) {
		report->dir = dir;
		ret = report_write(report, folder, name, output ? output : archive);
		free(dir);
	}
	nftw(folder, report_remove_file, 8, FTW_DEPTH | FTW_PHYS);
	for (unsigned int i = 0; i < report->findings; i++)
		free(report->finding[i]);
	free(report->gpu);
	return ret < 0 ? EXIT_USAGE : report->findings ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "calibration", no_argument, NULL, 'c' },
		{ "output", required_argument, NULL, 'o' },
		{ "root", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	struct report report = { .root = "" };
	const char *output = NULL;
	int c;

	while ((c = getopt_long(argc, argv, "co:r:hV", options, NULL)) != -1) {
		switch (c) {
		case 'c':
			report.copy_calibration = true;
			break;
		case 'o':
			output = optarg;
			break;
		case 'r':
			report.root = optarg;
			break;
		case 'h':
			report_usage(stdout);
			return cli_finish("asahi-report", EXIT_SUCCESS);
		case 'V':
			cli_version("asahi-report");
			return cli_finish("asahi-report", EXIT_SUCCESS);
		default:
			report_usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (optind != argc) {
		report_usage(stderr);
		return EXIT_USAGE;
	}
	return cli_finish("asahi-report", report_make(&report, output));
}

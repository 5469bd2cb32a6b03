// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The command line, by getopt_long(). An option is an OPT_* constant, a row of
 * options_long_options, lines of options_help and a case of options_set_option(). Before any
 * thread starts.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gpu/gpu.h"
#include "options.h"

static const char *const options_region_names[VAGX_REGION_COUNT] = {
	[VAGX_REGION_TTBS] = "ttbs",
	[VAGX_REGION_PAGETABLES] = "pagetables",
	[VAGX_REGION_HANDOFF] = "handoff",
	[VAGX_REGION_HW_CAL_A] = "hw-cal-a",
	[VAGX_REGION_HW_CAL_B] = "hw-cal-b",
	[VAGX_REGION_GLOBALS] = "globals",
};

/* Where tools/guest/ has them in the virtual machine's device tree */
static const struct vagx_regions options_default_regions = {
	.region = {
		[VAGX_REGION_TTBS] = { 0x70000000, 0x4000 },
		[VAGX_REGION_PAGETABLES] = { 0x70004000, 0xfc000 },
		[VAGX_REGION_HANDOFF] = { 0x70100000, 0x4000 },
		[VAGX_REGION_HW_CAL_A] = { 0x70104000, 0x8000 },
		[VAGX_REGION_HW_CAL_B] = { 0x7010c000, 0x4000 },
		[VAGX_REGION_GLOBALS] = { 0x70110000, 0x18000 },
	},
};

static const char *const options_log_names[] = {
	[VAGX_LOG_ERROR] = "error",
	[VAGX_LOG_WARNING] = "warning",
	[VAGX_LOG_INFO] = "info",
	[VAGX_LOG_DEBUG] = "debug",
	[VAGX_LOG_TRACE] = "trace",
};

enum {
	OPT_SOC = 256,
	OPT_FIRMWARE,
	OPT_SOCKET,
	OPT_FD,
	OPT_HW_CAL_A,
	OPT_HW_CAL_B,
	OPT_GLOBALS,
	OPT_SAVE_CALIBRATION,
	OPT_REGION,
	OPT_SOFT_FAULTS,
	OPT_NO_EXEC,
	OPT_STRICT,
	OPT_LENIENT,
	OPT_CORES,
	OPT_JIT,
	OPT_CHECK,
	OPT_CHECK_MEMORY,
	OPT_SUPPRESSIONS,
	OPT_UNKIND,
	OPT_PROFILE,
	OPT_CORE_MASK,
	OPT_JOB_TIMEOUT,
	OPT_HALT_DELAY,
	OPT_EVENT_DELAY,
	OPT_MAILBOX_DELAY,
	OPT_DOORBELL_DELAY,
	OPT_SEED,
	OPT_SERIAL,
	OPT_UNFAIR,
	OPT_STATISTICS,
	OPT_LATE_THRESHOLD,
	OPT_FAULT_BITS,
	OPT_WRITE_BACK,
	OPT_KEEP_HOLES,
	OPT_TVB_PAGES,
	OPT_TVB_GROW,
	OPT_POISON,
	OPT_DUMP_COMMANDS,
	OPT_TRACE,
	OPT_POWER_OFF,
	OPT_CONTROL,
	OPT_TLBI,
	OPT_LOG,
	OPT_LIST_RULES,
	OPT_LIST_SOCS,
	OPT_VERSION,
	OPT_HELP,
};

static const struct option options_long_options[] = {
	{ "soc", required_argument, NULL, OPT_SOC },
	{ "firmware", required_argument, NULL, OPT_FIRMWARE },
	{ "socket", required_argument, NULL, OPT_SOCKET },
	{ "fd", required_argument, NULL, OPT_FD },
	{ "hw-cal-a", required_argument, NULL, OPT_HW_CAL_A },
	{ "hw-cal-b", required_argument, NULL, OPT_HW_CAL_B },
	{ "globals", required_argument, NULL, OPT_GLOBALS },
	{ "save-calibration", required_argument, NULL, OPT_SAVE_CALIBRATION },
	{ "region", required_argument, NULL, OPT_REGION },
	{ "soft-faults", no_argument, NULL, OPT_SOFT_FAULTS },
	{ "no-exec", no_argument, NULL, OPT_NO_EXEC },
	{ "strict", no_argument, NULL, OPT_STRICT },
	{ "lenient", no_argument, NULL, OPT_LENIENT },
	{ "cores", required_argument, NULL, OPT_CORES },
	{ "jit", required_argument, NULL, OPT_JIT },
	{ "check", no_argument, NULL, OPT_CHECK },
	{ "check-memory", required_argument, NULL, OPT_CHECK_MEMORY },
	{ "suppressions", required_argument, NULL, OPT_SUPPRESSIONS },
	{ "unkind", required_argument, NULL, OPT_UNKIND },
	{ "profile", optional_argument, NULL, OPT_PROFILE },
	{ "core-mask", required_argument, NULL, OPT_CORE_MASK },
	{ "job-timeout", required_argument, NULL, OPT_JOB_TIMEOUT },
	{ "halt-delay", required_argument, NULL, OPT_HALT_DELAY },
	{ "event-delay", required_argument, NULL, OPT_EVENT_DELAY },
	{ "mailbox-delay", required_argument, NULL, OPT_MAILBOX_DELAY },
	{ "doorbell-delay", required_argument, NULL, OPT_DOORBELL_DELAY },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "serial", no_argument, NULL, OPT_SERIAL },
	{ "unfair", no_argument, NULL, OPT_UNFAIR },
	{ "statistics", no_argument, NULL, OPT_STATISTICS },
	{ "late-threshold", no_argument, NULL, OPT_LATE_THRESHOLD },
	{ "fault-bits", no_argument, NULL, OPT_FAULT_BITS },
	{ "write-back", no_argument, NULL, OPT_WRITE_BACK },
	{ "keep-holes", no_argument, NULL, OPT_KEEP_HOLES },
	{ "tvb-pages", required_argument, NULL, OPT_TVB_PAGES },
	{ "tvb-grow", no_argument, NULL, OPT_TVB_GROW },
	{ "poison", no_argument, NULL, OPT_POISON },
	{ "dump-commands", required_argument, NULL, OPT_DUMP_COMMANDS },
	{ "trace", required_argument, NULL, OPT_TRACE },
	{ "power-off", required_argument, NULL, OPT_POWER_OFF },
	{ "control", required_argument, NULL, OPT_CONTROL },
	{ "tlbi", required_argument, NULL, OPT_TLBI },
	{ "log", required_argument, NULL, OPT_LOG },
	{ "list-rules", no_argument, NULL, OPT_LIST_RULES },
	{ "list-socs", no_argument, NULL, OPT_LIST_SOCS },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

static const char options_help[] =
"NAME\n"
"  vagx - a virtual AGX GPU for virtual machines\n"
"\n"
"SYNOPSIS\n"
"  vagx --socket PATH [OPTION]...\n"
"\n"
"DESCRIPTION\n"
"  vagx serves one PCI function over vfio-user, and behaves as the boot loader,\n"
"  the RTKit firmware and the GPU of an Apple SoC do. It serves one virtual\n"
"  machine, and ends when that disconnects. QEMU 10.1 or newer connects with\n"
"\n"
"    -object memory-backend-memfd,id=mem,size=2G,share=on\n"
"    -machine memory-backend=mem\n"
"    -device '{\"driver\":\"vfio-user-pci\",\"addr\":\"4.0\",\n"
"              \"socket\":{\"type\":\"unix\",\"path\":\"PATH\"}}'\n"
"\n"
"  and the guest needs the device-tree nodes of tools/guest and the carrier\n"
"  driver of drivers/platform/vagx.\n"
"\n"
"  What the guest's driver does wrong is reported with the address, the\n"
"  structure and the rule, and makes the exit status 1.\n"
"\n"
"OPTIONS\n"
"  --socket PATH         listen on this Unix socket\n"
"  --fd NUMBER           use this connected socket instead\n"
"  --control PATH        listen there for commands that make the hardware fail;\n"
"                        \"vagx-ctl PATH help\" lists them\n"
"  --tlbi PATH           listen there for QEMU's plugin vagx-tlbi.so: translations\n"
"                        are kept until the guest invalidates them, instead of\n"
"                        looked up by each access\n"
"  --soc NAME            t8103 (default), t8112, t6000, ...: --list-socs\n"
"  --firmware VERSION    firmware ABI: 13.5 (default); 12.3 on T8103 and T600x,\n"
"                        12.4 on T8112\n"
"  --cores NUMBER        threads that run shaders (default: one per processor,\n"
"                        at most as many as the GPU has cores)\n"
"  --core-mask MASK[,MASK]...\n"
"                        which cores are there, in hexadecimal: a mask for each\n"
"                        cluster, from the first on (default: all cores). 0xfe is\n"
"                        an M1 with seven\n"
"  --jit MODE            compile shaders for this processor: on (default) those that\n"
"                        run often, all, or off: they are interpreted. With check\n"
"                        both run, and a job fails where they differ. MODE,avx2\n"
"                        uses no AVX-512, on x86-64\n"
"  --check               report what shaders do wrong that a machine would punish:\n"
"                        missing waits, unwritten registers, races. They are\n"
"                        interpreted. A report makes the exit status 1\n"
"  --check-memory MIB    memory at most for what --check knows of device memory\n"
"                        (default: 64): with less it misses more races\n"
"  --suppressions FILE   reports of --check that are known, a line for each:\n"
"                        KIND SHADER[+OFFSET] REASON\n"
"  --unkind NUMBER       have the cores do late what a machine may do late, and\n"
"                        begin with garbage that is chosen by this number. Shaders\n"
"                        are interpreted\n"
"  --profile[=FILE]      count shaders' instructions, and estimate their stalls: a table\n"
"                        at the end, and a trace for Perfetto in FILE. Shaders are\n"
"                        interpreted\n"
"  --no-exec             complete work without executing shaders\n"
"  --soft-faults         forgive unmapped accesses of shaders: loads give zero,\n"
"                        stores vanish (Globals.fault_control 0xb). A file given\n"
"                        with --globals decides for itself\n"
"  --keep-holes          with soft faults, let TLBs keep of half of the pages, by the\n"
"                        seed, that nothing is mapped there. Needs QEMU's plugin\n"
"  --job-timeout MS      cancel a job that has used MS milliseconds of processor\n"
"                        time, or four times as long by the clock (default: 5000)\n"
"  --halt-delay MS       halt up to MS milliseconds after the event about a fault or\n"
"                        a timeout, by the seed, instead of before it\n"
"  --event-delay MS      send the event about completion stamps up to MS\n"
"                        milliseconds after they are written, by the seed\n"
"  --mailbox-delay MS    let one message of the guest in 200, and those behind it,\n"
"                        wait up to MS milliseconds, by the seed\n"
"  --doorbell-delay MS   stay up to MS milliseconds at the ring of one doorbell in\n"
"                        four, and leave half of the doorbells to an equal one that\n"
"                        waits behind them, by the seed\n"
"  --seed NUMBER         seed of all random decisions (default: another one each\n"
"                        time; it is printed)\n"
"  --serial              run one command at a time, in the order of the rings,\n"
"                        instead of side by side and in orders of the seed\n"
"  --unfair              favour some rings, and run some to their end before\n"
"                        others of their priority have a turn\n"
"  --fault-bits          vary level and sideband in the fault register by the seed\n"
"  --statistics          write to the statistics each 10 ms, until the firmware has\n"
"                        no power or the page is gone\n"
"  --late-threshold      work may end before its notifier's threshold counts it\n"
"  --tvb-pages NUMBER    use no more pages of a tiled vertex buffer, so that even\n"
"                        small renders run out of them and are drawn in passes\n"
"  --tvb-grow            ask the driver for a larger tiled vertex buffer when one\n"
"                        has no page left\n"
"  --write-back          write what a job has stored to memory once more at its end,\n"
"                        also to pages that were taken away from it; with --tlbi\n"
"  --power-off HOW       when the firmware loses power, lose the dirty lines in its\n"
"                        cache, write them back at that moment (late), or either\n"
"                        for each (random, default)\n"
"  --poison              report memory that the driver has neither cleared nor\n"
"                        written, for a guest whose kernel marks it\n"
"                        (page_poison=1, slub_debug=P)\n"
"  --dump-commands FILE  write every field of every command that the driver\n"
"                        sends there, by its name\n"
"  --trace FILE          write what the units did and when, for Perfetto\n"
"  --hw-cal-a FILE\n"
"  --hw-cal-b FILE\n"
"  --globals FILE        contents of the calibration regions, instead of\n"
"                        built-in ones; the size has to be exact\n"
"  --save-calibration FOLDER\n"
"                        write them there as hw-cal-a.bin, hw-cal-b.bin and\n"
"                        globals.bin, and end\n"
"  --region NAME=ADDRESS:SIZE\n"
"                        guest-physical place of a reserved-memory region: ttbs,\n"
"                        pagetables, handoff, hw-cal-a, hw-cal-b or globals\n"
"  --strict              violations make the exit status 1 (default)\n"
"  --lenient             violations are only reported\n"
"  --log LEVEL           error, warning, info (default), debug or trace\n"
"  --list-rules          print every rule and clause: id, severity, source, text\n"
"  --list-socs           print the SoCs and the firmware that runs on each\n"
"  --version\n"
"  --help\n"
"\n"
"SIGNALS\n"
"  SIGHUP, SIGINT and SIGTERM end the service.\n"
"\n"
"EXIT STATUS\n"
"  0  the virtual machine disconnected, and its driver broke no rule\n"
"  1  the driver broke a rule\n"
"  2  wrong command line\n"
"  3  the socket, a file or the connection failed\n";

static bool options_parse_number(const char *text, unsigned int min, unsigned int max,
				 unsigned int *value)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-' || number < min ||
	    number > max)
		return false;
	*value = number;
	return true;
}

static bool options_parse_u64(const char *text, char terminator, const char **rest,
			      uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	if (errno || end == text || *end != terminator || *text == '-')
		return false;
	*rest = *end ? end + 1 : end;
	return true;
}

/* NAME=ADDRESS:SIZE */
static bool options_parse_region(const char *text, struct vagx_regions *regions)
{
	const char *equals = strchr(text, '=');
	const char *rest = text;

	if (!equals)
		return false;
	for (unsigned int i = 0; i < VAGX_REGION_COUNT; i++) {
		size_t len = strlen(options_region_names[i]);
		struct vagx_region region;

		if (len != (size_t)(equals - text) ||
		    strncmp(text, options_region_names[i], len))
			continue;
		if (!options_parse_u64(equals + 1, ':', &rest, &region.base) ||
		    !options_parse_u64(rest, '\0', &rest, &region.size) ||
		    region.base + region.size < region.base)
			return false;
		regions->region[i] = region;
		return true;
	}
	return false;
}

static bool options_parse_soc(const char *name, const struct vagx_soc **soc)
{
	*soc = vagx_soc_find(name);
	if (!*soc)
		fprintf(stderr, "vagx: --soc %s: unknown; see --list-socs\n", name);
	return *soc;
}

/* Once the SoC is known; the newest one if none was named */
static bool options_choose_firmware(struct vagx_options *o)
{
	enum fw_abi abi;

	if (!o->firmware)
		o->firmware = vagx_soc_firmware(o->soc, 0);
	if (vagx_soc_abi(o->soc, o->firmware, &abi))
		return true;
	fprintf(stderr, "vagx: --firmware %s: not on %s; see --list-socs\n", o->firmware,
		o->soc->name);
	return false;
}

static bool __attribute__((format(printf, 2, 3)))
options_mask_wrong(const struct vagx_options *o, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "vagx: --core-mask %s: ", o->core_mask);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	return false;
}

/* Fills @id with the masks of @o->core_mask, one for each cluster. Once the SoC is known. */
static bool options_parse_core_mask(const struct vagx_options *o, struct vagx_gpu_id *id)
{
	const unsigned long all = (1UL << id->cores) - 1;
	const char *rest = o->core_mask;
	unsigned long any = 0;
	char *end;

	for (unsigned int i = 0; i < id->clusters; i++) {
		unsigned long mask = strtoul(rest, &end, 16);

		if (!isxdigit((unsigned char)*rest) || (*end && *end != ','))
			return options_mask_wrong(o, "a mask is a hexadecimal number");
		if (!*end != (i + 1 == id->clusters))
			return options_mask_wrong(o, "%s takes a mask for each cluster, %u in all, separated by commas",
						  o->soc->name, id->clusters);
		if (mask > all)
			return options_mask_wrong(o, "a cluster of %s has %u cores, so a mask is 0x%lx at most",
						  o->soc->name, id->cores, all);
		id->core_mask[i] = mask;
		any |= mask;
		rest = end + 1;
	}
	return any || options_mask_wrong(o, "at least one core has to be there");
}

static bool options_choose_cores(struct vagx_options *o)
{
	if (!o->core_mask)
		return true;
	o->chip = *o->soc;
	if (!options_parse_core_mask(o, &o->chip.id))
		return false;
	o->soc = &o->chip;
	if (o->cores <= vagx_gpu_active_cores(&o->chip.id))
		return true;
	fprintf(stderr, "vagx: --cores %u: with --core-mask %s there are %u\n", o->cores,
		o->core_mask, vagx_gpu_active_cores(&o->chip.id));
	return false;
}

static bool options_parse_log(const char *name, enum vagx_log_level *level)
{
	for (size_t i = 0; i < sizeof(options_log_names) / sizeof(options_log_names[0]); i++) {
		if (!strcmp(name, options_log_names[i])) {
			*level = i;
			return true;
		}
	}
	return false;
}

static bool options_parse_seed(const char *text, uint64_t *seed)
{
	const char *rest = text;

	return options_parse_u64(text, '\0', &rest, seed) && *seed;
}

/* Return: which of @names it is, or -1 */
static int options_find_name(const char *name, const char *const *names,
			     unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		if (!strcmp(name, names[i]))
			return i;
	}
	return -1;
}

static bool options_parse_power_off(const char *name, enum vagx_power_off *how)
{
	static const char *const names[] = {
		[VAGX_POWER_OFF_LOSE] = "lose",
		[VAGX_POWER_OFF_LATE] = "late",
		[VAGX_POWER_OFF_RANDOM] = "random",
	};
	int found = options_find_name(name, names, 3);

	if (found < 0)
		return false;
	*how = found;
	return true;
}

static bool options_invalid(const char *option, const char *value)
{
	fprintf(stderr, "vagx: --%s %s: not a valid value; see --help\n",
		option, value);
	return false;
}

static void options_list_rules(void)
{
	for (unsigned int i = 0; i < VAGX_RULES_AND_CLAUSES; i++) {
		const struct vagx_rule_info *info = vagx_rule_info(i);
		const struct vagx_rule_info *rule = vagx_rule_info(info->rule);

		printf("%s\t%s\t%s\t%s\n", info->id,
		       rule->severity == VAGX_SEVERITY_VIOLATION ?
				"violation" : "warning",
		       rule->source, info->text);
	}
}

static void options_list_socs(void)
{
	const struct vagx_soc *soc;

	for (unsigned int i = 0; (soc = vagx_soc_at(i)); i++) {
		const char *firmware;

		printf("%s\t%s\t", soc->name, soc->chip);
		for (unsigned int j = 0; (firmware = vagx_soc_firmware(soc, j)); j++)
			printf("%s%s", j ? " " : "", firmware);
		putchar('\n');
	}
}

/* Return: whether it was one of the options that only print something */
static bool options_print_option(int option)
{
	switch (option) {
	case OPT_LIST_RULES:
		options_list_rules();
		return true;
	case OPT_LIST_SOCS:
		options_list_socs();
		return true;
	case OPT_VERSION:
		puts("vagx " VAGX_VERSION);
		return true;
	case OPT_HELP:
		fputs(options_help, stdout);
		return true;
	}
	return false;
}

static bool options_set_option(struct vagx_options *o, int option, const char *value,
			       const char *name)
{
	unsigned int number;

	switch (option) {
	case OPT_SOC:
		return options_parse_soc(value, &o->soc);
	case OPT_FIRMWARE:
		o->firmware = value;
		return true;
	case OPT_SOCKET:
		o->socket = value;
		return true;
	case OPT_FD:
		if (!options_parse_number(value, 0, 65535, &number))
			return options_invalid(name, value);
		o->fd = number;
		return true;
	case OPT_HW_CAL_A:
		o->hw_cal_a = value;
		return true;
	case OPT_HW_CAL_B:
		o->hw_cal_b = value;
		return true;
	case OPT_GLOBALS:
		o->globals = value;
		return true;
	case OPT_SAVE_CALIBRATION:
		o->save_calibration = value;
		return true;
	case OPT_REGION:
		return options_parse_region(value, &o->regions) || options_invalid(name, value);
	case OPT_SOFT_FAULTS:
		o->soft_faults = true;
		return true;
	case OPT_NO_EXEC:
		o->no_exec = true;
		return true;
	case OPT_STRICT:
		o->lenient = false;
		return true;
	case OPT_LENIENT:
		o->lenient = true;
		return true;
	case OPT_CORES:
		return options_parse_number(value, 1, VAGX_GPU_MAX_CORES, &o->cores) ||
		       options_invalid(name, value);
	case OPT_JIT:
		return vagx_jit_parse(value, &o->jit) || options_invalid(name, value);
	case OPT_CHECK:
		o->sanitizer.check = true;
		return true;
	case OPT_CHECK_MEMORY:
		if (!options_parse_number(value, 1, VAGX_SANITIZER_MAX_MIB, &number))
			return options_invalid(name, value);
		o->sanitizer.memory = (uint64_t)number << 20;
		return true;
	case OPT_SUPPRESSIONS:
		o->sanitizer.suppressions = value;
		return true;
	case OPT_UNKIND:
		o->sanitizer.unkind = true;
		return options_parse_number(value, 1, INT32_MAX, &o->unkind) ||
		       options_invalid(name, value);
	case OPT_PROFILE:
		o->sanitizer.profile = true;
		o->sanitizer.profile_trace = value;
		return true;
	case OPT_CORE_MASK:
		o->core_mask = value;
		return true;
	case OPT_JOB_TIMEOUT:
		return options_parse_number(value, 1, 3600000, &o->job_timeout_ms) ||
		       options_invalid(name, value);
	case OPT_HALT_DELAY:
		return options_parse_number(value, 0, 60000, &o->halt_delay_ms) ||
		       options_invalid(name, value);
	case OPT_EVENT_DELAY:
		return options_parse_number(value, 0, 60000, &o->event_delay_ms) ||
		       options_invalid(name, value);
	case OPT_MAILBOX_DELAY:
		return options_parse_number(value, 0, 60000, &o->mailbox_delay_ms) ||
		       options_invalid(name, value);
	case OPT_DOORBELL_DELAY:
		return options_parse_number(value, 0, 60000, &o->doorbell_delay_ms) ||
		       options_invalid(name, value);
	case OPT_SEED:
		return options_parse_seed(value, &o->seed) || options_invalid(name, value);
	case OPT_SERIAL:
		o->serial = true;
		return true;
	case OPT_UNFAIR:
		o->unfair = true;
		return true;
	case OPT_STATISTICS:
		o->statistics = true;
		return true;
	case OPT_LATE_THRESHOLD:
		o->late_threshold = true;
		return true;
	case OPT_FAULT_BITS:
		o->fault_bits = true;
		return true;
	case OPT_WRITE_BACK:
		o->write_back = true;
		return true;
	case OPT_KEEP_HOLES:
		o->keep_holes = true;
		return true;
	case OPT_TVB_PAGES:
		return options_parse_number(value, 1, UINT16_MAX, &o->tvb_pages) ||
		       options_invalid(name, value);
	case OPT_TVB_GROW:
		o->tvb_grow = true;
		return true;
	case OPT_POISON:
		o->poison = true;
		return true;
	case OPT_DUMP_COMMANDS:
		o->dump = value;
		return true;
	case OPT_TRACE:
		o->trace = value;
		return true;
	case OPT_POWER_OFF:
		return options_parse_power_off(value, &o->power_off) ||
		       options_invalid(name, value);
	case OPT_CONTROL:
		o->control = value;
		return true;
	case OPT_TLBI:
		o->tlbi = value;
		return true;
	case OPT_LOG:
		return options_parse_log(value, &o->log) || options_invalid(name, value);
	}
	return false;
}

static unsigned int options_default_cores(const struct vagx_soc *soc)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int cores = vagx_gpu_active_cores(&soc->id);

	if (cores > VAGX_GPU_MAX_CORES)
		cores = VAGX_GPU_MAX_CORES;
	return processors > 0 && processors < cores ? processors : cores;
}

static uint64_t options_default_seed(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return ((uint64_t)now.tv_sec << 20 ^ now.tv_nsec ^ getpid()) | 1;
}

bool vagx_options_parse(struct vagx_options *options, int argc, char **argv,
			int *status)
{
	int index = 0;
	int option;

	*options = (struct vagx_options) {
		.soc = vagx_soc_at(0),
		.fd = -1,
		.jit = { .mode = VAGX_JIT_ON },
		.regions = options_default_regions,
		.power_off = VAGX_POWER_OFF_RANDOM,
		.log = VAGX_LOG_INFO,
	};
	*status = VAGX_EXIT_USAGE;

	while ((option = getopt_long(argc, argv, "", options_long_options,
				     &index)) >= 0) {
		if (options_print_option(option)) {
			*status = VAGX_EXIT_OK;
			return false;
		}
		if (option == '?' || !options_set_option(options, option, optarg,
							 options_long_options[index].name))
			return false;
	}
	if (optind < argc) {
		fprintf(stderr, "vagx: %s: not an option; see --help\n",
			argv[optind]);
		return false;
	}
	if (!options->save_calibration && !options->socket == (options->fd < 0)) {
		fputs("vagx: either --socket or --fd is needed; see --help\n",
		      stderr);
		return false;
	}
	if (!options_choose_firmware(options) || !options_choose_cores(options))
		return false;
	if (!options->cores)
		options->cores = options_default_cores(options->soc);
	if (!options->seed)
		options->seed = options_default_seed();
	return true;
}

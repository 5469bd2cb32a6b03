#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# coverage.sh [host] [driver]: how many lines and branches the tests execute: those on
# the host, of library, emulator and shim, with a build of their own; and the lane
# guest-debug's last run, of the driver. Both make a report, build/out/coverage: text,
# JSON and HTML.

. "$(dirname "$0")/lib.sh"

cd "$top"
out=build/out/coverage
counters=${ASAHI_GCOV:-build/out/debug/gcov} modules=${ASAHI_GCOV_MODULES:-build/modules-debug}
if [ $# = 0 ]; then
	set -- host
	if [ -d "$counters" ]; then
		set -- host driver
	else
		say "without the driver, of which the lane guest-debug counts"
	fi
fi
mkdir -p $out

# gcovr NAME OPTION ... - from counters, $out/NAME.json
gcovr()
{
	local name=$1
	shift

	# Templates are compiled several times; their lines count once.
	tools/toolbox.sh static gcovr --root "$top" --gcov-executable gcov-14 -j "$jobs" \
		--merge-mode-functions=separate \
		--exclude-throw-branches --gcov-ignore-parse-errors=negative_hits.warn_once_per_file \
		--json "$out/$name.json" "$@" >"$out/$name.log" 2>&1 || {
		tail -n 20 "$out/$name.log" >&2
		die "gcovr failed; the log is $out/$name.log"
	}
}

of_host()
{
	local status=0

	tools/build.sh coverage
	# Counters add up over runs.
	find build/coverage -name '*.gcda' -delete
	progress "the tests with counters" $out/tests.log tools/toolbox.sh run \
		meson test -C build/coverage --no-rebuild --timeout-multiplier 4 \
		--num-processes "$jobs" || status=$?
	[ $status = 0 ] || die "a test failed; the log is $out/tests.log"
	# The root with gcovr has no headers of Vulkan and libdrm, of which libraries to be preloaded
	# are made.
	gcovr host --exclude-directories '.*/userspace/tests/[^/]*\.so\.p' --filter lib/agx/ \
		--filter emulator/ --filter userspace/libdrm_asahi/ --filter userspace/shim/ \
		--exclude '.*/tests/' --exclude emulator/fuzz/ build/coverage
}

# of_driver DATA MODULES - from what a machine has left in DATA, of the modules
of_driver()
{
	local data=$1$top/$2 objects=$2/drivers/gpu/drm/asahi name

	[ -d "$data" ] || die "$1: no counters of $2 there; tools/check.sh guest-debug leaves them"
	find "$objects" -name '*.gcda' -delete
	# What of a file was not executed is known without data.
	for name in "$data"/drivers/gpu/drm/asahi/{,abi/}*.gcda; do
		cp "$name" "$objects${name#"$data/drivers/gpu/drm/asahi"}"
	done
	gcovr driver --filter drivers/gpu/drm/asahi/ --exclude '.*/tests/' \
		--exclude '.*/asahi_trace' "$objects"
}

reports=()
for part; do
	case $part in
	host) of_host ;;
	driver) of_driver "$counters" "$modules" ;;
	*) die "usage: tools/coverage.sh [host] [driver]" ;;
	esac
	reports+=(--add-tracefile "$out/$part.json")
done
mkdir -p $out/html
tools/toolbox.sh static gcovr --root "$top" --merge-mode-functions=separate "${reports[@]}" --json-summary $out/summary.json \
	--html-details $out/html/index.html --txt $out/lines.txt >$out/report.log 2>&1 ||
	{ cat $out/report.log >&2; exit 1; }
tools/toolbox.sh static python3 tools/coverage.py table $out/summary.json | tee $out/report.txt

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# Defects of one line that nobody has thought of: tools/mutants-random makes them by rule
# from the syntax tree, chooses by chance, and runs the tests that reach each until one fails.
# Documentation/project/testing-reference.rst says what is in it.

. "$(dirname "$0")/lib.sh"

usage()
{
	cat >&2 <<-END
		usage: tools/mutants-random.sh [--count N] [--seed SEED] [--folders NAME,...]
		                               [--budget SECONDS] [--only NUMBER,...] [--list]
		  --count N       how many defects (50)
		  --seed SEED     which ones; the same seed gives the same ones for the same sources
		                  (the day)
		  --folders ...   of driver, firmware, emulator, lib/agx, shim, library (all)
		  --budget S      seconds of tests for a defect on the host, and again in virtual
		                  machines; tests that take longer are left out (240)
		  --only ...      of these only those with such numbers, for a longer look
		  --list          only list the defects
		The table and build/out/mutants-random/report say what became of each, and
		the history in the cache has a line for each run.
	END
	exit 2
}

options=(--jobs "$jobs" --seed "$(date -u +%Y%m%d)")
while [ $# -gt 0 ]; do
	case $1 in
	--count|--seed|--folders|--budget|--only)
		[ $# -gt 1 ] || usage
		options+=("$1" "$2")
		shift
		;;
	--list) options+=("$1") ;;
	*) usage ;;
	esac
	shift
done

cd "$top"
out=build/out/mutants-random
mkdir -p build/mutants-random
exec 7>build/mutants-random/lock
flock -n 7 || die "another run uses build/mutants-random"
tools/build.sh host
tools/build.sh guest
tools/modules.sh plain
tools/kernel.sh debug >/dev/null
# What the shaders of Mesa's tests in the guest are compared with
reference vulkan-compute build/guest/lavapipe.results >/dev/null
reference vulkan-render build/guest/lavapipe.pictures >/dev/null
reference gles-render build/guest/llvmpipe.pictures >/dev/null
rm -f $out/result.json
tools/toolbox.sh run env PYTHONDONTWRITEBYTECODE=1 python3 tools/mutants-random/mutants_random.py \
	"${options[@]}"
[ -e $out/result.json ] || exit 0
history=$cache/mutants-random/history.jsonl
mkdir -p "$(dirname "$history")"
cat $out/result.json >>"$history"
say "$out/report; the history is $history"

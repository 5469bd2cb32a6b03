#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# Fuzz for a while: each target of emulator/fuzz, or those named, for a number of
# seconds, from a seed. What they have found to be new is kept in build/fuzz-corpus,
# an input that breaks something in build/out/fuzz. "--list" prints the targets.
# "--record" runs clients and Mesa's, and makes inputs of what they give to the GPU, and of what
# the driver writes into commands, in build/fuzz-recorded, from which targets begin then. With FUZZ_RUNS, that many runs of
# what is recorded alone, and nothing is kept.

. "$(dirname "$0")/lib.sh"

seconds=${FUZZ_SECONDS:-60} seed=${FUZZ_SEED:-$RANDOM} runs=${FUZZ_RUNS:-}
recorded=build/fuzz-recorded
cd "$top"

# record_from PROGRAM ARGUMENT... - makes inputs of a program's work
record_from()
{
	local log=build/out/fuzz/record.log

	tools/toolbox.sh run env "ASAHI_SHIM_CAPTURE=$top/$recorded.capture" \
		"ASAHI_SHIM_DESCRIPTORS=$top/$recorded.descriptors" \
		build/host/userspace/shim/vagx-run "$@" >$log 2>&1 &&
		tools/toolbox.sh run build/host/emulator/fuzz/fuzz-corpus $recorded.capture \
			$recorded.descriptors $recorded >>$log 2>&1 && return
	tail -n 20 $log >&2
	die "nothing was recorded of $*"
}

record()
{
	local tests=build/host/userspace/tests clients=build/host/userspace/clients program

	tools/build.sh host
	rm -rf $recorded
	mkdir -p $recorded build/out/fuzz
	record_from $clients/asahi-compute
	record_from $clients/asahi-triangle --size=64x48 cube
	for program in vulkan-compute vulkan-render gles-edges gles-recycle; do
		[ ! -x $tests/$program ] || record_from $tests/$program
	done
	tools/toolbox.sh run build/host/emulator/fuzz/fuzz-corpus tools/checks/golden-commands \
		$recorded >build/out/fuzz/record.log ||
		die "nothing was made of tools/checks/golden-commands"
	rm $recorded.capture $recorded.descriptors
	say "recorded: $(find $recorded -type f | wc -l) inputs for $(cd $recorded && echo *)"
}

if [ "${1:-}" = --record ]; then
	record
	exit
fi
mapfile -t targets < <(sed -n "s/^  '\(.*\)' : {'sources'.*/\1/p" emulator/fuzz/meson.build)
if [ "${1:-}" = --list ]; then
	printf '%s\n' "${targets[@]}"
	exit
fi
tools/build.sh fuzz
[ $# != 0 ] || set -- "${targets[@]}"
mkdir -p build/out/fuzz
failed=''
for target; do
	log=build/out/fuzz/$target.log
	corpora=("build/fuzz-corpus/$target") much=("-max_total_time=$seconds")
	if [ "$runs" ]; then
		rm -rf build/out/fuzz/corpus
		corpora=(build/out/fuzz/corpus) much=("-runs=$runs")
	fi
	mkdir -p "${corpora[0]}"
	[ ! -d "$recorded/$target" ] || corpora+=("$recorded/$target")
	if tools/toolbox.sh run env UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
		"build/fuzz/emulator/fuzz/fuzz-$target" -seed="$seed" "${much[@]}" \
		-max_len=4096 -timeout=10 -artifact_prefix="build/out/fuzz/$target-" \
		"${corpora[@]}" >"$log" 2>&1; then
		say "$target: seed $seed, $(grep -o '^#[0-9]*.*cov: [0-9]*' "$log" | tail -n 1)"
	else
		tail -n 40 "$log" >&2
		say "$target: seed $seed FAILED, see $log"
		failed+=" $target"
	fi
done
[ -z "$failed" ] || die "failed:$failed"

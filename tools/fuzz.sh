#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# Fuzz for a while: each target of emulator/fuzz, or those named, for a number of
# seconds, from a seed. What they have found to be new is kept in build/fuzz-corpus,
# an input that breaks something in build/out/fuzz.

. "$(dirname "$0")/lib.sh"

seconds=${FUZZ_SECONDS:-60} seed=${FUZZ_SEED:-$RANDOM}
cd "$top"
tools/build.sh fuzz
if [ $# = 0 ]; then
	mapfile -t targets < <(sed -n "s/^  '\(.*\)' : {'sources'.*/\1/p" emulator/fuzz/meson.build)
	set -- "${targets[@]}"
fi
mkdir -p build/out/fuzz
failed=''
for target; do
	log=build/out/fuzz/$target.log
	mkdir -p "build/fuzz-corpus/$target"
	if tools/toolbox.sh run env UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
		"build/fuzz/emulator/fuzz/fuzz-$target" -seed="$seed" -max_total_time="$seconds" \
		-max_len=4096 -timeout=10 -artifact_prefix="build/out/fuzz/$target-" \
		"build/fuzz-corpus/$target" >"$log" 2>&1; then
		say "$target: seed $seed, $(grep -o '^#[0-9]*.*cov: [0-9]*' "$log" | tail -n 1)"
	else
		tail -n 40 "$log" >&2
		say "$target: seed $seed FAILED, see $log"
		failed+=" $target"
	fi
done
[ -z "$failed" ] || die "failed:$failed"

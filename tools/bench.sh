#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# Speed and memory, as a table and as build/out/bench.json. What the driver's
# calls cost is counted in instructions, which repeat; times are this machine's.
#
# usage: bench.sh [gpu [--quick] | profile [WORK]]
#
# With "gpu" only what needs no virtual machine: the virtual GPU through the shim,
# beside Mesa's software drivers. With "profile" where the virtual GPU's time goes, by
# samples of perf, which the machine has to have: WORK as vulkan-bench --only has it.

. "$(dirname "$0")/lib.sh"

cd "$top"
tools/build.sh host

# time_gpu RESULT [--quick]
time_gpu()
{
	rm -f "$1"
	tools/toolbox.sh run python3 tools/bench_gpu.py build/host "$@"
	tools/toolbox.sh programs python3 tools/bench_programs.py build/host "$@"
}

# profile [WORK]
profile()
{
	local out=build/out/bench-profile

	command -v perf >/dev/null || die "there is no perf on this machine (Debian: linux-perf)"
	mkdir -p $out
	perf record -q -F 999 -o $out/perf.data tools/toolbox.sh run env ASAHI_SHIM_BACKEND=vagx \
		ASAHI_SHIM_CORES=1 LD_PRELOAD="$top/build/host/userspace/shim/libasahi_shim.so" \
		build/host/userspace/tests/vulkan-bench --quick ${1:+"--only=$1"} asahi >$out/times.json
	perf report -q --stdio -t '|' --sort dso,sym -i $out/perf.data >$out/report.txt
	tools/toolbox.sh run python3 tools/bench_profile.py build/host $out/report.txt
}

if [ "${1:-}" = profile ]; then
	shift
	profile "$@"
	exit
fi
if [ "${1:-}" = gpu ]; then
	shift
	time_gpu build/out/bench-gpu.json "$@"
	exit
fi
tools/build.sh guest
tools/modules.sh plain
out=$top/build/out/bench
say "counting instructions"
tools/vm.sh --quiet --out "$out/counts" --icount sleep tools/guest/bench counts
tools/vm.sh --quiet --out "$out/jobs" --icount sleep --count tools/guest/bench jobs
tools/toolbox.sh run python3 tools/bench_jobs.py "$out/jobs" "$out/jobs/rows.json" \
	"$(tools/kernel.sh plain)"
say "measuring times"
tools/vm.sh --quiet --timeout 1200 --out "$out/times" tools/guest/bench times
tools/toolbox.sh run build/host/emulator/gpu/tests/bench-core >"$out/core.json"
say "timing the virtual GPU"
time_gpu "$out/gpu.json"
tools/toolbox.sh run python3 tools/bench.py "$out" build/out/bench.json

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# Run a script in the guest and leave one file for Perfetto with what the driver's
# tracepoints and vagx's units say, on one clock.

. "$(dirname "$0")/lib.sh"

[ $# -gt 0 ] || set -- tools/guest/run
out=$top/build/out/trace
cd "$top"
mkdir -p "$out"
tools/vm.sh --quiet --out "$out" --timeout 600 --vagx-args "--trace $out/vagx.json" \
	-- tools/guest/traced "$@"
tools/toolbox.sh run python3 tools/trace_merge.py "$out/vagx.json" "$out/tracepoints" \
	"$out/trace.json"
say "$out/trace.json is for ui.perfetto.dev"

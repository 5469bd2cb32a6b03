#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# Compare two results of "make bench". They may lie where the toolbox does not see
# them, so it is handed open files.

. "$(dirname "$0")/lib.sh"

[ $# = 2 ] || die "usage: make bench-compare BEFORE.json AFTER.json"
for file; do
	[ -r "$file" ] || die "$file: cannot be read"
done
"$top/tools/toolbox.sh" run python3 "$top/tools/bench_compare.py" "$1" "$2" 3<"$1" 4<"$2"

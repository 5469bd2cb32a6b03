#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# Results of "make bench" over time. They are in the cache, which clones share: a line
# for each, with commit and date.

. "$(dirname "$0")/lib.sh"

cd "$top"
history=$cache/bench/history.jsonl
out=build/out/bench-history

case ${1:-} in
add)
	[ $# = 2 ] || die "usage: tools/bench-history.sh add RESULT.json"
	[ -r "$2" ] || die "$2: cannot be read"
	mkdir -p "$(dirname "$history")"
	line=$(tools/toolbox.sh run python3 tools/bench_history.py line \
		"$(git describe --always --dirty --abbrev=12)" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" <"$2")
	printf '%s\n' "$line" >>"$history"
	;;
draw)
	[ -s "$history" ] || die "there is no result in $history yet"
	rm -rf $out
	mkdir -p $out
	tools/toolbox.sh run python3 tools/bench_history.py plot $out "$history"
	tools/toolbox.sh static gnuplot-nox $out/history.gnuplot
	say "$out/history.png, $out/history.svg"
	;;
*)
	die "usage: tools/bench-history.sh add RESULT.json | draw"
	;;
esac

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# Which cases a check has, and which it should have: tools/checks/cases/CHECK names
# them, a line each. A "*" stands for anything: for numbers that change, and for
# files of the tree. Such a line needs one case at least.

. "$(dirname "$0")/lib.sh"

usage()
{
	cat >&2 <<-END
		usage: tools/cases.sh names TAP_FILE ...
		       tools/cases.sh compare CHECK
		       tools/cases.sh accept CHECK ...
		  names    the cases of these results, each once: without what stands in
		           parentheses or behind a "#"
		  compare  the last results of a check with what it should have; prints
		           nothing if they are the same
		  accept   take the last results of these checks as what they should have;
		           lines with a "*" stay if a case fits them
	END
	exit 2
}

results=$top/build/out/check
expected=$top/tools/checks/cases

names()
{
	sed -nE '/^(not )?ok /{s/^(not )?ok( [0-9]+)?( -)? //;s/ ?# .*//;s/ ?\([^)]*\)//g;p}' "$@" |
		LC_ALL=C sort -u
}

# fit LINES NAMES - what fits nothing on the other side: "missing LINE", "additional
# NAME", and "fits LINE" for a line with a "*" that a name fits
fit()
{
	awk '
		FILENAME == ARGV[1] && /^#/ { next }
		FILENAME == ARGV[1] && !/\*/ { lines[$0] = 1; next }
		FILENAME == ARGV[1] {
			pattern = $0
			gsub(/[][\\.^$+?(){}|]/, "\\\\&", pattern)
			gsub(/\*/, ".*", pattern)
			patterns[$0] = "^" pattern "$"
			next
		}
		{
			known = $0 in lines
			delete lines[$0]
			for (line in patterns)
				if ($0 ~ patterns[line])
					known = fits[line] = 1
			if (!known)
				print "additional " $0
		}
		END {
			for (line in lines)
				print "missing " line
			for (line in patterns)
				print (line in fits ? "fits " : "missing ") line
		}' "$1" "$2" | LC_ALL=C sort
}

compare()
{
	local cases=$expected/$1

	if [ ! -e "$cases" ]; then
		echo "missing $cases"
		return
	fi
	# What cannot be had on this machine has no other cases.
	! grep -q '^ok .*# SKIP not available$' "$results/$1.tap" || return 0
	fit "$cases" <(names "$results/$1.tap") | grep -v '^fits ' || true
}

accept()
{
	local lane=$1 old=$expected/$1

	[ -s "$results/$lane.tap" ] || die "there are no results of $lane: tools/check.sh $lane"
	! grep -q '^not ok' "$results/$lane.tap" || die "$lane has failed: fix that first"
	mkdir -p "$expected"
	[ -e "$old" ] || old=/dev/null
	grep '\*' "$old" >"$expected/.patterns" || true
	{
		echo "# SPDX-License-Identifier: MIT"
		fit "$expected/.patterns" <(names "$results/$lane.tap") |
			sed -n 's/^\(fits\|additional\) //p' | LC_ALL=C sort
	} >"$expected/.new"
	rm "$expected/.patterns"
	mv "$expected/.new" "$expected/$lane"
	echo "$lane: $(grep -vc '^#' "$expected/$lane") cases"
}

command=${1:-}
[ $# -ge 2 ] || usage
shift
case $command in
names) names "$@" ;;
compare) compare "$1" ;;
accept) for lane; do accept "$lane"; done ;;
*) usage ;;
esac

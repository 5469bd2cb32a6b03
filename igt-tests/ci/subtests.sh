#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# subtests.sh PROGRAM ...              - print PROGRAM@SUBTEST for all of them
# subtests.sh --check FILE PROGRAM ... - fail unless FILE has just these lines

set -eu

list()
{
	echo "# SPDX-License""-Identifier: MIT"
	for program; do
		"$program" --list-subtests | sed "s/^/$(basename "$program")@/"
	done | LC_ALL=C sort
}

if [ "$1" != --check ]; then
	list "$@"
	exit
fi
file=$2
shift 2
list "$@" | diff -u "$file" - || {
	echo "$file does not list the subtests that there are: tools/igt.sh list" >&2
	exit 1
}

#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# Compares what a shared library exports with a list.
# usage: check-symbols.sh LIBRARY LIST

set -eu

library=$1
list=$2
exported=$(mktemp)
expected=$(mktemp)
trap 'rm -f "$exported" "$expected"' EXIT

"${NM:-nm}" -D --defined-only --format=posix "$library" |
	awk '$2 ~ /^[TDBRVW]$/ { print $1 }' | sort >"$exported"
grep -v '^#' "$list" | sort >"$expected"

if ! diff -u "$expected" "$exported"; then
	echo "exported symbols differ from $list" >&2
	exit 1
fi
echo "$(wc -l <"$exported") symbols as listed"

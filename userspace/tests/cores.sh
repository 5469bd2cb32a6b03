#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# usage: cores.sh PROGRAM ...
#
# Programs that keep what the GPU draws with --png, through the shim: with one core and with
# several the pictures are the same, byte for byte.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0
failed=0

# draws PROGRAM CORES
draws()
{
	rm -rf "${work:?}/$2"
	mkdir "$work/$2"
	env ASAHI_SHIM_CORES="$2" LD_PRELOAD="$SHIM" "$1" --submit-only --png="$work/$2" \
		>"$work/output" 2>&1
}

for program; do
	count=$((count + 1))
	name=$(basename "$program")
	if draws "$program" 1 && draws "$program" 4 && ls "$work"/1/*-agx.png >"$work/names" &&
		diff -r "$work/1" "$work/4" >>"$work/output" 2>&1; then
		echo "ok $count - $name"
	else
		echo "not ok $count - $name"
		failed=1
		sed 's/^/# /' "$work/output"
	fi
done

echo "1..$count"
exit $failed

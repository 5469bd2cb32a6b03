#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# usage: check-x86.sh LIST-X86
#
# The compiler's encoder against the assembler: both make the same bytes of the same instructions.

work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

differences()
{
	"$1" "$work/bytes" "$work/text.s" || return
	as -O0 "$work/text.s" -o "$work/text.o" || return
	objcopy -O binary -j .text "$work/text.o" "$work/wanted" || return
	objdump -b binary -m i386:x86-64 -M intel -D "$work/bytes" | tail -n +8 >"$work/bytes.d"
	objdump -b binary -m i386:x86-64 -M intel -D "$work/wanted" | tail -n +8 >"$work/wanted.d"
	diff "$work/wanted.d" "$work/bytes.d" | head -20
	cmp "$work/wanted" "$work/bytes"
}

echo TAP version 13
echo 1..1
if output=$(differences "$1" 2>&1); then
	echo "ok 1 - instructions are encoded as the assembler does"
	echo "# $(($(wc -l <"$work/text.s") - 1)) instructions"
else
	echo "not ok 1 - instructions are encoded as the assembler does"
	printf '%s\n' "$output" | sed 's/^/# /'
	exit 1
fi

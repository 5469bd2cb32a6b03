#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# usage: check-encoder.sh LIST x86|arm64
#
# An encoder of the compiler against the assembler: both make the same bytes of the same
# instructions, which LIST writes. Where there is no assembler for that processor it is skipped.

work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
list=$1

case $2 in
x86)	wanted=x86_64 prefix=x86_64-linux-gnu- options=-O0 machine='i386:x86-64 -M intel' ;;
arm64)	wanted=aarch64 prefix=aarch64-linux-gnu- options='' machine=aarch64 ;;
esac
[ "$(uname -m)" != "$wanted" ] || prefix=

disassemble()
{
	# shellcheck disable=SC2086
	"${prefix}objdump" -b binary -m $machine -D "$1" | tail -n +8
}

differences()
{
	"$list" "$work/bytes" "$work/text.s" || return
	# shellcheck disable=SC2086
	"${prefix}as" $options "$work/text.s" -o "$work/text.o" || return
	"${prefix}objcopy" -O binary -j .text "$work/text.o" "$work/wanted" || return
	disassemble "$work/bytes" >"$work/bytes.d"
	disassemble "$work/wanted" >"$work/wanted.d"
	diff "$work/wanted.d" "$work/bytes.d" | head -20
	cmp "$work/wanted" "$work/bytes"
}

echo TAP version 13
echo 1..1
if ! command -v "${prefix}as" >"$work/as"; then
	echo "ok 1 - instructions are encoded as the assembler does # SKIP no assembler"
elif output=$(differences 2>&1); then
	echo "ok 1 - instructions are encoded as the assembler does"
	echo "# $(($(wc -l <"$work/text.s") - 1)) instructions"
else
	echo "not ok 1 - instructions are encoded as the assembler does"
	printf '%s\n' "$output" | sed 's/^/# /'
	exit 1
fi

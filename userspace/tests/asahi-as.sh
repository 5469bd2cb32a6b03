#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# usage: asahi-as.sh ASAHI-AS ASAHI-DISASM SHADER...
#
# Each shader's code, disassembled, is assembled to the same code again; what
# is wrong is said with its line. What lint finds is said with its offset.

as=$(realpath "$1")
disasm=$(realpath "$2")
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0
failed=0

# result STATUS NAME
result()
{
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		failed=1
	fi
}

round_trip()
{
	"$as" -o "$work/first" "$1" &&
		"$disasm" -s "$work/first" >"$work/text" &&
		"$as" -o "$work/second" "$work/text" &&
		[ -s "$work/first" ] && cmp "$work/first" "$work/second"
}

lint()
{
	"$as" -o "$work/code" "$1" && "$disasm" --lint --unwritten "$work/code" >"$work/text" &&
		cmp -s /dev/null "$work/text"
}

for shader in "$@"; do
	round_trip "$shader"
	result $? "$(basename "$shader") and back"
	lint "$shader" || cat "$work/text" >&2
	cmp -s /dev/null "$work/text"
	result $? "$(basename "$shader") has no mistake that lint knows"
done

printf 'load r2, du0, 0, i32, x, a\niadd r4, r2, 1\nwait a\nstop\n' >"$work/wrong.agx"
lint "$work/wrong.agx"
[ $? = 1 ] && grep -q '^0x8: iadd .*before the wait.* (r2l)$' "$work/text"
result $? "a wait that comes too late is found"

printf 'ldimm r4, 0\nstop\n' >"$work/wrong.agx"
"$as" -o "$work/code" "$work/wrong.agx" && "$disasm" --lint -r 8 "$work/code" >"$work/text"
[ $? = 1 ] && grep -q 'does not have (r4l)$' "$work/text"
result $? "a register that a thread does not have is found"

"$disasm" --lint --registers=257 "$work/code" 2>"$work/message"
[ $? = 2 ] && grep -q '257: 1 to 256 is expected' "$work/message"
result $? "a wrong number of registers is refused"

printf 'stop\nfadd r1, r2\n' >"$work/wrong.agx"
"$as" -o "$work/none" "$work/wrong.agx" 2>"$work/message"
[ $? = 1 ] && [ ! -e "$work/none" ] && grep -q 'wrong.agx:2: fadd: ' "$work/message"
result $? "a wrong line is named, and nothing is written"

printf '88 00\n' | "$disasm" -x | grep -q 'stop$'
result $? "hexadecimal digits are read"

printf 'ffff' | "$disasm" -x >"$work/text"
[ $? = 1 ] && grep -q 'unknown' "$work/text"
result $? "unknown code shows in the exit status"

printf '0e05' | "$disasm" -x >"$work/text"
[ $? = 1 ] && grep -q 'cut off' "$work/text"
result $? "an instruction that is cut off shows in the exit status"

: | "$disasm" >"$work/text" && cmp -s /dev/null "$work/text"
result $? "no code is no instructions"

printf '8' | "$disasm" -x 2>"$work/message"
[ $? = 1 ] && grep -q 'two digits' "$work/message"
result $? "half a byte is refused"

"$as" "$work/nothing.agx" 2>"$work/message"
[ $? = 1 ] && grep -q 'nothing.agx: No such file' "$work/message"
result $? "a missing file is named"

"$as" --nonsense 2>"$work/message"
[ $? = 2 ] && grep -q '^usage:' "$work/message"
result $? "an unknown option prints the usage"

printf 'stop\n' >"$work/default.agx"
(cd "$work" && "$as" default.agx && [ -s default.bin ])
result $? "the output's name follows from the input's"

cp "$work/default.agx" "$work/own.bin"
(cd "$work" && "$as" own.bin 2>message)
[ $? = 1 ] && grep -q 'own.bin: would be overwritten' "$work/message" &&
	cmp -s "$work/default.agx" "$work/own.bin"
result $? "the input is never overwritten unasked"

printf 'stop\000' | "$as" -o "$work/none" 2>"$work/message"
[ $? = 1 ] && grep -q 'no text' "$work/message"
result $? "bytes that are no text are refused"

"$as" "$work/default.agx" -o /dev/full 2>"$work/message"
[ $? = 1 ] && grep -q 'No space left' "$work/message"
result $? "a full disk is noticed"

echo "1..$count"
exit $failed

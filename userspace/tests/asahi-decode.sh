#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# usage: asahi-decode.sh ASAHI-DECODE
#
# Streams from a core dump and from memory are printed, with what is wrong.

decode=$1
# shellcheck source=userspace/tests/tap.sh
. "$(dirname "$0")/tap.sh"

# has NAME LINE - the line is printed as it is
has()
{
	check "$1" grep -qxF "$2" "$work/text"
}

# ends STATUS ARGUMENT... - the status of asahi-decode
ends()
{
	expected=$1
	shift
	"$decode" "$@" >"$work/text" 2>"$work/message" </dev/null
	[ $? = "$expected" ]
}

# refuses ARGUMENT... - usage is printed, and nothing else
refuses()
{
	ends 2 "$@" && [ ! -s "$work/text" ] && [ -s "$work/message" ]
}

# Streams that are good, wrong in the middle, and not there
cat >"$work/dump" <<'END'
asahi core dump
version: 2
kernel: 7.3.0
gpu: Apple M1 (G13G B1)
reason: fault
job: 1
  usc_exec_base: 0x100000000
rings:
  compute: jobs 1 event 0 stamp 0x0 of 0x100 written 1 read 1 done 0
vertex buffer:
  slot: 3
  blocks: 18, handed over 8, told of 8, of 131072 bytes
  info: 0xffffffa000004000
    01 00 00 00 02 00 00 00 00 00 00 00 00 00 00 00
commands: 16 bytes
  00 00 02 00 00 00 00 00 00 00 00 00 00 00 00 00
work 0:
  run: 0xffffffa600000000
    03 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
  scene pages: 2 in this pass, 5 in all
  scene: 0xffffffa800001000
    02 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
  stream 0x200138000:
    0x200138000: launch 00001012 00000040 000186a3 00000001 00000001 00000040 00000001 00000001
    0x200138020: link 30000002 00140000
    0x200140000: barrier 600fffff
    0x200140004: return
    0x200138028: terminate
  pipeline 0x100000040:
    0x100000040: 1d 00 80 40 02 00 00 01
    0x100000048: 4d 90 00 00
    0x10000004c: 0d 00 00 00 00 00
    0x100000052: 8d 01 00 00
    0x100000056: 88 00
  shader 0x100000000:
    72 09 10 04 0e 0d 44 42 18 00 00 00 45 19 40 0e
    00 c0 12 00 88 00 08 00 08 00 08 00 08 00 08 00
    64 zeroes
  stream 0x200150000:
    0x200150000: launch 00001012 00000080 00000001 00000001 00000001 00000001 00000001 00000001
    0x200150020: unknown a0000000
  pipeline 0x100000080:
    0x100000080: 77 unknown
  vertex stream 0x200170000:
    0x200170000: barrier 20000008
    0x200170004: ppp 00000202 00180000
    0x20017000c: draw 61c00600 00000003 00000001 00000000
    0x20017001c: terminate
  record 0x200180000:
    00010000 3f800000
  stream 0x200160000:
    0x200160000: cannot be read
mappings: context 1
  0x100000000..0x100100000 rw offset 0x0 size 0x100000
end
END

check "dump: what is wrong shows in the exit status" ends 1 -s "$work/dump"
check "dump: and is no error of ours" [ ! -s "$work/message" ]
check "dump: all streams" [ "$(grep -c '^stream ' "$work/text")" = 3 ]
has "dump: one of a render" "vertex stream 0x200170000:"
has "dump: with its record" "    0x0200180004: PPP W clamp"
has "dump: its draw" "0x020017000c: VDM Index list"
has "dump: and its end" "0x020017001c: VDM Stream Terminate"
has "dump: a launch" "0x0200138000: CDM Launch"
has "dump: its size" "  x: 100003"
has "dump: its words" "    0x0100000040: USC Uniform"
has "dump: their fields" "      buffer: 0x100000240"
cat >"$work/flow" <<'END'
0x0200138020: CDM Stream Link
0x0200140000: CDM Barrier
0x0200140004: CDM Stream Return
0x0200138028: CDM Stream Terminate
END
grep -E '^0x02001(38020|4000.|38028): ' "$work/text" >"$work/way"
check "dump: where the stream goes" cmp "$work/flow" "$work/way"
has "dump: the shader" "shader 0x100000000:"
check "dump: to its end" [ "$(grep -c 'stop$' "$work/text")" = 1 ]
check "dump: and no further" [ "$(grep -c '^ *[0-9a-f]*: [0-9a-f]* .*' "$work/text")" = 4 ]
has "dump: an unknown word" "0x0100000080: USC word: no packet has tag 0x77 (0x77)"
has "dump: an unknown block" "0x0200150020: CDM block: no packet has tag 0x5 (0xa0000000)"
has "dump: memory that was not there" "0x0200160000: CDM block: cannot be read"
has "dump: the vertex buffer" "vertex buffer:"
has "dump: its size" "  blocks: 18, handed over 8, told of 8, of 131072 bytes"
has "dump: its scene" "  scene pages: 2 in this pass, 5 in all"
check "dump: without their bytes" [ "$(grep -c '^    0[0-9]' "$work/text")" = 0 ]
check "dump: and without what is not theirs" [ "$(grep -c -e commands -e rings "$work/text")" = 0 ]
check "dump: without shaders" ends 1 "$work/dump"
check "dump: there are none" [ "$(grep -c '^shader' "$work/text")" = 0 ]

# A stream and its words in two files
printf '\22\20\0\0\100\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\0\0\0\100\0\0\0\0' \
	>"$work/stream"
printf '\15\0\0\0\0\0\210\0' >"$work/words"
check "memory: a good stream" ends 0 -a 0x1500000000 -u 0x1100000000 "$work/stream" \
	"$work/words@0x1100000040"
has "memory: to its end" "0x1500000020: CDM Stream Terminate"
has "memory: with its words" "    0x1100000040: USC Shader"
check "memory: words alone" ends 0 -w -a 0x40 "$work/words"
has "memory: to their end" "0x0000000046: USC No preshader"
# The PPP state of a render, its W clamp, and the end
printf '\25\2\0\0\100\0\0\0\0\0\0\300' >"$work/render"
head -c 28 /dev/zero >>"$work/render"
printf '\0\0\1\0\0\0\200\77' >"$work/record"
check "memory: a render" ends 0 -r -a 0x1500000000 "$work/render" "$work/record@0x1500000040"
has "memory: with its records" "    0x1500000044: PPP W clamp"
has "memory: and their values" "      w_clamp: 1"
check "memory: another address" ends 1 -a 0x1500000000 "$work/stream@0x1600000000"
has "memory: nothing is there" "0x1500000000: CDM block: cannot be read"

# What the command line can have wrong
check "usage: no address" refuses -a
check "usage: a strange address" refuses -a 0x1x "$work/stream"
check "usage: a negative address" refuses -a -1 "$work/stream"
check "usage: no memory" refuses -a 0
check "usage: a render of a dump" refuses -r "$work/dump"
check "usage: words of a dump" refuses -w "$work/dump"
check "usage: a base for a dump" refuses -u 0 "$work/dump"
check "usage: two dumps" refuses "$work/dump" "$work/dump"
check "no core dump" ends 1 "$work/stream"
check "no core dump: it says so" grep -q 'no core dump' "$work/message"
check "no such file" ends 1 -a 0 "$work/none"
check "no such file: it says so" grep -q 'No such file' "$work/message"

echo "1..$count"
exit $failed

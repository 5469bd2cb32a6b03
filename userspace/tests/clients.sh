#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# usage: clients.sh SHIM ASAHI-INFO ASAHI-COMPUTE ASAHI-TRIANGLE ASAHI-DECODE PYTHON
#                   UAPI-HEADER
#
# The command lines of the clients that use a device, here that of the shim: what
# they print, what they refuse, and what they say about it.

# The functions are called through check().
# shellcheck disable=SC2317

shim=$1
info=$2
compute=$3
triangle=$4
decode=$5
python=$6
header=$7
# shellcheck source=userspace/tests/tap.sh
. "$(dirname "$0")/tap.sh"

# What is preloaded comes before a sanitizer.
with_shim()
{
	LD_PRELOAD=$shim ASAHI_SHIM_BACKEND=vagx \
		ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=1 "$@"
}

run_info()
{
	with_shim "$info" "$@"
}

run_compute()
{
	with_shim "$compute" "$@"
}

run_triangle()
{
	with_shim "$triangle" "$@"
}

# refused STATUS MESSAGE COMMAND...
refused()
{
	status=$1
	message=$2
	shift 2
	"$@" >"$work/output" 2>"$work/message"
	[ $? = "$status" ] && grep -q "$message" "$work/message"
}

works()
{
	"$@" >"$work/output" 2>"$work/message"
}

# A disk that is full
refused_output()
{
	message=$1
	shift
	"$@" >/dev/full 2>"$work/message"
	[ $? = 1 ] && grep -q "$message" "$work/message"
}

valid_json()
{
	run_info --json >"$work/json" && "$python" -m json.tool "$work/json" >/dev/null
}

# Every field of the parameters, but the padding
complete_json()
{
	sed -n '/^struct drm_asahi_params_global {/,/^};/s/.*__u[0-9]* \([a-z_]*\).*;.*/\1/p' \
		"$header" | grep -v '^pad' >"$work/fields"
	[ -s "$work/fields" ] || return 1
	while read -r field; do
		grep -q "\"$field\": " "$work/json" || {
			echo "no $field" >>"$work/message"
			return 1
		}
	done <"$work/fields"
}

all_in_text()
{
	run_info >"$work/text" && grep -q 'G13G B1' "$work/text" &&
		grep -q '1278000 kHz' "$work/text" &&
		grep -q '0x4000 to 0x7fffff8000' "$work/text"
}

writes_picture()
{
	run_compute --size=32 --output="$work/picture.png" mandelbrot >"$work/output" &&
		is_png "$work/picture.png"
}

# is_png FILE
is_png()
{
	[ "$(head -c 4 "$1" | tail -c 3)" = PNG ]
}

writes_frames()
{
	run_triangle --size=64x48 --frames=3 --output="$work/f%.png" cube >"$work/output" &&
		is_png "$work/f000.png" && is_png "$work/f002.png" && [ ! -e "$work/f003.png" ] &&
		! cmp -s "$work/f000.png" "$work/f001.png"
}

# What the shim writes down of a command: nothing of it is wrong, and all is there.
captures()
{
	ASAHI_SHIM_CAPTURE=$work/capture run_triangle --size=64x48 triangle >"$work/output" &&
		ASAHI_SHIM_CAPTURE=$work/compute run_compute --size=64 fill >"$work/output" &&
		"$decode" -s "$work/capture" >"$work/text" &&
		"$decode" -s "$work/compute" >"$work/more" &&
		grep -q '^0x[0-9a-f]*: VDM Index list$' "$work/text" &&
		grep -q '^    0x[0-9a-f]*: PPP Viewport$' "$work/text" &&
		grep -q '^        0x[0-9a-f]*: USC Fragment properties$' "$work/text" &&
		grep -q '  st_var   r15, 7, last$' "$work/text" &&
		grep -q '  imgwblk ' "$work/text" &&
		[ "$(grep -c '^words ' "$work/text")" = 3 ] &&
		grep -q '^0x[0-9a-f]*: CDM Launch$' "$work/more" &&
		[ "$(grep -c 'stop$' "$work/more")" = 1 ]
}

# The memory that a USC word binds follows it in the capture.
captures_bound()
{
	for word in Uniform Texture Sampler; do
		"$decode" -s "$work/capture" | grep -A 4 "USC $word\$" >"$work/word"
		at=$(printf '%#x' "$(sed -n "s/^ *\(0x[0-9a-f]*\): USC $word\$/\1/p" "$work/word" |
			head -n 1)")
		bound=$(sed -n 's/.* buffer: //p' "$work/word" | head -n 1)
		grep -A 1 "^    $at: " "$work/capture" | grep -q "^    $bound: " || {
			echo "USC $word at $at: $bound does not follow" >"$work/message"
			return 1
		}
	done
}

# Each instruction with each descriptor once: the end of tiles writes one image.
records_descriptors()
{
	line='^descriptor [0-9a-f]\{24\} [0-9a-f]\{48\} [0-9a-f]\{16\}$'
	ASAHI_SHIM_DESCRIPTORS=$work/descriptors run_triangle --size=64x48 --frames=3 cube \
		>"$work/output" &&
		[ "$(grep -c "$line" "$work/descriptors")" = 1 ] &&
		[ "$(wc -l <"$work/descriptors")" = 1 ] &&
		! ASAHI_SHIM_DESCRIPTORS=$work/nowhere/x run_triangle --size=64x48 cube \
			>"$work/output" 2>"$work/message"
}

writes_last()
{
	run_triangle --size=64x48 --output="$work/last.png" >"$work/output" && is_png "$work/last.png"
}

: >"$work/message"
check "asahi-info prints what there is" all_in_text
check "asahi-info --json is JSON" valid_json
check "asahi-info --json has every parameter" complete_json
check "asahi-info refuses arguments" refused 2 '^usage:' run_info nonsense
check "asahi-info names a missing node" \
	refused 1 'nothing: No such file' run_info --device="$work/nothing"
check "asahi-info notices a full disk" refused_output 'No space left' run_info
check "asahi-compute writes a picture" writes_picture
check "asahi-compute names a file that can't be written" \
	refused 1 'nowhere/x.png: No such file' \
	run_compute --size=32 --output="$work/nowhere/x.png" mandelbrot
check "asahi-compute notices a picture that doesn't fit" \
	refused 1 'No space left' run_compute --size=32 --output=/dev/full mandelbrot
check "asahi-compute refuses to lose a picture" \
	refused 2 'none of these tests' run_compute --output="$work/x.png" fill
check "asahi-compute names an unknown test" \
	refused 2 "no test 'nonsense'" run_compute nonsense
check "asahi-compute refuses 0 elements" \
	refused 2 "'0' is not a number" run_compute --size=0 fill
check "asahi-compute refuses more than fits into 32 bits" \
	refused 2 "'4294967296' is not" run_compute --size=4294967296 fill
check "asahi-compute refuses a picture that is too large" \
	refused 1 'at most 16384' run_compute --size=16385 mandelbrot
check "asahi-compute refuses an unknown option" \
	refused 2 'try .asahi-compute --help' run_compute --nonsense
check "asahi-decode prints what the shim captures" captures
check "the shim captures what commands bind" captures_bound
check "the shim records descriptors" records_descriptors
check "asahi-triangle writes the last picture" writes_last
check "asahi-triangle writes frames, each one another" writes_frames
check "asahi-triangle wants to know where the number goes" \
	refused 2 'has no %' run_triangle --frames=3 --output="$work/x.png" cube
check "asahi-triangle names a file that can't be written" \
	refused 1 'nowhere/x.png: No such file' run_triangle --output="$work/nowhere/x.png" clear
check "asahi-triangle names an unknown picture" \
	refused 2 "no picture 'nonsense'" run_triangle nonsense
check "asahi-triangle refuses half a size" refused 2 "'64'" run_triangle --size=64
check "asahi-triangle refuses an image without pixels" \
	refused 2 "'0'" run_triangle --size=64x0
check "asahi-triangle refuses an image that is too large" \
	refused 2 'to 16384' run_triangle --size=16385x64
check "asahi-triangle refuses no frames" refused 2 "'0'" run_triangle --frames=0
check "asahi-triangle refuses an unknown option" \
	refused 2 'try .asahi-triangle --help' run_triangle --nonsense
check "asahi-compute takes memory that the CPU does not cache" works run_compute --write-combined fill
check "asahi-compute runs a shader for as long as asked for" \
	sh -c 'echo "$1" | awk "/turns ended after/ { s = \$6 } END { exit s < 0.2 }"' sh \
	"$(run_compute --seconds=0.2 long)"
check "asahi-compute has times in order" works run_compute empty times
check "asahi-compute works in 64 address spaces" works run_compute spaces
check "asahi-compute refuses no time" refused 2 "'0'" run_compute --seconds=0 long
check "asahi-compute refuses an hour and a second" refused 2 "'3601'" run_compute --seconds=3601 long
check "asahi-compute refuses time that is none" refused 2 "'1s'" run_compute --seconds=1s long
check "asahi-compute refuses an unknown priority" refused 2 "'urgent'" run_compute --priority=urgent
check "asahi-compute refuses not to wait" refused 2 "'0'" run_compute --timeout=0
check "asahi-triangle draws many times over" \
	works run_triangle --instances=20 --pause=1 --size=64x64 triangle
check "asahi-triangle draws layers" works run_triangle --layers=2 --size=64x64 clear
check "asahi-triangle refuses no instances" refused 2 "'0'" run_triangle --instances=0
check "asahi-triangle refuses too many layers" refused 2 'to 2048' run_triangle --layers=2049
check "asahi-triangle refuses no pause" refused 2 "'0'" run_triangle --pause=0

echo "1..$count"
exit $failed

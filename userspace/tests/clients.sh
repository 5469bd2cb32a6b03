#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# usage: clients.sh ASAHI-INFO ASAHI-COMPUTE PYTHON UAPI-HEADER
#
# The command lines of the clients that use a device, here one in miniature:
# what they print, what they refuse, and what they say about it.

# The functions are called through check().
# shellcheck disable=SC2317

info=$1
compute=$2
python=$3
header=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0
failed=0

# check NAME COMMAND...
check()
{
	name=$1
	shift
	count=$((count + 1))
	if "$@"; then
		echo "ok $count - $name"
	else
		echo "not ok $count - $name"
		failed=1
		sed 's/^/# /' "$work/message"
	fi
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
	"$info" --json >"$work/json" && "$python" -m json.tool "$work/json" >/dev/null
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
	"$info" >"$work/text" && grep -q 'G13G B1' "$work/text" &&
		grep -q '1278000 kHz' "$work/text" &&
		grep -q '0x4000 to 0x7fffff8000' "$work/text"
}

writes_picture()
{
	"$compute" --size=32 --output="$work/picture.png" mandelbrot >"$work/output" &&
		[ "$(head -c 4 "$work/picture.png" | tail -c 3)" = PNG ]
}

: >"$work/message"
check "asahi-info prints what there is" all_in_text
check "asahi-info --json is JSON" valid_json
check "asahi-info --json has every parameter" complete_json
check "asahi-info refuses arguments" refused 2 '^usage:' "$info" nonsense
check "asahi-info names a missing node" \
	refused 1 'nothing: No such file' "$info" --device="$work/nothing"
check "asahi-info notices a full disk" refused_output 'No space left' "$info"
check "asahi-compute writes a picture" writes_picture
check "asahi-compute names a file that can't be written" \
	refused 1 'nowhere/x.png: No such file' \
	"$compute" --size=32 --output="$work/nowhere/x.png" mandelbrot
check "asahi-compute notices a picture that doesn't fit" \
	refused 1 'No space left' "$compute" --size=32 --output=/dev/full mandelbrot
check "asahi-compute refuses to lose a picture" \
	refused 2 'none of these tests' "$compute" --output="$work/x.png" fill
check "asahi-compute names an unknown test" \
	refused 2 "no test 'nonsense'" "$compute" nonsense
check "asahi-compute refuses 0 elements" \
	refused 2 "'0' is not a number" "$compute" --size=0 fill
check "asahi-compute refuses more than fits into 32 bits" \
	refused 2 "'4294967296' is not" "$compute" --size=4294967296 fill
check "asahi-compute refuses a picture that is too large" \
	refused 1 'at most 16384' "$compute" --size=16385 mandelbrot
check "asahi-compute refuses an unknown option" \
	refused 2 'try .asahi-compute --help' "$compute" --nonsense

echo "1..$count"
exit $failed

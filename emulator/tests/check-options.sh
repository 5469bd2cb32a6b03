#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# usage: check-options.sh VAGX
#
# The command line: what is known and what is wrong.

vagx=$1
number=0
status=0

# check NAME STATUS TEXT ARGUMENT... - exit status and a text in the output
check()
{
	name=$1
	wanted=$2
	text=$3
	shift 3
	output=$(timeout 20 "$vagx" "$@" 2>&1 </dev/null)
	got=$?
	number=$((number + 1))
	if [ $got = "$wanted" ] && printf '%s' "$output" | grep -qF -- "$text"; then
		echo "ok $number - $name"
	else
		echo "not ok $number - $name"
		echo "# status $got: $output"
		status=1
	fi
}

echo TAP version 13
check help 0 'EXIT STATUS' --help
check version 0 vagx --version
check 'list of rules' 0 RTKIT_BAD_MESSAGE --list-rules
check 'list of SoCs' 0 t6022 --list-socs
check 'list of firmware' 0 '13.5 12.4' --list-socs
for soc in t8103 t8112 t6000 t6001 t6002 t6020 t6021 t6022; do
	check "SoC $soc" 3 "for firmware 13.5 on $soc this" --soc $soc --socket x --globals /dev/null
done
check 'unknown SoC' 2 unknown --soc t9999 --socket x
for pair in '12.3 t8103' '12.3 t6002' '12.4 t8112'; do
	check "firmware $pair" 3 "for firmware ${pair% *} on ${pair#* } this" \
		--firmware ${pair% *} --soc ${pair#* } --socket x --globals /dev/null
done
for pair in '12.4 t8103' '12.3 t8112' '12.3 t6021' '14.0 t8103'; do
	check "no firmware $pair" 2 "not on ${pair#* }" \
		--soc ${pair#* } --firmware ${pair% *} --socket x
done
check 'no socket' 2 'either --socket or --fd'
check 'two sockets' 2 'either --socket or --fd' --socket x --fd 3
check 'stray argument' 2 'not an option' --socket x y
check 'unknown option' 2 unrecognized --nonsense
for cores in 0 -1 65 four 99999999999999999999 ''; do
	check "--cores '$cores'" 2 'not a valid value' --socket x --cores "$cores"
done
for region in ttbs ttbs=1 ttbs=1: ttbs=:1 nowhere=0:0x4000 ttbs=-1:1 \
	ttbs=0xffffffffffffffff:2; do
	check "--region $region" 2 'not a valid value' --socket x --region "$region"
done
check 'unaligned region' 3 'aligned to 16K' --socket x --region ttbs=0x1000:0x4000
check 'small region' 3 'it needs at least' --socket x --region globals=0x4000:0x4000
check 'missing file' 3 'No such file' --socket x --globals /nonexistent
check 'file that is too short' 3 '/dev/null: for firmware 13.5 on t8103 this has to have exactly 0x421c bytes' \
	--socket x --hw-cal-a /dev/null
check 'file that is too long' 3 'exactly 0x1884 bytes' --socket x --hw-cal-b /dev/zero
check 'file of another firmware' 3 'exactly 0xb6c bytes' --socket x --firmware 12.3 \
	--hw-cal-b /dev/zero
check 'globals of another size' 3 'exactly 0x12394 bytes' --socket x --globals /dev/null
check 'nowhere to save regions' 3 'No such file' --save-calibration /nonexistent
check 'unknown firmware of regions' 2 'not on t6021' --save-calibration . --soc t6021 --firmware 12.3
check 'level of log' 2 'not a valid value' --socket x --log loud
for option in --job-timeout --event-delay --mailbox-delay --doorbell-delay --tvb-pages; do
	check "$option" 2 'not a valid value' --socket x $option -1
done
for seed in -1 0 x 1x; do
	check "--seed $seed" 2 'not a valid value' --socket x --seed $seed
done
check '--power-off' 2 'not a valid value' --socket x --power-off never
check 'socket in a missing folder' 3 'No such file' --socket /nonexistent/socket
check 'plugin socket in a missing folder' 3 'No such file' --socket x --tlbi /nonexistent/socket
check 'descriptor that is no socket' 3 'non-socket' --fd 0
check 'descriptor that is not there' 3 'Bad file descriptor' --fd 99
echo "1..$number"
exit $status

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
for mode in '' yes on,check ON; do
	check "--jit '$mode'" 2 'not a valid value' --socket x --jit "$mode"
done
modes='off on all check'
if [ "$(uname -m)" = x86_64 ]; then
	modes="$modes on,avx2"
else
	check "--jit on,avx2" 2 'not a valid value' --socket x --jit on,avx2
fi
for mode in $modes; do
	# It comes as far as the file of globals
	check "--jit $mode" 3 '/dev/null: ' --socket x --jit $mode --globals /dev/null
done
check '--suppressions' 3 'not-there: No such file' --socket x --check --suppressions not-there
check '--profile' 3 '/dev/null: ' --socket x --profile --globals /dev/null
check 'profile in a missing folder' 3 '/nonexistent/profile: No such file' --socket x \
	--profile=/nonexistent/profile
# wrong_mask SOC MASK TEXT
wrong_mask()
{
	check "--core-mask '$2' on $1" 2 "--core-mask $2: $3" --socket x --core-mask "$2" --soc "$1"
}

for mask in '' 0xfg -1 +1 ' ff' '0xff,' ff:ff 'ff ' 0x; do
	wrong_mask t8103 "$mask" ''
done
wrong_mask t8103 x 'a mask is a hexadecimal number'
wrong_mask t8103 0xff,0xff 't8103 takes a mask for each cluster, 1 in all'
wrong_mask t6000 0xff 't6000 takes a mask for each cluster, 2 in all, separated by commas'
wrong_mask t6000 0xff, 'a mask is a hexadecimal number'
wrong_mask t8103 0x1ff 'a cluster of t8103 has 8 cores, so a mask is 0xff at most'
wrong_mask t6021 3ff,3ff,7ff,3ff 'a cluster of t6021 has 10 cores, so a mask is 0x3ff at most'
wrong_mask t8103 ffffffffffffffffffff 'a cluster of t8103 has 8 cores'
wrong_mask t8103 0 'at least one core'
wrong_mask t6001 0,0,0,0x0 'at least one core'
check 'more threads than cores' 2 '--cores 8: with --core-mask 0xfe there are 7' --socket x \
	--cores 8 --core-mask 0xfe
for pair in '0xfe t8103' 'FE t8103' '0xff,0x7f t6000' '0,1,0,0 t6001' \
	'3ff,3ff,1ff,1ff,3ff,3ff,1fe,0 t6022'; do
	# It comes as far as the file of globals
	check "--core-mask ${pair% *} on ${pair#* }" 3 '/dev/null: ' --core-mask "${pair% *}" \
		--soc "${pair#* }" --socket x --globals /dev/null
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

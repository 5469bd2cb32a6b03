#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# usage: asahi-report.sh ASAHI-REPORT
#
# What asahi-report says of machines that are made of files here: each thing that can
# be wrong with one, and one where nothing is.

# The functions are called through check().
# shellcheck disable=SC2317

report=$1
# shellcheck source=userspace/tests/tap.sh
. "$(dirname "$0")/tap.sh"

# cells FILE CELL ... - a property of numbers
cells()
{
	file=$1
	shift
	for cell; do
		# shellcheck disable=SC2059
		printf "$(printf '\\%03o\\%03o\\%03o\\%03o' $((cell >> 24 & 255)) $((cell >> 16 & 255)) \
			$((cell >> 8 & 255)) $((cell & 255)))"
	done >"$file"
}

# strings FILE STRING ... - a property of strings
strings()
{
	file=$1
	shift
	printf '%s\0' "$@" >"$file"
}

# region NAME PHANDLE BASE SIZE
region()
{
	node=$tree/reserved-memory/$1
	mkdir -p "$node"
	cells "$node/phandle" "$2"
	cells "$node/reg" 0 "$3" 0 "$4"
}

# machine - an M1 as the boot loader leaves it, with the driver at work
machine()
{
	root=$work/machine
	rm -rf "$root"
	tree=$root/proc/device-tree
	gpu=$tree/soc/gpu@406400000
	module=$root/sys/module/asahi
	device=$root/sys/bus/platform/devices/406400000.gpu
	debugfs=$root/sys/kernel/debug
	mkdir -p "$gpu" "$tree/chosen" "$module/parameters" "$device/power" "$root/proc/sys/kernel" \
		"$debugfs/dri/406400000.gpu" "$debugfs/asahi" "$root/sys/bus/platform/drivers/asahi" \
		"$root/sys/class/devcoredump" "$root/dev"
	strings "$tree/model" "Apple MacBook Air (M1, 2020)"
	strings "$tree/compatible" apple,j313 apple,t8103 apple,arm-platform
	strings "$tree/chosen/asahi,m1n1-stage2-version" v1.6.1
	strings "$gpu/compatible" apple,agx-g13g
	strings "$gpu/memory-region-names" ttbs pagetables handoff hw-cal-a hw-cal-b globals
	cells "$gpu/memory-region" 1 2 3 4 5 6
	cells "$gpu/apple,firmware-abi" 13 5 0
	cells "$gpu/reg" 4 0x6400000 0 0x40000 4 0x4000000 0 0x1000000
	cells "$gpu/mboxes" 7
	cells "$gpu/power-domains" 8
	region uat-ttbs 1 0x0 0x4000
	region uat-pagetables 2 0x4000 0x4000
	region uat-handoff 3 0x8000 0x4000
	region hw-cal-a 4 0x10000 0x8000
	region hw-cal-b 5 0x18000 0x4000
	region globals 6 0x1c000 0x8000
	head -c 262144 /dev/zero | tr '\0' 'x' >"$root/dev/mem"
	echo 7.3.4 >"$root/proc/sys/kernel/osrelease"
	echo "Linux version 7.3.4" >"$root/proc/version"
	echo none >"$module/parameters/unproven"
	echo active >"$device/power/runtime_status"
	ln -s ../../drivers/asahi "$device/driver"
	echo "1 1 firmware is up" >"$debugfs/dri/406400000.gpu/firmware-log"
	echo "client 1" >"$debugfs/dri/406400000.gpu/gpuvas"
	echo "frequency-mhz 924" >"$debugfs/dri/406400000.gpu/telemetry"
	printf '%s\n' "event 0" "statistics 0" >"$debugfs/dri/406400000.gpu/unknown-messages"
	echo "devices 1" >"$debugfs/asahi/objects"
	echo "handoff turn 0" >"$debugfs/asahi/stage"
	mkdir -p "$root/sys/fs/pstore"
	echo "its last words" >"$root/sys/fs/pstore/dmesg-ramoops-0"
	printf '%s\n' "6,1,5;asahi 406400000.gpu: hello" "6,2,6;usb 1-1: serial 0123456789" \
		"4,3,7;usb 1-1: a warning" >"$root/dev/kmsg"
}

# ends STATUS [ARGUMENT...] - of asahi-report for the machine; unpacks the archive
ends()
{
	expected=$1
	shift
	rm -rf "$work/archive"
	mkdir "$work/archive"
	"$report" --root "$root" --output "$work/archive.tar.gz" "$@" >"$work/page" 2>"$work/message" </dev/null
	[ $? = "$expected" ] && tar -xzf "$work/archive.tar.gz" -C "$work/archive" --strip-components 1
}

# says TEXT - the one finding has it
says()
{
	ends 1 && grep -q "^1\. .*$1" "$work/page" && ! grep -q '^2\. ' "$work/page"
}

# also_says TEXT - a finding has it; there may be more
also_says()
{
	ends 1 && grep -q "^[0-9]*\. .*$1" "$work/page"
}

has_line()
{
	grep -qE "^$1" "$work/page"
}

machine
check "nothing is wrong" ends 0
check "says so" has_line "Nothing is wrong"
check "the machine" has_line "machine +Apple MacBook Air"
check "the GPU" has_line "compatible +apple,agx-g13g, M1"
check "its firmware" has_line "firmware +13.5.0"
check "a region" has_line "region +hw-cal-a +0x8000 bytes at 0x10000"
check "the boot loader" has_line "m1n1-stage2-version +v1.6.1"
check "a parameter" has_line "unproven +none"
check "the page is in the archive" grep -q "MacBook Air" "$work/archive/report.txt"
check "the tree" grep -q 'gpu@406400000/compatible: .* "apple,agx-g13g"' "$work/archive/device-tree.txt"
check "the firmware's log" grep -q "firmware is up" "$work/archive/debugfs/firmware-log"
check "what the firmware tells" grep -q "924" "$work/archive/debugfs/telemetry"
check "and what nobody understands" grep -q "^event 0" "$work/archive/debugfs/unknown-messages"
check "what a stage has found" grep -q "turn" "$work/archive/debugfs/stage"
check "without what clients have mapped" [ ! -e "$work/archive/debugfs/gpuvas" ]
check "the driver's messages" grep -q "hello" "$work/archive/kernel-log.txt"
check "warnings of others" grep -q "a warning" "$work/archive/kernel-log.txt"
check "but no more of them" [ "$(grep -c serial "$work/archive/kernel-log.txt")" = 0 ]
sum=$(head -c 32768 "$root/dev/mem" | sha256sum | cut -d' ' -f1)
check "checksums of calibration" has_line "SHA-256 +$sum"
check "and not the calibration" [ ! -e "$work/archive/calibration/hw-cal-a.bin" ]
check "unless asked for" ends 0 --calibration
check "which is there then" [ "$(wc -c <"$work/archive/calibration/hw-cal-a.bin")" = 32768 ]
start=$(date +%s%N)
check "in less than two seconds" ends 0
check "really" [ $((($(date +%s%N) - start) / 1000000)) -lt 2000 ]

machine; rm -r "$tree" "$device"
check "no device tree" says "There is no device tree"
machine; rm -r "$gpu" "$device"
check "no GPU" says "has no GPU of Apple's"
machine; strings "$gpu/status" disabled
check "disabled" says 'status "disabled"'
strings "$tree/chosen/asahi,m1n1-stage2-version" v1.5.2
check "by an old boot loader" also_says "m1n1 v1.5.2"
machine; strings "$tree/chosen/asahi,m1n1-stage2-version" v1.5.2
check "an old boot loader" says "is m1n1 v1.5.2.*from 1.6 on"
machine; strings "$gpu/compatible" apple,agx-t8103 apple,agx-g13
check "a downstream tree" says "downstream"
machine; strings "$gpu/compatible" apple,agx-g16g
check "an unknown GPU" says "apple,agx-g16g"
machine; strings "$gpu/compatible" apple,agx-g13c apple,agx-g13s
check "an M1 Max is known" ends 0
check "by its own name" has_line "compatible +apple,agx-g13c, M1 Max"
machine; cells "$gpu/apple,firmware-abi" 12 3 0
check "old firmware is known" ends 0
cells "$gpu/apple,firmware-abi" 12 4 0
check "that of an M2 is not" says "12.4.0 on an M1"
strings "$gpu/compatible" apple,agx-g14g
check "on an M2 it is" ends 0
cells "$gpu/apple,firmware-abi" 14 0 0
check "newer firmware" says "14.0.0 on an M2"
cells "$gpu/apple,firmware-abi" 0 0 0
check "firmware that nobody has filled in" says "has not filled it in"
rm "$gpu/apple,firmware-abi"
check "no firmware" says 'no "apple,firmware-abi"'
machine; cells "$gpu/apple,firmware-abi" 13 5
check "half of it" says 'no "apple,firmware-abi"'
for property in reg mboxes power-domains; do
	machine; rm "$gpu/$property"
	check "no $property" says "no \"$property\""
	: >"$gpu/$property"
	check "an empty $property" says "no \"$property\""
done
for region in uat-ttbs:ttbs uat-pagetables:pagetables uat-handoff:handoff hw-cal-a:hw-cal-a \
	hw-cal-b:hw-cal-b globals:globals; do
	machine; rm -r "$tree/reserved-memory/${region%:*}"
	check "no region ${region#*:}" says "no memory region \"${region#*:}\""
done
machine; rm "$gpu/memory-region-names"
check "no names of regions" also_says 'no memory region "hw-cal-b"'
machine; cells "$gpu/memory-region" 1 2 3
check "too few regions" also_says 'no memory region "globals"'
machine; region hw-cal-b 5 0x18000 0
check "an empty region" says '"hw-cal-b" has no bytes'
machine; head -c 262144 /dev/zero >"$root/dev/mem"
check "regions of zeroes" also_says '"hw-cal-a" is all zeroes'
machine; region hw-cal-a 4 0x10000 0x40000000
check "a region of garbage is not read" ends 0
check "and says so" has_line "hw-cal-a +0x40000000 bytes: not read"
machine; strings "$gpu/memory-region-names" ttbs pagetables handoff "hw-cal-';touch $work/bad;'" hw-cal-b globals
check "a region's name is no command" also_says 'no memory region "hw-cal-a"'
check "and runs none" [ ! -e "$work/bad" ]
machine; head -c 1024 "$root/dev/mem" >"$root/dev/short"; mv "$root/dev/short" "$root/dev/mem"
check "memory that is too short" ends 0
check "is not read" has_line "hw-cal-a +/dev/mem: Numerical result out of range"
machine; rm "$root/dev/mem"
check "no /dev/mem" ends 0
check "is said" has_line "hw-cal-a +/dev/mem: No such file"

machine; rm -r "$module"; rm "$device/driver"
check "no module" says "is not loaded"
machine; rm -r "$module/parameters"
check "the other module" also_says "is another one"
machine; rm "$device/driver"
check "a failed probe" says "its probe has failed"
printf '406400000.gpu\tasahi: wait for supplier /soc/mbox\n' >"$debugfs/devices_deferred"
check "a probe that waits" says "wait for supplier"
machine; rm "$device/driver"; ln -s ../../drivers/vfio "$device/driver"
check "another driver" says 'The driver "vfio" serves the GPU'

machine; printf '%s\n' "event 0" "statistics 3 last 0x5 0x5:3" \
	>"$debugfs/dri/406400000.gpu/unknown-messages"
check "unknown messages are nothing that is wrong" ends 0
check "and are shown" has_line "unknown messages +statistics 3 last 0x5 0x5:3"

machine; mkdir "$root/sys/class/devcoredump/devcd1"
cat >"$root/sys/class/devcoredump/devcd1/data" <<'END'
asahi core dump
version: 2
reason: fault
commands: 16 bytes
  5e c4 e7 00
work 0:
  run: 0xffffffa600000000
    03 00 00 00
  stream 0x200138000:
    0x200138000: launch 5ec4e700
  shader 0x100000000:
    5e c4 e7 00
    64 zeroes
mappings: context 1
  0x100000000..0x100100000 rw
end
END
check "a core dump" says "there is a core dump"
check "is in the archive" grep -q "reason: fault" "$work/archive/core-dump-0.txt"
check "with the firmware's structures" grep -q "03 00 00 00" "$work/archive/core-dump-0.txt"
check "and what follows" grep -q "rw" "$work/archive/core-dump-0.txt"
check "without memory of clients" [ "$(grep -ciE '5e ?c4 ?e7|zeroes' "$work/archive/core-dump-0.txt")" = 0 ]
printf 'dump of another driver\n' >"$root/sys/class/devcoredump/devcd1/data"
check "others' dumps are left alone" ends 0

machine; printf 'a\033[31m\nb\0' >"$tree/model"
check "garbage in the tree" ends 0
check "cannot write to the terminal" [ "$(grep -c "$(printf '\033')" "$work/page")" = 0 ]
machine; { printf apple,agx-; head -c 100000 /dev/urandom; } >"$gpu/compatible"
check "a long property of garbage" also_says "No driver is known"

check "a wrong option" sh -c '! "$1" --wrong >"$2/page" 2>"$2/message" && [ -s "$2/message" ]' sh "$report" "$work"
check "an argument" sh -c '"$1" more >"$2/page" 2>"$2/message"; [ $? = 2 ]' sh "$report" "$work"
check "an archive that cannot be written" \
	sh -c '"$1" --root "$3" -o "$2/none/archive" >"$2/page" 2>"$2/message"; [ $? = 2 ] && grep -q "cannot be written" "$2/message"' \
	sh "$report" "$work" "$root"
check "help" sh -c '"$1" --help | grep -q usage' sh "$report"
check "version" sh -c '"$1" --version | grep -q asahi-report' sh "$report"
machine; ends 0
check "what the last kernel said" grep -q "last words" "$work/archive/pstore/dmesg-ramoops-0"
echo "1..$count"
exit $failed

#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# usage: asahi-bringup.sh ASAHI-BRINGUP PAGE
#
# asahi-bringup on a machine that is made of files: what it writes down, where it goes on
# after a reboot and after a death, and what it refuses. PAGE is its documentation.

# The functions are called through check().
# shellcheck disable=SC2317

bringup=$1
page=$2
# shellcheck source=userspace/tests/tap.sh
. "$(dirname "$0")/tap.sh"
root=$work/machine
dir=$work/state
bin=$work/bin

# program NAME - a program of the machine; its text is the standard input
program()
{
	{
		printf '#!/bin/sh\nroot=%s work=%s\n' "$root" "$work"
		cat
	} >"$bin/$1"
	chmod +x "$bin/$1"
}

# boot NUMBER - the machine, without the module
boot()
{
	rm -rf "$root"
	mkdir -p "$root/proc/sys/kernel/random" "$root/sys/bus/platform/devices/406400000.gpu" \
		"$root/sys/kernel/debug/asahi" "$root/sys/kernel/debug/dri/406400000.gpu" \
		"$root/sys/module/drm/parameters" "$root/dev/dri"
	echo "boot-$1" >"$root/proc/sys/kernel/random/boot_id"
	: >"$root/dev/kmsg"
	echo 4 >"$root/sys/module/drm/parameters/debug"
	: >"$root/sys/bus/platform/drivers_probe"
	: >"$root/asahi.ko"
	printf '%s 0\n' devices files clients vms jobs >"$root/sys/kernel/debug/asahi/objects"
}

mkdir "$bin"
echo 'echo 0' | program id
program stage <<'END'
{
	echo "cpu_control 0x10"
	echo "handoff magic_ap 0 magic_fw 0"
	echo "id version 0x4021100 counts_1 0x40a04 counts_2 0x30808 clusters 0x40404"
	echo "id version 0x4021100 counts_1 0x40a04 counts_2 0x30808 clusters 0x40404"
	echo "a second later: RTKit has booted"
	echo "a second later: the firmware runs on its InitData"
} >"$root/sys/kernel/debug/asahi/stage"
[ -e "$work/silent" ] ||
	echo "asahi 406400000.gpu: [drm] stopped after stage $1 of 4, as asked: text" >>"$root/dev/kmsg"
END
program insmod <<'END'
shift
echo "insmod $*" >>"$work/calls"
mkdir -p "$root/sys/module/asahi/parameters"
case $* in
stage=*) "$(dirname "$0")/stage" "${1#stage=}" ;;
*)
	: >"$root/dev/dri/renderD128"
	ln -s ../../drivers/asahi "$root/sys/bus/platform/devices/406400000.gpu/driver"
	echo "asahi: firmware is up" >"$root/sys/kernel/debug/dri/406400000.gpu/firmware-log"
	: >"$root/sys/kernel/debug/dri/406400000.gpu/firmware-crash"
	;;
esac
END
echo 'exit 1' | program rmmod
echo 'echo drm_exec,gpu-sched' | program modinfo
for tool in modprobe rtcwake; do
	echo "echo \"$tool \$*\" >>\"\$work/calls\"" | program $tool
done
program dmesg <<'END'
if [ -s "$root/sys/bus/platform/drivers_probe" ]; then
	: >"$root/sys/bus/platform/drivers_probe"
	"$(dirname "$0")/stage" "$(cat "$root/sys/module/asahi/parameters/stage")"
fi
cat "$root/dev/kmsg"
END
program asahi-report <<'END'
while [ $# -gt 1 ]; do
	[ "$1" != --output ] || tar -czf "$2" -C "$root" dev/kmsg
	shift
done
cat "$work/findings"
END
for client in asahi-info asahi-triangle; do
	echo 'exit 0' | program $client
done
program asahi-compute <<'END'
echo "asahi-compute $*" >>"$work/calls"
[ ! -e "$work/die" ] || kill -KILL "$(cat "$work/pid")"
[ ! -e "$work/wrong" ] || { echo "not ok 1 - fill # wrong result"; exit 1; }
[ ! -e "$work/noise" ] || echo "asahi 406400000.gpu: [drm] *ERROR* something" >>"$root/dev/kmsg"
END
echo "1. The module asahi is not loaded: run \"modprobe asahi\"." >"$work/findings"
: >"$work/calls"

# bringup STATUS [ARGUMENT...]
bringup()
{
	expected=$1
	shift
	(
		# It can be killed by the number of this process.
		sh -c 'echo $PPID' >"$work/pid"
		PATH=$bin:$PATH exec bash "$bringup" --root "$root" --dir "$dir" --module "$root/asahi.ko" \
			--seconds-scale 0.001 "$@"
	) >"$work/output" 2>&1 </dev/null
	[ $? = "$expected" ]
}

says()
{
	grep -qF -- "$1" "$work/output"
}

# state STEP STATUS - is its last one
state()
{
	[ "$(awk -v step="$1" '$1 == step { s = $2 } END { print s }' "$dir/state")" = "$2" ]
}

# archived NAME [TEXT] - the archive to send has such a file, with that text
archived()
{
	tar -xzOf "$dir/asahi-bringup.tar.gz" "./$1" | grep -qa "${2:-}"
}

boot 1
check "help" bringup 0 --help
check "a wrong option" bringup 2 --wrong
check "an argument" bringup 2 more
check "a scale that is none" bringup 2 --seconds-scale 0
check "is named" says '--seconds-scale: "0"'
check "a limit that is none" bringup 2 --loop-limit x
check "one that is too long" bringup 2 --loop-limit 1000
check "the longest" says "up to 999"
check "the steps" bringup 0 --list
sed -n 's/^Step [0-9]* of [0-9]*: \([a-z0-9-]*\) .*/\1/p' "$work/output" >"$work/steps"
check "are more than thirty" [ "$(wc -l <"$work/steps")" -gt 30 ]
# The first column of its table of steps
on_page()
{
	sed -n '/^The steps$/,/^Which question/s/^   \* - \(``.*\)/\1/p' "$page" |
		grep -oE '[a-z0-9-]+' | diff "$work/steps" - >"$work/output"
}
check "are all on the page, in this order" on_page
check "nothing was written" [ ! -e "$dir" ]
echo 'echo 1000' | program id
check "without root" bringup 2 --yes
check "it says so" says "It needs root"
echo 'echo 0' | program id
check "a folder that cannot be written" bringup 2 --dir /proc/none
check "is named" says "/proc/none cannot be written"
check "no module" bringup 2 --module "$root/none.ko"
mv "$bin/asahi-info" "$bin/asahi-none"
without_client()
{
	! command -v asahi-info >/dev/null || return 0
	bringup 2 --yes && says "asahi-info"
}
check "a program that is missing" without_client
mv "$bin/asahi-none" "$bin/asahi-info"
mkdir -p "$root/sys/module/asahi"
check "a module that somebody else has loaded" bringup 2 --yes
check "it says what to do" says "blacklist asahi"
rmdir "$root/sys/module/asahi"

check "without an answer nothing is done" bringup 0
check "and it says so" says "Nothing was done"
check "not even written down" [ ! -s "$dir/state" ]
cp "$work/findings" "$work/right"
echo '2. The boot loader is m1n1 v1.5.2. Update it.' >>"$work/findings"
check "a machine that is not ready" bringup 1 --yes
check "is a surprise" state tree surprise
check "it names the step" says "SURPRISE in step 1, tree"
check "and what is wrong" says "m1n1 v1.5.2"
check "and what to do" says "mend the list from its top"
check "nothing was loaded" [ ! -s "$work/calls" ]
check "it cannot be skipped" bringup 2 --yes --skip
check "the archive has the page" archived 01-tree/report.txt m1n1
mv "$work/right" "$work/findings"

check "three stages in one boot" bringup 3 --yes
check "the tree is right now" state tree ok
check "the module was loaded once, behind what it needs" [ "$(cat "$work/calls")" = "\
modprobe -a drm_exec gpu-sched
insmod stage=0" ]
check "with the driver's messages" [ "$(cat "$root/sys/module/drm/parameters/debug")" = 6 ]
for step in stage-0 stage-1 stage-2; do
	check "$step" state $step ok
done
check "it wants a reboot for the next" says "Reboot now"
check "and names it" says "stage-3"
check "it does not go on without" bringup 3 --yes
check "an answer" grep -q "stage-1: Can the identification be read at once after the start? yes" \
	"$dir/answers.txt"
check "how the program was called" archived runs "boot-1 .*--yes"
check "the archive has the driver's text" archived 04-stage-2/stage.txt "RTKit has booted"
check "and the report" archived 04-stage-2/report.tar.gz
boot 2
: >"$work/silent"
check "a stage that says nothing" bringup 1 --yes
check "is a surprise in that step" says "SURPRISE in step 5, stage-3"
check "what came" says 'no line "stopped after stage 3 of 4"'
check "what it means" says "A field of InitData is wrong"
check "which archive" says "05-stage-3/report.tar.gz"
check "and to reboot" says "Then reboot."
check "it is not done again in this boot" bringup 3 --yes
check "since the GPU may be in any state" says "any state"
rm "$work/silent"
boot 3
check "in the next it is" bringup 3 --yes
check "and is right" state stage-3 ok
check "what the surprise has left is kept" archived 05-stage-3/before-1/surprise.txt "no line"
check "beside the new report" archived 05-stage-3/report.tar.gz
boot 4
: >"$work/wrong"
check "a wrong result" bringup 1 --yes
check "is a surprise" state boot surprise
check "the output is in the archive" archived 06-boot/output.txt "wrong result"
rm "$work/wrong"
boot 5
: >"$work/noise"
check "a line in the kernel's log" bringup 1 --yes --skip
check "the step before is passed" state boot passed
check "the line is a surprise, too" state idle surprise
check "and what came" says "*ERROR* something"
rm "$work/noise"

boot 7
: >"$work/die"
bringup 137 --yes
check "the step was written down before it began" state idle begun
rm "$work/die"
boot 8
check "after a death" bringup 3 --yes
check "it says which step did not end" says "idle, did not end"
check "and does it again" state idle ok
check "what the next boot found is kept" archived 07-idle/died-1.tar.gz
check "compute" state compute ok
check "another set of parameters needs a boot" state fault ''
boot 9
echo "fault begun boot-8 now" >>"$dir/state"
echo "fault died boot-8 now" >>"$dir/state"
echo "fault begun boot-8 now" >>"$dir/state"
check "two deaths in one step" bringup 1 --yes
check "are not followed by a third" says "It has not ended 2 times"
check "unless asked for" bringup 1 --yes --again
check "the step ran" says "says nothing of a fault"
check "with its parameters" grep -qx "insmod fault_control=0 hang_limit=120" "$work/calls"
check "the status" bringup 0 --status
check "has the steps" says "  6 boot             passed"
check "and the answers" says "compute-wc: Is memory right"
busy()
{
	(
		exec 9>"$dir/lock"
		flock -n 9 && bringup 2 --yes && says "runs already"
	)
}
check "two at once" busy

# but_sleep - in the next boot that step is to be done, and all others have been
but_sleep()
{
	boot "$1"
	while read -r step; do
		[ "$step" = sleep ] || echo "$step ok boot-9 now"
	done <"$work/steps" >"$dir/state"
}
but_sleep 10
mkdir -p "$root/sys/class/rtc/rtc1/device/power" "$root/sys/power"
echo "[none] core processors platform devices freezer" >"$root/sys/power/pm_test"
: >"$root/sys/class/rtc/rtc1/device/power/wakeup"
check "a machine that no clock wakes" bringup 0 --yes
check "the kernel tests its sleep" [ "$(cat "$root/sys/power/state")" = freeze ]
check "and does not afterwards" [ "$(cat "$root/sys/power/pm_test")" = none ]
check "that is all" says "All steps are done"
but_sleep 11
mkdir -p "$root/sys/class/rtc/rtc1/device/power"
echo enabled >"$root/sys/class/rtc/rtc1/device/power/wakeup"
: >"$root/dev/rtc1"
check "a clock that wakes it" bringup 0 --yes
check "does so" grep -qx "rtcwake -d rtc1 -m freeze -s 5" "$work/calls"
but_sleep 12
check "neither of the two" bringup 0 --yes
check "is no surprise" state sleep skipped
echo "1..$count"
exit $failed

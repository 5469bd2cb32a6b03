# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
# shellcheck shell=bash
#
# What scripts that run in the guest share.

modules=/clone/build/$(sed -n 's/^modules=//p' /out/settings)
guest=/clone/build/guest
igt=$guest/igt-tests/tests/asahi
expectations=/clone/igt-tests/ci
export LD_LIBRARY_PATH=$guest/userspace/libdrm_asahi
export PATH=$PATH:$guest/userspace/clients
export LAVAPIPE_RESULTS=$guest/lavapipe.results
export LAVAPIPE_PICTURES=$guest/lavapipe.pictures
export LLVMPIPE_PICTURES=$guest/llvmpipe.pictures
export XDG_CACHE_HOME=/tmp XDG_RUNTIME_DIR=/run

driver=/sys/bus/platform/drivers/asahi
debugfs=/sys/kernel/debug/asahi
objects=$debugfs/objects

# Once loaded, it stays.
load_carrier()
{
	[ -e /sys/module/vagx_carrier ] ||
		insmod "$modules/drivers/platform/vagx/vagx_carrier.ko"
}

# All that is unproven but "events", which vagx takes for a mistake without --late-threshold
all_but_events=unbind,again,power,reset,flush,trim,priority,knobs,sensors,blocks

load_asahi()
{
	insmod "$modules/drivers/gpu/drm/asahi/asahi.ko" unproven=$all_but_events fault_control=0 "$@"
}

# load_null - the driver without a device, to measure with
load_null()
{
	insmod "$modules/drivers/platform/vagx/vagx_null.ko"
}

# load_driver - the carrier and the driver, and wait until there is a node
load_driver()
{
	load_carrier && load_asahi "$@" && wait_for_node
}

# load_as_it_is - the same with the driver's own choice of what is allowed
load_as_it_is()
{
	load_carrier &&
		insmod "$modules/drivers/gpu/drm/asahi/asahi.ko" fault_control=0 &&
		wait_for_node
}

# Nobody writes to this pipe.
[ -p /tmp/never ] || mkfifo /tmp/never
exec {never}<>/tmp/never

# pause SECONDS - a sleep that starts no process, for loops: "sleep" takes the processor for 14 ms
# under TCG
pause()
{
	read -rt "$1" -u "$never" || true
}

# wait_for COMMAND ... - until it succeeds, at most a minute
wait_for()
{
	local end=$((SECONDS + 60))

	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		pause 0.05
	done
}

# at_rest [closed] - each device says so of itself, within a minute; "closed" if nobody
# has it open, either
at_rest()
{
	local file

	for file in /sys/kernel/debug/dri/*.gpu/at-rest; do
		[ ! -e "$file" ] || wait_for grep -qs "^at rest, .*${1:-}$" "$file" || {
			echo "not at rest:"
			cat "$file"
			return 1
		}
	done
}

# vagx_at_rest - the firmware knows nothing any more of what clients had
vagx_at_rest()
{
	ask_host ctl at-rest closed >/tmp/vagx-rest
}

# unload_driver - queues that a worker has yet to free hold the module
unload_driver()
{
	at_rest closed || return
	wait_for vagx_at_rest || {
		cat /tmp/vagx-rest
		return 1
	}
	wait_for rmmod asahi 2>/tmp/rmmod || {
		tail -n 1 /tmp/rmmod
		return 1
	}
}

wait_for_node()
{
	wait_for test -e /dev/dri/renderD128 || {
		echo "there is no render node" >&2
		return 1
	}
}

no_node()
{
	[ ! -e /dev/dri/renderD128 ]
}

# gpu - the name of the device that the driver is bound to
gpu()
{
	basename "$(find $driver/ -maxdepth 1 -name '*.gpu')"
}

# bind DEVICE, unbind DEVICE - at most a minute
bind()
{
	timeout 60 sh -c 'echo "$1" >"$2/bind"' sh "$1" $driver
}

unbind()
{
	timeout 60 sh -c 'echo "$1" >"$2/unbind"' sh "$1" $driver
}

# nothing_alive - no object of any kind; prints those that there are
nothing_alive()
{
	awk '!/^leaked/ && $2 != 0 { print; alive = 1 } END { exit alive || NR < 5 }' $objects
}

# nothing_leaked - no memory was left to a firmware that may still write to it
nothing_leaked()
{
	awk '/^leaked/ && $2 != 0 { print; leaked = 1 } END { exit leaked || NR < 5 }' $objects
}

# objects_but PATTERN - how many there are of all kinds but these; fails where the
# kernel does not tell
objects_but()
{
	awk -v but="$1" '$1 !~ but { print } END { exit NR < 5 }' $objects
}

# swap_on SIZE - compressed memory for so much, all of which is free
swap_on()
{
	echo 1 >/sys/block/zram0/reset && echo "$1" >/sys/block/zram0/disksize &&
		mkswap /dev/zram0 >/dev/null && swapon /dev/zram0
}

swap_off()
{
	swapoff /dev/zram0
}

# refused COMMAND ... - it fails
refused()
{
	! "$@"
}

# gone PID ... - none of them runs any more
gone()
{
	! kill -0 "$@" 2>/dev/null
}

# has_run PID [ENGINE] - whether the GPU has begun with a job of a client's
has_run()
{
	grep -hs "^drm-engine-${2:-compute}:" /proc/"$1"/fdinfo/* | grep -qv '[^0-9]0 ns'
}

# no_job_failed [LINES] - the kernel says of none that it has, behind so many lines. A job
# that fails signals its fence as well.
no_job_failed()
{
	! dmesg | tail -n +$((${1:-0} + 1)) |
		grep -E 'GPU fault|GPU timeout|channel error|jobs in flight are lost'
}

# ask_host observe          what tools/vm.sh sees of the emulator
# ask_host ctl COMMAND ...  what vagx-ctl answers, with its status
#
# One at a time.
ask_host()
{
	tell_host "$@"
	hear_host
}

# tell_host ... - the same, without waiting for the answer
tell_host()
{
	rm -f /out/answer
	printf '%s\n' "$@" >/out/request.new
	mv /out/request.new /out/request
}

# hear_host - the answer, with its status
hear_host()
{
	local status

	wait_for test -e /out/answer || return 1
	read -r status </out/answer
	tail -n +2 /out/answer
	return "$status"
}

tap_failed=0

ok()
{
	echo "ok - $1"
}

# not_ok NAME [EXPLANATION]
not_ok()
{
	tap_failed=1
	echo "not ok - $1"
	[ -z "${2:-}" ] || sed 's/^/#   /' <<<"$2"
}

# retried CASE - it has failed, and is tried again: tools/checks/report.py counts that
retried()
{
	echo "# retried: $1"
}

# retries OUTPUT - those that a command has told of
retries()
{
	grep '^# retried: ' <<<"$1" || true
}

# check NAME COMMAND ... - it has to succeed within a minute or two
check()
{
	local name=$1 output status=0
	shift

	output=$("$@" 2>&1) || status=$?
	retries "$output"
	if [ $status = 0 ]; then
		ok "$name"
	else
		not_ok "$name" "$(tail -n 40 <<<"$output")
(status $status)"
	fi
}

# cases NAME COMMAND ... - a program that prints TAP; each of its cases counts
cases()
{
	local name=$1 output status=0
	shift

	output=$(timeout 400 "$@" 2>&1) || status=$?
	sed -nE -e "s/^(ok|not ok)( [0-9]+)?( -)? /\1 - $name: /p" -e '/^# retried: /{p;d}' \
		-e 's/^#/# /p' <<<"$output"
	if grep -q '^not ok' <<<"$output"; then
		tap_failed=1
	elif [ $status != 0 ]; then
		not_ok "$name" "$(tail -n 40 <<<"$output")
(status $status)"
	elif ! grep -q '^ok' <<<"$output"; then
		not_ok "$name: prints results" "$(tail -n 40 <<<"$output")"
	fi
}

# run_tests TEST[:ARGUMENT ...] ... - other scripts of tools/guest/tests, one after the other,
# each with the seconds that it took
run_tests()
{
	local test argument start

	for test; do
		argument=${test#"${test%%:*}"} start=$SECONDS
		# shellcheck disable=SC2086
		bash "/clone/tools/guest/tests/${test%%:*}" ${argument#:} || tap_failed=1
		echo "# $((SECONDS - start)) s: $test"
	done
}

done_testing()
{
	exit $tap_failed
}

# The driver's tracepoints from here on, and what they have said, in /out/tracepoints.
# The module has to be there at the end: its events go with it.
tracing=/sys/kernel/tracing
trace_begin()
{
	echo 16384 >$tracing/buffer_size_kb
	echo mono >$tracing/trace_clock
	echo 1 >$tracing/events/asahi/enable
}

trace_end()
{
	echo 0 >$tracing/events/asahi/enable
	cat $tracing/trace >/out/tracepoints
}

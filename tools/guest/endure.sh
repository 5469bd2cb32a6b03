# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
# shellcheck shell=bash
#
# Clients that live on whatever happens to the device, for scripts that make
# something happen to it. Sourced after lib.sh.

clients=()

# start_program NAME PROGRAM OPTION ... - its state goes to /tmp/endure.NAME
start_program()
{
	local name=$1 program=$2
	shift 2

	rm -f "/tmp/endure.$name"
	"$guest/igt-tests/tools/$program" --status="/tmp/endure.$name" "$@" \
		>"/tmp/endure.$name.out" 2>&1 &
	clients+=("$name:$!")
}

# start_client NAME OPTION ... - the program "endure"
start_client()
{
	start_program "$1" endure "${@:2}"
}

# start_clients OPTION ... - three of different kinds, all with these options
start_clients()
{
	start_client single --queues=1 --depth=1 "$@"
	start_client deep --queues=2 --depth=8 "$@"
	start_client busy --queues=3 --depth=2 --threads=512 --churn "$@"
}

# status_of NAME KEY - a number of its state, 0 before there is one
status_of()
{
	local line=''

	[ ! -e "/tmp/endure.$1" ] || read -r line <"/tmp/endure.$1"
	[[ " $line " =~ " $2="([0-9]+) ]] && echo "${BASH_REMATCH[1]}" || echo 0
}

# status_sum KEY - of all clients
status_sum()
{
	local client sum=0

	for client in "${clients[@]}"; do
		sum=$((sum + $(status_of "${client%:*}" "$1")))
	done
	echo $sum
}

# clients_progress SECONDS - every client completes more work within that time
clients_progress()
{
	local client name end=$((SECONDS + $1)) before

	for client in "${clients[@]}"; do
		name=${client%:*}
		before=$(status_of "$name" "done")
		until [ "$(status_of "$name" "done")" -ge $((before + 3)) ]; do
			if ! kill -0 "${client#*:}" 2>/dev/null; then
				echo "client $name has ended"
				cat "/tmp/endure.$name.out"
				return 1
			fi
			if [ $SECONDS -gt $end ]; then
				echo "client $name: $(cat "/tmp/endure.$name" 2>&1)"
				cat $objects
				return 1
			fi
			pause 0.1
		done
	done
}

# end_clients STATUS [SIGNAL] - each of them ends with that status
end_clients()
{
	local client name pid status bad=0

	for client in "${clients[@]}"; do
		[ -z "${2:-}" ] || kill "-$2" "${client#*:}"
	done
	for client in "${clients[@]}"; do
		name=${client%:*} pid=${client#*:} status=0
		wait_long gone "$pid" || {
			echo "client $name does not end"
			kill -KILL "$pid"
			bad=1
		}
		wait "$pid" || status=$?
		[ $status = "$1" ] || {
			echo "client $name ends with status $status, not $1"
			bad=1
		}
		echo "client $name: $(cat "/tmp/endure.$name.out")"
	done
	clients=()
	return $bad
}

# check_here NAME COMMAND ... - as check, for what has to run in this shell: the
# clients are its children
check_here()
{
	local name=$1 status=0
	shift

	"$@" >/tmp/check_here 2>&1 || status=$?
	retries "$(</tmp/check_here)"
	if [ $status = 0 ]; then
		ok "$name"
	else
		not_ok "$name" "$(tail -n 40 /tmp/check_here)
(status $status)"
	fi
}

# wait_long COMMAND ... - until it succeeds, at most 90 seconds
wait_long()
{
	local end=$((SECONDS + 90))

	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		pause 0.1
	done
}

# own_objects - what clients own, and what was leaked on purpose; the memory that
# the driver keeps for later comes and goes
own_objects()
{
	objects_but '^(heap-|(kernel-)?page-|devices)'
}

same_objects()
{
	local now

	now=$(own_objects) && [ "$1" = "$now" ]
}

# in_flight COUNT - so many jobs are alive, in all clients
in_flight()
{
	local jobs

	jobs=$(awk '$1 == "jobs" { print $2 }' $objects)
	echo "$jobs jobs"
	[ "$jobs" -ge "$1" ]
}

# crash_loaded COUNT TEXT - the firmware crashes while so many jobs are in flight: it holds their
# stamps until then
crash_loaded()
{
	ask_host ctl hold-stamps on && wait_for in_flight "$1" &&
		ask_host ctl crash text="$2" && ask_host ctl hold-stamps off
}

# drop_dumps - core dumps that are kept go: a test that wants its own would find them
drop_dumps()
{
	local data

	for data in /sys/class/devcoredump/devcd*/data; do
		[ ! -e "$data" ] || echo 1 >"$data"
	done
}

# nap - the machine sleeps until its clock wakes it
nap()
{
	"$guest/igt-tests/tools/nap" 3
}

# doze LEVEL - as much of a suspend as that level of /sys/power/pm_test has, and
# back without delay
doze()
{
	local status=0

	echo 0 >/sys/module/suspend/parameters/pm_test_delay
	echo "$1" >/sys/power/pm_test
	echo freeze >/sys/power/state || status=$?
	echo none >/sys/power/pm_test
	return $status
}

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# Run the checks (all of them, or those named), count what they say, and end with
# the number of passed and failed ones. A check that says nothing has failed, and
# so has one whose status does not fit what it says, or whose cases are not those
# that tools/checks/cases names.
#
# Many cases run in several checks: on several machines, and under the debug
# kernel. How many different ones there are is said, too.

. "$(dirname "$0")/lib.sh"

# The longest one begins first, and short ones are last.
all="guest-debug modules host guest-plain piglit guest-lifecycle guest-no-exec guest-fuzz
static checkpatch export guest-igt guest-stuck guest-socs guest-programs programs fuzz
counts blocks guest-refusals hygiene kernel-doc devicetree docs uapi"

results=$top/build/out/check
mkdir -p "$results"
passed=0 failed=0 skipped=0 everything=''
declare -A running=()
begin=$SECONDS
cd "$top"

# shellcheck disable=SC2086
[ $# -gt 0 ] || { set -- $all; everything=1; rm -f "$results"/*; }
for lane; do
	[ -x "tools/checks/$lane" ] || die "there is no check '$lane'; there are: $(echo $all)"
done

# What takes long where the cache is empty shows its progress here; the checks
# keep what their commands say to themselves. Packages come from afar, and each kernel
# is unpacked, configured and linked by one processor, while others are compiling.
make_products()
{
	local kernel maker makers=()

	tools/toolbox.sh run true
	[ -n "$everything" ] || return 0
	{
		tools/guest.sh
		tools/toolbox.sh static true
		tools/toolbox.sh programs true
		# not to be had is for its check to say
		tools/foreign-igt.sh || true
	} >/dev/null &
	makers+=($!)
	for kernel in plain debug; do
		tools/kernel.sh $kernel >/dev/null &
		makers+=($!)
	done
	for maker in "${makers[@]}"; do
		wait "$maker"
	done
}

make_products

# run_lane LANE - what it says, its status and its seconds, in files
run_lane()
{
	local start=$SECONDS status=0

	"tools/checks/$1" >"$results/$1.tap" || status=$?
	echo "$status $((SECONDS - start))" >"$results/$1.status"
}

# report_lane LANE - count it, and show what failed and what was skipped
report_lane()
{
	local tap=$results/$1.tap status seconds skips good bad difference

	read -r status seconds <"$results/$1.status"
	skips=$(grep -cE '^ok .*# SKIP' "$tap" || true)
	good=$(($(grep -cE '^ok ' "$tap" || true) - skips))
	bad=$(grep -cE '^not ok ' "$tap" || true)
	grep -E -A100000 '^not ok ' "$tap" | grep -E '^(not ok |#)' || true
	grep -E '^ok .*# SKIP' "$tap" || true
	if [ $((good + bad)) = 0 ]; then
		echo "not ok - $1: no result (status $status)"
		bad=1
	elif [ "$status" != 0 ] && [ "$bad" = 0 ]; then
		echo "not ok - $1: ended with status $status"
		bad=1
	fi
	while read -r difference; do
		echo "not ok - $1: $difference (tools/cases.sh)"
		bad=$((bad + 1))
	done < <(tools/cases.sh compare "$1")
	passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + skips))
	printf '# %s: %d passed, %d failed, %d skipped, %d s\n' "$1" "$good" "$bad" "$skips" "$seconds"
}

# A lane keeps a processor busy, more or less, and takes up to 6 GB of memory.
count_slots()
{
	local memory

	memory=$(awk '/^MemAvailable:/ { print int($2 / 6000000) }' /proc/meminfo)
	slots=$((jobs < memory ? jobs : memory))
	[ $slots -gt 0 ] || slots=1
}

# begin_lane LANE - beside those that run, in a process group of its own
begin_lane()
{
	set -m
	run_lane "$1" &
	running[$!]=$1
	set +m
}

# end_lane - wait until one of those that run has ended, and report it
end_lane()
{
	local pid=''

	wait -n -p pid "${!running[@]}" || true
	report_lane "${running[$pid]}"
	unset "running[$pid]"
}

# end_lanes N - until fewer than N run
end_lanes()
{
	while [ ${#running[@]} -ge "$1" ]; do
		end_lane
	done
}

# shellcheck disable=SC2329
stop_lanes()
{
	local pid

	for pid in "${!running[@]}"; do
		kill -- -"$pid" 2>/dev/null || true
	done
}
trap stop_lanes EXIT

count_slots
for lane; do
	case $lane in
	bench-*)	# what is measured has the machine to itself
		end_lanes 1
		begin_lane "$lane"
		end_lanes 1
		;;
	*)
		end_lanes $slots
		begin_lane "$lane"
		;;
	esac
done
end_lanes 1

# distinct LANE ... - a case of the virtual machine's is one wherever it runs
distinct()
{
	local lane

	for lane; do
		case $lane in
		guest-*) tools/cases.sh names "$results/$lane.tap" ;;
		*) tools/cases.sh names "$results/$lane.tap" | sed "s/^/$lane: /" ;;
		esac
	done | sort -u | wc -l
}

echo "# $(distinct "$@") distinct cases, $((passed + failed + skipped)) results of them in $# checks"
echo "# $skipped skipped, $((SECONDS - begin)) s, results in build/out/check"
echo "$passed passed, $failed failed"
[ $failed = 0 ]

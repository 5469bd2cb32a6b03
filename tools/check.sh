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

all="hygiene uapi checkpatch kernel-doc docs devicetree modules blocks host export
guest-plain guest-no-exec guest-memory guest-refusals guest-stuck
guest-socs guest-lifecycle guest-debug"

results=$top/build/out/check
mkdir -p "$results"
passed=0 failed=0 skipped=0 everything=''
begin=$SECONDS
cd "$top"

# shellcheck disable=SC2086
[ $# -gt 0 ] || { set -- $all; everything=1; rm -f "$results"/*; }
for lane; do
	[ -x "tools/checks/$lane" ] || die "there is no check '$lane'; there are: $(echo $all)"
done

# What takes long where the cache is empty shows its progress here; the checks
# keep what their commands say to themselves.
tools/toolbox.sh run true
if [ -n "$everything" ]; then
	for product in "kernel.sh plain" "kernel.sh debug" guest.sh; do
		# shellcheck disable=SC2086
		tools/$product >/dev/null
	done
fi

for lane; do
	start=$SECONDS status=0
	"tools/checks/$lane" >"$results/$lane.tap" || status=$?
	skips=$(grep -cE '^ok .*# SKIP' "$results/$lane.tap" || true)
	good=$(($(grep -cE '^ok ' "$results/$lane.tap" || true) - skips))
	bad=$(grep -cE '^not ok ' "$results/$lane.tap" || true)
	grep -E -A100000 '^not ok ' "$results/$lane.tap" | grep -E '^(not ok |#)' || true
	grep -E '^ok .*# SKIP' "$results/$lane.tap" || true
	if [ $((good + bad)) = 0 ]; then
		echo "not ok - $lane: no result (status $status)"
		bad=1
	elif [ $status != 0 ] && [ "$bad" = 0 ]; then
		echo "not ok - $lane: ended with status $status"
		bad=1
	fi
	while read -r difference; do
		echo "not ok - $lane: $difference (tools/cases.sh)"
		bad=$((bad + 1))
	done < <(tools/cases.sh compare "$lane")
	passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + skips))
	printf '# %s: %d passed, %d failed, %d skipped, %d s\n' \
		"$lane" "$good" "$bad" "$skips" $((SECONDS - start))
done

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

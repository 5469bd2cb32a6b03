# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
# shellcheck shell=bash
#
# What scripts that run in the guest share.

modules=/clone/build/$(sed -n 's/^modules=//p' /out/settings)
guest=/clone/build/guest
export LD_LIBRARY_PATH=$guest/userspace/libdrm_asahi
export PATH=$PATH:$guest/userspace/clients
export LAVAPIPE_RESULTS=$guest/lavapipe.results
export XDG_CACHE_HOME=/tmp XDG_RUNTIME_DIR=/run

load_carrier()
{
	insmod "$modules/drivers/platform/vagx/vagx_carrier.ko"
}

load_asahi()
{
	insmod "$modules/drivers/gpu/drm/asahi/asahi.ko" unproven=1 "$@"
}

# load_driver - the carrier and the driver, and wait until there is a node
load_driver()
{
	load_carrier && load_asahi "$@" && wait_for_node
}

# wait_for COMMAND ... - until it succeeds, at most ten seconds
wait_for()
{
	local i

	for i in $(seq 100); do
		"$@" && return
		sleep 0.1
	done
	return 1
}

wait_for_node()
{
	wait_for test -e /dev/dri/renderD128 || {
		echo "there is no render node" >&2
		return 1
	}
}

# ask_host observe|crash|hold-handoff - what tools/vm.sh knows of the emulator, or
# make its coprocessor crash, or keep the handoff lock
ask_host()
{
	rm -f /out/answer
	echo "$1" >/out/request.new
	mv /out/request.new /out/request
	wait_for test -e /out/answer && cat /out/answer
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

# check NAME COMMAND ... - it has to succeed within a minute or two
check()
{
	local name=$1 output status=0
	shift

	output=$("$@" 2>&1) || status=$?
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

	output=$(timeout 200 "$@" 2>&1) || status=$?
	sed -nE -e "s/^(ok|not ok)( [0-9]+)?( -)? /\1 - $name: /p" -e 's/^#/# /p' <<<"$output"
	if grep -q '^not ok' <<<"$output"; then
		tap_failed=1
	elif [ $status != 0 ]; then
		not_ok "$name" "$(tail -n 40 <<<"$output")
(status $status)"
	elif ! grep -q '^ok' <<<"$output"; then
		not_ok "$name: prints results" "$(tail -n 40 <<<"$output")"
	fi
}

done_testing()
{
	exit $tap_failed
}

#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# usage: environment.sh SHIM ASAHI-COMPUTE [vagx [MALLOC]]
#
# The shim as people use it: preloaded, and told by the environment what to do.

# The functions are called through check().
# shellcheck disable=SC2317

shim=$1
compute=$2
vagx=${3:-}
malloc=${4:-}
# shellcheck source=userspace/tests/tap.sh
. "$(dirname "$0")/../../tests/tap.sh"

# What is preloaded comes before a sanitizer.
fill()
{
	env LD_PRELOAD="$shim" ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=1 "$@" \
		"$compute" --size=64 fill >"$work/output" 2>"$work/message"
}

# fails_with MESSAGE [NAME=VALUE...], prints MESSAGE [NAME=VALUE...]
fails_with()
{
	message=$1
	shift
	! fill "$@" && grep -q "$message" "$work/message"
}

prints()
{
	message=$1
	shift
	fill "$@" && grep -q "$message" "$work/message"
}

# Each kind of call, with what was in its arrays
logs()
{
	! fill ASAHI_SHIM_LOG="$work/log" || return 1
	grep -q '^ASAHI_VM_BIND fd [0-9]* vm 1; 0x[0-9a-f]*+0x4000 flags 0x[0-9a-f]* handle [0-9]*+0x0: ok$' \
		"$work/log" &&
		grep -q '^ASAHI_SUBMIT fd [0-9]* queue 1 signal [0-9]*; compute, .* stream 0x' \
			"$work/log" &&
		grep -q '^SYNCOBJ_WAIT fd [0-9]* until [0-9]* flags 0x2 [0-9]*: ok$' "$work/log"
}

# A shell that has opened the GPU is a process with all of its threads.
shell()
{
	program=$1
	shift
	env LD_PRELOAD="$shim" ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 \
		ASAHI_SHIM_BACKEND=vagx ASAHI_SHIM_CORES=3 "$@" timeout 60 sh -c "$program" \
		>"$work/output" 2>"$work/message"
}

# A thread that waits for signals gets those that the process is sent: all others block what
# can be blocked. The shell reads this itself, since it blocks signals while it starts a command.
leaves_signals()
{
	# shellcheck disable=SC2016
	shell 'exec 7<>/dev/dri/renderD128
		for each in /proc/$$/task/*/status; do
			while read -r line; do echo "$line"; done <$each
		done' &&
		[ "$(grep -c '^SigBlk.*f' "$work/output")" -ge 2 ] &&
		[ "$(grep -c '^SigBlk:[[:space:]]*0*$' "$work/output")" = 1 ]
}

# A program that does not open the GPU has one thread, whatever the backend, and no file more.
starts_nothing()
{
	# shellcheck disable=SC2016
	shell 'cat /proc/$$/status; ls -l /proc/$$/fd; :' ASAHI_SHIM_REPORT="$work/report" &&
		grep -q '^Threads:[[:space:]]*1$' "$work/output" &&
		! grep -q 'asahi-shim\|report' "$work/output" && [ ! -e "$work/report" ]
}

# A subshell is a child that executes nothing anew, and has none of the GPU's threads.
lets_children_end()
{
	# shellcheck disable=SC2016
	shell 'exec 7<>/dev/dri/renderD128; (:; exit 7); [ $? = 7 ]'
}

# An allocator that is preloaded, too, calls the shim's mmap(), and takes its lock at forks.
gets_on_with_malloc()
{
	fill ASAHI_SHIM_BACKEND=vagx LD_PRELOAD="$shim:$malloc" &&
		fill ASAHI_SHIM_BACKEND=vagx LD_PRELOAD="$malloc:$shim" &&
		shell 'exec 7<>/dev/dri/renderD128; for i in 1 2 3 4; do (exec 8<>/dev/dri/renderD128) || exit; done' \
			LD_PRELOAD="$shim:$malloc"
}

: >"$work/message"
check "without a backend nothing is executed" fails_with . ASAHI_SHIM_BACKEND=none
check "calls are written to a file" logs
check "a file that cannot be written is named, and the program goes on" \
	fails_with 'ASAHI_SHIM_LOG=/nowhere/log: No such file' ASAHI_SHIM_LOG=/nowhere/log
check "an unknown backend is refused" \
	fails_with 'ASAHI_SHIM_BACKEND=nonsense: expected none or vagx' ASAHI_SHIM_BACKEND=nonsense
if [ -n "$vagx" ]; then
	check "vagx executes" fill ASAHI_SHIM_BACKEND=vagx
	check "vagx does not, if so wanted" \
		fails_with . ASAHI_SHIM_BACKEND=vagx ASAHI_SHIM_NO_EXEC=1
	check "vagx executes on one core" fill ASAHI_SHIM_BACKEND=vagx ASAHI_SHIM_CORES=1
	check "nothing is started for a program that opens no GPU" starts_nothing
	[ -z "$malloc" ] || check "an allocator is preloaded as well" gets_on_with_malloc
	check "signals are left to the program" leaves_signals
	check "children of the program come to their ends" lets_children_end
	check "streams are printed" \
		prints 'CDM Launch' ASAHI_SHIM_BACKEND=vagx ASAHI_SHIM_STREAMS=1
fi

echo "1..$count"
exit $failed

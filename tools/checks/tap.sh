# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
# shellcheck shell=bash
#
# What the checks share: each prints TAP on standard output.

. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

cd "$top"
tap_count=0
tap_failed=0

ok()
{
	tap_count=$((tap_count + 1))
	printf 'ok %d - %s\n' $tap_count "$1"
}

# not_ok NAME [EXPLANATION]
not_ok()
{
	tap_count=$((tap_count + 1))
	tap_failed=$((tap_failed + 1))
	printf 'not ok %d - %s\n' $tap_count "$1"
	[ -z "${2:-}" ] || sed 's/^/#   /' <<<"$2"
}

skip()
{
	tap_count=$((tap_count + 1))
	printf 'ok %d - %s # SKIP %s\n' $tap_count "$1" "$2"
}

# check NAME COMMAND ... - it has to succeed; what it has tried again is told, as
# tools/guest/lib.sh does
check()
{
	local name=$1 output status=0
	shift

	output=$("$@" 2>&1) || status=$?
	grep '^# retried: ' <<<"$output" || true
	if [ $status = 0 ]; then
		ok "$name"
	else
		not_ok "$name" "$output"
	fi
}

# check_silent NAME COMMAND ... - it has to succeed and to say nothing
check_silent()
{
	local name=$1 output status=0
	shift

	output=$("$@" 2>&1) || status=$?
	if [ $status = 0 ] && [ -z "$output" ]; then
		ok "$name"
	else
		not_ok "$name" "$output (status $status)"
	fi
}

# check_files COMMAND FILE ... - a case for each file, of which the command has to say
# nothing. It takes several files; one by one they are looked at where it says something.
check_files()
{
	local command=$1 file output
	shift

	if output=$("$command" "$@" 2>&1) && [ -z "$output" ]; then
		for file; do
			ok "$file"
		done
	else
		for file; do
			check_silent "$file" "$command" "$file"
		done
	fi
}

done_testing()
{
	echo "1..$tap_count"
	[ $tap_failed = 0 ]
}

toolbox()
{
	"$top/tools/toolbox.sh" run "$@"
}

# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
# shellcheck shell=sh
#
# Cases of tests in the shell: a folder for what programs print, and TAP.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0
failed=0

# check NAME COMMAND... - a case, which is good if the command succeeds; otherwise the files
# output, message and page in the folder say what came
check()
{
	name=$1
	shift
	count=$((count + 1))
	if "$@"; then
		echo "ok $count - $name"
	else
		echo "not ok $count - $name"
		failed=1
		for shown in "$work/output" "$work/message" "$work/page"; do
			[ ! -s "$shown" ] || sed 's/^/# /' "$shown"
		done
	fi
}

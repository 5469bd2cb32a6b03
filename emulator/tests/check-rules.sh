#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# usage: check-rules.sh VAGX EMULATOR_SOURCE
#
# Every rule has an id of its own, a source, a text, and a test that names it.

vagx=$1
source=$2
status=0

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$(dirname "$vagx")" && vagx=$PWD/${vagx##*/} && cd "$work" || exit 1

"$vagx" --list-rules >rules.list || exit 1
count=$(wc -l <rules.list)
if [ "$count" -lt 10 ]; then
	echo "only $count rules are listed"
	exit 1
fi

cut -f1 rules.list | sort | uniq -d >rules.twice
if [ -s rules.twice ]; then
	echo "ids that exist twice:"
	cat rules.twice
	status=1
fi

tests=$(find "$source" -path '*/tests/*' -name '*.[ch]')
tab=$(printf '\t')
while IFS=$tab read -r id severity from text; do
	if [ -z "$id" ] || [ -z "$from" ] || [ -z "$text" ]; then
		echo "$id: incomplete"
		status=1
	fi
	case $severity in
	violation|warning) ;;
	*)
		echo "$id: severity '$severity'"
		status=1
		;;
	esac
	# shellcheck disable=SC2086
	if ! grep -qw -e "$id" -e "VAGX_RULE_$id" -e "PROVOKE(${id#FW_}" $tests; then
		echo "$id: no test names it"
		status=1
	fi
done <rules.list

[ $status != 0 ] || echo "$count rules, each with a source and a test"
exit $status

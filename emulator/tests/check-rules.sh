#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# usage: check-rules.sh VAGX EMULATOR_SOURCE
#
# Every rule and every clause has an id of its own, a source, a text, and a test that names it,
# and a finding is about a clause where the rule has some. The tests of the firmware's rules also
# compare what they have seen with the list.

vagx=$1
source=$2
status=0
count=0

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$(dirname "$vagx")" && vagx=$PWD/${vagx##*/} && cd "$work" || exit 1

"$vagx" --list-rules >rules.list || exit 1
if [ "$(wc -l <rules.list)" -lt 10 ]; then
	echo "hardly any rules are listed"
	exit 1
fi

cut -f1 rules.list | sort | uniq -d >rules.twice
if [ -s rules.twice ]; then
	echo "ids that exist twice:"
	cat rules.twice
	status=1
fi

tests=$(find "$source" -path '*/tests/*' -name '*.[ch]')
code=$(find "$source" -name '*.[ch]' ! -path '*/tests/*' ! -path '*/fuzz/*')
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
	if grep -q "^$id:" rules.list; then
		# shellcheck disable=SC2086
		if grep -nw "VAGX_RULE_$id" $code; then
			echo "$id: a finding is about none of its clauses"
			status=1
		fi
		continue
	fi
	count=$((count + 1))
	case $id in
	*:*)
		set -- -e "VAGX_CLAUSE_${id%%:*}_${id#*:}" -e "${id%%:*}, ${id#*:},"
		;;
	*)
		set -- -e "$id" -e "VAGX_RULE_$id"
		;;
	esac
	# shellcheck disable=SC2086
	if ! grep -qw "$@" $tests; then
		echo "$id: no test names it"
		status=1
	fi
done <rules.list

[ $status != 0 ] || echo "$count rules and clauses, each with a source and a test"
exit $status

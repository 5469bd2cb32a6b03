#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# What the driver writes into commands, field by field, and what it should write:
# tools/checks/golden-commands.

. "$(dirname "$0")/lib.sh"

usage()
{
	cat >&2 <<-END
		usage: tools/golden.sh compare MACHINE
		       tools/golden.sh accept
		       tools/golden.sh unexplained
		  compare      the last dump of a machine, such as t6021:13.5, with the list
		  accept       take the last dumps of all machines as the list: after
		               "tools/check.sh guest-socs", and to be read before it is committed
		  unexplained  fields without a known meaning against the page about them
		Each prints what is wrong, and nothing if all is well.
	END
	exit 2
}

list=tools/checks/golden-commands
page=Documentation/project/unexplained-fields.rst

golden()
{
	(cd "$top" && tools/toolbox.sh run python3 tools/checks/golden.py "$@")
}

# dump_of MACHINE - where a lane has left what vagx has seen
dump_of()
{
	echo "build/out/fields-${1/:/-}/commands.txt"
}

accept()
{
	local machine dumps=()

	for machine in $(sed -n 's/^machine . //p' "$top/$list"); do
		[ -s "$top/$(dump_of "$machine")" ] ||
			die "there is no dump of $machine: tools/check.sh guest-socs"
		dumps+=("$machine=$(dump_of "$machine")")
	done
	golden make $list "${dumps[@]}"
}

case ${1:-}/$# in
compare/2) golden compare $list "$2" "$(dump_of "$2")" ;;
accept/1) accept ;;
unexplained/1) golden unexplained $list $page ;;
*) usage ;;
esac

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# The tests for IGT GPU Tools: add them to a tree of it, build and list them there;
# or write the list of subtests that runs are compared with.

. "$(dirname "$0")/lib.sh"

usage()
{
	cat >&2 <<-END
		usage: tools/igt.sh list
		       tools/igt.sh add TREE
		       tools/igt.sh build TREE
		  list   write igt-tests/ci/asahi-subtests.txt, from build/host
		  add    put our files into a tree of IGT GPU Tools (2.5 or later) and into
		         its build files; what it has already stays
		  build  add, build them in TREE/build-asahi with meson, list their subtests
	END
	exit 2
}

# list_subtests - those of the programs that are built here
list_subtests()
{
	local programs

	"$top/tools/build.sh" host
	mapfile -t programs < <(find "$top/build/host/igt-tests/tests/asahi" -maxdepth 1 -type f \
		-name 'asahi_*' -perm -u+x | sort)
	[ ${#programs[@]} -gt 0 ] || die "build/host has no tests"
	"$top/tools/toolbox.sh" run igt-tests/ci/subtests.sh "${programs[@]#"$top"/}" \
		>"$top/igt-tests/ci/asahi-subtests.txt"
}

# has FILE TEXT WHY - the tree is recent enough
has()
{
	grep -qsF -- "$2" "$tree/$1" || die "$tree/$1 has no '$2': $3"
}

# insert FILE AFTER LINE - once, behind the first line that is AFTER
insert()
{
	if ! grep -qxF -- "$3" "$tree/$1"; then
		LINE=$3 AFTER=$2 awk '
			{ print }
			!done && $0 == ENVIRON["AFTER"] { print ENVIRON["LINE"]; done = 1 }
			END { exit !done }' "$tree/$1" >"$tree/$1.new" || {
			rm -f "$tree/$1.new"
			die "$tree/$1 has no line '$2' to put '$3' behind"
		}
		mv "$tree/$1.new" "$tree/$1"
	fi
}

# copy FILE - ours; never over a file of the tree's that we did not write
copy()
{
	if [ -e "$tree/$1" ] && ! grep -q 'The asahi driver authors' "$tree/$1"; then
		die "$tree/$1 is there and not ours; nothing is replaced"
	fi
	mkdir -p "$(dirname "$tree/$1")"
	cp "$top/igt-tests/$1" "$tree/$1"
}

add()
{
	local file name

	[ -e "$tree/lib/igt_core.h" ] || die "$tree is no tree of IGT GPU Tools: it has no lib/igt_core.h"
	has lib/igt_core.h '#define igt_main()' "the tests are for IGT 2.5 or later"
	has lib/drmtest.h DRIVER_ASAHI "it does not know the driver"
	has lib/igt_asahi.h igt_asahi_get_params "it has no library for the driver"
	has include/drm-uapi/asahi_drm.h DRM_IOCTL_ASAHI_SUBMIT "it has no header of the driver's"

	# In reverse, as each is put in front of the one before.
	while read -r file; do
		copy "$file"
		case $file in
		lib/*.c) insert lib/meson.build "	'igt_asahi.c'," "	'${file#lib/}'," ;;
		tests/*.c)
			name=$(basename "$file" .c)
			insert tests/asahi/meson.build "asahi_progs = [" "	'$name',"
			;;
		esac
	done < <(cd "$top/igt-tests" && printf '%s\n' lib/asahi/*.[ch] tests/asahi/*.c | LC_ALL=C sort -r)
	echo "our tests are in $tree"
}

build()
{
	local file dir=$tree/build-asahi programs=()

	add
	for file in "$tree"/tests/asahi/*.c; do
		programs+=("tests/asahi/$(basename "$file" .c)")
	done
	[ -e "$dir/build.ninja" ] || meson setup "$dir" "$tree" ${IGT_MESON_OPTIONS:-} ||
		die "meson cannot set $tree up; IGT's README says which packages it needs"
	ninja -C "$dir" "${programs[@]}"
	for file in "${programs[@]}"; do
		"$dir/$file" --list-subtests | sed "s,^,asahi/$(basename "$file")@,"
	done
}

case ${1:-} in
list) list_subtests ;;
add|build)
	[ $# = 2 ] || usage
	tree=$(realpath "$2")
	"$1"
	;;
*) usage ;;
esac

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# The files that git knows as a tarball, build/dist/asahi-VERSION.tar.xz, whose name is
# printed. The same files make the same bytes: their times are that of the changelog.

. "$(dirname "$0")/lib.sh"

cd "$top"
[ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(realpath "$top")" ] ||
	die "this is no clone: git says which files belong to it"
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)
epoch=$(date -d "$(sed -n '0,/^ -- /s/^ -- .*>  //p' debian/changelog)" +%s)
name=asahi-$version
dir=build/dist
mkdir -p "$dir"
git ls-files -z | tar --null --no-recursion -T - --sort=name --format=gnu --mtime="@$epoch" \
	--owner=0 --group=0 --numeric-owner --mode=u+rw,go=u,go-w \
	--transform="flags=rSH;s|^|$name/|" -c | xz -T1 -6 >"$dir/$name.tar.xz.new"
mv "$dir/$name.tar.xz.new" "$dir/$name.tar.xz"
printf '%s\n' "$dir/$name.tar.xz"

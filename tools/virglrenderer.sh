#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# virglrenderer with native contexts of this driver: Debian's package is built without, so its
# source package is built here with the option, in the root for native contexts and in the cache.
# Prints the folder that has the library.
#
# ASAHI_VIRGLRENDERER=FOLDER is a folder, in the clone or in the cache, that has one already. Fails
# where the source package is not to be had.

. "$(dirname "$0")/lib.sh"

suite=forky
packages=$top/tools/toolbox/packages-native

# fetch_source DIR - the files of the source package, which apt compares with their sums
fetch_source()
{
	local dir=$1

	apt_only $suite
	apt_update
	mkdir -p "$dir/lists/partial" "$dir/files"
	sed 's/^deb \[\([^]]*\) arch=[^]]*\]/deb-src [\1]/' "$apt_dir/sources.list" \
		>"$dir/sources.list"
	source_get()
	{
		(cd "$dir/files" && apt_get -o Dir::Etc::SourceList="$dir/sources.list" \
			-o Dir::State::Lists="$dir/lists" "$@") >"$dir/fetch.log" 2>&1 || {
			grep '^E:' "$dir/fetch.log" >&2 || tail -n 20 "$dir/fetch.log" >&2
			die "the source package virglrenderer of $suite is not to be had from $(apt_mirror); set ASAHI_VIRGLRENDERER=<folder with a libvirglrenderer.so.1 that has native contexts>"
		}
	}
	source_get update
	source_get source --download-only --only-source virglrenderer
	(cd "$dir/files" && ls) >>"$product/.packages"
}

# unpack_source FILES DIR - as dpkg-source does, which the toolbox lacks
unpack_source()
{
	local files=$1 dir=$2

	mkdir "$dir"
	tar -C "$dir" --strip-components=1 -xf "$files"/*.orig.tar.*[a-z2]
	tar -C "$dir" -xf "$files"/*.debian.tar.*
	[ ! -e "$dir/debian/patches/series" ] ||
		grep -v -e '^#' -e '^$' "$dir/debian/patches/series" | while read -r patch; do
			patch -d "$dir" -p1 -s -f <"$dir/debian/patches/$patch"
		done
}

build_library()
{
	local dir=$1

	fetch_source "$dir"
	unpack_source "$dir/files" "$dir/source"
	# shellcheck disable=SC2016
	progress "building virglrenderer" "$dir/build.log" "$top/tools/toolbox.sh" native sh -c '
		meson setup "$0/build" "$0/source" -Ddrm-renderers=asahi -Dplatforms=egl \
			-Dbuildtype=debugoptimized &&
		ninja -C "$0/build"' "$dir"
	cp "$dir/build/src/libvirglrenderer.so.1" "$dir/"
	rm -rf "$dir/build" "$dir/source" "$dir/files" "$dir/lists"
}

if [ -n "${ASAHI_VIRGLRENDERER:-}" ]; then
	dir=$(realpath "$ASAHI_VIRGLRENDERER")
	[ -e "$dir/libvirglrenderer.so.1" ] ||
		die "ASAHI_VIRGLRENDERER=$ASAHI_VIRGLRENDERER has no libvirglrenderer.so.1"
else
	dir=$(cached "virglrenderer-$(hash_of "$packages" "$top/tools/virglrenderer.sh")" build_library)
fi
printf '%s\n' "$dir"

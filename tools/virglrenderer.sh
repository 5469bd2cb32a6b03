#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# virglrenderer with native contexts of this driver: Debian's package is built without, so its
# source package is built here with the option and in the cache: for the root for native contexts,
# and for our own guest. Prints the folder that has the library, and that of the guest in arm64.
#
# ASAHI_VIRGLRENDERER=FOLDER is a folder, in the clone or in the cache, that has one already. Fails
# where the source package is not to be had.

. "$(dirname "$0")/lib.sh"

suite=forky
packages=$top/tools/toolbox/packages-native
cross=$top/userspace/meson-cross-arm64.ini

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

options=(-Ddrm-renderers=asahi -Dplatforms=egl -Dbuildtype=debugoptimized)

# build_for_host DIR
build_for_host()
{
	# shellcheck disable=SC2016
	progress "building virglrenderer" "$1/build.log" "$top/tools/toolbox.sh" native sh -c '
		dir=$0
		meson setup "$dir/build" "$dir/source" "$@" && ninja -C "$dir/build"' \
		"$1" "${options[@]}"
	cp "$1/build/src/libvirglrenderer.so.1" "$1/"
}

# describe ROOT NAME [LIBRARY] - for pkg-config: the packages' own descriptions name others,
# which nothing here needs
describe()
{
	printf '%s\n' "Name: $2" "Description: $2" "Version: 99" epoxy_has_egl=1 epoxy_has_glx=0 \
		"Cflags: -I$1/usr/include" "Libs: -L$1/usr/lib/aarch64-linux-gnu ${3:-}" \
		>"$1/$2.pc"
}

# build_for_guest DIR - with what the toolbox has of arm64, and a few packages
build_for_guest()
{
	local dir=$1 root=$1/root

	apt_update
	apt_fetch_alone "$dir/packages" trixie libepoxy0:arm64 libepoxy-dev:arm64 libgbm1:arm64 \
		libgbm-dev:arm64 libegl-dev:arm64
	mkdir "$root"
	unpack "$root" "$dir"/packages/*.deb
	describe "$root" epoxy -lepoxy
	describe "$root" gbm -lgbm
	describe "$root" egl
	sed "s|^pkg_config_libdir = .|&'$root', |" "$cross" >"$dir/cross.ini"
	# shellcheck disable=SC2016
	progress "building virglrenderer for the guest" "$dir/guest.log" "$top/tools/toolbox.sh" \
		run sh -c '
		dir=$0
		meson setup "$dir/build-guest" "$dir/source" --cross-file "$dir/cross.ini" "$@" &&
		ninja -C "$dir/build-guest"' \
		"$dir" "${options[@]}" -Dc_link_args=-Wl,--allow-shlib-undefined
	mkdir "$dir/arm64"
	cp "$dir/build-guest/src/libvirglrenderer.so.1" \
		"$root/usr/lib/aarch64-linux-gnu/libepoxy.so.0" "$dir/arm64/"
}

build_library()
{
	local dir=$1

	(fetch_source "$dir")
	unpack_source "$dir/files" "$dir/source"
	build_for_host "$dir"
	build_for_guest "$dir"
	rm -rf "$dir"/{build,build-guest,source,files,lists,packages,root}
}

if [ -n "${ASAHI_VIRGLRENDERER:-}" ]; then
	dir=$(realpath "$ASAHI_VIRGLRENDERER")
	[ -e "$dir/libvirglrenderer.so.1" ] ||
		die "ASAHI_VIRGLRENDERER=$ASAHI_VIRGLRENDERER has no libvirglrenderer.so.1"
else
	dir=$(cached "virglrenderer-$(hash_of "$packages" "$cross" "$top/tools/virglrenderer.sh")" build_library)
fi
printf '%s\n' "$dir"

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# Debian packages of everything for amd64 and arm64, in build/packages or below FOLDER:
# built by dpkg-buildpackage from the tarball of "make dist", in a root that has what
# debian/control asks for, and looked at by lintian. vagx-vm has a guest with those for arm64.
#
# usage: tools/packages.sh [FOLDER]

. "$(dirname "$0")/lib.sh"

cd "$top"
out=${1:-build/packages}
[[ $out = build/?* ]] || die "$out is not below build/"
rm -rf "$out"
mkdir -p "$out"
tarball=$(tools/dist.sh)

# build_packages ARCHITECTURE FOLDER PROFILES [OPTION ...] - from the tarball, into FOLDER
build_packages()
{
	local arch=$1 dir=$2 profiles=$3
	shift 3

	mkdir -p "$dir/asahi"
	tar -C "$dir/asahi" --strip-components=1 -xf "$tarball"
	progress "building packages for $arch" "$dir/build.log" tools/toolbox.sh packaging \
		env DEB_BUILD_OPTIONS=nocheck DEB_BUILD_PROFILES="$profiles" "VAGX_VM_GUEST=$top/$out/guest" \
		sh -c 'cd "$1" && shift && dpkg-buildpackage "$@"' sh "$dir/asahi" -us -uc -J"$jobs" "$@"
}

# The programs of vagx-vm's guest are those for arm64.
build_packages arm64 "$out/arm64" "cross nocheck" --host-arch arm64 --build=any
tools/vm-guest.sh make "$out/guest" "$out/arm64" "$top/$out/arm64/asahi"
build_packages amd64 "$out" "nocheck pkg.asahi.vm"
mv "$out"/arm64/*.{deb,changes,buildinfo} "$out"
rm -rf "$out"/{asahi,arm64/asahi}
say "lintian"
tools/toolbox.sh packaging sh -c 'cd "$1" && lintian --allow-root --fail-on error *.changes' sh "$out" ||
	die "lintian has found errors"
say "packages are in $out"

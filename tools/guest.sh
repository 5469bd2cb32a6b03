#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# The guest's root: Debian trixie for arm64 with Mesa, unpacked without running
# any of it, made into an ext2 image in the cache. Prints the image's name.
#
# usage: guest.sh [desktop]
#
# "desktop" has games, too.

. "$(dirname "$0")/lib.sh"

kind=${1:-}
lists=("$top/tools/guest/packages") size=1500M
case $kind in
'') ;;
desktop) lists+=("$top/tools/guest/packages-desktop") size=3G ;;
*) die "usage: guest.sh [desktop]" ;;
esac

# unpack_piglit ROOT PACKAGE_FILE - its programs. The files that they read, 2 GB, are the
# same on every architecture: the guest gets those that it needs from the host.
unpack_piglit()
{
	dpkg-deb --fsys-tarfile "$2" | tar -C "$1" -xp --no-same-owner --wildcards \
		'./usr/lib/*/piglit/bin/*' './usr/lib/*/piglit/lib/*'
	rm "$2"
}

build_guest()
{
	local dir=$1 root=$1/root packages list

	say "making the guest's root${kind:+ with games}"
	apt_update
	mapfile -t packages < <(for list in "${lists[@]}"; do packages_of "$list"; done)
	apt_fetch "$dir/packages" arm64 "${packages[@]}"
	mkdir "$root"
	unpack "$root" "$dir"/packages/base-files_*.deb
	unpack_piglit "$root" "$dir"/packages/piglit_*.deb
	unpack "$root" "$dir"/packages/*.deb
	minimal_etc "$root"
	ln -sf gawk "$root/usr/bin/awk"
	ln -sf which.debianutils "$root/usr/bin/which"
	mkdir -p "$root/clone" "$root/out"
	cp "$top/tools/guest/init" "$root/usr/sbin/asahi-init"
	"$top/tools/toolbox.sh" run sh -c '
		set -e
		chown -R 0:0 "$1"
		truncate -s "$3" "$2"
		mkfs.ext2 -q -F -d "$1" "$2"
	' sh "$root" "$dir/root.ext2" "$size"
	rm -rf "$root" "$dir/packages"
}

dir=$(cached "guest-${kind:+$kind-}$(hash_of "${lists[@]}" "$top/tools/guest/init" \
	"$top/tools/guest.sh")" build_guest)
printf '%s/root.ext2\n' "$dir"

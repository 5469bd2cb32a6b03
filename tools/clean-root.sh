#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# A new Debian trixie, as debootstrap makes it, in which packages are installed as on a
# machine, with their maintainers' scripts, by apt, and from a repository of files, which takes
# all of them for trixie-backports'. Only root can install so: an ordinary user's namespace has
# one user.
#
# usage: tools/clean-root.sh path                  the product: root.tar, repository/
#        tools/clean-root.sh make ROOT             unpack a new one
#        tools/clean-root.sh run ROOT [FOLDER=PLACE ...] -- COMMAND [ARGUMENT ...]
#                                                  run it there; FOLDER is PLACE there

. "$(dirname "$0")/lib.sh"

list=$top/tools/toolbox/packages-clean

build_clean()
{
	local dir=$1 packages base

	say "making a clean root and a repository in $cache (about 1 GB)"
	apt_update
	mapfile -t packages < <(packages_of "$list")
	apt_fetch "$dir/repository" amd64 "${packages[@]}"
	rm -rf "$dir"/repository/{none,apt.log,fetch.log}
	base=$(sed '/^# the driver/,$d' "$list" | packages_of /dev/stdin | paste -sd,)
	progress "installing a clean root" "$dir/build.log" "$top/tools/toolbox.sh" packaging sh -ec '
		cd "$1/repository"
		dpkg-scanpackages -m . >Packages
		{
			printf "Suite: trixie-backports\nCodename: trixie-backports\n"
			printf "Date: %s\nSHA256:\n" "$(date -Ru)"
			printf " %s %s Packages\n" "$(sha256sum <Packages | cut -d" " -f1)" "$(wc -c <Packages)"
		} >Release
		mkdir -p /etc/apt/apt.conf.d /etc/apt/preferences.d /etc/apt/trusted.gpg.d /var/lib/apt
		mmdebstrap --mode=root --variant=custom --format=tar --include="$2" \
			--setup-hook="mkdir -p \"\$1/repository\"" \
			trixie "$1/root.tar" "deb [trusted=yes] copy:$1/repository ./"
	' sh "$dir" "$base"
}

clean_root()
{
	cached "clean-$(hash_of "$list" =2)" build_clean
}

# run_there ROOT [FOLDER=PLACE ...] -- COMMAND ...
run_there()
{
	local root=$1 folders=()
	shift

	while [ "$1" != -- ]; do
		folders+=("$1")
		shift
	done
	shift
	# shellcheck disable=SC2016
	"$top/tools/toolbox.sh" root bash -ec '
		root=$1 repository=$2 count=$3; shift 3
		mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
		for d in proc sys dev; do mount --rbind "/$d" "$root/$d"; done
		while [ $count -gt 0 ]; do
			mkdir -p "$root/${1#*=}"
			mount --rbind "${1%%=*}" "$root/${1#*=}"
			count=$((count - 1)); shift
		done
		mount --bind "$repository" "$root/repository"
		exec chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/local/bin:/usr/sbin:/usr/bin \
			LANG=C.UTF-8 TERM=dumb DEBIAN_FRONTEND=noninteractive "$@"
	' bash "$root" "$(clean_root)/repository" ${#folders[@]} "${folders[@]}" "$@"
}

case ${1:-} in
path)
	clean_root
	;;
make)
	[ "$(id -u)" = 0 ] || die "packages can be installed by root only"
	dir=$(clean_root)
	rm -rf "$2"
	mkdir -p "$2/repository"
	tar -C "$2" -xf "$dir/root.tar"
	echo 'deb [trusted=yes] copy:/repository ./' >"$2/etc/apt/sources.list"
	# An image of Debian's for containers has this file, with other words behind these.
	printf 'Enabled: no\nTypes: deb\nURIs: file:/nowhere\nSuites: trixie trixie-updates\nComponents: main\n' \
		>"$2/etc/apt/sources.list.d/debian.sources"
	;;
run)
	shift
	run_there "$@"
	;;
*)
	die "usage: tools/clean-root.sh path | make ROOT | run ROOT [FOLDER=PLACE ...] -- COMMAND ..."
	;;
esac

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# The guest that the package vagx-vm brings: a kernel, and a root with the driver, its
# carrier and our clients, which is a folder.
#
# usage: tools/vm-guest.sh packages         what of Debian is in it, in the cache
#        tools/vm-guest.sh make FOLDER DEBS SOURCE
#                                           make it, with our packages for arm64 in DEBS and
#                                           modules of SOURCE, an absolute path in the clone;
#                                           FOLDER.sources lists Debian's sources

. "$(dirname "$0")/lib.sh"

list=$top/tools/guest/packages-vm

# source_of DEB - "source (= version)", as Built-Using has it
source_of()
{
	# shellcheck disable=SC2016
	dpkg-deb -W --showformat='${source:Package} (= ${source:Version})\n' "$1"
}

fetch_packages()
{
	local dir=$1 packages deb

	apt_update
	mapfile -t packages < <(packages_of "$list")
	apt_fetch "$dir/packages" arm64 "${packages[@]}"
	mkdir "$dir/root"
	unpack "$dir/root" "$dir"/packages/*.deb
	# Licences stay with what they are of. A package may have those of another.
	for deb in "$dir"/packages/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" |
			tar -C "$dir/root" -x --no-same-owner --wildcards './usr/share/doc/*/copyright' \
				2>/dev/null || true
		source_of "$deb"
	done | sort -u >"$dir/built-using"
	rm -rf "$dir/packages"
}

# small_root FETCHED ROOT DEBS - busybox, what our programs are linked with, and them
small_root()
{
	local fetched=$1 root=$2 library

	mkdir -p "$root"/{applets,bin,dev,etc,mnt,newroot,out,proc,root,run,sys,tmp,usr/bin,usr/lib/aarch64-linux-gnu,usr/share}
	ln -s usr/lib "$root/lib"
	cp "$fetched/usr/bin/busybox" "$root/bin/"
	ln -s busybox "$root/bin/sh"
	cp -L "$fetched/usr/lib/ld-linux-aarch64.so.1" "$root/usr/lib/"
	for library in libc.so.6 libm.so.6 libgcc_s.so.1 libdrm.so.2 libpng16.so.16 libz.so.1; do
		cp -L "$fetched/usr/lib/aarch64-linux-gnu/$library" "$root/usr/lib/aarch64-linux-gnu/"
	done
	cp -r "$fetched/usr/share/doc" "$root/usr/share/"
	dpkg-deb --fsys-tarfile "$3"/asahi-clients_*_arm64.deb |
		tar -C "$root" -x --no-same-owner --wildcards './usr/bin/asahi-*'
	# It is for machines, in several boots of one.
	rm "$root/usr/bin/asahi-bringup"
	dpkg-deb --fsys-tarfile "$3"/libdrm-asahi0_*_arm64.deb |
		tar -C "$root" -x --no-same-owner --wildcards './usr/lib/*'
	echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
	echo 'root:x:0:' >"$root/etc/group"
}

make_guest()
{
	local dir=$1 kdir fetched module name

	fetched=$(cached "vm-guest-$(hash_of "$list" =1)" fetch_packages)
	kdir=$("$top/tools/kernel.sh" plain)
	name=vm-$(basename "$(dirname "$dir")")
	# Without the checks that are for those who test the driver
	"$top/tools/modules.sh" plain --name "$name" --source "$3" --uncached CONFIG_DRM_ASAHI_DEBUG=
	rm -rf "$dir"
	mkdir -p "$dir/guest"
	small_root "$fetched/root" "$dir/root" "$2"
	mkdir "$dir/root/lib/modules"
	for module in gpu/drm/asahi/asahi platform/vagx/vagx_carrier; do
		cp "$top/build/modules-$name/drivers/$module.ko" "$dir/root/lib/modules/"
	done
	cp "$top/emulator/vm/init" "$dir/root/init"
	cp "$kdir/arch/arm64/boot/Image" "$dir/"
	cp "$kdir/.config" "$dir/kernel.config"
	cp "$top/tools/devicetree.sh" "$dir/"
	cp "$top/tools/guest/vagx.dtso" "$dir/guest/"
	chmod -R u=rwX,go=rX "$dir"
	{
		cat "$fetched/built-using"
		sed -n 's/^linux-source-[^_]*_\(.*\)_all[.]deb/linux (= \1)/p' \
			"$(dirname "$("$top/tools/kernel.sh" source)")/.packages"
	} >"$dir.sources"
	rm -rf "$top/build/modules-$name"
}

case ${1:-} in
packages)
	cached "vm-guest-$(hash_of "$list" =1)" fetch_packages
	;;
make)
	[ $# = 4 ] || die "usage: tools/vm-guest.sh make FOLDER DEBS SOURCE"
	make_guest "$2" "$3" "$4"
	;;
*)
	die "usage: tools/vm-guest.sh packages | make FOLDER DEBS SOURCE"
	;;
esac

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# Debian packages of everything, in build/packages: built by dpkg-buildpackage from
# the files that git knows, in a root that has what debian/control asks for, and
# looked at by lintian. Then DKMS builds the driver against headers of the virtual
# machine's kernel, and against headers that lack what it needs.

. "$(dirname "$0")/lib.sh"

cd "$top"
out=build/packages
rm -rf "$out"
mkdir -p "$out/asahi"
git ls-files | tar -cT - | tar -xC "$out/asahi"
progress "building packages" "$out/build.log" "$top/tools/toolbox.sh" packaging \
	sh -c "cd $out/asahi && DEB_BUILD_OPTIONS=nocheck \
	DEB_BUILD_PROFILES=nocheck dpkg-buildpackage -us -uc -J$jobs"
say "lintian"
"$top/tools/toolbox.sh" packaging sh -c "cd $out && lintian --allow-root --fail-on error *.changes" ||
	die "lintian has found errors"

# header_package KDIR RELEASE DIR - the headers that modules need, as a package whose
# programs are this machine's: it builds for arm64, and does not on arm64
header_package()
{
	local root=$3/root
	local headers=$root/usr/src/linux-headers-$2

	mkdir -p "$root/DEBIAN" "$headers"
	KERNEL_SOURCE=$source KDIR=$1 "$top/tools/toolbox.sh" run sh -c '
		cd "$1" && srctree="$2" SRCARCH=arm64 CC=cc HOSTCC=cc MAKE=make \
		sh "$2/scripts/package/install-extmod-build" "$3"' sh "$1" "$source" "$top/$headers"
	cat >"$root/DEBIAN/control" <<-END
		Package: linux-headers-$2
		Version: 1
		Architecture: all
		Maintainer: The asahi driver authors <authors@asahi.invalid>
		Description: headers of the virtual machine's kernel
	END
	dpkg-deb -Znone --root-owner-group --build "$root" "$3/linux-headers-$2.deb" >/dev/null
}

# dkms_build DIR RELEASE HEADERS - as dkms does when a kernel or the module is installed
dkms_build()
{
	"$top/tools/toolbox.sh" packaging env ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- \
		dkms build -m asahi -v "$version" -k "$2" -a aarch64 --sourcetree "$1/usr/src" \
		--dkmstree "$1/dkms" --installtree "$1/modules" --kernelsourcedir "$3" \
		>"$1/log" 2>&1
}

say "dkms, for a kernel that has what the driver needs"
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
source=$("$top/tools/kernel.sh" source)
kdir=$("$top/tools/kernel.sh" plain)
release=$(cat "$kdir/include/config/kernel.release")
trial=$top/$out/dkms
for dir in with without; do
	mkdir -p "$trial/$dir/dkms" "$trial/$dir/modules"
	dpkg-deb -x "$out/asahi-dkms_${version}_all.deb" "$trial/$dir"
done
header_package "$kdir" "$release" "$out/headers"
dpkg-deb -x "$out/headers/linux-headers-$release.deb" "$trial/with"
headers=$trial/with/usr/src/linux-headers-$release
dkms_build "$trial/with" "$release" "$headers" || {
	cat "$trial/with/log" "$trial/with/dkms/asahi/$version/build/make.log" >&2 || true
	die "dkms does not build the module"
}
find "$trial/with/dkms" -name 'asahi.ko*' | grep -q . || die "dkms has made no module"

say "dkms, for one that lacks it"
cp -al "$headers" "$trial/without/headers"
sed -i.with /CONFIG_APPLE_RTKIT=/d "$trial/without/headers/include/config/auto.conf"
status=0
dkms_build "$trial/without" "$release" "$trial/without/headers" || status=$?
[ $status = 77 ] || { cat "$trial/without/log" >&2; die "dkms does not skip it (status $status)"; }
"$top/tools/toolbox.sh" packaging make -s -C "$trial/without/headers" ARCH=arm64 \
	CROSS_COMPILE=aarch64-linux-gnu- M="$trial/without/usr/src/asahi-$version" modules \
	>"$trial/without/make.log" 2>&1 || true
grep -q 'built without CONFIG_APPLE_RTKIT,' "$trial/without/make.log" ||
	die "nobody says what that kernel lacks, see $trial/without/make.log"
say "packages are in $out"

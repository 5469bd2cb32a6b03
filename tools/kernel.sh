#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# The test machine's kernels, built in the cache from Debian's kernel source
# package or from the tree that KERNEL_SOURCE names. Prints the build folder,
# which has arch/arm64/boot/Image and serves as KDIR.

. "$(dirname "$0")/lib.sh"

version=$kernel_version

usage()
{
	cat >&2 <<-END
		usage: tools/kernel.sh plain|debug|nightly     the kernel's build folder
		       tools/kernel.sh pack plain|debug|nightly FOLDER
		                                               put what a run needs of it into
		                                               an archive there
		       tools/kernel.sh source                  its source
		ASAHI_KERNELS=FOLDER|URL has such archives, which are taken where the name fits
	END
	exit 2
}

fetch_source()
{
	local dir=$1

	say "fetching the source of Linux $version"
	apt_update
	apt_fetch_alone "$dir" trixie-backports "linux-source-$version"
	dpkg-deb -x "$dir"/linux-source-*.deb "$dir/package"
	say "unpacking it"
	"$top/tools/toolbox.sh" run tar -C "$dir" -xf "$dir/package/usr/src/linux-source-$version.tar.xz"
	rm -rf "$dir/package" "$dir"/*.deb
	mv "$dir/linux-source-$version" "$dir/linux"
}

# Debian's package, or KERNEL_SOURCE if that is a clean tree of this version.
source_tree()
{
	local tree=${KERNEL_SOURCE:-} found

	if [ -z "$tree" ]; then
		tree=$(cached "linux-$version" fetch_source)/linux
	fi
	tree=$(realpath "$tree")
	[ -f "$tree/Makefile" ] || die "KERNEL_SOURCE=$tree has no Makefile"
	found=$(sed -n 's/^\(VERSION\|PATCHLEVEL\) = //p' "$tree/Makefile" | paste -sd.)
	[ "$found" = "$version" ] ||
		die "KERNEL_SOURCE=$tree is Linux $found; $version is needed"
	[ ! -e "$tree/.config" ] ||
		die "KERNEL_SOURCE=$tree is not clean; run 'make mrproper' there"
	printf '%s\n' "$tree"
}

# A copy of a tree, with patches. Debian's is linked, as patch(1) writes each file that it changes
# anew; the user may write others.
patch_source()
{
	local tree=$1 dir=$2 patch links=()

	[ -n "${KERNEL_SOURCE:-}" ] || links=(--link)
	cp -a "${links[@]}" "$tree" "$dir/linux"
	for patch in "${patches[@]}"; do
		patch -d "$dir/linux" -p1 -s -f <"$patch" || die "$patch does not apply to $tree"
	done
}

# fetch_kernel TREE DIR - unpack an archive of "pack", if ASAHI_KERNELS has one. Its name
# says what it was made of, but not where: two files of it name the source.
fetch_kernel()
{
	local tree=$1 dir=$2 archive

	archive=$(basename "$dir").tar.xz
	case ${ASAHI_KERNELS:-} in
	'') return 1 ;;
	*://*) curl -fsSL -o "$dir/$archive" "$ASAHI_KERNELS/$archive" ;;
	*) cp "$ASAHI_KERNELS/$archive" "$dir/$archive" ;;
	esac || {
		say "$ASAHI_KERNELS has no $archive"
		return 1
	}
	say "unpacking $archive"
	tar -C "$dir" -xf "$dir/$archive" || die "$ASAHI_KERNELS/$archive is damaged"
	rm "$dir/$archive"
	printf 'export KBUILD_OUTPUT = %s\ninclude %s/Makefile\n' "$dir" "$tree" >"$dir/Makefile"
	ln -sfn "$tree" "$dir/source"
}

# pack_kernel DIR FOLDER - without what only further builds of that kernel would need
pack_kernel()
{
	local archive

	archive=$2/$(basename "$1").tar.xz
	tar -C "$1" --exclude='*.o' --exclude='*.a' --exclude='*.cmd' --exclude='vmlinux*' \
		--exclude='.tmp*' --exclude=build.log --exclude=.packages --exclude=.complete \
		-cJf "$archive.new" .
	mv "$archive.new" "$archive"
	say "made $archive"
}

# The cache has the kernel as a whole.
build_kernel()
{
	local fragments=$1 tree=$2 dir=$3

	! fetch_kernel "$tree" "$dir" || return 0

	say "configuring"
	KERNEL_SOURCE=$tree "$top/tools/toolbox.sh" run "$top/tools/kernel/configure" "$tree" "$dir" $fragments
	KERNEL_SOURCE=$tree progress "building $kind kernel" "$dir/build.log" \
		"$top/tools/toolbox.sh" compile env CCACHE_DISABLE=1 make -C "$dir" ARCH=arm64 \
		CROSS_COMPILE=aarch64-linux-gnu- KBUILD_BUILD_TIMESTAMP=2026-01-01 \
		KBUILD_BUILD_USER=asahi KBUILD_BUILD_HOST=asahi \
		-j"$jobs" "${arguments[@]}" Image modules
}

# Drivers that are there for what they select (plain.config): configured, and not built.
pack=''
if [ "${1:-}" = pack ]; then
	[ $# = 3 ] || usage
	pack=$3
	[ -d "$pack" ] || die "$pack is not a folder"
	shift
fi
kind=${1:-} arguments=(CONFIG_DRM_PANTHOR= CONFIG_DRM_PANFROST=) patches=()
case $kind in
source)
	source_tree
	exit
	;;
plain)
	fragments="$top/tools/kernel/plain.config"
	;;
debug)
	fragments="$top/tools/kernel/plain.config $top/tools/kernel/debug.config"
	# Modules are instrumented, and what the driver hands its memory to. All of the
	# kernel would take far longer to build and to run. Locks are not: lockdep has KASAN
	# look at each that is taken or released (debug-speed.patch). A folder of the kernel is
	# $(obj) of its makefiles.
	folders="drivers/gpu/drm drivers/gpu/drm/% drivers/dma-buf drivers/base
		drivers/base/power drivers/mailbox drivers/soc/apple kernel kernel/dma
		lib"
	# shellcheck disable=SC2086
	instrumented="\$(if \$(filter $(echo $folders),\$(obj)),y,n)"
	arguments+=("KASAN_SANITIZE=$instrumented" "UBSAN_SANITIZE=$instrumented")
	# The driver's two ways to ring a doorbell: this kernel can send without a wait, the
	# others, as mainline, cannot. The other two patches are for speed.
	patches=("$top"/tools/{series/elsewhere/{rtkit-try-send,tracing-callers},kernel/debug-speed}.patch)
	;;
nightly)
	fragments="$top/tools/kernel/plain.config $top/tools/kernel/nightly.config"
	# Only modules are watched, which are built later: a kernel that watches itself
	# is several times slower, and its own races are not looked for.
	arguments+=(KCSAN_SANITIZE=n)
	;;
*)
	usage
	;;
esac

tree=$(source_tree)
if [ -n "${patches[*]}" ]; then
	tree=$(cached "linux-$version-$(hash_of "=${KERNEL_SOURCE:+$tree}" "${patches[@]}")" \
		patch_source "$tree")/linux
fi
# A tree of the user's is known by its place, Debian's by its version.
made_of=("=${KERNEL_SOURCE:+$tree}" "$tree/Makefile" "${patches[@]}" "${arguments[@]/#/=}")
# A toolbox that was made anew may have another compiler.
toolbox=$(dirname "$("$top/tools/toolbox.sh" path)")
[ "$toolbox" = "${toolbox%+*}" ] || made_of+=("=${toolbox##*/}")
# shellcheck disable=SC2086
hash=$(hash_of $fragments "$top/tools/kernel/configure" "${made_of[@]}")
dir=$(cached "kernel-$kind-$hash" build_kernel "$fragments" "$tree")
if [ -n "$pack" ]; then
	pack_kernel "$dir" "$(realpath "$pack")"
else
	printf '%s\n' "$dir"
fi

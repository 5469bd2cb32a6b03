#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# Build the modules, for one of the test machine's kernels or for KDIR. Output
# goes to build/modules-<NAME>, NAME being that of the kernel unless it is given.
# SOURCE is the folder of other sources than the clone's, below it. With --uncached the modules
# are the same wherever they are built: ccache makes paths relative, so that kbuild's
# -fmacro-prefix-map does not fit them.

. "$(dirname "$0")/lib.sh"

usage()
{
	cat >&2 <<-END
		usage: tools/modules.sh plain|debug|nightly|kdir [--name NAME] [--source SOURCE]
		                        [--uncached] [MAKE_ARGUMENT ...]
	END
	exit 2
}

KERNEL_SOURCE=${KERNEL_SOURCE:-}
[ $# -gt 0 ] || usage
kind=$1 name=$1 source=$top options=() environment=()
shift
if [ "${1:-}" = --name ]; then
	name=$2
	shift 2
fi
if [ "${1:-}" = --source ]; then
	source=$2
	shift 2
fi
if [ "${1:-}" = --uncached ]; then
	environment=(env CCACHE_DISABLE=1)
	shift
fi

case $kind in
kdir)
	[ -n "${KDIR:-}" ] || die "KDIR=<built 7.3 kernel tree> is not set"
	[ -e "$KDIR/include/config/auto.conf" ] ||
		die "KDIR=$KDIR is not a configured kernel tree (no include/config/auto.conf)"
	KDIR=$(realpath "$KDIR")
	# A build folder apart from its source.
	[ ! -e "$KDIR/source" ] || KERNEL_SOURCE=$(realpath "$KDIR/source")
	export KERNEL_SOURCE
	;;
plain|debug|nightly)
	KDIR=$("$top/tools/kernel.sh" "$kind")
	# With the warnings of lane "modules", which takes the objects from ccache then
	options=(CONFIG_DRM_ASAHI_DEBUG=y W=1)
	;;
*)
	usage
	;;
esac
export KDIR
release=$(cat "$KDIR/include/config/kernel.release" 2>/dev/null || true)
case $release in
7.3|7.3.*|7.3-*) ;;
*) die "KDIR=$KDIR is Linux ${release:-unknown}; 7.3 is needed" ;;
esac

out=$top/build/modules-$name
mkdir -p "$out"
# Lanes that run beside each other begin with this.
exec 9>"$out.lock"
flock 9
command=(make -s -C "$KDIR" M="$source" MO="$out" -j"$jobs" "${options[@]}")
if [ "$(uname -m)" != aarch64 ]; then
	command=("$top/tools/toolbox.sh" compile "${environment[@]}" "${command[@]}")
	! grep -qx CONFIG_ARM64=y "$KDIR/include/config/auto.conf" ||
		command+=(ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-)
fi
progress "building ${out#"$top/"}" "$out/make.log" "${command[@]}" "$@" modules
# Warnings are for the caller to see.
cat "$out/make.log"
kunit=$KDIR/lib/kunit/kunit.ko
[ ! -e "$kunit" ] || cmp -s "$kunit" "$out/kunit.ko" || cp "$kunit" "$out/"

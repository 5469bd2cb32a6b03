#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# Build the modules in the toolbox, for one of the test machine's kernels or
# for KDIR. Output goes to build/modules-<kind>.

. "$(dirname "$0")/lib.sh"

[ $# -gt 0 ] || {
	echo "usage: tools/modules.sh plain|debug|kdir [MAKE_ARGUMENT ...]" >&2
	exit 2
}
kind=$1
shift

case $kind in
kdir)
	[ -e "${KDIR:?is not set}/Module.symvers" ] ||
		die "KDIR=$KDIR is not a built kernel tree (no Module.symvers)"
	KDIR=$(realpath "$KDIR")
	;;
*)
	KDIR=$("$top/tools/kernel.sh" "$kind")
	;;
esac
export KDIR
out=$top/build/modules-$kind
mkdir -p "$out"
exec "$top/tools/toolbox.sh" run make -s -C "$KDIR" M="$top" MO="$out" ARCH=arm64 \
	CROSS_COMPILE=aarch64-linux-gnu- -j"$jobs" "$@" modules

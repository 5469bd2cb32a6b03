#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# Build what is not a module: for the host (emulator, library, tests), the same
# with sanitizers, of the emulator's cores and its mailbox with the one for threads, and for the
# guest (library and clients); targets for libFuzzer; and with counters of what is
# executed, for tools/coverage.sh. And the emulator's cores for arm64, with tests that QEMU runs.
# With sanitizers it is what unit tests run. Without, they are built where a TARGET names them.

. "$(dirname "$0")/lib.sh"

kind=${1:-}
shift || true
# Left to itself, meson writes ccache into the commands, where analyzers do not expect it.
targets=() setup=(env CC=cc) run=run compile=compile
# Paths in objects are from the clone on, so that another clone's are the same.
c_args=-ffile-prefix-map=$top=.
case $kind in
host)	options=() ;;
asan)
	options=(-Db_sanitize=address,undefined -Doptimization=1)
	targets=(meson-test-prereq)
	c_args+=" -g1"
	;;
tsan)
	options=(-Db_sanitize=thread -Dclients=disabled -Dvulkan=disabled)
	targets=(emulator/gpu/tests/test-{gpu,render_cores,trace,tvb} emulator/tests/test_mailbox)
	;;
fuzz)
	options=(-Dfuzz=true -Dwerror=false -Db_sanitize=address,undefined -Db_lundef=false
		 -Doptimization=1)
	c_args+=" -g1"
	setup=(env CC=clang-19) targets=(fuzz)
	;;
coverage)
	# What -O2 does to lines and branches is not what is written there.
	options=(-Db_coverage=true -Doptimization=1 -Dwerror=false)
	targets=(all meson-test-prereq)
	c_args=
	;;
guest)
	options=(--cross-file userspace/meson-cross-arm64.ini)
	# No debugger runs in the guest.
	c_args+=" -g1"
	;;
arm64)
	options=(--cross-file userspace/meson-cross-arm64.ini
		 --cross-file emulator/meson-qemu-arm64.ini -Demulator=enabled -Dclients=disabled
		 -Dvulkan=disabled -Digt=false -Dtests=enabled)
	targets=(emulator/jit/tests/test-jit{,_bad,_stage}
		 emulator/gpu/tests/test-core{,_alu,_alu_random,_memory,_program,_registers,_texture,_tile})
	run=arm64 compile=arm64
	;;
*)
	echo "usage: tools/build.sh host|asan|tsan|fuzz|coverage|guest|arm64 [TARGET ...]" >&2
	exit 2
	;;
esac

cd "$top"
dir=build/$kind
mkdir -p build

build()
{
	if [ ! -e "$dir/build.ninja" ]; then
		"$top/tools/toolbox.sh" $run "${setup[@]}" meson setup "${options[@]}" ${c_args:+"-Dc_args=$c_args"} "$dir" || return
	fi
	"$top/tools/toolbox.sh" $compile ninja -C "$dir" -j"$jobs" "${targets[@]}"
}
[ $# = 0 ] || targets=("$@")

# Lanes that run beside each other begin with this.
exec 9>"build/$kind.lock"
flock 9
progress "building $dir" "build/$kind.log" build

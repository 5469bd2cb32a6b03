#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# The distribution's own IGT GPU Tools, amd64 programs as they are, with box64 to run
# them in the guest. Made in the cache, then put below build, where the guest sees it.
# Fails where the packages are not to be had.

. "$(dirname "$0")/lib.sh"

stub=$top/tools/guest/igt_stub.c
out=$top/build/foreign-igt

# What box64 has of its own, or what has to be emulated by glibc's own
wrapped='^(ld-linux.*|lib(c|m|dl|rt|pthread|util|resolv|anl|mvec|nsl|nss_.*|thread_db)\.so.*)$'

build_igt()
{
	local dir=$1 amd64=$1/amd64 arm64=$1/arm64 library

	apt_update
	apt_fetch "$amd64.packages" amd64 -t forky -o Dir::Etc::Preferences=/dev/null \
		igt-gpu-tools igt-gpu-tools-tests
	apt_fetch "$arm64.packages" arm64 box64
	mkdir "$amd64" "$arm64" "$dir/lib"
	unpack "$amd64" "$amd64".packages/*.deb
	unpack "$arm64" "$arm64".packages/box64_*.deb
	for library in "$amd64"/usr/lib/x86_64-linux-gnu/*.so*; do
		grep -qE "$wrapped" <<<"${library##*/}" || cp -L "$library" "$dir/lib/"
	done
	mv "$amd64/usr/libexec/igt-gpu-tools" "$dir/tests"
	mv "$amd64/usr/bin/gputop" "$dir/tests/"
	mv "$arm64/usr/bin/box64" "$dir/"
	"$top/tools/toolbox.sh" run gcc -std=gnu11 -O1 -Wall -Wextra -Werror -shared -fPIC \
		-o "$dir/igt_stub.so" "$stub"
	rm -rf "$amd64" "$arm64" "$amd64.packages" "$arm64.packages"
}

dir=$(cached "foreign-igt-$(hash_of "$stub" "$top/tools/foreign-igt.sh")" build_igt)
mkdir -p "$out/tests"
cp -u "$dir/box64" "$dir/igt_stub.so" "$out/"
cp -ru "$dir/lib" "$out/"
for program; do
	mkdir -p "$(dirname "$out/tests/$program")"
	cp -u "$dir/tests/$program" "$out/tests/$program"
done

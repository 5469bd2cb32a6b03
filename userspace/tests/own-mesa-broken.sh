#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# usage: own-mesa-broken.sh BUILD
#
# With a Mesa in a folder that cannot be loaded, our Vulkan programs fail. They must not
# take the system's Mesa instead: a test of somebody's own Mesa would test that one.

set -u
build=$1
mesa=$(mktemp -d)
trap 'rm -rf "$mesa"' EXIT

mkdir "$mesa/lib"
echo "no library" >"$mesa/lib/libvulkan_asahi.so"
if "$build/userspace/shim/vagx-run" --mesa "$mesa" "$build/userspace/tests/vulkan-compute" small; then
	echo "vulkan-compute has taken another Mesa than that of the folder"
	exit 1
fi

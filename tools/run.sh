#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# From nothing to verified results: set up what is missing, build, boot, run the
# clients, leave the pictures.

. "$(dirname "$0")/lib.sh"

cd "$top"
say "toolbox, kernel and guest (kept in $cache)"
tools/toolbox.sh run true
tools/kernel.sh plain >/dev/null
tools/guest.sh >/dev/null
say "building emulator, library, clients and modules"
tools/build.sh host
tools/build.sh guest
tools/modules.sh plain
reference vulkan-compute build/guest/lavapipe.results
reference vulkan-render build/guest/lavapipe.pictures
say "booting the virtual machine"
tools/vm.sh --out build/out/run tools/guest/run
cp build/out/run/{mandelbrot,cube,still-life-agx}.png build/out/
say "all results verified; the pictures are mandelbrot.png, cube.png and still-life-agx.png" \
	"in build/out"

#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# usage: own-mesa.sh BUILD [MESA]
#
# A short list of Vulkan and OpenGL ES programs with the Mesa in the folder MESA, or
# the system's, on the virtual GPU. BUILD is the folder that this project was built in.

set -eu
build=$1
mesa=${2:-}
tests=$build/userspace/tests
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run SOC PROGRAM ARGUMENT...
run()
{
	soc=$1
	shift
	"$build/userspace/shim/vagx-run" --soc "$soc" ${mesa:+--mesa "$mesa"} "$@"
}

scenes='triangle depth blend texture-linear samples'

# What the system's lavapipe and llvmpipe make of the same programs
"$tests/vulkan-compute" --write="$work/compute"
"$tests/vulkan-render" --write="$work/vulkan"
"$tests/gles-render" --write="$work/gles"

run t8103 "$tests/vulkan-compute" --reference="$work/compute" control_flow functions small
run t8103 "$tests/vulkan-render" --reference="$work/vulkan" $scenes
run t8103 "$tests/gles-render" --reference="$work/gles"
run t6021 "$tests/vulkan-render" --reference="$work/vulkan" $scenes

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# The kernel's device-tree bindings in the form that dt-validate reads, in the cache. Prints
# the file.

. "$(dirname "$0")/lib.sh"

process_schemas()
{
	progress "processing the kernel's bindings" "$1/log" "$top/tools/toolbox.sh" run \
		dt-mk-schema -j -o "$1/schema.json" "$KERNEL_SOURCE/Documentation/devicetree/bindings"
}

KERNEL_SOURCE=$("$top/tools/kernel.sh" source)
export KERNEL_SOURCE
version=$("$top/tools/toolbox.sh" run dt-validate --version)
dir=$(cached "dt-schema-$(hash_of "=$version" "=$KERNEL_SOURCE" "$KERNEL_SOURCE/Makefile")" \
	process_schemas)
printf '%s\n' "$dir/schema.json"

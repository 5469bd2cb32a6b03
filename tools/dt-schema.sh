#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# The kernel's bindings of all that a board with our GPU has, in the form that dt-validate reads,
# in the cache. Prints the file. With -m, dt-validate reports a node whose binding is not there.

. "$(dirname "$0")/lib.sh"

# Bindings of other devices take twenty times as long.
folders=(arm cpu gpu interrupt-controller mailbox mfd opp pci power)

process_schemas()
{
	progress "processing the kernel's bindings" "$1/log" "$top/tools/toolbox.sh" run \
		dt-mk-schema -j -o "$1/schema.json" \
		"${folders[@]/#/$KERNEL_SOURCE/Documentation/devicetree/bindings/}"
}

KERNEL_SOURCE=$("$top/tools/kernel.sh" source)
export KERNEL_SOURCE
version=$("$top/tools/toolbox.sh" run dt-validate --version)
dir=$(cached "dt-schema-$(hash_of "=$version ${folders[*]}" "=$KERNEL_SOURCE" \
	"$KERNEL_SOURCE/Makefile")" process_schemas)
printf '%s\n' "$dir/schema.json"

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# The documentation as HTML, with the kernel's kernel-doc extension over sources
# laid out as in a kernel tree.

. "$(dirname "$0")/lib.sh"

cd "$top"
tree=build/docs/tree
rm -rf "$tree"
mkdir -p "$tree/include/uapi"
ln -s "$top/drivers" "$tree/drivers"
ln -s "$top/include/agx" "$tree/include/agx"
ln -s "$top/uapi/drm" "$tree/include/uapi/drm"
KERNEL_SOURCE=$("$top/tools/kernel.sh" source)
export KERNEL_SOURCE
"$top/tools/toolbox.sh" run env srctree="$KERNEL_SOURCE" doctree="$top/$tree" \
	sphinx-build -q -W --keep-going -j "$jobs" -b html -d build/docs/doctrees \
	Documentation build/docs/html

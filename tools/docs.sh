#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# The documentation as HTML, with the kernel's kernel-doc extension.

. "$(dirname "$0")/lib.sh"

cd "$top"
mkdir -p build/docs
KERNEL_SOURCE=$("$top/tools/kernel.sh" source)
export KERNEL_SOURCE
"$top/tools/toolbox.sh" run env srctree="$KERNEL_SOURCE" clone="$top" \
	sphinx-build -q -W --keep-going -j "$jobs" -b html -d build/docs/doctrees \
	Documentation build/docs/html

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# The documentation as HTML, with the kernel's kernel-doc extension; or the pages of
# another folder with the same settings.
#
# usage: tools/docs.sh [FOLDER OUT]

. "$(dirname "$0")/lib.sh"

cd "$top"
pages=${1:-Documentation} out=${2:-build/docs/html}
mkdir -p "$(dirname "$out")"
KERNEL_SOURCE=$("$top/tools/kernel.sh" source)
export KERNEL_SOURCE
"$top/tools/toolbox.sh" run env srctree="$KERNEL_SOURCE" clone="$top" \
	sphinx-build -q -W --keep-going -j "$jobs" -b html -c Documentation \
	-d "$out/../doctrees" "$pages" "$out"

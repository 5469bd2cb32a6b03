#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# Install the driver that "make modules KDIR=..." built.

. "$(dirname "$0")/lib.sh"

module=$top/build/modules-kdir/drivers/gpu/drm/asahi/asahi.ko
[ -n "${KDIR:-}" ] || die "KDIR=<built 7.3 kernel tree> is not set"
[ -e "$module" ] || die "run 'make modules KDIR=$KDIR' first"
release=$(cat "$KDIR/include/config/kernel.release")
install -D -m 644 "$module" "${DESTDIR:-}/lib/modules/$release/updates/asahi.ko"
if [ -e "${DESTDIR:-}/lib/modules/$release/modules.builtin" ]; then
	depmod ${DESTDIR:+-b "$DESTDIR"} "$release"
fi
say "installed ${DESTDIR:-}/lib/modules/$release/updates/asahi.ko"

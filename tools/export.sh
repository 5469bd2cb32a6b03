#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# Put the driver, its pages of the documentation (not the project's) and its
# MAINTAINERS entry into the kernel source tree KERNEL_TREE, which has the UAPI
# header already. May be repeated.

. "$(dirname "$0")/lib.sh"

tree=${KERNEL_TREE:-}
[ -n "$tree" ] || die "KERNEL_TREE=<kernel source tree> is not set"
[ -f "$tree/drivers/gpu/drm/Kconfig" ] || die "KERNEL_TREE=$tree is not a kernel source tree"
[ -f "$tree/include/uapi/drm/asahi_drm.h" ] ||
	die "KERNEL_TREE=$tree has no include/uapi/drm/asahi_drm.h; 7.3 is needed"

# add_line FILE LINE PATTERN - put LINE before the first line that matches PATTERN
# unless it is there. A new file takes the old one's place, so that trees that
# share files by hard links stay apart.
add_line()
{
	local file=$tree/$1 line=$2 pattern=$3

	! grep -qxF -- "$line" "$file" || return 0
	grep -q -- "$pattern" "$file" || die "$file: no place to add '$line'"
	awk -v line="$line" -v pattern="$pattern" \
		'!done && $0 ~ pattern { print line; done = 1 } { print }' "$file" >"$file.new"
	mv "$file.new" "$file"
}

# Another driver of this name exists; it is not ours to delete.
[ ! -e "$tree/drivers/gpu/drm/asahi" ] || [ -e "$tree/drivers/gpu/drm/asahi/asahi_drv.c" ] ||
	die "$tree/drivers/gpu/drm/asahi is another driver; remove it first, with its lines in drivers/gpu/drm/Makefile and Kconfig"

cd "$top"
driver=$tree/drivers/gpu/drm/asahi
rm -rf "$driver" "$tree/Documentation/gpu/asahi"
mkdir -p "$driver/agx" "$tree/Documentation/gpu/asahi"
git ls-files drivers/gpu/drm/asahi | tar -cT - | tar -xC "$tree"
git ls-files 'include/agx/*.h' include/agx/agx_packets.def | xargs -I{} cp {} "$driver/agx/"
# Below the driver's own folder they are found without this.
find "$driver" -name Makefile -exec sed -i -e '/^# include\/agx lies/,/^# clone/d' \
	-e 's| -I$(src)\(/[.][.]\)*/include||' {} +
git ls-files Documentation/gpu/asahi | xargs -I{} cp {} "$tree/Documentation/gpu/asahi/"

add_line drivers/gpu/drm/Makefile 'obj-$(CONFIG_DRM_ASAHI) += asahi/' '^obj-.*CONFIG_DRM_ASPEED_GFX'
add_line drivers/gpu/drm/Kconfig 'source "drivers/gpu/drm/asahi/Kconfig"' '^source "drivers/gpu/drm/aspeed/Kconfig"'
add_line Documentation/gpu/drivers.rst '   asahi/index' '^   [b-z]'

if ! grep -qx 'DRM DRIVER FOR APPLE AGX GPUS' "$tree/MAINTAINERS"; then
	awk '/^DRM DRIVER FOR APPLE AGX GPUS$/ { on = 1 } on { print } on && !NF { exit }' \
		MAINTAINERS >"$tree/MAINTAINERS.entry"
	awk -v entry="$tree/MAINTAINERS.entry" '
		!done && /^DRM DRIVER FOR / && $0 > "DRM DRIVER FOR APPLE AGX GPUS" {
			while ((getline line < entry) > 0) print line
			done = 1
		}
		{ print }' "$tree/MAINTAINERS" >"$tree/MAINTAINERS.new"
	mv "$tree/MAINTAINERS.new" "$tree/MAINTAINERS"
	rm "$tree/MAINTAINERS.entry"
fi
say "exported to $tree; build it with CONFIG_DRM_ASAHI=m"

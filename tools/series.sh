#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# Write the series that drm-misc would be sent into build/out/series: a cover letter, and
# the driver in the patches of tools/series/patches.toml, for a tree of unmodified 7.3.
# build/out/series/tree is the repository that they come from. Patches for other parts of the
# kernel, which go out by themselves, go into build/out/series/elsewhere.

. "$(dirname "$0")/lib.sh"

# What the series changes, rather than adds; and what export.sh asks for.
base=(drivers/gpu/drm/Kconfig drivers/gpu/drm/Makefile MAINTAINERS
	Documentation/gpu/drivers.rst include/uapi/drm/asahi_drm.h)

source=$("$top/tools/kernel.sh" source)
out=$top/build/out/series
output_folder "$out"
export KERNEL_TREE=$out/tree

git_tree()
{
	git -C "$KERNEL_TREE" -c core.hooksPath=/dev/null -c commit.gpgSign=false "$@"
}

# The same commit gives the same patches, byte for byte.
date=$(git -C "$top" log -1 --format=%cD)
export GIT_AUTHOR_DATE=$date GIT_COMMITTER_DATE=$date
author=$(sed -n 's/^M:	//p' "$top/MAINTAINERS" | head -n 1)
export GIT_AUTHOR_NAME=${author% <*} GIT_AUTHOR_EMAIL=${author##*<}
GIT_AUTHOR_EMAIL=${GIT_AUTHOR_EMAIL%>}
export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL

mkdir -p "$KERNEL_TREE"
(cd "$source" && tar -c "${base[@]}") | tar -xC "$KERNEL_TREE"
git_tree init -q -b series
git_tree add -A
git_tree commit -q -m "Linux $kernel_version, as far as the series changes it"
git_tree tag base
"$top/tools/export.sh" 2>/dev/null || die "the driver cannot be exported: KERNEL_TREE=$KERNEL_TREE tools/export.sh"

git_tree add -A
git_tree commit -q -m "The driver as a whole"
git_tree tag driver

"$top/tools/toolbox.sh" run python3 "$top/tools/series/series.py" "$top/tools/series/patches.toml" \
	"$KERNEL_TREE" "$out/steps" || die "no series was written"

git_tree reset -q --soft base
while read -r name; do
	git_tree rm -rq --cached .
	git_tree --work-tree="$out/steps/$name/files" add -A
	git_tree commit -q -F "$out/steps/$name/message"
done <"$out/steps/order"
git_tree reset -q --hard
git_tree diff --quiet driver || die "the patches do not add up to the driver: git -C $KERNEL_TREE diff driver"
git_tree format-patch -q --no-signature --zero-commit --no-renames --subject-prefix='RFC PATCH' \
	--cover-letter -o "$out" base..series
"$top/tools/toolbox.sh" run python3 "$top/tools/series/cover.py" "$top/tools/series/cover-letter" \
	"$out/0000-cover-letter.patch" "$KERNEL_TREE"

mkdir "$out/elsewhere"
for patch in "$top"/tools/series/elsewhere/*.patch; do
	patch -d "$source" -p1 --dry-run -s -f <"$patch" >&2 ||
		die "$patch does not apply to Linux $kernel_version"
	cp "$patch" "$out/elsewhere"
done
say "$(wc -l <"$out/steps/order") patches and the cover letter are in $out"

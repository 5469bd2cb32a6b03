#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# Run lanes: those that are named, or a suite of tools/checks/meson.build, "check" or
# "nightly"; "products" makes only what the cache has to have for them. meson runs them; the
# last line is the number of passed and failed cases.
# A lane without results has failed, and so has one whose status does not fit its results or
# whose cases are not those of cases.toml.

. "$(dirname "$0")/lib.sh"

cd "$top"
build=build/checks results=build/out/check
mkdir -p "$results"

# What takes long where the cache is empty shows its progress here; lanes keep what
# their commands say to themselves. Packages come from afar, and each kernel is unpacked,
# configured and linked by one processor, while others are compiling.
make_products()
{
	local kernel maker makers=()

	tools/toolbox.sh run true
	case $1 in
	check|products) ;;
	*) return 0 ;;
	esac
	{
		tools/guest.sh
		tools/toolbox.sh static true
		tools/toolbox.sh programs true
		# not to be had is for its lane to say
		tools/foreign-igt.sh || true
	} >/dev/null &
	makers+=($!)
	for kernel in plain debug; do
		tools/kernel.sh $kernel >/dev/null &
		makers+=($!)
	done
	for maker in "${makers[@]}"; do
		wait "$maker"
	done
}

# A lane keeps a processor busy, more or less, and takes up to 6 GB of memory.
count_slots()
{
	local memory

	memory=$(awk '/^MemAvailable:/ { print int($2 / 6000000) }' /proc/meminfo)
	slots=$((jobs < memory ? jobs : memory))
	[ $slots -gt 0 ] || slots=1
}

# What a lane may be told by the environment, which the toolbox does not keep
told=(env)
for name in ASAHI_KERNEL ASAHI_PAIRS ASAHI_ROUNDS FUZZ_SECONDS FUZZ_SEED; do
	[ -z "${!name:-}" ] || told+=("$name=${!name}")
done

[ $# -gt 0 ] || set -- check
make_products "$1"
[ "$1" != products ] || exit 0
rm -rf $build
"$top/tools/toolbox.sh" run meson setup $build tools/checks >build/checks.log ||
	{ cat build/checks.log >&2; die "tools/checks/meson.build is wrong"; }

case $1 in
check|nightly)
	suite=(--suite "$1")
	mapfile -t lanes < <("$top/tools/toolbox.sh" run meson test -C $build --list "${suite[@]}" 2>/dev/null |
		sed -n 's/.* \/ //p')
	[ "$1" != check ] || rm -f $results/*
	;;
*)
	suite=() lanes=("$@")
	known=$("$top/tools/toolbox.sh" run meson test -C $build --list 2>/dev/null | sed -n 's/.* \/ //p')
	for lane; do
		grep -qx -- "$lane" <<<"$known" || die "there is no lane '$lane'; there are: $(echo $known)"
	done
	;;
esac
for lane in "${lanes[@]}"; do
	rm -f "$results/$lane.tap"
done

count_slots
begin=$SECONDS
"$top/tools/toolbox.sh" run "${told[@]}" meson test -C $build --no-rebuild --num-processes $slots \
	"${suite[@]}" "${lanes[@]}" || true
echo "# $((SECONDS - begin)) s"
exec "$top/tools/toolbox.sh" run python3 tools/checks/report.py "${lanes[@]}"

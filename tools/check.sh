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
products=$build/products
mkdir -p "$results"

# products_of LANE - what it takes from the cache, a line each, by the kernels that its
# script names and by its kind
products_of()
{
	grep -oE '(--kernel|modules\.sh|kernel\.sh) (plain|debug|nightly|source)' "tools/checks/$1" |
		sed 's/.* /kernel /' || true
	case $1 in
	guest-desktop) printf '%s\n' "guest desktop" "kernel plain" ;;
	native-context) echo guest ;;
	guest-*|mutants-random) printf '%s\n' guest "kernel ${ASAHI_KERNEL:-plain}" ;;
	docs) echo "kernel source" ;;
	devicetree) echo schemas ;;
	litmus) printf '%s\n' herd "kernel source" ;;
	esac
	case $1 in
	programs|programs-nightly|piglit*|guest-programs|unkind|sanitizer) echo "root programs" ;;
	static|guest-debug|coverage*) echo "root static" ;;
	desktop|guest-desktop) echo "root desktop" ;;
	mesas) printf 'root programs %s\n' forky sid ;;
	native-context) printf '%s\n' "root native" virglrenderer ;;
	guest-igt) echo foreign ;;
	jit-arm64) echo cross ;;
	packages) printf '%s\n' "root packaging" clean-root vm-guest guest ;;
	esac
}

make_product()
{
	case $1 in
	guest) tools/guest.sh ${2:+"$2"} ;;
	kernel) tools/kernel.sh "$2" ;;
	root) tools/toolbox.sh ${3:+--mesa "$3"} "$2" true ;;
	herd) tools/toolbox.sh herd -version ;;
	schemas) tools/dt-schema.sh ;;
	clean-root) tools/clean-root.sh path ;;
	vm-guest) tools/vm-guest.sh packages ;;
	# not to be had is for its lane to say
	foreign) tools/foreign-igt.sh || true ;;
	cross) tools/toolbox.sh arm64 true || true ;;
	virglrenderer) tools/virglrenderer.sh || true ;;
	esac >/dev/null
}

# make_for_lanes PRODUCT - and tell those that wait for it
make_for_lanes()
{
	local result=made

	# shellcheck disable=SC2086
	make_product $1 || result=failed
	: >"$products/${1// /-}.$result"
}

# make_products LANE ... - in the background: a lane begins when there is what it needs itself.
# Lanes run in the toolbox, which fetches nothing. What takes long where the cache is empty shows
# its progress here. Packages come from afar, and each kernel is unpacked, configured and linked
# by one processor, while others are compiling. Most lanes need the guest.
make_products()
{
	local lane product all

	mkdir -p "$products"
	for lane; do
		products_of "$lane" | sort -u >"$products/$lane.needs"
	done
	mapfile -t all < <(sort -u "$products"/*.needs)
	for product in "${all[@]}"; do
		[[ $product != kernel* && $product != guest ]] || make_for_lanes "$product" &
	done
	for product in "${all[@]}"; do
		[[ $product = kernel* || $product = guest ]] || make_for_lanes "$product"
	done &
}

# lanes_in MESON_ARGUMENT ... - their names
lanes_in()
{
	"$top/tools/toolbox.sh" run meson test -C $build --list "$@" 2>/dev/null | sed -n 's/.* \/ //p'
}

# Virtual machines wait a quarter of their time, and no build keeps all processors busy to its
# end: there are three lanes for two processors. Each takes up to 6 GB of memory.
count_slots()
{
	local memory lanes=$((jobs + jobs / 2))

	memory=$(awk '/^MemAvailable:/ { print int($2 / 6000000) }' /proc/meminfo)
	slots=$((lanes < memory ? lanes : memory))
	[ $slots -gt 0 ] || slots=1
}

# What a lane may be told by the environment, which the toolbox does not keep
told=(env)
for name in ASAHI_KERNEL ASAHI_PAIRS ASAHI_ROUNDS ASAHI_VIRGLRENDERER FUZZ_SECONDS FUZZ_SEED \
	MUTANTS_COUNT MUTANTS_SEED PIGLIT_COUNT PIGLIT_SEED; do
	[ -z "${!name:-}" ] || told+=("$name=${!name}")
done

[ $# -gt 0 ] || set -- check
rm -rf $build
tools/toolbox.sh run meson setup $build tools/checks >build/checks.log ||
	{ cat build/checks.log >&2; die "tools/checks/meson.build is wrong"; }

suite=()
case $1 in
check|nightly)
	suite=(--suite "$1")
	mapfile -t lanes < <(lanes_in "${suite[@]}")
	;;
products)
	mapfile -t lanes < <(lanes_in --suite check)
	;;
*)
	lanes=("$@")
	known=$(lanes_in)
	for lane; do
		grep -qx -- "$lane" <<<"$known" || die "there is no lane '$lane'; there are: $(echo $known)"
	done
	;;
esac
make_products "${lanes[@]}"
if [ "$1" = products ]; then
	wait
	failed=$(find $products -name '*.failed' -printf '%f ')
	[ -z "$failed" ] || die "could not be made: ${failed//.failed/}"
	exit 0
fi
[ "$1" != check ] || rm -f $results/*
for lane in "${lanes[@]}"; do
	rm -f "$results/$lane.tap"
done

count_slots
begin=$SECONDS
"$top/tools/toolbox.sh" run "${told[@]}" meson test -C $build --no-rebuild --num-processes $slots \
	"${suite[@]}" "${lanes[@]}" || true
wait
echo "# $((SECONDS - begin)) s"
exec "$top/tools/toolbox.sh" run python3 tools/checks/report.py "${lanes[@]}"

# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
# shellcheck shell=bash
#
# What the checks of the SoCs share.

. "$(dirname "${BASH_SOURCE[0]}")/guest.sh"

# Chip, generation, variant, dies, clusters and cores of each, as vagx has them.
declare -A socs=(
	[t8103]="8103 13 G 1 1 8" [t8112]="8112 14 G 1 1 10"
	[t6000]="6000 13 S 1 2 8" [t6001]="6001 13 C 1 4 8" [t6002]="6002 13 D 2 8 8"
	[t6020]="6020 14 S 1 2 10" [t6021]="6021 14 C 1 4 10" [t6022]="6022 14 D 2 8 10"
)

# run_mesa SOC:FIRMWARE - the same for Mesa, in a machine that executes no shader
run_mesa()
{
	local name=mesa-${1/:/-}

	run_guest "$name" --smp 1 --soc "$1" --timeout 900 --vagx-args --no-exec \
		-- tools/guest/tests/mesa-submit >"$top/build/out/$name.tap"
	sed -E "s/^((not )?ok( [0-9]+)? - )($name: )?/\1$1 with Mesa: /" \
		"$top/build/out/$name.tap"
}

# run_soc SOC:FIRMWARE [KHZ VM_OPTION ...] - each case is one of that SoC
run_soc()
{
	local which=$1 khz=${2:-} name=soc-${1/:/-}${2:+-files}
	shift $(($# < 2 ? $# : 2))

	# shellcheck disable=SC2086
	run_guest "$name" --smp 1 --soc "$which" --timeout 900 "$@" \
		-- tools/guest/tests/soc ${socs[${which%:*}]} $khz >"$top/build/out/$name.tap"
	sed -E "s/^((not )?ok( [0-9]+)? - )($name: )?/\1$which${khz:+ from files}: /" \
		"$top/build/out/$name.tap"
}

# run_cores SOC:FIRMWARE MASK[,MASK...] - a chip with cores that were fused off
run_cores()
{
	local name=cores-${1/:/-}

	# shellcheck disable=SC2086
	run_guest "$name" --smp 1 --soc "$1" --timeout 600 --vagx-args "--core-mask $2" \
		-- tools/guest/tests/cores ${2//,/ } >"$top/build/out/$name.tap"
	sed -E "s/^((not )?ok( [0-9]+)? - )($name: )?/\1$1 with cores $2: /" "$top/build/out/$name.tap"
}

# run_fields SOC:FIRMWARE - every field of one compute and one render command is as it
# was reviewed
run_fields()
{
	local name=fields-${1/:/-}

	run_guest "$name" --smp 1 --soc "$1" --timeout 900 \
		--vagx-args "--dump-commands $top/build/out/$name/commands.txt" \
		-- tools/guest/tests/fields >"$top/build/out/$name.tap"
	sed -E "s/^((not )?ok( [0-9]+)? - )($name: )?/\1$1: fields: /" "$top/build/out/$name.tap"
	check_silent "$1: the commands' fields are as reviewed" tools/golden.sh compare "$1"
}

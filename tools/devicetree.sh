#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# usage: tools/devicetree.sh BOARD.dtb MACHINE.dtb [SOC[:FIRMWARE]]
#
# Add the GPU to a board's device tree: the overlay of tools/guest, which is an M1's
# with firmware 13.5, and what is different on the SoC. Runs in the toolbox, and from the
# package vagx-vm.

set -euo pipefail

die()
{
	echo "${0##*/}: $*" >&2
	exit 1
}

[ $# -ge 2 ] || die "usage: tools/devicetree.sh BOARD.dtb MACHINE.dtb [SOC[:FIRMWARE]]"
board=$1 machine=$2 soc=${3:-t8103:13.5}
firmware=13.5
[ "$soc" = "${soc#*:}" ] || firmware=${soc#*:}
soc=${soc%%:*}

# Compatible values as the kernel's arch/arm64/boot/dts/apple has them. Mailbox and
# power manager are named after the first SoC of their kind.
case $soc in
t8103) gpu=("apple,agx-g13g") kind=t8103 ;;
t8112) gpu=("apple,agx-g14g") kind=t8112 ;;
t6000) gpu=("apple,agx-g13s") kind=t6000 ;;
t6001) gpu=("apple,agx-g13c" "apple,agx-g13s") kind=t6000 ;;
t6002) gpu=("apple,agx-g13d" "apple,agx-g13s") kind=t6000 ;;
t6020) gpu=("apple,agx-g14s") kind=t6020 ;;
t6021) gpu=("apple,agx-g14c" "apple,agx-g14s") kind=t6020 ;;
t6022) gpu=("apple,agx-g14d" "apple,agx-g14s") kind=t6020 ;;
*) die "$soc: no such SoC" ;;
esac
# The power managers of younger SoCs are the M1's.
power=("apple,$kind-pmgr" apple,pmgr)
domain=("apple,$kind-pmgr-pwrstate" apple,pmgr-pwrstate)
if [ $kind = t6020 ]; then
	power[1]=apple,t8103-pmgr
	domain[1]=apple,t8103-pmgr-pwrstate
fi

dtc -q -@ -I dts -O dtb -o "$machine.dtbo" "$(dirname "$0")/guest/vagx.dtso"
fdtoverlay -i "$board" -o "$machine" "$machine.dtbo"
rm "$machine.dtbo"

carrier=/pcie@10000000/agx-carrier@4,0
fdtput -t s "$machine" $carrier/gpu@0 compatible "${gpu[@]}"
fdtput -t u "$machine" $carrier/gpu@0 apple,firmware-abi "${firmware%.*}" "${firmware#*.}" 0
fdtput -t s "$machine" $carrier/mbox@8000 compatible apple,$kind-asc-mailbox apple,asc-mailbox-v4
fdtput -t s "$machine" $carrier/power-management@50000 compatible "${power[@]}" syscon simple-mfd
fdtput -t s "$machine" $carrier/power-management@50000/power-controller@3f8 \
	compatible "${domain[@]}"

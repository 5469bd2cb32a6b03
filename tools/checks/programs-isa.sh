#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# usage: programs-isa.sh OUT
#
# Mesa's disassembly of all shaders that glmark2, vkmark and vkcube compile has to be ours. Runs
# in the root that has them. Weston is on the GPU, too: otherwise its clients are not.

set -u
out=$(realpath -m "$1")
shim=build/host/userspace/shim/vagx-run
isa=build/host/userspace/tests/mesa-isa
export XDG_RUNTIME_DIR=$out/run WAYLAND_DISPLAY=isa
status=0

# scenes OPTION PROGRAM - of the list, each as short as can be
scenes()
{
	awk -v program="$2" -v option="$1" '
		$1 == program { print "-b"; print $2 ":" option }' tools/checks/programs.list
}

# compare NAME LEAST COMMAND ... - there have to be so many instructions
compare()
{
	local name=$1 least=$2
	shift 2

	timeout 400 $shim $isa --at-least="$least" "$@" >"$out/$name.log" 2>&1 </dev/null && return
	status=1
	grep -aE '^(not ok|#)' "$out/$name.log" || tail -n 20 "$out/$name.log"
}

rm -rf "$out"
mkdir -p "$XDG_RUNTIME_DIR"
chmod 700 "$XDG_RUNTIME_DIR"
$shim weston --backend=headless --renderer=gl --shell=kiosk --idle-time=0 \
	--socket=$WAYLAND_DISPLAY >"$out/weston.log" 2>&1 </dev/null &
weston=$!
for _ in {1..300}; do
	[ ! -S "$XDG_RUNTIME_DIR/$WAYLAND_DISPLAY" ] || break
	sleep 0.1
done

mapfile -t options < <(scenes nframes=1 glmark2)
compare glmark2 4000 glmark2-es2-wayland --off-screen -s 64x64 "${options[@]}"
mapfile -t options < <(scenes duration=0.05 vkmark)
compare vkmark 300 vkmark --winsys headless -s 64x64 "${options[@]}"
compare vkcube 80 vkcube --wsi wayland --c 2 --width 64 --height 64

kill $weston
wait
exit $status

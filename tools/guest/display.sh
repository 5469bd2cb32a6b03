# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
# shellcheck shell=bash
#
# What the scripts share that run other people's programs (programs, tools/desktop/programs): a
# Weston, a program's log and status, pictures. They set out, the folder of results; list and
# skips, the programs and what is left out of them; size, of a window's sides; wrapper, the command
# that each is behind. They add to weston_options.

# shellcheck disable=SC2154

export XDG_RUNTIME_DIR=$out/run WAYLAND_DISPLAY=asahi
mkdir -p "$out" "$XDG_RUNTIME_DIR"
chmod 700 "$XDG_RUNTIME_DIR"
: >"$out/statuses"
weston_status=0 weston_options=()
# seconds that a program may take
patience=200
# how often one is started for a frame of Vulkan
attempts=3

# cases_of PROGRAM - what of it is to be run
cases_of()
{
	awk -v program="$1" '
		FILENAME != list && !/^#/ { skips[$0] }
		FILENAME != list || $1 != program { next }
		{
			for (skip in skips)
				if (program "@" $2 ~ "^(" skip ")$")
					next
			print $2
		}' list="$list" "$skips" list="$list" "$list"
}

# run NAME COMMAND ... - to its end, with what it says in a log
run()
{
	local name=$1 status=0
	shift

	timeout -k 5 $patience "$@" >"$out/$name.log" 2>&1 </dev/null || status=$?
	echo "$name $status" >>"$out/statuses"
}

# Several Westons may be there at a time: each has a folder of its own.
start_weston()
{
	local tries=0

	rm -f "$XDG_RUNTIME_DIR/$WAYLAND_DISPLAY" "$XDG_RUNTIME_DIR/$WAYLAND_DISPLAY.lock"
	"${wrapper[@]}" weston --backend=headless --renderer=gl --shell=kiosk --debug --idle-time=0 \
		--width=$size --height=$size --socket=$WAYLAND_DISPLAY "${weston_options[@]}" \
		>>"$out/weston.log" 2>&1 </dev/null &
	weston=$!
	while [ ! -S "$XDG_RUNTIME_DIR/$WAYLAND_DISPLAY" ] && [ $tries -lt 300 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
}

# in_weston COMMAND ... - with a Weston that has shown nothing else. When a window appears
# while another one goes, the kiosk shell of Weston 14 now and then follows a pointer to
# the one that has gone, and crashes, whichever driver it has.
in_weston()
{
	local status=0

	start_weston
	"$@"
	kill "$weston"
	wait "$weston" || status=$?
	[ $status = 0 ] || weston_status=$status
}

# until_picture FILE COMMAND ... - to its end, or some seconds longer than a picture takes
until_picture()
{
	local picture=$1 pid turns=25
	shift

	"$@" &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		[ ! -s "$picture" ] || turns=$((turns - 1))
		[ $turns -gt 0 ] || kill $pid
		sleep 0.2
	done
	wait $pid
}

# shot NAME FRAME COMMAND ... - one frame of a program of Vulkan, with some attempts.
# How that ends is not asked: Mesa's layer may be unloaded while its thread is still writing,
# or wait for its thread when that has ended, for ever, and vkmark ends by no other signal
# than KILL then.
shot()
{
	local name=$1 frame=$2 tries=0
	shift 2

	mkdir "$out/vk"
	until [ -s "$out/vk/$frame.png" ] || [ $tries = $attempts ]; do
		[ $tries = 0 ] || echo "# retried: programs: $name"
		tries=$((tries + 1))
		VK_INSTANCE_LAYERS=VK_LAYER_MESA_screenshot \
			VK_LAYER_MESA_SCREENSHOT_CONFIG="output_dir=$out/vk,frames=$frame" \
			"$@" >"$out/$name.log" 2>&1 </dev/null
	done
	mv "$out/vk/$frame.png" "$out/$name.png"
	rm -r "$out/vk"
}

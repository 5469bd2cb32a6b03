# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
# shellcheck shell=bash
#
# What the checks in the virtual machine share.

. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

# What the shaders of Mesa's tests ought to write and draw is asked of lavapipe and
# llvmpipe here: in the guest they cannot be relied upon.
build_user_space()
{
	check "emulator, library and clients build" sh -c 'tools/build.sh host && tools/build.sh guest'
	check "lavapipe runs the shaders" reference vulkan-compute build/guest/lavapipe.results
	check "lavapipe draws the scenes" reference vulkan-render build/guest/lavapipe.pictures
	check "llvmpipe draws the scenes" reference gles-render build/guest/llvmpipe.pictures
}

# What the kernel says when something is wrong with it.
splats='WARNING:|BUG:|KASAN|UBSAN|KFENCE|ODEBUG|Oops|Internal error|Call trace:|Kernel panic'
splats+='|INFO: task .* blocked|possible (circular|recursive) locking|suspicious RCU|inconsistent lock'
splats+='|refcount_t:|list_(add|del) corruption|unable to handle|INFO: .*detected.* stall|scheduling while atomic'
splats+='|\*ERROR\* .*leak|Memory manager not clean|not at rest|pagealloc: (single|memory)'

# console_splats LOG - the kernel's complaints, with what is around them. Three are
# left out, in which the driver has no say:
# - A core dump that expires leaves its class before its link leaves the device's folder.
#   mainline's devcoredump complains of a new dump that comes in between, and goes on.
# - Each of two tasks that wait for room in the mailbox enables its interrupt, of which
#   mainline's mailbox driver does not think. RTKit's own worker may be one of them while
#   vagx holds the mailbox full.
# - The kernel reports an OOM kill with a trace, also one that a test asks for. The order is -1
#   then.
console_splats()
{
	awk '
		/sysfs: cannot create duplicate filename .*\/devcoredump[^\/]*$/ { link = 20 }
		link-- > 0 {
			if (/devcoredump create_link failed/)
				link = 0
			next
		}
		/ invoked oom-killer: .* order=-1,/ { asked = 1 }
		asked {
			if (/ Killed process /)
				asked = 0
			next
		}
		/\[ cut here \]/ { block = ""; inside = 1 }
		inside { block = block $0 "\n" }
		!inside
		inside && /end trace/ {
			if (block !~ /Unbalanced enable for IRQ/ || block !~ /apple_mbox_send/)
				printf "%s", block
			inside = 0
		}
		END { if (inside) printf "%s", block }' "$1" |
		grep -nE -B2 -A40 "$splats" | head -n 160
}

# run_guest NAME [VM_OPTION ...] -- SCRIPT [ARGUMENT ...] - boot, run, and judge
# the kernel's console and the emulator, too
run_guest()
{
	local name=$1 out=$top/build/out/$1 complaints status=0 start=$SECONDS used TIMEFORMAT='%U %S'
	shift

	mkdir -p "$top/build/out"
	used=$({ time tools/vm.sh --quiet --violations --out "$out" "$@" \
		>"$top/build/out/$name.log" 2>&1; } 2>&1) || status=$?
	[ ! -e "$out/output" ] || cat "$out/output"
	echo "# $((SECONDS - start)) s: machine $name, $(awk '{ print int($1 + $2) }' <<<"$used") s of processors"
	if grep -q '^not ok' "$out/output" 2>/dev/null; then
		tap_failed=$((tap_failed + 1))
	fi
	if [ -s "$out/status" ]; then
		ok "$name: the machine came to its end"
		if [ "$status" != 0 ] && [ "$tap_failed" = 0 ]; then
			not_ok "$name: its script ends well" "status $status"
		fi
	else
		not_ok "$name: the machine came to its end" "$(tail -n 80 "$top/build/out/$name.log")"
	fi
	if [ "$(cat "$out/vagx-status" 2>/dev/null)" = 0 ]; then
		ok "$name: vagx reports no violation and ends well"
	else
		not_ok "$name: vagx reports no violation and ends well" "$(tail -n 80 "$out/vagx.log")"
	fi
	if [ ! -s "$out/console.log" ]; then
		not_ok "$name: the kernel's console is clean" "there is none"
	else
		complaints=$(console_splats "$out/console.log") || true
		check_silent "$name: the kernel's console is clean" echo -n "$complaints"
	fi
}

# beside FUNCTION ... - all at once: their machines wait most of the time. Results come out by
# function, at the end. The shell forgets the status of a process whose number another one gets, so
# each function leaves the number of its failures in a file.
beside()
{
	local dir=build/out/beside-${0##*/} function

	rm -rf "$dir"
	mkdir -p "$dir"
	for function; do
		(
			tap_failed=0
			"$function"
			echo $tap_failed >"$dir/$function.failed"
		) >"$dir/$function.tap" &
	done
	wait
	for function; do
		cat "$dir/$function.tap"
		[ "$(cat "$dir/$function.failed")" = 0 ] || tap_failed=$((tap_failed + 1))
	done
}

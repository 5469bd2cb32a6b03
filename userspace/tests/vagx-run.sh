#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# usage: vagx-run.sh VAGX-RUN SHIM SHIM-DIR ASAHI-INFO ASAHI-COMPUTE BAD-JOBS TRACE.PY
#
# vagx-run: what it runs, how it ends, and what it says. SHIM-DIR is where the shim
# is installed, as seen from the folder of vagx-run.

# The functions are called through check().
# shellcheck disable=SC2317

run=$1
shim=$2
shim_dir=$3
info=$4
compute=$5
bad=$6
trace_py=$7
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0
failed=0
# The shell and what it calls are not to be looked at for leaks.
export ASAN_OPTIONS=detect_leaks=0 TMPDIR="$work"

# check NAME COMMAND...
check()
{
	name=$1
	shift
	count=$((count + 1))
	: >"$work/output"
	: >"$work/message"
	if "$@"; then
		echo "ok $count - $name"
	else
		echo "not ok $count - $name"
		failed=1
		sed 's/^/# /' "$work/output" "$work/message"
	fi
}

# ends STATUS ARGUMENT... - vagx-run with these; leaves no files behind
ends()
{
	want=$1
	shift
	status=0
	"$run" "$@" >"$work/output" 2>"$work/message" || status=$?
	[ $status = "$want" ] || echo "status $status" >>"$work/message"
	for left in "$work"/vagx-run.*; do
		[ ! -e "$left" ] || echo "left: $left" >>"$work/message"
	done
	[ $status = "$want" ] && ! grep -q '^left: ' "$work/message"
}

# says TEXT... - each is in what it said
says()
{
	for text; do
		grep -qe "$text" "$work/message" || {
			echo "it does not say '$text'" >>"$work/message"
			return 1
		}
	done
}

executes()
{
	ends 0 "$compute" --size=64 fill && grep -q '^ok 1 - fill' "$work/output" &&
		says '^vagx-run: processes with the GPU: 1, with work for it: 1; failed jobs: 0$' &&
		! grep 'has got no work' "$work/message"
}

# A program that only looks may have worked elsewhere.
looks()
{
	ends 0 "$info" && grep -q 'G13G B1' "$work/output" &&
		says '^vagx-run: processes with the GPU: 1, with work for it: 0; failed jobs: 0$' \
			'^vagx-run: the GPU has got no work: '
}

other_soc()
{
	ends 0 --soc t6021 "$compute" --size=64 fill && ends 0 --soc=t6021 "$info" &&
		grep -q 'G14C B1' "$work/output"
}

faults()
{
	ends 123 "$bad" store && says '^asahi_shim: a job of queue 1 of process [0-9]* ' \
		'^asahi_shim: a job has failed: Input/output error; why is reported' \
		' write fault at 0x123456001c, unmapped, .* unit shader core$' \
		'^ bound 0x[0-9a-f]* bytes before: 0x[0-9a-f]* to 0x[0-9a-f]* (read, write)$' \
		'^ instruction at 0x[0-9a-f]*: store of 4 bytes at 0x123456001c, of the shader' \
		'^ in launch 1 of job [0-9]*$' \
		'^ thread: 0, 0, 0 of threadgroup 0, 0, 0; lane 0 of simdgroup 0, ' \
		'^     0x[0-9a-f]*: [0-9a-f]* *mov *r3, 7$' \
		'^  -> 0x[0-9a-f]*: [0-9a-f]* *store *r2, du0, r3, i32, x' \
		'^ uniforms: u0l 0000 u0h 3456 u1l 0012 u1h 0000$' \
		'^   r0   [5d][0-9a-f]* [5d][0-9a-f]* [0-9a-f]* 00000007 ' 'failed jobs: 1$' &&
		ends 123 "$bad" load && says ' read fault at 0x1234560000, unmapped, ' \
		'^  -> 0x[0-9a-f]*: [0-9a-f]* *load *r4, du0, r2, i32, x'
}

unknown_instruction()
{
	ends 123 "$bad" instruction && says 'USC_SHADER_FAILED' 'unknown instruction' \
		'^  -> 0x[0-9a-f]*: ffffffff[0-9a-f]* *not an instruction' 'failed jobs: 1$'
}

unsupported_instruction()
{
	ends 123 "$bad" unsupported && says 'USC_SHADER_FAILED' \
		'instruction DOORBELL is not supported' \
		'^  -> 0x[0-9a-f]*: 2805 *doorbell 5$' 'failed jobs: 1$'
}

unknown_packet()
{
	ends 123 "$bad" packet && says 'CDM_UNKNOWN_BLOCK' '^ words there: e0000000 [0-9a-f]' \
		'failed jobs: 1$'
}

# A mistake of a shader that does no harm here
checks()
{
	ends 0 "$bad" careless &&
		says ' warning: lint: shader at .*: iadd *r4, r2, 1: reads a register after its last use' &&
		ends 0 --check "$compute" --size=64 vecadd &&
		ends 122 --check "$bad" careless && says ' sanitizer: discarded-read: ' \
		'^ in launch 1 of job [0-9]*$' \
		'^ thread: 0, 0, 0 of threadgroup 0, 0, 0; lane 0 of simdgroup 0, ' \
		'^  -> 0x[0-9a-f]*: [0-9a-f]* *iadd *r4, r2, 1$' \
		'^asahi_shim: the sanitizer has reported shaders .*; places: 1$' 'failed jobs: 0$' &&
		ends 123 --check "$bad" store
}

behind()
{
	ends 0 "$bad" behind && ends 122 --check "$bad" behind &&
		says ' sanitizer: out-of-bounds: ' ' thread: 31, 0, 0 of threadgroup 0, 0, 0; '
}

# With little memory a race may be missed, and nothing else changes
check_memory()
{
	ends 0 --check --check-memory=1 "$compute" --size=64 vecadd &&
		for size in 0 -1 x 65537; do
			ends 125 --check-memory="$size" "$info" && says 'expected a number' || return 1
		done
}

unkind()
{
	ends 0 --unkind=3 "$compute" --size=64 vecadd &&
		for seed in 0 -1 x 3x '' 4294967296; do
			ends 125 --unkind="$seed" "$info" && says 'expected a number' || return 1
		done
}

# The registers of a thread, by the name that --check gives the shader
watches()
{
	ends 122 --check "$bad" careless
	shader=$(sed -n 's/.*sanitizer: discarded-read: .* \([0-9a-f]\{16\}\)+0x.*/\1/p' \
		"$work/message" | head -n 1)
	ends 0 --break="$shader+12" --thread=5,0,0 "$bad" careless &&
		says ' watch: before 0x[0-9a-f]* of the compute shader '"$shader"'+0xc' \
		'^ thread: 5, 0, 0 of threadgroup 0, 0, 0; lane 5 of simdgroup 0, ' \
		'^  -> 0x[0-9a-f]*: [0-9a-f]* *iadd *r4, r2, 1$' \
		'^   r0   [0-9a-f]*  [0-9a-f]*  00000005  00000006\* ' &&
		ends 0 --break="$shader" --thread=32,0,0 "$bad" careless &&
		! grep -q 'watch: ' "$work/message" &&
		for wrong in x "$shader+" "$shader-3"; do
			ends 125 --break="$wrong" "$bad" careless &&
				says 'not SHADER.+OFFSET. and X,Y,Z' || return 1
		done
	ends 125 --break="$shader" --thread=1,2 "$bad" careless
}

# A table of each process, and one array of both: its counts are those of the tables
profiles()
{
	ends 0 --profile "$compute" --size=64 vecadd && says ' warning: profile: of process ' \
		'^ shaders, 1:$' ' compute shader [0-9a-f]\{16\}$' \
		'^ stalls by what they wait for: device load 100.0%$' \
		' 32.0 *- *+0x1e *store *r5, du4, r2, i32, x, a$' &&
		ends 0 --profile="$work/profile" \
			sh -c "'$compute' --size=64 vecadd; '$compute' --size=64 fill; '$info'" &&
		python3 "$trace_py" "$work/profile" &&
		python3 - "$work/profile" "$work/message" <<-'END' &&
		import json, re, sys
		with open(sys.argv[1], encoding="utf-8") as trace, open(sys.argv[2], encoding="utf-8") as text:
		    spans = [span for span in json.load(trace) if span["ph"] == "X"]
		    told = re.findall(r"^ (\d+) instructions of (\d+) simdgroups", text.read(), re.M)
		assert len(told) == 2, told
		for kind in ("launch ", "compute shader "):
		    mine = [span["args"] for span in spans if span["name"].startswith(kind)]
		    for number, key in enumerate(("instructions", "simdgroups")):
		        counted = sum(args[key] for args in mine)
		        assert counted == sum(int(line[number]) for line in told) > 0, (kind, key, counted)
		END
		ends 0 "$compute" --size=64 vecadd && ! grep -q 'profile: ' "$work/message" &&
		ends 125 --profile=/nowhere/profile "$info" && says '/nowhere/profile: No such file'
}

suppresses()
{
	echo 'discarded-read * as it is meant to be' >"$work/known"
	echo 'discarded-read' >"$work/wrong"
	ends 0 --check="$work/known" "$bad" careless &&
		ends 125 --check="$work/wrong" "$bad" careless &&
		says 'wrong:1: expected KIND SHADER' &&
		ends 125 --check="$work/not-there" "$bad" careless && says 'No such file'
}

fails()
{
	ends 7 sh -c 'exit 7' && ends 7 sh -c "'$bad' store; exit 7"
}

dies()
{
	ends 143 sh -c 'kill -TERM $$'
}

not_found()
{
	ends 127 "$work/nothing" && says "^vagx-run: $work/nothing: No such file"
}

not_executable()
{
	ends 126 "$work/output" && says "^vagx-run: $work/output: Permission denied"
}

# vagx-run recognizes these by their headers.
not_preloadable()
{
	{ printf '\177ELF\001\001\001' && head -c 57 /dev/zero; } >"$work/small" &&
		{ printf '\177ELF\002\001\001' && head -c 57 /dev/zero; } >"$work/static" &&
		cp /bin/true "$work/setuid" && chmod +x "$work/small" "$work/static" ||
		return 1
	"$run" "$work/small" >"$work/output" 2>"$work/message"
	says "^vagx-run: $work/small is a 32-bit program, .*: use a 64-bit build of it" || return 1
	"$run" "$work/static" >"$work/output" 2>"$work/message"
	says "^vagx-run: $work/static is linked statically, .*: link it dynamically" || return 1
	# only root has a program of another user
	chown 65534 "$work/setuid" 2>/dev/null || return 0
	chmod u+s "$work/setuid"
	ends 124 "$work/setuid" && says "^vagx-run: $work/setuid is a program with privileges"
}

# Nothing is left of the privileges when the report is written.
drops_privileges()
{
	[ "$(id -u)" = 0 ] && setpriv --reuid 65534 --regid 65534 --clear-groups true \
		2>/dev/null || return 0
	chmod 755 "$work"
	ends 0 setpriv --reuid 65534 --regid 65534 --clear-groups "$info" &&
		says '^vagx-run: processes with the GPU: 1,'
}

unused()
{
	ends 124 sh -c : && says '^vagx-run: no process of the command has opened the GPU$'
}

several()
{
	ends 123 sh -c "'$info'; '$bad' store; '$bad' packet; '$compute' --size=64 fill" &&
		says '^vagx-run: processes with the GPU: 4, with work for it: 3; failed jobs: 2$'
}

records()
{
	ends 0 --record "$work/calls" "$compute" --size=64 fill &&
		grep -q '^ASAHI_SUBMIT ' "$work/calls" &&
		[ "$(grep -c '^ASAHI_QUEUE_CREATE ' "$work/calls")" = 1 ]
}

# Of two processes, in one array
traces()
{
	ends 0 --trace "$work/trace" sh -c "'$compute' --size=64 fill; '$compute' --size=64 fill" &&
		python3 "$trace_py" "$work/trace" compute launch &&
		[ "$(grep -c process_name "$work/trace")" = 2 ] &&
		ends 0 -t "$work/trace" "$info" && python3 "$trace_py" "$work/trace"
}

keeps_report()
{
	ends 123 -o "$work/report" "$bad" instruction &&
		grep -q 'unknown instruction' "$work/report" &&
		ends 0 -o "$work/report" "$info" && ! grep -q 'instruction' "$work/report"
}

only_asahi()
{
	# what is chosen, not what this shell has
	# shellcheck disable=SC2016
	VK_ICD_FILENAMES=/lvp.json LIBGL_ALWAYS_SOFTWARE=1 ends 124 sh -c \
		'echo "<$VK_DRIVER_FILES> <${VK_ICD_FILENAMES-}${LIBGL_ALWAYS_SOFTWARE-}>"' &&
		grep -qx '<[^<]*/asahi_icd[^<:]*json> <>' "$work/output"
}

# Without a display there are no windows; an X server gets copies.
windows()
{
	# shellcheck disable=SC2016
	ask='echo "<${EGL_PLATFORM-}> <${MESA_VK_WSI_DEBUG-}>"'
	DISPLAY='' WAYLAND_DISPLAY='' EGL_PLATFORM='' MESA_VK_WSI_DEBUG='' ends 124 sh -c "$ask" &&
		grep -qx '<surfaceless> <>' "$work/output" &&
		DISPLAY=:7 WAYLAND_DISPLAY='' EGL_PLATFORM='' MESA_VK_WSI_DEBUG='' \
			ends 124 sh -c "$ask" &&
		grep -qx '<> <sw>' "$work/output"
}

# fake_display - a folder with programs in the place of Weston and Xwayland. FAKE_WESTON says how
# it behaves, FAKE_WESTON_RUN has a program for it to run.
fake_display()
{
	rm -rf "$work/fake"
	mkdir "$work/fake" && : >"$work/fake/Xwayland" || return 1
	cat >"$work/fake/weston" <<-'END'
		#!/usr/bin/env python3
		import json, os, signal, socket, subprocess, sys, time
		mode = os.environ.get("FAKE_WESTON")
		with open(os.path.dirname(sys.argv[0]) + "/said", "w") as file:
		    json.dump({"pid": os.getpid(), "arguments": sys.argv[1:], "environment": dict(os.environ)},
		              file, indent=0)
		if "FAKE_WESTON_RUN" in os.environ:
		    subprocess.run(os.environ["FAKE_WESTON_RUN"], shell=True)
		if mode == "dies":
		    sys.exit("no GL renderer here")
		if mode == "sleeps":
		    time.sleep(60)
		number = 100000 + os.getpid()
		path = f"/tmp/.X11-unix/X{number}"
		server = socket.socket(socket.AF_UNIX)
		server.bind(path)
		server.listen()
		def end(*_):
		    os.unlink(path)
		    sys.exit()
		signal.signal(signal.SIGTERM, end)
		print(f"[12:00:00] xserver listening on display :{number}", file=sys.stderr, flush=True)
		if mode == "silent":
		    time.sleep(60)
		client, _ = server.accept()
		right = client.recv(12) == b"l\0\x0b\0" + bytes(8)
		client.send(bytes([right and mode != "refuses"]) + bytes(7))
		if mode == "ends":
		    end()
		# Reading from a client that leaves without having read all of this fails, and pause()
		# misses a signal that comes just before it.
		while True:
		    time.sleep(0.1)
	END
	chmod +x "$work/fake/weston" "$work/fake/Xwayland"
}

# process_is_gone PID - it has ended; the process that inherited it may never collect its status
process_is_gone()
{
	! kill -0 "$1" 2>/dev/null || grep -qs '^State:[[:space:]]*[ZX]' "/proc/$1/status"
}

# fake_is_gone - the Weston, after at most ten seconds, and its display
fake_is_gone()
{
	pid=$(sed -n 's/^"pid": \(.*\),/\1/p' "$work/fake/said")
	[ -n "$pid" ] || return
	looks=20
	until process_is_gone "$pid"; do
		looks=$((looks - 1))
		[ $looks -gt 0 ] || return
		sleep 0.5
	done
	[ ! -e "/tmp/.X11-unix/X$((100000 + pid))" ]
}

# The command has the display and no other; Weston has neither that nor the command's files.
x11()
{
	# shellcheck disable=SC2016
	ask='echo "<$DISPLAY> <$WAYLAND_DISPLAY> <${EGL_PLATFORM-}${MESA_VK_WSI_DEBUG-}>"
		echo "$VAGX_RUN_WESTON"; exit 7'
	fake_display && PATH="$work/fake:$PATH" DISPLAY=:7 WAYLAND_DISPLAY=other EGL_PLATFORM='' \
		MESA_VK_WSI_DEBUG='' ends 7 --x11 --record "$work/calls" sh -c "$ask" &&
		grep -qx '<:[0-9]\{6,\}> <> <>' "$work/output" &&
		grep -qx "$work/vagx-run[.].*/display/weston" "$work/output" &&
		grep -qx '"--xwayland",' "$work/fake/said" && grep -qx '"--width=800",' "$work/fake/said" &&
		grep -qx '"--height=600"' "$work/fake/said" && grep -q '"LD_PRELOAD": ' "$work/fake/said" &&
		grep -q '"ASAHI_SHIM_NO_EVENTFD": "1"' "$work/fake/said" &&
		! grep -e '"DISPLAY"' -e WAYLAND_DISPLAY -e ASAHI_SHIM_LOG "$work/fake/said" && fake_is_gone
}

# The display's work is none of the command's, but its failures count.
x11_jobs()
{
	fake_display && PATH="$work/fake:$PATH" FAKE_WESTON_RUN="$info" ends 124 --x11 sh -c : &&
		PATH="$work/fake:$PATH" FAKE_WESTON_RUN="'$bad' store" ends 123 --x11 "$info" &&
		says '^vagx-run: processes with the GPU: 1, with work for it: 0; failed jobs: 1$' &&
		fake_is_gone
}

x11_size()
{
	fake_display && PATH="$work/fake:$PATH" ends 124 --x11=320x64 sh -c : &&
		grep -qx '"--width=320",' "$work/fake/said" && grep -qx '"--height=64"' "$work/fake/said" ||
		return 1
	for size in 320 63x64 64x63 8193x64 64x8193 320x200x1 -320x200 ''; do
		ends 125 --x11="$size" sh -c : && says "^vagx-run: --x11=$size: the size has to be" || return 1
	done
}

# x11_missing PROGRAM - without it in PATH
x11_missing()
{
	fake_display && rm "$work/fake/$1" || return 1
	status=0
	env PATH="$work/fake" "$run" --x11 /bin/true >"$work/output" 2>"$work/message" || status=$?
	[ $status = 125 ] && says "^vagx-run: --x11 needs $1, which is not installed (Debian: "
}

x11_not_installed()
{
	x11_missing weston && x11_missing Xwayland
}

# x11_fails MODE SECONDS MESSAGE - the display does not come up in time, and the command is not run
x11_fails()
{
	fake_display && PATH="$work/fake:$PATH" FAKE_WESTON=$1 VAGX_RUN_X11_TIMEOUT=$2 \
		ends 125 --x11 sh -c 'echo executed' && says "^vagx-run: --x11: $3[.] Weston's log ends with" &&
		! grep executed "$work/output" && fake_is_gone
}

x11_broken()
{
	x11_fails dies 30 'Weston has ended' && says '^  no GL renderer here$' &&
		x11_fails sleeps 5 'Weston takes too long to start' &&
		x11_fails silent 6 'Xwayland does not answer' && says 'listening on display' &&
		x11_fails refuses 30 'Xwayland refuses clients'
}

x11_ends_early()
{
	fake_display && PATH="$work/fake:$PATH" FAKE_WESTON=ends ends 125 --x11 sh -c "sleep 2; '$info'" &&
		says '^vagx-run: --x11: Weston has ended before the command, by status 0' && fake_is_gone
}

# Where DESTDIR was: the file for the loader has the library's path.
own_mesa()
{
	mkdir -p "$work/mesa/usr/lib/any" && : >"$work/mesa/usr/lib/any/libvulkan_asahi.so" || return 1
	# shellcheck disable=SC2016
	ends 124 --mesa "$work/mesa" sh -c 'cat "$VK_DRIVER_FILES"' &&
		grep -q "\"library_path\": \"$work/mesa/usr/lib/any/libvulkan_asahi.so\"" "$work/output"
}

# Without X11 Mesa installs no dri/asahi_dri.so; meson calls the folder lib64 on a Debian that has
# no dpkg-dev, and the prefix is /usr/local.
own_gl()
{
	libraries=$work/mesa/usr/local/lib64
	mkdir -p "$libraries" && : >"$libraries/libvulkan_asahi.so" || return 1
	: >"$libraries/libgallium-26.1.6.so"
	rm -rf "$work/mesa/usr/lib"
	# shellcheck disable=SC2016
	ends 124 --mesa "$work/mesa" sh -c 'cat "$VK_DRIVER_FILES"; echo "$LD_LIBRARY_PATH"' &&
		grep -q "\"library_path\": \"$libraries/libvulkan_asahi.so\"" "$work/output" &&
		grep -qE "^$libraries(:|$)" "$work/output" && ! says 'OpenGL driver'
}

# names_only LIBRARY THERE MISSING - in a folder with this alone, the other driver is missing
names_only()
{
	rm -rf "$work/half"
	mkdir -p "$work/half/$(dirname "$1")" && : >"$work/half/$1" || return 1
	ends 124 --mesa "$work/half" sh -c : && says "$3 driver asahi is not installed" &&
		! grep "$2 driver asahi is not installed" "$work/message"
}

half_a_mesa()
{
	# shellcheck disable=SC2016
	mkdir -p "$work/half/lib" && : >"$work/half/lib/libvulkan_asahi.so" &&
		ends 124 --mesa "$work/half" sh -c 'echo "$__EGL_VENDOR_LIBRARY_FILENAMES"' &&
		[ "$(cat "$work/output")" = /nonexistent/mesa.json ] || return 1
	names_only lib/libvulkan_asahi.so Vulkan OpenGL && names_only lib/dri/asahi_dri.so OpenGL Vulkan
}

# Of OpenCL there is rusticl and nothing else, from the system or from a folder.
only_rusticl()
{
	# shellcheck disable=SC2016
	ask='ls "$OCL_ICD_VENDORS"; cat "$OCL_ICD_VENDORS"/*; echo "<${OCL_ICD_FILENAMES-}>"'
	rm -rf "$work/half"
	mkdir -p "$work/half/lib" && : >"$work/half/lib/libvulkan_asahi.so" || return 1
	OCL_ICD_FILENAMES=/pocl.so OCL_ICD_VENDORS=/pocl \
		ends 124 --mesa "$work/half" sh -c "$ask" && says 'rusticl, is not installed' &&
		[ "$(cat "$work/output")" = '<>' ] || return 1
	: >"$work/half/lib/libRusticlOpenCL.so.1"
	OCL_ICD_VENDORS=/pocl ends 124 --mesa "$work/half" sh -c "$ask" && ! grep rusticl "$work/message" &&
		[ "$(cat "$work/output")" = "rusticl.icd
$work/half/lib/libRusticlOpenCL.so.1
<>" ]
}

# A Mesa of the system without asahi's drivers. Root hides these, where no other process sees it.
old_mesa()
{
	! grep -q ' shared:' /proc/self/mountinfo || return 0
	# shellcheck disable=SC2016
	unshare --mount --propagation unchanged sh -c '
		mount -t tmpfs none /usr/share/vulkan && mkdir /usr/share/vulkan/icd.d || exit
		: >/usr/share/vulkan/icd.d/lvp_icd.json
		exec "$@"' sh "$run" true >"$work/output" 2>"$work/message"
	case $? in
	124) says '^vagx-run: Mesa is installed here, but without its Vulkan driver asahi: it is too' \
		'(Debian trixie: mesa-vulkan-drivers of trixie-backports)' ;;
	*) ! grep vagx-run "$work/message" ;;
	esac
}

no_mesa()
{
	ends 125 --mesa "$work" sh -c : && says 'neither libvulkan_asahi.so nor dri/asahi_dri.so'
}

no_soc()
{
	ends 125 --soc t9999 sh -c : && says 'ASAHI_SHIM_SOC=t9999: there are t8103 t8112' \
		'does not come up'
}

misused()
{
	ends 125 && says '^usage:' && ends 125 --nonsense && says '^usage:' &&
		ends 125 --record "$work/nowhere/calls" sh -c : && says 'nowhere/calls: No such file'
}

installed()
{
	mkdir -p "$work/prefix/bin" && cp "$run" "$work/prefix/bin/vagx-run" || return 1
	run=$work/prefix/bin/vagx-run
	ends 125 "$info" && says 'there is no libasahi_shim.so' &&
		mkdir -p "$work/prefix/bin/$shim_dir" &&
		cp "$shim" "$work/prefix/bin/$shim_dir/libasahi_shim.so" && ends 0 "$info"
}

check "a command is executed" executes
check "one that has no work" looks
check "on another SoC" other_soc
check "a fault" faults
check "an unknown instruction" unknown_instruction
check "an unsupported instruction" unsupported_instruction
check "an unknown packet" unknown_packet
check "a command that fails" fails
check "a shader that a machine would punish" checks
check "reports about shaders that are known" suppresses
check "a shader that reaches behind its buffer" behind
check "registers of a thread" watches
check "a profile of shaders" profiles
check "memory of the checks" check_memory
check "unkind cores" unkind
check "a command that is killed" dies
check "a command that is not there" not_found
check "a command that is none" not_executable
check "a command that takes no preloaded library" not_preloadable
check "a command that drops its privileges" drops_privileges
check "a command that does not use the GPU" unused
check "several processes" several
check "ioctls are recorded" records
check "what the units did is traced" traces
check "the report is kept" keeps_report
check "no driver but asahi can be chosen" only_asahi
check "displays" windows
check "a display for X11" x11
check "jobs of a display for X11" x11_jobs
check "the size of a display for X11" x11_size
check "a display for X11 that is not installed" x11_not_installed
check "a display for X11 that does not come up" x11_broken
check "a display for X11 that ends early" x11_ends_early
check "a Mesa that was installed elsewhere" own_mesa
check "a Mesa that was built without X11" own_gl
check "a Mesa with one of its drivers" half_a_mesa
check "no OpenCL but rusticl can be chosen" only_rusticl
check "a Mesa that is too old" old_mesa
check "a Mesa that is not there" no_mesa
check "a SoC that does not exist" no_soc
check "wrong arguments" misused
check "vagx-run as it is installed" installed

echo "1..$count"
exit $failed

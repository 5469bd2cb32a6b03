#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# Start vagx and the virtual machine beside it, run a script in the guest, wait
# for both to end and report their statuses.

. "$(dirname "$0")/lib.sh"

usage()
{
	cat >&2 <<-END
		usage: tools/vm.sh [OPTION ...] [--] SCRIPT [ARGUMENT ...]
		       tools/vm.sh [OPTION ...] --interactive
		  SCRIPT is a path in the clone; bash runs it in the guest.
		  --kernel plain|debug|nightly  which kernel (plain)
		  --root desktop         a root that has games, too
		  --modules NAME         folder of build/ with the modules (modules-<kernel>)
		  --out DIR              folder for results and logs (build/out/vm); what an
		                         earlier run has left there is removed
		  --share DIR            a folder that the guest has at /out/share, and that stays as
		                         the guest leaves it, however the machine ends
		  --memory SIZE          guest RAM (2G), at least 770M
		  --smp N                guest processors (number of the host's, at most 4)
		  --icount nosleep|sleep one processor that counts instructions
		  --count                count instructions by block of code, in OUT/instructions,
		                         between marks that the guest sets (asahi-bench jobs)
		  --virtualization       a machine that KVM of the guest's kernel works on
		  --timeout SECONDS      end the machine after so long (300)
		  --soc NAME[:FIRMWARE]  machine with another SoC: t8112, t6021, t6000:12.3, ...;
		                         "vagx --list-socs" has them all (t8103:13.5)
		  --vagx COMMAND         emulator (build/host/emulator/vagx)
		  --vagx-args "ARGS"     more arguments for it
		  --append "ARGS"        more arguments for the kernel
		  --dt "ARGS"            change the device tree with fdtput (repeatable)
		  --no-plugin            vagx looks at page tables with each access, instead of
		                         keeping translations until the guest invalidates them
		  --caches               the plugin tells vagx of the maintenance of the CPU's
		                         caches, too
		  --violations           violations that vagx reports do not fail the run
		  --quiet                do not show the guest's output
		Exit status: the script's; 125 if the machine did not come to its end or
		the emulator failed.
	END
	exit 2
}

kernel=plain root='' modules='' out=$top/build/out/vm memory=2G smp='' icount='' timeout=300
vagx=$top/build/host/emulator/vagx vagx_ctl=$top/build/host/emulator/vagx-ctl
share='' vagx_args='' append='' interactive='' violations='' quiet='' plugin=$top/build/host/emulator/plugin/vagx-tlbi.so
count='' caches='' cpu=max,pauth=off,sve=off,sme=off
kdir='' image='' soc=t8103 dt=() board=virt,gic-version=3
arguments=("$@")

while [ $# -gt 0 ]; do
	case $1 in
	--kernel) kernel=$2; shift ;;
	--root) root=$2; shift ;;
	--modules) modules=$2; shift ;;
	--out) out=$(realpath -m "$2"); shift ;;
	--share) share=$(realpath -m "$2"); shift ;;
	--memory) memory=$2; shift ;;
	--smp) smp=$2; shift ;;
	--icount) icount=$2; shift ;;
	--count) count=$top/build/host/emulator/plugin/vagx-count.so ;;
	--virtualization) board=virt,gic-version=3,virtualization=on ;;
	--timeout) timeout=$2; shift ;;
	--soc) soc=$2; shift ;;
	--vagx) vagx=$2; shift ;;
	--vagx-args) vagx_args=$2; shift ;;
	--append) append=$2; shift ;;
	--dt) dt+=("$2"); shift ;;
	--interactive) interactive=1 ;;
	--no-plugin) plugin='' ;;
	# QEMU's "max" has no caches for Linux, which maintains none then.
	--caches) caches=,caches=on cpu=neoverse-n2 ;;
	--violations) violations=1 ;;
	--quiet) quiet=1 ;;
	--kdir) kdir=$2; shift ;;
	--image) image=$2; shift ;;
	--) shift; break ;;
	-*) usage ;;
	*) break ;;
	esac
	shift
done
[ -n "$interactive" ] || [ $# -gt 0 ] || usage
# What the boot loader leaves, see tools/guest/vagx.dtso, has to be in RAM.
bytes=$(numfmt --from=iec "$memory" 2>/dev/null) ||
	die "--memory $memory: a size is expected, as in 1536M or 2G"
[ "$bytes" -ge $((770 << 20)) ] ||
	die "--memory $memory: the boot loader's regions end at 770M, which is the least"
modules=${modules:-modules-$kernel}
smp=${smp:-$((jobs < 4 ? jobs : 4))}

if [ -z "$kdir" ]; then
	output_folder "$out"
	export ASAHI_OUT=$out
	kdir=$("$top/tools/kernel.sh" "$kernel")
	image=$("$top/tools/guest.sh" ${root:+"$root"})
	exec "$top/tools/toolbox.sh" run "$top/tools/vm.sh" --kdir "$kdir" --image "$image" \
		"${arguments[@]}"
fi

if [ -n "$share" ]; then
	mkdir -p "$share"
	mv "$share" "$out/share"
fi

# take_share - what the guest has left there goes back to where it came from
take_share()
{
	[ -z "$share" ] || [ ! -d "$out/share" ] || mv "$out/share" "$share"
}

work=$(mktemp -d)
socket=$work/vagx.sock
control=$work/control.sock
tlbi=$work/tlbi.sock

if [ -n "$interactive" ]; then
	stty size 2>/dev/null | tr ' ' '\n' >"$out/interactive"
else
	printf '%q ' "$@" >"$out/command"
	sed -i '1s/^/. \/clone\/tools\/guest\/lib.sh; . /' "$out/command"
fi
echo "modules=$modules" >"$out/settings"

machine=(-M "$board" -m "$memory" -no-reboot -nic none -display none
	-object "memory-backend-memfd,id=ram,size=$memory,share=on"
	-machine memory-backend=ram)
case $icount in
'')	machine+=(-cpu "$cpu" -smp "$smp") ;;
sleep)	machine+=(-cpu "max,pauth=off,sve=off,sme=off" -smp 1 -icount "shift=0,sleep=on") ;;
nosleep) machine+=(-cpu max -smp 1 -icount "shift=0,sleep=off,align=off") ;;
*)	usage ;;
esac
[ -z "$icount" ] || machine+=(-seed 1 -rtc "base=2026-01-01,clock=vm")

qemu-system-aarch64 "${machine[@]}" -machine "dumpdtb=$work/virt.dtb" 2>"$work/dumpdtb.log" ||
	{ cat "$work/dumpdtb.log" >&2; die "QEMU does not start"; }
"$top/tools/devicetree.sh" "$work/virt.dtb" "$work/machine.dtb" "$soc"

for change in "${dt[@]}"; do
	# shellcheck disable=SC2086
	fdtput "$work/machine.dtb" $change
done

vagx_soc=(--soc "${soc%%:*}")
[ "$soc" = "${soc#*:}" ] || vagx_soc+=(--firmware "${soc#*:}")
[ -z "$plugin" ] || vagx_soc+=(--tlbi "$tlbi")
# shellcheck disable=SC2086
$vagx "${vagx_soc[@]}" --socket "$socket" --control "$control" $vagx_args >"$out/vagx.log" 2>&1 &
vagx_pid=$!
qemu_pid=''
host_pid=''
# Whatever ends this script ends the machine.
trap 'kill $vagx_pid $qemu_pid $host_pid 2>/dev/null || true; rm -rf "$work"; take_share' EXIT

# answer_guest REQUEST [ARGUMENT ...] - what the guest may ask about the emulator,
# or for, see ask_host there
answer_guest()
{
	case $1 in
	observe)
		awk '{ ns += $1 } END { printf "cpu_ns %d\n", ns }' /proc/$vagx_pid/task/*/schedstat
		awk '/ctxt_switches/ { n += $2 } END { printf "switches %d\n", n }' \
			/proc/$vagx_pid/task/*/status
		# Pages of the guest's RAM are shared memory; what is its own is not.
		awk '/^RssAnon|^RssFile/ { kib += $2 } END { printf "own_kib %d\n", kib }' \
			/proc/$vagx_pid/status
		printf 'power_cuts %d\n' "$(grep -c 'power domain is cut' "$out/vagx.log")"
		;;
	ctl)
		shift
		"$vagx_ctl" "$control" "$@"
		;;
	*)
		echo "unknown request"
		return 1
		;;
	esac
}

# look_at_halted - a guest that has made /out/halt halts at its end. When it has, somebody
# looks whether its memory changes all the same, and ends the machine.
look_at_halted()
{
	grep -q 'reboot: System halted' "$out/console.log" || return 0
	rm "$out/halt"
	python3 "$top/tools/halted.py" "$qemu_pid" 2 >"$out/halted" 2>&1 || true
	kill "$qemu_pid"
}

# The answer's first line is the request's status. Nothing is written to the pipe
# that is read from: it is a sleep that needs no process.
wait_for_requests()
{
	local request status pipe=$work/never

	mkfifo "$pipe"
	exec 3<>"$pipe"
	while :; do
		read -rt 0.02 -u 3 || true
		[ ! -e "$out/halt" ] || look_at_halted
		[ -s "$out/request" ] || continue
		mapfile -t request <"$out/request"
		rm "$out/request"
		status=0
		answer_guest "${request[@]}" >"$work/answer" 2>&1 || status=$?
		{ echo $status; cat "$work/answer"; } >"$out/answer.new"
		mv "$out/answer.new" "$out/answer"
	done
}

for _ in $(seq 600); do
	[ -S "$socket" ] && break
	kill -0 $vagx_pid 2>/dev/null || { cat "$out/vagx.log" >&2; die "vagx does not start"; }
	sleep 0.1
done
[ -S "$socket" ] || die "vagx does not make its socket"

if [ -n "$interactive" ]; then
	machine+=(-chardev "stdio,id=console,signal=off,logfile=$out/console.log")
else
	machine+=(-chardev "file,id=console,path=$out/console.log")
fi
machine+=(-serial chardev:console -monitor none)
# A processor of the machine is a thread of the host, which may stand still for longer than the 21
# seconds after which RCU complains.
kernel_arguments="console=ttyAMA0 root=/dev/vda ro init=/sbin/asahi-init panic=-1 loglevel=7"
kernel_arguments+=" log_buf_len=4M rcupdate.rcu_cpu_stall_timeout=60 $append"
# A test reads a file of the clone once. At a prompt, what changes in the clone is seen.
[ -n "$interactive" ] || kernel_arguments+=" clone_cache=loose"
# Over a sleep of the machine, 9p keeps its connections only on an Express device
# that says that it needs no reset; one is behind a port of its own.
command=(qemu-system-aarch64 "${machine[@]}" -dtb "$work/machine.dtb"
	-kernel "$kdir/arch/arm64/boot/Image"
	-append "$kernel_arguments"
	-drive "if=none,id=root,file=$image,format=raw,read-only=on"
	-device virtio-blk-pci,drive=root,addr=1.0
	-fsdev "local,id=clone,path=$top,security_model=none,readonly=on,multidevs=remap"
	-device pcie-root-port,id=port1,addr=2.0,chassis=1,slot=1
	-device virtio-9p-pci,fsdev=clone,mount_tag=clone,bus=port1,x-pcie-pm-no-soft-reset=on
	-fsdev "local,id=out,path=$out,security_model=none"
	-device pcie-root-port,id=port2,addr=3.0,chassis=2,slot=2
	-device virtio-9p-pci,fsdev=out,mount_tag=out,bus=port2,x-pcie-pm-no-soft-reset=on
	-device "{\"driver\":\"vfio-user-pci\",\"addr\":\"4.0\",\"socket\":{\"path\":\"$socket\",\"type\":\"unix\"}}")
[ -z "$plugin" ] || command+=(-plugin "$plugin,socket=$tlbi$caches")
[ -z "$count" ] || command+=(-plugin "$count,out=$out/instructions")

if [ -n "$interactive" ]; then
	wait_for_requests 2>/dev/null &
	host_pid=$!
	"${command[@]}" || true
	kill $host_pid 2>/dev/null || true
else
	: >"$out/output"
	timeout -k 5 "$timeout" "${command[@]}" >"$out/qemu.log" 2>&1 &
	qemu_pid=$!
	wait_for_requests 2>/dev/null &
	host_pid=$!
	tail_pid=''
	if [ -z "$quiet" ]; then
		tail -q -n +1 -f --pid=$qemu_pid -s 0.2 "$out/output" 2>/dev/null &
		tail_pid=$!
	fi
	qemu_status=0
	wait $qemu_pid || qemu_status=$?
	[ -z "$tail_pid" ] || wait $tail_pid 2>/dev/null || true
	kill $host_pid 2>/dev/null || true
fi

qemu_pid='' host_pid=''
# The emulator ends when the machine closes the connection.
for _ in $(seq 600); do
	kill -0 $vagx_pid 2>/dev/null || break
	sleep 0.1
done
vagx_status=0
if kill -0 $vagx_pid 2>/dev/null; then
	say "vagx is still running after the machine ended; killed"
	kill -KILL $vagx_pid
	vagx_status=124
fi
wait $vagx_pid 2>/dev/null || vagx_status=$?
vagx_pid=''
echo "$vagx_status" >"$out/vagx-status"

[ -z "$interactive" ] || exit 0
status=$(cat "$out/status" 2>/dev/null || true)
if [ -z "$status" ]; then
	if [ "$qemu_status" = 124 ]; then
		say "the machine was ended after $timeout s"
	else
		say "the machine ended early (QEMU's status $qemu_status); end of its console:"
	fi
	cat "$out/qemu.log" >&2
	tail -n 40 "$out/console.log" >&2
	status=125
fi
if [ "$vagx_status" != 0 ] && [ -z "$violations" ]; then
	say "vagx ended with status $vagx_status; end of its log:"
	tail -n 40 "$out/vagx.log" >&2
	[ "$status" != 0 ] || status=125
fi
exit "$status"

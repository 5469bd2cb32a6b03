# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
# shellcheck shell=bash
#
# What is expected of other people's programs (tools/guest/programs, tools/desktop/programs), for
# the shim and for the guest.

# shellcheck source=tools/checks/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

programs_list=tools/checks/programs.list
programs_runner=tools/guest/programs
# the library by which it gets frames
programs_frames=userspace/tests/gl-frames.so
# what is not run in software
programs_only=/dev/null
# the root that has the programs
programs_root=(tools/toolbox.sh programs)
# where the expected results are igt-tests/ci/programs-NAME-*.txt, if not by the machine
programs_like=

# programs_on_host OUT SKIPS COMMAND ... - in the root that has them
programs_on_host()
{
	local out=$1 skips=$2
	shift 2

	rm -rf "$out"
	"${programs_root[@]}" "$programs_runner" "$out" \
		"$top/build/host/$programs_frames" "$top/$programs_list" "$skips" "$@"
}

# programs_in_software MACHINE - what llvmpipe and lavapipe make of all, to be compared
# with what MACHINE does
programs_in_software()
{
	programs_on_host "$top/build/out/software-$1" "$programs_only" env \
		LIBGL_ALWAYS_SOFTWARE=1 VK_DRIVER_FILES=/usr/share/vulkan/icd.d/lvp_icd.json
}

# programs_expect MACHINE NAME COMMAND ... - a case, of which igt-tests/ci says what
# is known of it
programs_expect()
{
	local files=igt-tests/ci/programs-${programs_like:-$1} name=$2 machine=$1 output status=0
	shift 2

	output=$("$@" 2>&1) || status=$?
	if grep -qxF "$name" "$files-flakes.txt"; then
		ok "$machine: $name"
	elif grep -qxF "$name,Fail" "$files-fails.txt"; then
		[ $status = 0 ] || ok "$machine: $name"
		[ $status != 0 ] ||
			not_ok "$machine: $name" "passes, though $files-fails.txt says that it fails"
	elif [ $status = 0 ]; then
		ok "$machine: $name"
	else
		not_ok "$machine: $name" "$output"
	fi
}

# programs_ended OUT PROGRAM - its status is 0; prints its log otherwise
programs_ended()
{
	grep -qx "$2 0" "$1/statuses" && return
	grep "^$2 " "$1/statuses"
	tail -n 40 "$1/$2.log"
	return 1
}

# programs_validated OUT SCENE - glmark2 says that its picture is right
programs_validated()
{
	grep -E "^\[$2\].*Validation: Success" "$1/glmark2-validate.log" && return
	cat "$1/glmark2-validate.log"
	return 1
}

# programs_finds OUT WHAT - clinfo shows an OpenCL device that is the GPU
programs_finds()
{
	grep -q 'Device Name .*Apple M1 (G13G' "$1/clinfo.log" &&
		grep -q 'Device Version .*OpenCL 3' "$1/clinfo.log" &&
		grep -q 'Device Type .*GPU' "$1/clinfo.log" && return
	tail -n 60 "$1/clinfo.log"
	return 1
}

# programs_measured OUT TEST - clpeak has measured the latency of kernels: that there is a
# time says that its 20,000 kernels have run. The time is this machine's.
programs_measured()
{
	[ "$2" = kernel-latency ] &&
		grep -E 'Kernel launch latency : [0-9.]*[1-9]' "$1/clpeak.log" && return
	cat "$1/clpeak.log"
	return 1
}

# programs_compared OUT PROGRAM GROUP - cases of TAP have passed, and none has failed
programs_compared()
{
	grep -q "^ok - $3\b" "$1/$2.log" && ! grep "^not ok - $3\b" "$1/$2.log" && return
	grep -A1 '^not ok' "$1/$2.log" || tail -n 20 "$1/$2.log"
	return 1
}

# programs_tested OUT PROGRAM OPERATION - ggml says so of all its tests of an operation. In
# front of one that fails there is its error.
programs_tested()
{
	grep -aq "^  $3(.*OK" "$1/$2@$3.log" && ! grep -a " $3(.*FAIL" "$1/$2@$3.log" && return
	tail -n 20 "$1/$2@$3.log"
	return 1
}

# programs_said OUT PROGRAM SCENE - what there is to know of one without a picture
programs_said()
{
	case $2 in
	glmark2-validate) programs_validated "$1" "$3" ;;
	clinfo) programs_finds "$1" "$3" ;;
	clpeak) programs_measured "$1" "$3" ;;
	opencl) programs_compared "$1" opencl "$3" ;;
	model) programs_compared "$1" model "model: $3" ;;
	ggml|ggml-q5) programs_tested "$1" "$2" "$3" ;;
	vkd3d-gears|glmark2|vkmark) [ -s "$1/$2@$3.png" ] ;;
	*) return 1 ;;
	esac
}

# programs_judge MACHINE OUT - a case for each program and each picture
programs_judge()
{
	local machine=$1 out=$2 skips program scene tolerance strays last=''

	skips=$(sed '/^#/d' "igt-tests/ci/programs-${programs_like:-$machine}-skips.txt" | paste -sd '|')
	programs_expect "$machine" weston programs_ended "$out" weston
	while read -r program scene tolerance strays; do
		scene=${scene%%[:/]*}
		[[ -z $skips || ! $program@$scene =~ ^($skips)$ ]] || continue
		[ "$program" = "$last" ] ||
			programs_expect "$machine" "$program" programs_ended "$out" "$program"
		last=$program
		if [ "$tolerance" = - ]; then
			programs_expect "$machine" "$program@$scene" programs_said "$out" "$program" "$scene"
		else
			programs_expect "$machine" "$program@$scene" tools/toolbox.sh run \
				python3 tools/checks/pictures.py compare "$out/$program@$scene.png" \
				"build/out/software-$machine/$program@$scene.png" "$tolerance" "$strays"
		fi
	done < <(grep -v -e '^#' -e '^$' "$programs_list")
}

# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
# shellcheck shell=bash
#
# What the lanes with piglit share.

. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

programs()
{
	"$top/tools/toolbox.sh" programs "$@"
}

# piglit ARGUMENT ... - run a part of the list: a case for each folder of tests, and one
# for each test that does what is not expected
piglit()
{
	local tap=build/out/piglit.tap line

	mkdir -p build/out
	programs python3 tools/checks/piglit.py run --jobs "$jobs" "$@" >$tap 2>build/out/piglit.err ||
		true
	while IFS= read -r line; do
		case $line in
		'ok '*) ok "${line#* - }" ;;
		'not ok '*) not_ok "${line#* - }" "$(grep -c . build/out/piglit/fails.txt) do not pass, see build/out/piglit/log" ;;
		'# '*) printf '%s\n' "$line" ;;
		esac
	done <$tap
	grep -q '^# .* tests pass' $tap || not_ok "piglit runs to its end" "$(tail build/out/piglit.err)"
}

# pack_piglit DIR - what the guest needs of piglit for the tests that run there
pack_piglit()
{
	programs python3 tools/checks/piglit.py pack --list igt-tests/ci/piglit-guest-tests.txt \
		--out "$1"
}

# disassembles EVERY LEAST - Mesa's disassembly of every shader that one of so many tests
# compiles is ours; there are at least so many instructions. A test that ends its process
# takes others with it, so these are few.
disassembles()
{
	local files log

	mapfile -t files < <(programs python3 tools/checks/piglit.py files --every "$1")
	# shellcheck disable=SC2016
	log=$(programs build/host/userspace/shim/vagx-run env PIGLIT_PLATFORM=surfaceless_egl \
		build/host/userspace/tests/mesa-isa --at-least="$2" sh -c \
		'printf "%s\n" "$@" | xargs -n 4 sh -c '\''"$0" "$@" -auto -fbo'\'' "$0"; exit 0' \
		/usr/lib/x86_64-linux-gnu/piglit/bin/shader_runner "${files[@]}" 2>&1) ||
		{ tail -n 40 <<<"$log"; return 1; }
}

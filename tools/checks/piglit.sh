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

# piglit NAME ARGUMENT ... - run a part of the list: a case for each folder of tests, and one
# for each test that does what is not expected. The output goes to build/out/NAME: another lane
# may run a part meanwhile.
piglit()
{
	local out=build/out/$1 line
	shift

	mkdir -p build/out
	programs python3 tools/checks/piglit.py run --jobs "$jobs" --out "$out" "$@" \
		>"$out.tap" 2>"$out.err" || true
	while IFS= read -r line; do
		case $line in
		'ok '*) ok "${line#* - }" ;;
		'not ok '*) not_ok "${line#* - }" \
			"$(grep -c . "$out/fails.txt") do not pass, see $out/log" ;;
		'# '*) printf '%s\n' "$line" ;;
		esac
	done <"$out.tap"
	grep -q '^# .* tests pass' "$out.tap" || not_ok "piglit runs to its end" "$(tail "$out.err")"
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

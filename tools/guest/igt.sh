# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
# shellcheck shell=bash
#
# Programs in the manner of IGT GPU Tools, for scripts that run some. Sourced after lib.sh.

# A thousand jobs in a row, a thousand open files, or 65,536 mappings that replace or cut each
# other, find the same as on the plain kernel, and take minutes.
case $modules in
*-debug)
	machine=asahi-vagx-debug
	export ASAHI_LINKS=200 ASAHI_CLIENTS=20 ASAHI_FILES=200 ASAHI_BINDS=4096
	;;
*) machine=asahi-vagx ;;
esac
for kind in skips fails flakes; do
	grep -v -e '^#' -e '^$' "$expectations/$machine-$kind.txt" >/tmp/igt.$kind
done

# What the cases of the programs begin with
igt_label=igt

# judge PROGRAM - the results of its subtests, as TAP, with the errors that the program printed
# below the first that fails: one awk for all of them, because to start a program is slow here
judge()
{
	awk -v program="$1" -v label="$igt_label" '
		FILENAME == "/tmp/igt.skips" { skips[$0]; next }
		FILENAME == "/tmp/igt.fails" { sub(/,.*/, ""); fails[$0]; next }
		FILENAME == "/tmp/igt.flakes" { flakes[$0]; next }
		FILENAME == "/tmp/igt.err" { errors = errors "\n#   " $0; next }
		FILENAME == "/tmp/igt.out" {
			if (/^Subtest /) {
				sub(/:$/, "", $2)
				result[program "@" $2] = $3
				seconds = int(substr($4, 2))
				if (seconds >= 5)
					print "# " seconds " s: " program "@" $2
			}
			next
		}
		index($0, program "@") == 1 { listed[$0]; judge($0) }
		END {
			for (name in result)
				if (!(name in listed))
					fail(name, result[name] ", and not listed")
		}
		function fail(name, text) {
			print "not ok - " label ": " name "\n#   " text errors
			errors = ""
		}
		function judge(name, got, expected, pattern) {
			got = name in result ? result[name] : "missing"
			expected = name in fails ? "FAIL" : "SUCCESS"
			for (pattern in skips)
				if (name ~ pattern)
					expected = "SKIP"
			if (name in flakes && (got == "FAIL" || got == "SUCCESS"))
				expected = got
			if (got == expected)
				print "ok - " label ": " name (got == "SKIP" ? " # SKIP" : "")
			else
				fail(name, got ", not " expected)
		}' /tmp/igt.skips /tmp/igt.fails /tmp/igt.flakes /tmp/igt.err /tmp/igt.out \
		$expectations/asahi-subtests.txt
}

# run_program NAME
run_program()
{
	local status=0

	timeout 400 "$igt/$1" >/tmp/igt.out 2>/tmp/igt.err || status=$?
	at_rest closed >/tmp/igt.rest || not_ok "$igt_label: $1 leaves nothing behind" "$(cat /tmp/igt.rest)"
	judge "$1" >/tmp/igt.tap
	retries "$(</tmp/igt.out)"
	cat /tmp/igt.tap
	# A crash or a hang ends it before all subtests have been reported.
	case $status in
	0|77|98) ;;
	*) not_ok "$igt_label: $1 comes to its end" "status $status" ;;
	esac
	if grep -q '^not ok' /tmp/igt.tap; then
		tap_failed=1
	fi
}

# run_programs PROGRAM ... - and how long each took
run_programs()
{
	local program start

	for program; do
		start=$SECONDS
		run_program "$program"
		echo "# $((SECONDS - start)) s: $program"
	done
}

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# Break the driver in one line, again and again, and see that a test says so. Each
# file of tools/mutants is one such defect; Documentation/project/testing-reference.rst says
# what is in it.

. "$(dirname "$0")/checks/guest.sh"

usage()
{
	cat >&2 <<-END
		usage: tools/mutants.sh [--build-only] [NAME ...]
		       tools/mutants.sh --list
		  NAME is a file of tools/mutants without .diff; without names, all of them.
		  --build-only   apply and build them, and start no virtual machine
		  --list         what each breaks, and the test that has to find it
		Exit status: 0 if each was caught, or says why no test here can.
	END
	exit 2
}

mutants=$top/tools/mutants
work=$top/build/mutants
source=$work/source
out=$top/build/out/mutants

# field NAME KEY - what the head of a mutant's file says
field()
{
	sed -n "/^--- /q; s/^$2: //p" "$mutants/$1.diff"
}

# check_file NAME - its head is complete, and the rest changes or moves one line
check_file()
{
	local key sign

	[ -e "$mutants/$1.diff" ] || die "there is no mutant '$1'"
	for key in What Kind Test; do
		[ -n "$(field "$1" $key)" ] || die "$1: '$key:' is missing"
	done
	for sign in + -; do
		[ "$(sed '1,/^+++ /d' "$mutants/$1.diff" | grep -c "^[$sign]")" -le 1 ] ||
			die "$1 is more than one line"
	done
}

# kernel_of NAME - the kernel whose checks are needed to find it
kernel_of()
{
	case $(field "$1" Test) in
	debug:*) echo debug ;;
	*) echo plain ;;
	esac
}

test_of()
{
	field "$1" Test | sed 's/^debug: *//'
}

# copy_sources - a copy of what modules are made of, without any mutant. Files that
# are as they were keep their time, so that little is built again.
copy_sources()
{
	local file

	mkdir -p "$source"
	(cd "$source" && find . -type f) | while read -r file; do
		[ -e "$top/$file" ] || rm "$source/$file"
	done
	(cd "$top" && find Kbuild drivers include uapi -type f) | while read -r file; do
		! cmp -s "$top/$file" "$source/$file" || continue
		mkdir -p "$(dirname "$source/$file")"
		cp "$top/$file" "$source/$file"
	done
}

apply()
{
	(cd "$source" && GIT_CEILING_DIRECTORIES=$work git apply "$mutants/$1.diff") ||
		die "$1 does not apply any more: tools/mutants/$1.diff has to follow the driver"
}

hash_sources()
{
	(cd "$source" && find . -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum)
}

# build NAME|none KERNEL - the modules of a mutant, or of the driver as it is
build()
{
	local built=$top/build/modules-mutant-$2 modules=$work/$1/modules-$2 hash file

	copy_sources
	[ "$1" = none ] || apply "$1"
	hash=$(hash_sources)
	[ "$(cat "$modules/.sources" 2>/dev/null)" != "$hash" ] || return 0
	rm -rf "$modules"
	mkdir -p "$modules"
	"$top/tools/modules.sh" "$2" --name "mutant-$2" --source "$source" >"$work/$1/log" 2>&1 || {
		tail -n 20 "$work/$1/log" >&2
		die "$1 does not build"
	}
	for file in kunit.ko drivers/platform/vagx/vagx_{carrier,stall}.ko \
		drivers/gpu/drm/asahi/asahi.ko drivers/gpu/drm/asahi/tests/asahi_kunit.ko; do
		mkdir -p "$modules/$(dirname "$file")"
		cp "$built/$file" "$modules/$file"
	done
	echo "$hash" >"$modules/.sources"
}

# first_failure - one line of the results that says what broke, and, if that is a
# case of the machine's, what the kernel or the emulator said
first_failure()
{
	awk '
		/^not ok/ && !line {
			line = substr($0, 8)
			machine = line ~ /mutants\//
			next
		}
		line ~ /came to its end/ && /^(ok|not ok)/ { next }
		line && /^(ok|not ok)/ { exit }
		machine && /WARNING:|BUG:|KASAN|Oops|panic|[Uu]nable to handle|locking|violation|leak|not at rest|rule/ {
			sub(/^# */, ""); sub(/^\[[^]]*\] */, "")
			line = line ": " $0
			exit
		}
		END { sub(/^[0-9]* ?- /, "", line); print substr(line, 1, 160) }'
}

# baseline_of KERNEL TEST - where it is noted that the driver as it is passes that
# test, and how many seconds that took
baseline_of()
{
	echo "$out/passed/$(echo "$*" | sha256sum | cut -c1-12)"
}

# cases_in TAP_FILE [failed] - the test's own cases in it that pass, or fail; the
# machine's are left out
cases_in()
{
	local cases

	cases=$(mktemp "$work/cases.XXXXXX")
	grep "^${2:+not }ok" "$1" >"$cases" || true
	"$top/tools/cases.sh" names "$cases" | grep -v '^mutants/' || true
	rm "$cases"
}

# lanes_with KERNEL - the lanes with that kernel that have every case that is read, as far
# as they have passed on this machine
lanes_with()
{
	local lane lanes=''

	while read -r lane; do
		[[ $lane = guest-* ]] || continue
		[ "$1" = plain ] || grep -q -- '--kernel debug' "$top/tools/checks/$lane" || continue
		lanes+=${lanes:+, }$lane
	done < <("$top/tools/cases.sh" lanes)
	echo "$lanes"
}

# lanes_of KERNEL TEST NAME - the lanes that catch this one: those that have the case that
# has failed here, or, if that is none of theirs, all cases of the test
lanes_of()
{
	local lanes

	lanes=$(cases_in "$out/$3.tap" failed | head -n 1 | lanes_with "$1")
	[ -n "$lanes" ] || lanes=$(cases_in "$(baseline_of "$1" "$2").tap" | lanes_with "$1")
	echo "${lanes:-a lane that has not passed here}"
}

# try NAME|none KERNEL TEST [SECONDS] - run it; say what failed first, or nothing
try()
{
	local name=$1 kernel=$2 test=$3 limit=${4:-900} words=() options=(--smp 1) results=$out/$1.tap

	eval "words=($test)"
	while [[ " ${words[*]} " = *" -- "* ]]; do
		[ "${words[0]}" = -- ] || options+=("${words[0]}")
		words=("${words[@]:1}")
	done
	[ "$name" != none ] || results=$(baseline_of "$kernel" "$test").tap
	(
		run_guest "mutants/$name" --timeout "$limit" --kernel "$kernel" --append oops=panic \
			--modules "mutants/$name/modules-$kernel" "${options[@]}" \
			-- "tools/guest/tests/${words[0]}" "${words[@]:1}"
	) >"$results" || true
	grep '^not ok' "$results" >/dev/null || return 0
	first_failure <"$results"
}

# try_baseline NAME - the driver as it is has to pass what is to find the mutant. One
# that fails is tried once only.
try_baseline()
{
	local kernel test passed failure start

	kernel=$(kernel_of "$1") test=$(test_of "$1")
	passed=$(baseline_of "$kernel" "$test")
	[ ! -e "$passed" ] || return 0
	if [ ! -e "$passed.failure" ]; then
		build none "$kernel"
		start=$SECONDS
		failure=$(try none "$kernel" "$test")
		if [ -z "$failure" ]; then
			echo $((SECONDS - start)) >"$passed"
			return
		fi
		echo "$failure" >"$passed.failure"
	fi
	die "'$test' fails without any mutant: $(cat "$passed.failure")"
}

# judge NAME - run the test of a mutant that is built; a line for the report. A test
# that waits for what never comes may take three times as long as it does otherwise.
judge()
{
	local kernel test what failure impossible limit start=$SECONDS

	kernel=$(kernel_of "$1") test=$(test_of "$1") what=$(field "$1" What)
	impossible=$(field "$1" Impossible)
	limit=$((3 * $(cat "$(baseline_of "$kernel" "$test")") + 60))
	failure=$(try "$1" "$kernel" "$test" $limit)
	if [ -n "$failure" ]; then
		[ -z "$impossible" ] || say "$1 can be caught: take out its 'Impossible:'"
		echo "caught - $1 ($what) by '$(field "$1" Test)', $(lanes_of "$kernel" "$test" "$1"): $failure"
	elif [ -n "$impossible" ]; then
		echo "impossible - $1 ($what): $impossible"
	else
		echo "SURVIVED - $1 ($what): '$(field "$1" Test)' passes"
	fi
	echo "# $((SECONDS - start)) s"
}

# in_order NAME ... - what is fast first, and then test by test
in_order()
{
	local name

	for name; do
		case $(field "$name" Test) in
		kunit) echo "0 $name" ;;
		debug:*) echo "2 $(test_of "$name" | tr ' ' '-') $name" ;;
		*) echo "1 $(test_of "$name" | tr ' ' '-') $name" ;;
		esac
	done | sort | sed 's/.* //'
}

# attempt NAME FUNCTION [ARGUMENT ...] - run what may fail for this mutant alone, in a
# process of its own; 'refused' says why it did, and stays
attempt()
{
	local refused=$work/$1/refused

	mkdir -p "$work/$1"
	(
		exec 2>"$refused"
		"${@:2}"
		rm "$refused"
	) &
	wait $! || true
}

# verdict NAME - a line for the report: judge it, or say what stood in the way
verdict()
{
	local refused=$work/$1/refused

	if [ -e "$refused" ]; then
		cat "$refused" >&2
		echo "FAILED - $1 ($(field "$1" What)): $(tail -n 1 "$refused")"
	else
		judge "$1"
	fi
}

# report NAME - its verdict, whole: others print, too
report()
{
	local text

	text=$(verdict "$1")
	echo "$text" | tee -a "$out/report"
}

# run_all NAME ... - a machine with one processor for each of the host's. One mutant is built at
# a time, and the driver without any is tried first. What cannot be tried leaves the others alone.
run_all()
{
	local name running=0

	for name; do
		attempt "$name" build "$name" "$(kernel_of "$name")"
		[ -e "$work/$name/refused" ] || attempt "$name" try_baseline "$name"
		if [ $running = "$jobs" ]; then
			wait -n || true
			running=$((running - 1))
		fi
		report "$name" &
		running=$((running + 1))
	done
	wait
}

count()
{
	grep -c "^$1 - " "$out/report" || true
}

build_only='' list=''
while [ $# -gt 0 ]; do
	case $1 in
	--build-only) build_only=1 ;;
	--list) list=1 ;;
	-*) usage ;;
	*) break ;;
	esac
	shift
done
if [ $# -gt 0 ]; then
	names=("$@")
else
	mapfile -t names < <(cd "$mutants" && printf '%s\n' *.diff | sed 's/\.diff$//')
fi
for name in "${names[@]}"; do
	check_file "$name"
done
if [ -n "$list" ]; then
	for name in "${names[@]}"; do
		printf '%s: %s: %s\n    %s\n' "$name" "$(field "$name" Kind)" \
			"$(field "$name" What)" "$(field "$name" Test)"
	done
	exit
fi

mkdir -p "$work"
exec 7>"$work/lock"
flock -n 7 || die "another run uses build/mutants"
if [ -n "$build_only" ]; then
	for name in "${names[@]}"; do
		build "$name" "$(kernel_of "$name")"
	done
	exit
fi

"$top/tools/build.sh" host
"$top/tools/build.sh" guest
rm -rf "$out"
mkdir -p "$out/passed"
mapfile -t names < <(in_order "${names[@]}")
run_all "${names[@]}"
echo "# $(count impossible) that no test here can find; build/out/mutants/report"
echo "$(count caught) caught, $(count SURVIVED) survived, $(count FAILED) could not be tried"
[ "$(grep -cE '^(SURVIVED|FAILED) - ' "$out/report")" = 0 ]

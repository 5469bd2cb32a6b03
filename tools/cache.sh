#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# The cache: what is in it, newer packages for it, and what may leave it.

. "$(dirname "$0")/lib.sh"

usage()
{
	cat >&2 <<-END
		usage: tools/cache.sh list      products, their sizes, days since their last use
		       tools/cache.sh refresh   read the package lists, and make anew what is
		                                made of packages that have newer versions by now
		       tools/cache.sh prune [--limit GB] [--days N]
		                                as long as the cache is larger than the limit (10)
		                                remove the product that has not been used for
		                                longest; never one that was used in the last N
		                                days (14) or that a process is in
	END
	exit 2
}

# Every product of this cache, by its mark; a folder without it is being built.
products()
{
	local mark

	for mark in "$cache"/*/.complete; do
		[ ! -e "$mark" ] || dirname "$mark"
	done
}

days_unused()
{
	echo $((($(date +%s) - $(stat -c %Y "$1/.complete")) / 86400))
}

# in_use DIR - a process has its root, its folder or its program there
in_use()
{
	# Processes come and go meanwhile, which find takes for a failure.
	{ find /proc/[0-9]*/ -maxdepth 1 \( -name root -o -name cwd -o -name exe \) \
		-printf '%l/\n' 2>/dev/null || true; } |
		awk -v dir="$1/" 'index($0, dir) == 1 { found = 1 } END { exit !found }'
}

list()
{
	local dir

	products | while read -r dir; do
		printf '%6s MB %4s days  %s\n' "$(du -sm "$dir" | cut -f1)" "$(days_unused "$dir")" \
			"${dir#"$cache"/}"
	done
	printf '%6s MB             all, with packages that were fetched: %s\n' \
		"$(du -sm "$cache" | cut -f1)" "$cache"
}

# What each product is made of, as the package lists have it now.
now_toolbox()
{
	local packages alone

	mapfile -t packages < <(packages_of "$top/tools/toolbox/packages")
	mapfile -t alone < <(packages_of "$top/tools/toolbox/packages-alone")
	apt_resolve amd64 "${packages[@]}"
	apt_resolve_alone forky "${alone[@]}"
}

now_guest()
{
	local packages

	mapfile -t packages < <(packages_of "$top/tools/guest/packages")
	apt_resolve arm64 "${packages[@]}"
}

now_source()
{
	apt_resolve_alone trixie-backports "linux-source-$kernel_version"
}

# renew KIND COMMAND ... - make the product anew that COMMAND makes, if its packages
# have changed; who uses the old one keeps it
renew()
{
	local kind=$1 new=$work/$1 name
	shift

	name=${product_of[$kind]##*/}
	name=${name%%+*}
	"now_$kind" | sort >"$new"
	if cmp -s "$new" "${product_of[$kind]}/.packages"; then
		say "$kind: its packages are the newest"
		return
	fi
	diff "${product_of[$kind]}/.packages" "$new" | grep '^[<>]' >&2 || true
	ASAHI_RENEW=$name+$(hash_of "$new") "$@" >/dev/null
	printf '%s\n' "$name+$(hash_of "$new")" >"$cache/$name.current.new"
	mv "$cache/$name.current.new" "$cache/$name.current"
}

refresh()
{
	local kind

	declare -gA product_of
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	product_of[toolbox]=$(dirname "$("$top/tools/toolbox.sh" path)")
	product_of[guest]=$(dirname "$("$top/tools/guest.sh")")
	if [ -z "${KERNEL_SOURCE:-}" ]; then
		product_of[source]=$(dirname "$("$top/tools/kernel.sh" source)")
	fi
	# What is older than these records was made with the lists that are here still.
	for kind in "${!product_of[@]}"; do
		if [ ! -e "${product_of[$kind]}/.packages" ]; then
			"now_$kind" | sort >"$work/packages"
			mv "$work/packages" "${product_of[$kind]}/.packages"
		fi
	done
	rm -f "$cache/apt/updated"
	apt_update
	renew toolbox "$top/tools/toolbox.sh" path
	renew guest "$top/tools/guest.sh"
	[ -z "${product_of[source]:-}" ] || renew source "$top/tools/kernel.sh" source
	# These are made of the others.
	"$top/tools/kernel.sh" plain >/dev/null
	"$top/tools/kernel.sh" debug >/dev/null
	prune
}

# Fetched packages are only there so that they need not be fetched again.
prune_archives()
{
	find "$cache"/apt*/archives -name '*.deb' -mtime "+$days" -print -delete 2>/dev/null |
		while read -r file; do say "removed ${file##*/}"; done
}

prune()
{
	local dir

	prune_archives
	while read -r dir; do
		[ "$(du -sm "$cache" | cut -f1)" -gt $((limit * 1024)) ] || return 0
		if [ "$(days_unused "$dir")" -lt "$days" ] || in_use "$dir"; then
			continue
		fi
		say "removing ${dir##*/}, unused for $(days_unused "$dir") days"
		# An interruption leaves nothing that looks complete.
		rm -f "$dir/.complete"
		rm -rf "$dir" "$dir.lock"
	done < <(products | while read -r dir; do
		printf '%s %s\n' "$(stat -c %Y "$dir/.complete")" "$dir"
	done | sort -n | cut -d' ' -f2-)
	[ "$(du -sm "$cache" | cut -f1)" -le $((limit * 1024)) ] ||
		say "more than $limit GB remain: what is left was used in the last $days days, or is in use"
}

command=${1:-}
[ $# = 0 ] || shift
limit=10 days=14
while [ $# -gt 0 ]; do
	case $1 in
	--limit) limit=${2:-} ;;
	--days) days=${2:-} ;;
	*) usage ;;
	esac
	shift 2 2>/dev/null || usage
done
[[ $limit =~ ^[0-9]+$ ]] || die "--limit: '$limit' is not a number of GB"
[[ $days =~ ^[1-9][0-9]*$ ]] || die "--days: '$days' is not a number of days from 1"
case $command in
list|refresh|prune) "$command" ;;
*) usage ;;
esac

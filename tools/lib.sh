# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
# shellcheck shell=bash
#
# What the scripts in this folder share: messages, the cache, and packages
# fetched with a private apt configuration.

set -euo pipefail
shopt -s inherit_errexit

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${ASAHI_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/asahi-gpu}
jobs=${JOBS:-$(nproc)}
# shellcheck disable=SC2034
kernel_version=7.3
product=''		# folder that is being built, see cached

say()
{
	printf '%s: %s\n' "$(basename "$0" .sh)" "$*" >&2
}

die()
{
	say "error: $*"
	exit 1
}

# output_folder DIR - empty DIR, which is to take results. It may be below build/out,
# be empty, or bear the mark that an earlier run has left; nothing else is deleted.
output_folder()
{
	local dir=$1

	case $dir in
	"$top"/build/out/?*) ;;
	*)
		[ ! -e "$dir" ] || [ -d "$dir" ] || die "--out: $dir is not a folder"
		[ -z "$(ls -A "$dir" 2>/dev/null)" ] || [ -e "$dir/.asahi-output" ] ||
			die "--out: $dir is not empty and was not made by an earlier run; name a new or an empty folder"
		;;
	esac
	rm -rf "$dir"
	mkdir -p "$dir"
	: >"$dir/.asahi-output"
}

# hash_of FILE|=TEXT ... - short hash over the contents of files and over texts
hash_of()
{
	local input

	for input; do
		case $input in
		=*) printf '%s\n' "${input#=}" ;;
		*) cat "$input" ;;
		esac
	done | sha256sum | cut -c1-12
}

# A product is built once; its folder counts only with the mark that is written
# last, so that an interrupted build is begun anew. The mark's time is that of the
# last use. Packages that it is made of are listed in .packages. When there are newer
# ones, "cache.sh refresh" makes another product beside it, NAME+<hash of that list>,
# and NAME.current names the one to use.
#
# cached NAME BUILDER ... - print the product's folder, after building it with
# "BUILDER ... DIR" if it is not there
cached()
{
	local dir=$cache/$1 renewed=${ASAHI_RENEW:-}

	if [ "${renewed%%+*}" = "$1" ]; then
		dir=$cache/$renewed
	elif [ -e "$dir.current" ]; then
		dir=$cache/$(cat "$dir.current")
	fi
	shift

	if [ ! -e "$dir/.complete" ]; then
		[ -z "${ASAHI_IN_TOOLBOX:-}" ] ||
			die "$dir is not there, and is not made in the toolbox: add it to products_of in tools/check.sh"
		mkdir -p "$cache"
		exec 8>"$dir.lock"
		flock 8
		if [ ! -e "$dir/.complete" ]; then
			rm -rf "$dir"
			mkdir -p "$dir"
			: >"$dir/.packages"
			product=$dir "$@" "$dir" >&2 8>&-
			sort -o "$dir/.packages" "$dir/.packages"
			: >"$dir/.complete"
		fi
		exec 8>&-
	fi
	touch -c "$dir/.complete" 2>/dev/null || true
	printf '%s\n' "$dir"
}

# progress LABEL LOG COMMAND ... - run a long command with its output in LOG and
# a line about it every ten seconds and at its end; nothing is said of one that is short.
# On failure show the end of the log, without the lines of what went well.
progress()
{
	local label=$1 log=$2 start=$SECONDS ticker status=0
	shift 2

	(
		while sleep 10; do
			say "$label: $((SECONDS - start)) s, $(wc -l <"$log") lines of log"
		done
	) &
	ticker=$!
	"$@" >"$log" 2>&1 || status=$?
	kill "$ticker" 2>/dev/null || true
	wait "$ticker" 2>/dev/null || true
	if [ "$status" != 0 ]; then
		grep -vE '^\[[0-9]+/[0-9]+\] (Compiling|Linking|Generating)' "$log" | tail -n 60 >&2
		say "$label failed (status $status); the log is $log"
		return "$status"
	fi
	[ $((SECONDS - start)) -lt 10 ] || say "$label: done in $((SECONDS - start)) s"
}

# The machine's own mirror of Debian, from its apt configuration.
apt_mirror()
{
	local uri

	if [ -n "${ASAHI_MIRROR:-}" ]; then
		printf '%s\n' "$ASAHI_MIRROR"
		return
	fi
	uri=$(apt-get indextargets --format '$(REPO_URI) $(COMPONENT) $(CODENAME) $(LABEL)' \
		'Created-By: Packages' 2>/dev/null |
		awk '$2 == "main" && $3 !~ /-security$/ &&
		     ($4 == "Debian" || $1 ~ /debian\/?$/) { print $1; exit }')
	[ -n "$uri" ] ||
		die "no Debian mirror in this machine's apt configuration; set ASAHI_MIRROR=<URL of a Debian archive>"
	printf '%s\n' "$uri"
}

# The suites that packages come from, with lists and archives of their own. Those of the
# other architecture are for the guest.
apt_suites=(trixie trixie-backports forky)
apt_dir=$cache/apt
apt_conf=$apt_dir/apt.conf

# apt_only SUITE - take all packages from this suite
apt_only()
{
	apt_suites=("$1")
	apt_dir=$cache/apt-$1
	apt_conf=$apt_dir/apt.conf
}

# apt_get ARGUMENT ... - apt-get with the private configuration, one at a time: products
# may be made beside each other
apt_get()
{
	flock "$cache/apt.lock" apt-get -q -c "$apt_conf" "$@"
}

# apt_update - a private apt configuration: nothing of the machine's own apt
# state is read but its mirror, keys and proxy settings, nothing is written. It has no
# dpkg, since whoever installs packages with it would install them on the machine.
# Package lists of the last half hour are not read again.
apt_update()
{
	(
		mkdir -p "$cache"
		exec 9>"$cache/apt.lock"
		flock 9
		apt_configure
	) || exit 1
}

# apt_configure - by apt_update, which keeps others out meanwhile
apt_configure()
{
	local dir=$apt_dir mirror keys suite

	command -v apt-get >/dev/null || die "apt-get is missing: a Debian machine is needed"
	[ "$(dpkg --print-architecture)" = amd64 ] ||
		die "an amd64 machine is needed, this is $(dpkg --print-architecture)"
	mirror=$(apt_mirror)
	keys=/usr/share/keyrings/debian-archive-keyring.gpg
	[ -e "$keys" ] || die "$keys is missing (package debian-archive-keyring)"

	mkdir -p "$dir/lists/partial" "$dir/archives/partial"
	: >"$dir/status"
	for suite in "${apt_suites[@]}"; do
		# A mirror may lag; a package that is too old shows up later.
		printf 'deb [signed-by=%s check-valid-until=no arch=%s] %s %s main\n' \
			"$keys" "$([[ $suite = trixie* ]] && echo amd64,arm64 || echo amd64)" \
			"$mirror" "$suite"
	done >"$dir/sources.list"
	# Beside others, forky is for the packages that are asked from it by name.
	: >"$dir/preferences"
	[ ${#apt_suites[@]} = 1 ] || cat >"$dir/preferences" <<-END
		Package: *
		Pin: release n=forky
		Pin-Priority: -10
	END
	cat >"$apt_conf" <<-END
		Dir::Etc::SourceList "$dir/sources.list";
		Dir::Etc::SourceParts "/dev/null";
		Dir::Etc::Preferences "$dir/preferences";
		Dir::Etc::PreferencesParts "/dev/null";
		Dir::State "$dir";
		Dir::State::Lists "$dir/lists";
		Dir::State::status "$dir/status";
		Dir::Cache "$dir";
		Dir::Cache::Archives "$dir/archives";
		Dir::Cache::pkgcache "";
		Dir::Cache::srcpkgcache "";
		Dir::Log "$dir";
		Dir::Bin::dpkg "/bin/false";
		APT::Architecture "amd64";
		APT::Architectures { "amd64"; "arm64"; };
		APT::Install-Recommends "false";
		APT::Sandbox::User "$(id -un)";
		APT::Get::Assume-Yes "true";
		Acquire::Languages "none";
		Acquire::Retries "3";
		#clear APT::Update;
		#clear DPkg;
		#clear Acquire::IndexTargets::deb::DEP-11;
	END
	if [ -n "$(find "$dir/updated" -mmin -30 2>/dev/null)" ] &&
		[ "$(cat "$dir/updated")" = "$mirror" ]; then
		return
	fi
	say "reading package lists of ${apt_suites[*]}"
	apt-get -q -c "$apt_conf" update >"$dir/update.log" 2>&1 || {
		tail -n 20 "$dir/update.log" >&2
		die "cannot read the package lists from $mirror; set ASAHI_MIRROR=<URL of a Debian archive>"
	}
	! grep -q '^[EW]: Failed' "$dir/update.log" || {
		grep '^[EW]:' "$dir/update.log" >&2
		die "incomplete package lists from $mirror; set ASAHI_MIRROR=<URL of a Debian archive>"
	}
	warn_of_stale_lists "$mirror"
	echo "$mirror" >"$dir/updated"
}

# A mirror that lags is no reason to stop, but it is one for versions that surprise.
warn_of_stale_lists()
{
	local list until

	for list in "$apt_dir"/lists/*InRelease; do
		until=$(sed -n 's/^Valid-Until: //p' "$list")
		if [ -n "$until" ] && [ "$(date -d "$until" +%s)" -lt "$(date +%s)" ]; then
			say "warning: the package list of $(sed -n 's/^Codename: //p' "$list") at $1 is stale: it is of $(sed -n 's/^Date: //p' "$list"), and was valid until $until. Packages may be older than those of an up-to-date mirror (ASAHI_MIRROR=<URL>)."
		fi
	done
}

# apt_resolve ARCH PACKAGE ... - the files of the packages and of all that they
# depend on, by the lists that were read last
apt_resolve()
{
	local arch=$1
	shift

	# Asked with an empty folder of archives, apt lists those that it has, too.
	mkdir -p "$apt_dir/none/partial"
	apt_get -o APT::Architecture="$arch" \
		-o Dir::Cache::Archives="$apt_dir/none" --print-uris install "$@" |
		awk '/^'"'"'/ { print $2 }'
}

# apt_resolve_alone SUITE PACKAGE ... - the same without what they depend on
apt_resolve_alone()
{
	local suite=$1
	shift

	apt_get --print-uris download "${@/%//$suite}" |
		awk '/^'"'"'/ { print $2 }'
}

# packages_of FILE [SECTION] - the package names in a list, comments removed
packages_of()
{
	sed -e 's/#.*//' "$1" | xargs -n1
}

# apt_fetch DIR ARCH PACKAGE ... - put the packages and all that they depend on
# into DIR
apt_fetch()
{
	local dir=$1 arch=$2 log uri name
	shift 2

	mkdir -p "$dir/none/partial"
	log=$dir/apt.log
	# Asked with an empty folder of archives, apt lists those that it has, too.
	if ! apt_get -o APT::Architecture="$arch" \
		-o Dir::Cache::Archives="$dir/none" \
		--print-uris install "$@" >"$log" 2>&1; then
		grep -E '^( |E:)' "$log" >&2 || tail -n 20 "$log" >&2
		die "packages above are not to be had from $(apt_mirror); set ASAHI_MIRROR=<URL of an archive that has them>"
	fi
	progress "fetching $(grep -c "^'" "$log") packages" "$dir/fetch.log" \
		apt_get -o APT::Architecture="$arch" --download-only install "$@" ||
		die "cannot fetch packages from $(apt_mirror)"
	grep "^'" "$log" | while read -r uri name _; do
		ln "$apt_dir/archives/$name" "$dir/$name"
		printf '%s\n' "$name" >>"$product/.packages"
	done
}

# apt_fetch_alone DIR SUITE PACKAGE ... - packages of a suite without what they
# depend on
apt_fetch_alone()
{
	local dir=$1 suite=$2 package
	shift 2

	mkdir -p "$dir"
	for package; do
		(cd "$dir" && apt_get download "$package/$suite") >"$dir/apt.log" 2>&1 || {
			cat "$dir/apt.log" >&2
			die "package $package of $suite is not to be had; set ASAHI_MIRROR=<URL of an archive that has it>"
		}
	done
	apt_resolve_alone "$suite" "$@" >>"$product/.packages"
}

# unpack ROOT PACKAGE_FILE ... - unpack packages without documentation; no
# maintainer script runs
unpack()
{
	local root=$1
	shift

	# shellcheck disable=SC2016
	printf '%s\0' "$@" | xargs -0 -n1 -P"$jobs" sh -c '
		dpkg-deb --fsys-tarfile "$1" |
		tar -C "$0" -xp --keep-directory-symlink --no-same-owner \
			--exclude="./usr/share/doc/*" --exclude="./usr/share/man/*" \
			--exclude="./usr/share/locale/*" --exclude="./usr/share/info/*" ||
		{ echo "cannot unpack $1" >&2; exit 255; }' "$root"
}

# minimal_etc ROOT - what maintainer scripts would have left in /etc
minimal_etc()
{
	mkdir -p "$1/etc" "$1/root" "$1/tmp" "$1/proc" "$1/sys" "$1/dev" "$1/run"
	echo 'root:x:0:0:root:/root:/bin/bash' >"$1/etc/passwd"
	echo 'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin' >>"$1/etc/passwd"
	printf 'root:x:0:\nvideo:x:44:\nrender:x:105:\nnogroup:x:65534:\n' >"$1/etc/group"
	echo '127.0.0.1 localhost' >"$1/etc/hosts"
}

# reference PROGRAM FILE - what a test of Mesa's computes or draws in software, for
# the guest to compare with. A machine may be reading the file.
reference()
{
	local new

	new=$(mktemp "$2.XXXXXX") && "$top/tools/toolbox.sh" run \
		"$top/build/host/userspace/tests/$1" "--write=$new" && mv "$new" "$2"
}

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# The toolbox: a Debian trixie root with every program that the project needs,
# made of packages that are fetched and unpacked into the cache, entered with a
# mount namespace and chroot. Nothing is installed on the machine.

. "$(dirname "$0")/lib.sh"

# Roots beside the toolbox: name, size and contents. Their packages are in toolbox/packages-NAME.
roots="packaging|1 GB|what Debian packages are built with
programs|3 GB|other people's programs and Mesa
desktop|3 GB|games, toolkits, Wine and a browser
native|1 GB|QEMU's GPU for guests, and what virglrenderer is built with
static|500 MB|analyzers and reports
arm64|1 GB|what tests for arm64 are built with and run by"

usage()
{
	cat >&2 <<-END
		usage: tools/toolbox.sh run COMMAND [ARGUMENT ...]   run it in the toolbox
		       tools/toolbox.sh compile COMMAND [ARGUMENT ...]
		                                                     the same with huge pages and
		                                                     ccache, for what runs compilers
		       tools/toolbox.sh path                         where the toolbox is
		       tools/toolbox.sh ROOT COMMAND [ARGUMENT ...]  run it in another root:
		$(sed 's/\(.*\)|.*|\(.*\)/           \1	\2/' <<<"$roots" | expand -t 25)
		       tools/toolbox.sh --mesa SUITE programs COMMAND [ARGUMENT ...]
		                                                     the same programs of another
		                                                     suite of Debian, with its Mesa
		                                                     (forky, sid)
		       tools/toolbox.sh herd ARGUMENT ...            check litmus tests with herd7
		       tools/toolbox.sh root COMMAND [ARGUMENT ...]  run it as root of a user
		                                                     namespace, outside the toolbox
	END
	exit 2
}

list=$top/tools/toolbox/packages
alone=$top/tools/toolbox/packages-alone
litmus=$top/tools/toolbox/packages-litmus
huge_pages=$top/tools/toolbox/huge_pages.c

# What update-alternatives and other maintainer scripts would have made.
alternatives()
{
	ln -sf gcc "$1/usr/bin/cc"
	ln -sf g++ "$1/usr/bin/c++"
	ln -sf gawk "$1/usr/bin/awk"
	ln -sf bison "$1/usr/bin/yacc"
	ln -sf which.debianutils "$1/usr/bin/which"
	ln -sf debian "$1/etc/dpkg/origins/default"
}

# compilers_from_cache ROOT - what has the name of a compiler in this folder is ccache
compilers_from_cache()
{
	local name

	mkdir -p "$1/usr/lib/ccache"
	for name in cc gcc clang-19 aarch64-linux-gnu-gcc i686-linux-gnu-gcc; do
		ln -sf ../../bin/ccache "$1/usr/lib/ccache/$name"
	done
}

# dpkg_database ROOT PACKAGE_FILE ... - what dpkg would know had it unpacked them
dpkg_database()
{
	local db=$1/var/lib/dpkg control=$1/control deb name
	shift

	mkdir -p "$db/info" "$db/updates"
	echo 1 >"$db/info/format"
	for deb; do
		rm -rf "$control"
		dpkg-deb -e "$deb" "$control"
		sed '1,/^Package:/s/^\(Package:.*\)/\1\nStatus: install ok installed/' "$control/control"
		echo
		name=$(dpkg-deb -f "$deb" Package)
		[ "$(dpkg-deb -f "$deb" Multi-Arch)" != same ] ||
			name=$name:$(dpkg-deb -f "$deb" Architecture)
		for file in shlibs symbols; do
			[ ! -e "$control/$file" ] || cp "$control/$file" "$db/info/$name.$file"
		done
		dpkg-deb --fsys-tarfile "$deb" | tar -t | sed -e 's/^[.]//' -e 's/\/$//' -e 's/^$/\/./' \
			>"$db/info/$name.list"
	done >"$db/status"
	rm -rf "$control"
}

# fetch_root DIR LIST - DIR/root of the packages that LIST names, whose files stay in
# DIR/packages
fetch_root()
{
	local dir=$1 root=$1/root packages

	apt_update
	mapfile -t packages < <(packages_of "$2")
	apt_fetch "$dir/packages" amd64 "${packages[@]}"
	mkdir "$root"
	say "unpacking"
	unpack "$root" "$dir"/packages/base-files_*.deb
	unpack "$root" "$dir"/packages/*.deb
	minimal_etc "$root"
	alternatives "$root"
}

# build_root NAME SIZE CONTENTS DIR
build_root()
{
	local name=$1 dir=$4 root=$4/root wanted=$top/tools/toolbox/packages-$1

	say "making the root with $3 in $cache (about $2)"
	[ "$name" != native ] || apt_only forky
	if [ -z "$mesa" ]; then
		fetch_root "$dir" "$wanted"
	else
		apt_only "$mesa"
		# They have no vkmark any more; piglit is for trixie's Mesa only.
		fetch_root "$dir" <(packages_of "$wanted" | grep -vxE 'vkmark|piglit' | sed 's|/.*||')
	fi
	[ "$name" != packaging ] || dpkg_database "$root" "$dir"/packages/*.deb
	# Alternatives of a library are in folders of their own.
	[ "$name" != desktop ] || printf '/usr/lib/x86_64-linux-gnu/%s\n' blas lapack \
		>"$root/etc/ld.so.conf.d/alternatives.conf"
	enter_namespace chroot "$root" /sbin/ldconfig
	[ "$name" != native ] ||
		enter_namespace chroot "$root" /sbin/depmod "$(ls "$root/usr/lib/modules")"
	rm -rf "$dir/packages"
}

# run_in_root NAME COMMAND ...
run_in_root()
{
	local name=$1 size contents dir
	shift

	IFS='|' read -r _ size contents < <(grep "^$name|" <<<"$roots")
	dir=$(cached "$name-${mesa:+$mesa-}$(hash_of "$top/tools/toolbox/packages-$name" "=1")" \
		build_root "$name" "$size" "$contents")
	run_in_toolbox "$dir" "$@"
}

# Its other programs are some 200 MB, and it runs with its own C library.
build_litmus()
{
	local dir=$1 root=$1/root packages

	say "fetching herd7 to $cache (about 50 MB)"
	apt_update
	mapfile -t packages < <(packages_of "$litmus")
	apt_fetch_alone "$dir/packages" forky "${packages[@]}"
	mkdir "$root"
	unpack "$root" "$dir"/packages/*.deb
	find "$root/usr/bin" -type f ! -name herd7 -delete
	rm -rf "$dir/packages"
}

build_toolbox()
{
	local dir=$1 root=$1/root packages

	say "making the toolbox in $cache (about 3 GB)"
	apt_update
	mapfile -t packages < <(packages_of "$list")
	apt_fetch "$dir/packages" amd64 "${packages[@]}"
	mapfile -t packages < <(packages_of "$alone")
	apt_fetch_alone "$dir/alone" forky "${packages[@]}"

	mkdir "$root"
	say "unpacking"
	unpack "$root" "$dir"/packages/base-files_*.deb
	# Files that both architectures have are the same; one after the other
	# they do not get into each other's way.
	unpack "$root" "$dir"/packages/*_amd64.deb "$dir"/packages/*_all.deb
	unpack "$root" "$dir"/packages/*_arm64.deb
	unpack "$root" "$dir"/alone/*.deb
	minimal_etc "$root"

	alternatives "$root"
	compilers_from_cache "$root"
	mkdir -p "$root/etc/ssl/certs"
	cat "$root"/usr/share/ca-certificates/mozilla/*.crt >"$root/etc/ssl/certs/ca-certificates.crt"
	enter_namespace chroot "$root" /sbin/ldconfig
	enter_namespace chroot "$root" gcc -std=gnu11 -O2 -Wall -Wextra -Werror -shared -fPIC \
		-o /usr/lib/huge_pages.so -x c - <"$huge_pages"
	rm -rf "$dir/packages" "$dir/alone"
}

# enter_namespace COMMAND ... - as root of a mount namespace (and of a user
# namespace, for an ordinary user). That of the toolbox is private already.
enter_namespace()
{
	if [ -n "${ASAHI_IN_TOOLBOX:-}" ]; then
		unshare --mount --propagation unchanged "$@"
	elif [ "$(id -u)" = 0 ]; then
		unshare --mount --propagation private "$@"
	else
		unshare -Ur true 2>/dev/null ||
			die "this user may not make user namespaces (see sysctl kernel.unprivileged_userns_clone, user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns): allow them or run as root"
		unshare -Ur --mount --propagation private "$@"
	fi
}

# Mounts are made inside the new namespace and vanish with it.
run_in_toolbox()
{
	local root=$1/root
	shift

	# shellcheck disable=SC2016
	enter_namespace bash -c '
		set -e
		root=$1 top=$2 cache=$3 dir=$4; shift 4
		mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
		mount -t tmpfs tmpfs "$root/run"
		for d in proc sys dev; do mount --rbind "/$d" "$root/$d"; done
		bind() {
			[ ! -d "$1" ] || { mkdir -p "$root$1"; mount --rbind "$1" "$root$1"; }
		}
		bind "$top"
		bind "$cache"
		[ -z "$KERNEL_SOURCE" ] || bind "$KERNEL_SOURCE"
		[ -z "$KDIR" ] || bind "$KDIR"
		[ -z "$KERNEL_TREE" ] || bind "$KERNEL_TREE"
		[ -z "$ASAHI_OUT" ] || bind "$ASAHI_OUT"
		exec chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin \
			LANG=C.UTF-8 TERM="$TERM" ASAHI_IN_TOOLBOX=1 ASAHI_CACHE="$cache" \
			XDG_RUNTIME_DIR=/run JOBS="$JOBS" KERNEL_SOURCE="$KERNEL_SOURCE" \
			KDIR="$KDIR" KERNEL_TREE="$KERNEL_TREE" \
			sh -c "cd \"\$0\" && exec \"\$@\"" "$dir" "$@"
	' bash "$root" "$top" "$cache" "$PWD" "$@"
}

toolbox()
{
	cached "toolbox-$(hash_of "$list" "$alone" "$huge_pages" "=4")" build_toolbox
}

mesa=
if [ "${1:-}" = --mesa ]; then
	[[ ${2:-} =~ ^[a-z]+$ && ${3:-} = programs ]] || usage
	mesa=$2
	shift 2
fi

export JOBS=${JOBS:-$jobs} KERNEL_SOURCE=${KERNEL_SOURCE:-} KDIR=${KDIR:-} KERNEL_TREE=${KERNEL_TREE:-}
export ASAHI_OUT=${ASAHI_OUT:-}
export TERM=${TERM:-dumb}

case ${1:-} in
run|compile)
	mode=$1
	shift
	[ $# -gt 0 ] || usage
	# Generators that are built with a sanitizer run below it, too.
	# What a compiler has made in another clone is taken from the cache.
	[ $mode = run ] || set -- env LD_PRELOAD=/usr/lib/huge_pages.so \
		GLIBC_TUNABLES=glibc.malloc.hugetlb=1 ASAN_OPTIONS=verify_asan_link_order=0 \
		PATH=/usr/lib/ccache:/usr/sbin:/usr/bin CCACHE_DIR="$cache/ccache" CCACHE_MAXSIZE=2G \
		CCACHE_BASEDIR="$top" CCACHE_DEPEND=1 "$@"
	[ -z "${ASAHI_IN_TOOLBOX:-}" ] || exec "$@"
	dir=$(toolbox)
	run_in_toolbox "$dir" "$@"
	;;
herd)
	shift
	[ $# -gt 0 ] || usage
	dir=$(cached "litmus-$(hash_of "$litmus" "=1")" build_litmus)
	libraries=$dir/root/usr/lib/x86_64-linux-gnu
	exec "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries" \
		"$dir/root/usr/bin/herd7" -set-libdir "$dir/root/usr/share/herdtools7/herd" "$@"
	;;
path)
	dir=$(toolbox)
	printf '%s/root\n' "$dir"
	;;
root)
	shift
	[ $# -gt 0 ] || usage
	enter_namespace "$@"
	;;
*)
	[ $# -gt 1 ] && grep -q "^$1|" <<<"$roots" || usage
	run_in_root "$@"
	;;
esac

#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# usage: check-layout.sh DRIVER_SOURCE LAYOUT_DEF...
#
# Every firmware structure of the driver's takes part in the comparison, or
# LAYOUT_DEF says why not.

driver=$1
shift
count=0
status=0

names=$(sed -n 's/^struct asahi_fw_\([a-z0-9_]*\) {$/\1/p' "$driver"/asahi_fw_*.h | sort -u)
for name in $names; do
	count=$((count + 1))
	if ! grep -qE "^LAYOUT_(GROUP|INNER|NONE)\($name," "$@"; then
		echo "struct asahi_fw_$name is in none of $*"
		status=1
	fi
done
if [ $count -lt 40 ]; then
	echo "only $count structures were found in $driver"
	status=1
fi
[ $status != 0 ] || echo "$count structures"
exit $status

# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
# shellcheck shell=bash
#
# What scripts that run in the guest share.

modules=/clone/build/$(sed -n 's/^modules=//p' /out/settings)
guest=/clone/build/guest
export LD_LIBRARY_PATH=$guest/userspace/libdrm_asahi
export PATH=$PATH:$guest/userspace/clients
export XDG_CACHE_HOME=/tmp XDG_RUNTIME_DIR=/run

load_carrier()
{
	insmod "$modules/drivers/platform/vagx/vagx_carrier.ko"
}

load_asahi()
{
	insmod "$modules/drivers/gpu/drm/asahi/asahi.ko" unproven=1 "$@"
}

# load_driver - the carrier and the driver, and wait until there is a node
load_driver()
{
	load_carrier && load_asahi "$@" && wait_for_node
}

# wait_for_node - at most five seconds
wait_for_node()
{
	local i

	for i in $(seq 50); do
		[ -e /dev/dri/renderD128 ] && return
		sleep 0.1
	done
	echo "no render node" >&2
	return 1
}

# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help run check check-quick modules install vm bench export docs host guest clean

MODULES_DIR := $(CURDIR)/build/modules-kdir

help:
	@echo 'make run                  boot the virtual machine, run the clients and leave'
	@echo '                          build/out/mandelbrot.png; sets up all it needs'
	@echo 'make check                everything that CI checks'
	@echo 'make check-quick          the part on the plain kernel, in the virtual machine'
	@echo 'make vm                   a shell in the virtual machine'
	@echo 'make bench                speed and memory, as a table and build/out/bench.json'
	@echo 'make docs                 the documentation, build/docs/html'
	@echo 'make modules KDIR=...     the modules, against a built 7.3 kernel tree'
	@echo 'make install KDIR=...     install the driver for that kernel (DESTDIR= prefixes)'
	@echo 'make export KERNEL_TREE=... put the driver into a kernel source tree'
	@echo 'make host, make guest     emulator, library and clients for the host, the guest'
	@echo 'make clean                remove build/ (the cache stays)'
	@echo
	@echo 'ASAHI_CACHE=DIR      cache of toolbox, kernels and guest'
	@echo '                     ($${XDG_CACHE_HOME:-~/.cache}/asahi-gpu)'
	@echo 'ASAHI_MIRROR=URL     Debian archive to use instead of the machine'\''s own'
	@echo 'KERNEL_SOURCE=DIR    another 7.3 kernel tree for the virtual machine'

host guest:
	@tools/build.sh $@

run:
	@tools/run.sh

check:
	@tools/check.sh

check-quick:
	@tools/check.sh guest-plain

vm: host guest
	@tools/modules.sh plain
	@tools/vm.sh --interactive

bench: host guest
	@tools/bench.sh

docs:
	@tools/docs.sh

modules:
	@tools/modules.sh $(if $(KDIR),kdir,plain)

install:
	@tools/install.sh

export:
	@tools/export.sh

clean:
	rm -rf build

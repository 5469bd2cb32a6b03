# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help run check check-nightly check-quick modules install vm bench export series docs igt host guest clean
.PHONY: packages dist coverage mutants mutants-random fuzz fuzz-host bench-gpu bench-compare cache-list cache-refresh cache-prune

MODULES_DIR := $(CURDIR)/build/modules-kdir

help:
	@echo 'make run                  boot the virtual machine, run the clients and leave'
	@echo '                          their pictures in build/out; sets up all it needs'
	@echo 'make check                everything that CI checks'
	@echo 'make check-quick          the part on the plain kernel, in the virtual machine'
	@echo 'make check-nightly        what takes longer: every SoC with every firmware, data'
	@echo '                          races in the driver, memory that nobody has cleared, thread'
	@echo '                          sanitizer, all of piglit'\''s list, coverage, each patch of'
	@echo '                          make series, a bench'
	@echo 'make fuzz SECONDS=600     ioctls by chance in the virtual machine, another SEED=1 each'
	@echo '                          time if none is given'
	@echo 'make fuzz-host            libFuzzer, FUZZ_SECONDS=60 for each target'
	@echo 'make vm                   a shell in the virtual machine'
	@echo 'make bench                speed and memory, as a table and build/out/bench.json'
	@echo 'make bench-gpu            of it what needs no virtual machine: GPU beside lavapipe'
	@echo 'make bench-compare A.json B.json  two such results, row by row'
	@echo 'make coverage             lines and branches that tests execute, build/out/coverage'
	@echo 'make mutants              break the driver in one line, many times, and see that a test'
	@echo '                          of those above finds it'
	@echo 'make mutants-random N=50  the same with defects that chance makes everywhere, another'
	@echo '                          SEED=1 each day if none is given'
	@echo 'make docs                 the documentation, build/docs/html'
	@echo 'make modules KDIR=...     the modules, against a built 7.3 kernel tree'
	@echo 'make install KDIR=...     install the driver for that kernel (DESTDIR= prefixes)'
	@echo 'make export KERNEL_TREE=... put the driver into a kernel source tree'
	@echo 'make series               the driver as patches for drm-misc, build/out/series'
	@echo 'make igt IGT_SRC=...      add the tests to a tree of IGT GPU Tools, build and'
	@echo '                          list them there'
	@echo 'make packages             Debian packages for amd64 and arm64, build/packages'
	@echo 'make dist                 a tarball of the sources, build/dist'
	@echo 'make host, make guest     emulator, library and clients for the host, the guest'
	@echo 'make clean                remove build/ (the cache stays)'
	@echo 'make cache-refresh        make anew what has newer packages by now'
	@echo 'make cache-list, cache-prune  what is in the cache; remove what is unused and old'
	@echo
	@echo 'ASAHI_CACHE=DIR      cache of toolbox, kernels and guest'
	@echo '                     ($${XDG_CACHE_HOME:-~/.cache}/asahi-gpu)'
	@echo 'ASAHI_MIRROR=URL     Debian archive to use instead of the machine'\''s own'
	@echo 'ASAHI_KERNELS=DIR|URL  kernels that "tools/kernel.sh pack" has put there'
	@echo 'KERNEL_SOURCE=DIR    another 7.3 kernel tree for the virtual machine'

host guest:
	@tools/build.sh $@

run:
	@tools/run.sh

check:
	@tools/check.sh

check-nightly:
	@tools/check.sh nightly

fuzz-host:
	@tools/fuzz.sh

fuzz:
	@FUZZ_SECONDS=$(or $(SECONDS),600) FUZZ_SEED=$(or $(SEED),$(shell shuf -i 1-1000000 -n 1)) \
		tools/checks/guest-fuzz

check-quick:
	@tools/check.sh guest-basics guest-plain

vm: host guest
	@tools/modules.sh plain
	@tools/vm.sh --interactive

bench-gpu: host
	@tools/bench.sh gpu

bench: host guest
	@tools/bench.sh

# The results are named as if they were goals.
ifneq ($(filter bench-compare,$(MAKECMDGOALS)),)
results := $(filter-out bench-compare,$(MAKECMDGOALS))
.PHONY: $(results)
$(results): ; @:
endif
bench-compare:
	@tools/bench-compare.sh $(results)

coverage:
	@tools/coverage.sh

mutants:
	@tools/mutants.sh

mutants-random:
	@tools/mutants-random.sh --count $(or $(N),50) $(if $(SEED),--seed $(SEED))

docs:
	@tools/docs.sh

modules:
	@tools/modules.sh $(if $(KDIR),kdir,plain)

install:
	@tools/install.sh

export:
	@tools/export.sh

series:
	@tools/series.sh

cache-list cache-refresh cache-prune:
	@tools/cache.sh $(@:cache-%=%)

packages:
	@tools/packages.sh

dist:
	@tools/dist.sh

igt:
	@tools/igt.sh build $(if $(IGT_SRC),$(IGT_SRC),$(error IGT_SRC is the tree of IGT GPU Tools))

clean:
	rm -rf build

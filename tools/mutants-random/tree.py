# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""A copy of the clone whose sources have the chosen defects, and its builds."""

import os
import re
import shutil
import subprocess
import threading
from pathlib import Path

import flags
from places import alone, rewrite

HERE = Path(__file__).parent
HEADER = "include/defect.h"
SWITCHED_LIB = """
# The number of the defect, from the kernel's command line, for the module
export PATH=/clone/build/defects:$PATH
"""
INSMOD = """#!/bin/bash
number=$(sed -n 's/.*asahi_defect=\\([0-9]*\\).*/\\1/p' /proc/cmdline)
case "$*" in
*/asahi/asahi.ko*) exec /usr/sbin/insmod "$@" defect="${number:-0}" ;;
esac
exec /usr/sbin/insmod "$@"
"""


class Tree:
    def __init__(self, clone, tree, jobs, kernels=("plain",)):
        self.clone, self.tree, self.jobs, self.kernels = clone, tree, jobs, kernels
        self.not_compiling = {}     # number: (folder, place)
        self.comparing = threading.Lock()

    # Sources

    def files(self):
        """The names of the copy's files, without what is built."""
        return sorted(str(file.relative_to(self.tree)) for folder in self.tree.iterdir()
                      if folder.name != "build"
                      for file in ([folder] if folder.is_file() else folder.rglob("*"))
                      if file.is_file())

    def put(self, name, data, mode=None):
        """A file of the copy; one that is as it was keeps its time."""
        path = self.tree / name
        if not path.exists() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        if mode:
            path.chmod(mode)

    def write(self, chosen):
        """The clone's files, those that have chosen places with their switches."""
        names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"],
                               cwd=self.clone, check=True, text=True,
                               capture_output=True).stdout.split("\n")
        names = {name for name in names if name and (self.clone / name).is_file()}
        by_path = {}
        for number, (_, place) in chosen.items():
            by_path.setdefault(place.path, {})[number] = place
        for name in set(self.files()) - names - {HEADER}:
            (self.tree / name).unlink()
        for name in sorted(names):
            source = self.clone / name
            data = source.read_bytes()
            if name in by_path:
                data = rewrite(data, by_path[name], os.path.relpath(HEADER, Path(name).parent))
            if name == "drivers/gpu/drm/asahi/asahi_drv.c":
                data += (HERE / "defect_driver.c").read_bytes()
                if name not in by_path:
                    data = rewrite(data, {}, os.path.relpath(HEADER, Path(name).parent))
            if name == "tools/guest/lib.sh":
                data += SWITCHED_LIB.encode()
            self.put(name, data, source.stat().st_mode & 0o777)
        self.put(HEADER, (HERE / "defect.h").read_bytes())
        self.put("build/defects/insmod", INSMOD.encode(), 0o755)

    # Builds

    def run(self, log, *command):
        """The status of a command, whose words are in build/LOG."""
        with (self.tree / "build" / log).open("w") as file:
            return subprocess.run(command, cwd=self.tree, stdout=file, check=False,
                                  stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL).returncode

    def link_guest(self):
        """The guest's programs are the clone's, without any defect."""
        shutil.rmtree(self.tree / "build/guest", ignore_errors=True)
        shutil.copytree(self.clone / "build/guest", self.tree / "build/guest",
                        copy_function=os.link, symlinks=True)

    def build_host(self):
        host = self.tree / "build/host"
        if not (host / "build.ninja").exists():
            if self.run("setup.log", "meson", "setup", "-Dwerror=false", str(host)):
                raise RuntimeError(f"meson does not set up {host}, see {self.tree}/build/setup.log")
        return self.run("host.log", "ninja", "-C", "build/host", f"-j{self.jobs}", "-k", "0",
                        "all", "meson-test-prereq")

    def build_modules(self, kernel):
        return self.run(f"modules-{kernel}.log", "tools/modules.sh", kernel, "-k",
                        "KCFLAGS=-Wno-error")

    def build(self, chosen):
        """Build all; what does not compile leaves "chosen" until the rest does."""
        while True:
            self.write(chosen)
            bad = set()
            if self.build_host():
                bad |= self.broken("host.log", chosen)
            for kernel in self.kernels:
                if self.build_modules(kernel):
                    bad |= self.broken(f"modules-{kernel}.log", chosen)
            if not bad:
                return
            for number in bad:
                self.not_compiling[number] = chosen.pop(number)

    def broken(self, log, chosen):
        """The numbers of what the compiler speaks of; of its file all, where it is no line of
        one."""
        text = (self.tree / "build" / log).read_text(errors="replace")
        bad, files = set(), set()
        for match in re.finditer(r"^(\S+?):(\d+):(?:\d+:)? (?:fatal )?error:", text, re.M):
            path, line = os.path.normpath(match[1]), int(match[2])
            here = {number: place for number, (_, place) in chosen.items()
                    if path.endswith(place.path) or place.path.endswith(path.lstrip("./"))}
            hit = {number for number, place in here.items() if place.line <= line <= place.last}
            bad |= hit
            if not hit:
                files |= set(here)
        bad = bad or files
        if not bad:
            raise RuntimeError(f"the copy does not build, see {self.tree}/build/{log}")
        return bad

    # What a compiler makes of one

    def same_object(self, place):
        """Whether the compiler makes the same of a file with and without the defect."""
        known = flags.of_meson(self.tree, self.tree / "build/host")
        known.update(flags.of_kbuild(self.tree, self.tree / "build/modules-plain"))
        data = (self.clone / place.path).read_bytes()
        changed = alone(data, place)
        if changed is None or place.path not in known:
            return False
        words, folder = known[place.path]
        trial = self.tree / Path(place.path).with_name("defect_alone.c")
        command, rest = [], iter(words)
        for word in rest:
            if word in ("-o", "-MQ", "-MF"):
                next(rest)
            elif word.endswith(".c") and (folder / word).resolve() == self.tree / place.path:
                command.append(str(trial))
            elif not word.startswith(("-Wp,-MMD", "-MD", "-g")):
                command.append(word)
        objects, out = [], self.tree / "build/alone.o"
        with self.comparing:
            for text in (data, changed):
                trial.write_bytes(text)
                if subprocess.run([*command, "-w", "-o", str(out)], cwd=folder, check=False,
                                  capture_output=True).returncode:
                    break
                objects.append(out.read_bytes())
            trial.unlink()
        return len(objects) == 2 and objects[0] == objects[1]

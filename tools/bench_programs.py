# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""How fast other people's programs are on the virtual GPU, through the shim, beside Mesa's
software drivers: scenes of glmark2 on llvmpipe, of vkmark on lavapipe, kernels of clpeak on
rusticl with llvmpipe. Runs in the root that has them (tools/toolbox.sh programs).

usage: bench_programs.py BUILD RESULT [--quick]

BUILD is the folder of a build for the host. RESULT, rows of tools/bench_gpu.py's, gets more
of them. A program that fails, a job of it that fails, or one that draws nothing is an error; one that is not done
after LIMIT_S is said to be so and has no row.
"""

import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import bench_rows

SIZE = "400x300"
# Work items of a kernel: clpeak wants far more, which takes hours
THREADS = 16384
GLMARK2 = {"build": 10, "texture": 10, "terrain": 1}
VKMARK = ("vertex", "texture", "cube")
CLPEAK = ("compute-sp", "compute-hp", "compute-integer", "compute-char", "global-bandwidth")
QUICK = {"glmark2": ("build", "texture"), "vkmark": ("cube",), "clpeak": ("compute-sp",)}
SOFTWARE = {"LIBGL_ALWAYS_SOFTWARE": "1", "RUSTICL_ENABLE": "llvmpipe",
            "VK_DRIVER_FILES": "/usr/share/vulkan/icd.d/lvp_icd.json"}
REFERENCE = {"glmark2": "llvmpipe", "vkmark": "lavapipe", "clpeak": "llvmpipe"}
LIMIT_S = 200


class TooLong(Exception):
    """A row that this machine has no time for."""


class Driver:
    """Mesa's on the virtual GPU with so many cores, or in software; with a compositor,
    which glmark2 wants though it draws off screen, and which is on the same GPU."""

    def __init__(self, build, folder, cores=None):
        self.folder = Path(folder)
        self.folder.mkdir()
        self.preload = {"LD_PRELOAD": str(build / "userspace/tests/work-times.so"),
                        "WORK_TIMES": str(self.folder / "times"), "WORK_THREADS": str(THREADS)}
        self.env = os.environ | {"MESA_SHADER_CACHE_DISABLE": "true",
                                 "XDG_RUNTIME_DIR": str(self.folder), "WAYLAND_DISPLAY": "bench"}
        self.env |= {"ASAHI_SHIM_CORES": str(cores)} if cores else SOFTWARE
        self.wrapper = [build / "userspace/shim/vagx-run"] if cores else []

    def __enter__(self):
        self.weston = subprocess.Popen(
            [*self.wrapper, "weston", "--backend=headless", "--renderer=gl", "--shell=kiosk",
             "--idle-time=0", "--socket=bench"], env=self.env, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while not (self.folder / "bench").exists():
            if time.monotonic() > deadline:
                raise SystemExit("Weston does not start")
            time.sleep(0.1)
        return self

    def __exit__(self, *_):
        self.weston.terminate()
        self.weston.wait()

    def run(self, command):
        """What the preloaded library writes of a command: names, processor time, time."""
        times = self.folder / "times"
        times.unlink(missing_ok=True)
        begin = time.monotonic()
        done = subprocess.run(["timeout", str(LIMIT_S), *self.wrapper, *command],
                              env=self.env | self.preload, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if time.monotonic() - begin >= LIMIT_S:
            raise TooLong(f"{' '.join(command)}: not done after {LIMIT_S} s")
        if done.returncode or not times.exists():
            raise SystemExit(f"{' '.join(command)}: {done.returncode}\n{done.stdout}")
        lines = (line.split() for line in times.read_text().splitlines())
        return [(name, int(cpu), int(wall)) for name, cpu, wall in lines]


def first_and_later(name, times):
    """The first of several times, and the mean of the others: work of one frame may be
    done while the next one is counted."""
    if len(times) < 2:
        raise SystemExit(f"{name}: {len(times)} times of it were taken")
    (cold_cpu, _), later = times[0], times[1:]
    cpu, wall = (sum(column) / len(later) / 1e6 for column in zip(*later))
    return {"cold, processor time": cold_cpu / 1e6, "warm": wall, "warm, processor time": cpu}


def frames(driver, name, command):
    return {name: first_and_later(name, [time[1:] for time in driver.run(command)])}


def kernels(driver, test):
    there = {}
    for name, *times in driver.run(["clpeak", f"--{test}"]):
        there.setdefault(f"clpeak {name}", []).append(times)
    return {name: first_and_later(name, times) for name, times in there.items()}


def works(quick):
    """For each program of the list: its name, and what measures it with a driver."""
    def wanted(program, what):
        return not quick or what in QUICK[program]

    for scene, count in GLMARK2.items():
        if wanted("glmark2", scene):
            command = ["glmark2-es2-wayland", "--off-screen", "-s", SIZE,
                       "-b", f"{scene}:nframes={count + 1}:duration={LIMIT_S}"]
            yield "glmark2", lambda d, s=scene, c=command: frames(d, f"glmark2 {s}, a frame", c)
    for scene in VKMARK:
        if wanted("vkmark", scene):
            command = ["vkmark", "--winsys", "headless", "-s", SIZE,
                       "-b", f"{scene}:duration={1 if quick else 6}"]
            yield "vkmark", lambda d, s=scene, c=command: frames(d, f"vkmark {s}, a frame", c)
    for test in CLPEAK:
        if wanted("clpeak", test):
            yield "clpeak", lambda d, t=test: kernels(d, t)


def joined(program, cores, here, there):
    """Rows of all that is in both."""
    if here.keys() != there.keys():
        raise SystemExit(f"{program}: {sorted(here)} here, {sorted(there)} in software")
    return [bench_rows.Row(bench_rows.name_of(name, cores, kind), here[name][kind],
                           there[name][kind], REFERENCE[program])
            for name in here for kind in here[name]]


def compare(program, measure, software, gpus):
    """Rows for each number of cores. What else the machine does is to disturb all, which
    is why they come one after the other."""
    there = measure(software)
    for cores, gpu in gpus.items():
        yield joined(program, cores, measure(gpu), there)


def main():
    build, result = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    quick = "--quick" in sys.argv[3:]
    counts = bench_rows.core_counts()
    if quick:
        counts = counts[-1:]
    rows = []
    bench_rows.show_header()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        software = stack.enter_context(Driver(build, f"{folder}/0"))
        gpus = {cores: stack.enter_context(Driver(build, f"{folder}/{cores}", cores))
                for cores in counts}
        for program, measure in works(quick):
            try:
                for more in compare(program, measure, software, gpus):
                    # Some take minutes.
                    bench_rows.show(more)
                    rows += more
            except TooLong as what:
                print(what, flush=True)
    bench_rows.add(rows, result)


main()

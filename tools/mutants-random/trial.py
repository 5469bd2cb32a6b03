# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Tests, what of the places each reaches, and whether it fails with a defect."""

import json
import os
import re
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

SPLATS = re.compile(
    r"WARNING:|BUG:|KASAN|UBSAN|KFENCE|ODEBUG|Oops|Internal error|Call trace:|Kernel panic|"
    r"INFO: task .* blocked|refcount_t:|list_(add|del) corruption|unable to handle|rcu.*stall|"
    r"scheduling while atomic|\*ERROR\* .*leak|Memory manager not clean")
BOOT = 240          # seconds that a machine may take until its first test begins
RECORD = 0xffffffff


@dataclass
class Test:
    """One test: how long it takes, and which places it reaches."""

    name: str
    seconds: float = 0
    reached: set = field(default_factory=set)
    usable: bool = False
    machine: dict = None        # of a test in the guest
    command: dict = None        # of one on the host

    def limit(self):
        return 4 * self.seconds + 40


def environment(number, log=None):
    kept = {name: value for name, value in os.environ.items()
            if name not in ("ASAHI_DEFECT", "ASAHI_DEFECT_LOG")}
    if log:
        return {**kept, "ASAHI_DEFECT_LOG": str(log)}
    return {**kept, "ASAHI_DEFECT": str(number)} if number else kept


def numbers_in(file):
    return {int(line) for line in file.read_text().split()} if file.exists() else set()


# On the host

def host_tests(tree):
    """Those of meson's that are programs; they are sorted by their names."""
    text = subprocess.run(["meson", "introspect", "--tests", str(tree / "build/host")], check=True,
                          text=True, capture_output=True).stdout
    tests = sorted(json.loads(text), key=lambda it: it["name"])
    return [Test(it["name"], command={**it, "workdir": it["workdir"] or str(tree / "build/host")})
            for it in tests]


def run_host(test, number, limit, log=None):
    """What went wrong, or nothing."""
    command = test.command
    with subprocess.Popen(command["cmd"], cwd=command["workdir"], text=True,
                          errors="replace", env={**environment(number, log), **command["env"]},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return f"it takes more than {limit:.0f} s"
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    wrong = re.search(r"^not ok.*", output, re.M)
    if wrong:
        return wrong[0]
    if process.returncode not in (0, 77):
        last = output.strip().splitlines()[-1:] or [""]
        return f"status {process.returncode}: {last[0]}"
    return ""


def reach_host(tests, out, jobs):
    """Run each once and record."""
    def one(test):
        log = out / f"{test.name}.log"
        log.unlink(missing_ok=True)
        start = time.monotonic()
        wrong = run_host(test, 0, 900, log)
        test.seconds = time.monotonic() - start
        test.reached, test.usable = numbers_in(log), not wrong
    out.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, tests))
    # Some of meson's tests have to fail.
    failed = ", ".join(test.name for test in tests if not test.usable)
    print(f"# not used, as they do not pass without a defect: {failed}", flush=True)


# In the guest

class Machine:
    """A virtual machine that runs tests one after the other, until one of them shows a
    failure: a case, the kernel's console, a violation that vagx reports, or a limit."""

    def __init__(self, tree, out, settings, tests, number, log=None):
        self.tree, self.out, self.tests = tree, out, tests
        self.number, self.log = number, log
        defect = RECORD if log else number
        self.command = ["tools/vm.sh", "--quiet", "--violations", "--out", str(out), "--smp", "1",
                        "--timeout", "7200", *settings.get("options", []),
                        "--append", f"oops=panic asahi_defect={defect}",
                        "--", "tools/guest/tests/defects", *(test.name for test in tests)]

    def text(self, name):
        try:
            return (self.out / name).read_text(errors="replace")
        except FileNotFoundError:
            return ""

    def failure(self):
        """What the files of the machine show, as long as it runs and afterwards."""
        wrong = re.search(r"^not ok.*", self.text("output"), re.M) or \
            re.search(r".*VIOLATION.*", self.text("vagx.log"))
        if wrong:
            return wrong[0]
        for line in self.text("console.log").splitlines():
            if SPLATS.search(line):
                return line
        return ""

    def current(self):
        begun = re.findall(r"^# begin (.*)", self.text("output"), re.M)
        return begun[-1] if begun else None

    def run(self, watch=None):
        """The first failure, or nothing. "watch" is told the current test, often."""
        limits = {test.name: test.limit() if not self.log else 1500 for test in self.tests}
        since, last, wrong = time.monotonic(), None, ""
        with (self.out.parent / (self.out.name + ".log")).open("w") as log, \
                subprocess.Popen(self.command, cwd=self.tree, stdout=log, stderr=log,
                                 stdin=subprocess.DEVNULL, start_new_session=True,
                                 env=environment(self.number, self.log)) as process:
            while process.poll() is None:
                time.sleep(0.5)
                current = self.current()
                if watch:
                    watch(current)
                if current != last:
                    since, last = time.monotonic(), current
                wrong = "" if self.log else self.failure()
                limit = limits.get(current, BOOT)
                if not wrong and time.monotonic() - since > limit:
                    wrong = f"{current or 'the boot'} takes more than {limit:.0f} s"
                if wrong:
                    process.terminate()
                    try:
                        process.wait(20)
                    except subprocess.TimeoutExpired:
                        pass
                    break
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if not wrong and not self.log:
            wrong = self.failure()
            if not wrong and process.returncode:
                wrong = f"the machine ends with {process.returncode}"
        return (f"{last}: " if last else "") + wrong.strip() if wrong else ""


def reach_guest(tree, out, name, settings, tests):
    """Run all in one machine and record: the driver's places by the kernel's log, those of
    vagx by the test that was running when each was reached first."""
    log = out / f"{name}.log"
    log.unlink(missing_ok=True)
    known, by_name = set(), {test.name: test for test in tests}

    def watch(current):
        nonlocal known
        new = numbers_in(log) - known
        if new:
            known |= new
            first = tests.index(by_name[current]) if current in by_name else 0
            for test in tests[first:]:
                test.reached |= new
    machine = Machine(tree, out / name, settings, tests, 0, log)
    machine.run(watch)
    current = None
    for line in machine.text("console.log").splitlines():
        begin = re.search(r"defects: begin (.*)", line)
        reached = re.search(r"asahi: defect (\d+) is reached", line)
        if begin:
            current = by_name.get(begin[1].strip())
        elif reached and current:
            current.reached.add(int(reached[1]))
        elif SPLATS.search(line) and current:
            print(f"# {current.name}: the console is not clean without a defect: {line}", flush=True)
    for match in re.finditer(r"^# end (\d+) (\d+) (.*)", machine.text("output"), re.M):
        test = by_name[match[3]]
        test.usable, test.seconds = match[1] == "0", int(match[2])
        if not test.usable:
            print(f"# {test.name} fails without a defect", flush=True)
    wrong = re.search(r".*VIOLATION.*", machine.text("vagx.log"))
    if wrong:
        print(f"# {name}: vagx reports without a defect: {wrong[0]}", flush=True)

# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Tests, what of the places each reaches, and whether it fails with a defect."""

import json
import os
import re
import signal
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

SPLATS = re.compile(
    r"WARNING:|BUG:|KASAN|UBSAN|KFENCE|ODEBUG|Oops|Internal error|Call trace:|Kernel panic|"
    r"INFO: task .* blocked|refcount_t:|list_(add|del) corruption|unable to handle|rcu.*stall|"
    r"scheduling while atomic|\*ERROR\* .*leak|Memory manager not clean")
BOOT = 240          # seconds that a machine may take until its first test begins
RECORD = 0xffffffff
LIMITED = ("prlimit", f"--data={8 << 30}", "--core=0")
PRINTED = 1 << 28   # bytes that no test prints


@dataclass
class Test:
    """One test: how long it takes, and which places it reaches."""

    name: str
    seconds: float = 0
    reached: set = field(default_factory=set)
    usable: bool = False
    first: bool = False         # it runs before what is cheaper
    machine: dict = None        # of a test in the guest
    command: dict = None        # of one on the host

    def limit(self):
        return 4 * self.seconds + 40


def complaint(console, grows=False):
    """The first line of the kernel's that complains; in a console that grows, the last
    complaint has to be complete. As in tools/checks/guest.sh, two are left
    out in which the driver has no say: mainline's devcoredump that makes a link twice, and its
    mailbox that enables an interrupt twice."""
    link, block = 0, None
    for line in console.splitlines():
        if re.search(r"sysfs: cannot create duplicate filename .*/devcoredump[^/]*$", line):
            link = 20
        if link:
            link = 0 if "devcoredump create_link failed" in line else link - 1
            continue
        if "[ cut here ]" in line:
            block = []
        if block is not None:
            block.append(line)
            if "end trace" not in line:
                continue
            text, block = "\n".join(block), None
            if "Unbalanced enable for IRQ" in text and "apple_mbox_send" in text:
                continue
            line = next((it for it in text.splitlines() if SPLATS.search(it)), text)
        if SPLATS.search(line):
            return line
    return next((it for it in block or [] if not grows and SPLATS.search(it)), "")


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


def kill_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run_host(test, number, limit, log=None):
    """What went wrong, or nothing. A defect may not fill memory or disk."""
    command = test.command
    with tempfile.TemporaryFile() as file:
        with subprocess.Popen([*LIMITED, *command["cmd"]], cwd=command["workdir"],
                              env={**environment(number, log), **command["env"]},
                              stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                              start_new_session=True) as process:
            end = time.monotonic() + limit
            try:
                while process.poll() is None:
                    if time.monotonic() > end:
                        return f"it takes more than {limit:.0f} s"
                    if os.fstat(file.fileno()).st_size > PRINTED:
                        return "it prints without end"
                    time.sleep(0.05)
            finally:
                kill_group(process)
        file.seek(0)
        output = file.read(1 << 24).decode(errors="replace")
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
                        "--timeout", "7200", "--kernel", settings.get("kernel", "plain"),
                        *settings.get("options", []),
                        "--append", f"oops=panic asahi_defect={defect}",
                        "--", "tools/guest/tests/defects", *(test.name for test in tests)]

    def text(self, name):
        try:
            return (self.out / name).read_text(errors="replace")
        except FileNotFoundError:
            return ""

    def failure(self, grows):
        """What the files of the machine show, as long as it runs and afterwards."""
        wrong = re.search(r"^not ok.*", self.text("output"), re.M) or \
            re.search(r".*VIOLATION.*", self.text("vagx.log"))
        return wrong[0] if wrong else complaint(self.text("console.log"), grows)

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
                wrong = "" if self.log else self.failure(True)
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
            kill_group(process)
        if not wrong and not self.log:
            wrong = self.failure(False)
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
    said = {test.name: [] for test in tests}
    current = None
    for line in machine.text("console.log").splitlines():
        begin = re.search(r"defects: begin (.*)", line)
        reached = re.search(r"asahi: defect (\d+) is reached", line)
        if begin:
            current = by_name.get(begin[1].strip())
        elif reached and current:
            current.reached.add(int(reached[1]))
        elif current:
            said[current.name].append(line)
    for match in re.finditer(r"^# end (\d+) (\d+) (.*)", machine.text("output"), re.M):
        test = by_name[match[3]]
        wrong = complaint("\n".join(said[test.name]))
        test.usable, test.seconds = match[1] == "0" and not wrong, int(match[2])
    failed = ", ".join(test.name for test in tests if not test.usable)
    print(f"# {name}: all tests pass without a defect" if not failed else
          f"# {name}: not used, as they do not pass without a defect: {failed}", flush=True)
    wrong = re.search(r".*VIOLATION.*", machine.text("vagx.log"))
    if wrong:
        print(f"# {name}: vagx reports without a defect: {wrong[0]}", flush=True)

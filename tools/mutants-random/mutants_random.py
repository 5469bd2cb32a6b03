# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Generated defects: choose, build, see which tests reach each, and run these until one fails.

Runs in the toolbox; tools/mutants-random.sh has built what it needs.
"""

import argparse
import dataclasses
import hashlib
import json
import re
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import trial
from choose import AIMS, FOLDERS, all_places, choose
from tree import Tree

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
WORK = TOP / "build/mutants-random"
OUT = TOP / "build/out/mutants-random"
HOST_ONLY = ("lib/agx", "shim", "library")


def say(text):
    print(text, flush=True)


def machines():
    """{name: its table, with its tests}"""
    found = {}
    listed = (TOP / "igt-tests/ci/asahi-subtests.txt").read_text()
    programs = [f"igt:{name}" for name in sorted(set(re.findall(r"^(\w+)@", listed, re.M)))]
    for settings in tomllib.loads((HERE / "tests.toml").read_text())["machine"]:
        names = [name for word in settings["tests"]
                 for name in (programs if word == "igt" else [word])]
        found[settings["name"]] = settings, [
            trial.Test(name, machine=settings, first=name in settings.get("first", ()))
            for name in names]
    return found


# Which test reaches what

def key_of(tree):
    """A hash of what the tests run and of how they are recorded."""
    key = hashlib.sha256()
    for name in tree.files():
        if not name.startswith("Documentation/"):
            key.update(name.encode() + b"\0" + (tree.tree / name).read_bytes())
    for name in ("trial.py", "tests.toml"):
        key.update((HERE / name).read_bytes())
    return key.hexdigest()[:16]


def measure(tree, wanted, jobs):
    """All tests with what each reaches; what is known of the same sources is read."""
    cache = WORK / "reach" / f"{key_of(tree)}-{'+'.join(sorted(wanted)).replace('/', '-')}.json"
    host, guest = trial.host_tests(tree.tree), machines()
    tests = host + [test for _, those in guest.values() for test in those]
    if cache.exists():
        known = json.loads(cache.read_text())
        for test in tests:
            entry = known.get(test.name)
            if entry:
                test.seconds, test.usable = entry["seconds"], entry["usable"]
                test.reached = set(entry["reached"])
        return tests
    with ThreadPoolExecutor(1) as pool:
        if set(wanted) - {"driver"}:
            on_host = pool.submit(trial.reach_host, host, WORK / "record", jobs)
        if set(wanted) - set(HOST_ONLY):
            for name, (settings, those) in guest.items():
                trial.reach_guest(tree.tree, OUT / "record", name, settings, those)
        if set(wanted) - {"driver"}:
            on_host.result()
    cache.parent.mkdir(parents=True, exist_ok=True)
    cache.write_text(json.dumps({test.name: {"seconds": test.seconds, "usable": test.usable,
                                             "reached": sorted(test.reached)} for test in tests}))
    return tests


def within(tests, budget):
    """Those that run first, and the cheapest tests that take so long together; one at least."""
    taken, total = [], 0
    for test in sorted(tests, key=lambda test: (not test.first, test.seconds, test.name)):
        total += test.seconds
        if taken and total > budget:
            break
        taken.append(test)
    return taken


# One defect

@dataclasses.dataclass
class Result:
    """What became of a defect. "verdict" is caught, survived, equivalent, "not reached" or
    "not compiling"."""

    number: int
    folder: str
    place: object
    verdict: str = ""
    by: str = ""            # the test that failed, or why it is equivalent
    said: str = ""
    tried: int = 0          # how many tests ran
    left: int = 0           # how many reach it, too, and were left out for time
    seconds: float = 0

    def line(self):
        place = self.place
        words = f"{self.verdict} - {self.number} {place.name} {place.function}() " \
                f"[{place.rule}] {place.before!r} -> {place.after!r}"
        if self.verdict == "caught":
            words += f" by {self.by}: {self.said[:160]}"
        elif self.verdict == "equivalent":
            words += f": {self.by}"
        elif self.verdict == "survived":
            words += f" ({self.tried} tests" + \
                     (f", {self.left} left out for time)" if self.left else ")")
        return words


def try_host(result, tests, budget):
    """Run those on the host that reach it, the cheapest first."""
    start = time.monotonic()
    reaching = [test for test in tests if test.command and test.usable and
                result.number in test.reached]
    taken = within(reaching, budget)
    result.left += len(reaching) - len(taken)
    for test in taken:
        result.tried += 1
        wrong = trial.run_host(test, result.number, test.limit())
        # A test that fails now and then has to pass right after it without the defect.
        if wrong and not trial.run_host(test, 0, test.limit()):
            result.verdict, result.by, result.said = "caught", test.name, wrong
            break
    result.seconds += time.monotonic() - start


def try_guest(result, tests, tree, budget):
    """The same in virtual machines."""
    start = time.monotonic()
    reaching = [test for test in tests if test.machine and test.usable and
                result.number in test.reached]
    taken = within(reaching, budget)
    result.left += len(reaching) - len(taken)
    for settings in {test.machine["name"]: test.machine for test in taken}.values():
        # In the order of the list, in which they pass without the defect
        those = [test for test in reaching if test.machine is settings and test in taken]
        result.tried += len(those)
        wrong = trial.Machine(tree.tree, OUT / f"defect-{result.number}", settings, those,
                              result.number).run()
        if wrong:
            by, _, said = wrong.partition(": ")
            result.verdict, result.by, result.said = "caught", by, said or wrong
            break
    result.seconds += time.monotonic() - start


def equivalents():
    listed = tomllib.loads((HERE / "equivalent.toml").read_text()).get("equivalent", [])
    return {tuple(it[key] for key in ("file", "function", "rule", "before", "after")):
            it["reason"] for it in listed}


def judge(tree, chosen, tests, options):
    """A result for each defect, as they come."""
    reviewed, results = equivalents(), []
    reached = {number for test in tests if test.usable for number in test.reached}
    for number, (folder, place) in sorted({**chosen, **tree.not_compiling}.items()):
        result = Result(number, folder, place)
        results.append(result)
        if number in tree.not_compiling:
            result.verdict = "not compiling"
        elif place.content() in reviewed:
            result.verdict, result.by = "equivalent", reviewed[place.content()]
        elif number not in reached:
            result.verdict = "not reached"

    def done(result):
        if not result.verdict:
            same = tree.same_object(result.place)
            result.verdict = "equivalent" if same else "survived"
            result.by = "the object code is the same" if same else ""
        say(result.line())
        say(f"# {result.seconds:.0f} s")

    def on_host(result):
        try_host(result, tests, options.budget)
        if result.verdict or result.folder in HOST_ONLY:
            done(result)
    with ThreadPoolExecutor(options.jobs) as pool:
        waiting = [(it, None if it.folder == "driver" else pool.submit(on_host, it))
                   for it in results if not it.verdict]
        for result, host in waiting:
            if host:
                host.result()
            if not result.verdict and result.folder not in HOST_ONLY:
                try_guest(result, tests, tree, options.budget)
                done(result)
    return results


# What comes of it

def percent(results):
    """The share that dies of what could: (caught, caught and survived, percent)."""
    caught = sum(it.verdict == "caught" for it in results)
    total = caught + sum(it.verdict == "survived" for it in results)
    return caught, total, 100 * caught / total if total else 100


def table(results):
    verdicts = ("caught", "survived", "equivalent", "not reached", "not compiling")
    rows = [("folder", "tried", *verdicts, "share")]
    for folder in [*FOLDERS, "all"]:
        those = [it for it in results if folder in (it.folder, "all")]
        if those:
            caught, total, share = percent(those)
            rows.append((folder, total, *(sum(it.verdict == verdict for it in those)
                                          for verdict in verdicts), f"{share:.0f} %"))
    return "\n".join("  ".join(f"{cell!s:>13}" for cell in row) for row in rows)


def commit():
    return subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=12"], cwd=TOP,
                          check=True, text=True, capture_output=True).stdout.strip()


def write_results(results, options):
    lines = [result.line() for result in results if result.verdict != "caught"]
    lines += [result.line() for result in results if result.verdict == "caught"]
    (OUT / "report").write_text("\n".join(lines) + "\n")
    shares = {}
    for folder in FOLDERS:
        those = [it for it in results if it.folder == folder]
        if those:
            shares[folder] = percent(those)[:2]
    entry = {"commit": commit(), "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
             "seed": options.seed, "count": options.count, "folders": shares}
    (OUT / "result.json").write_text(json.dumps(entry) + "\n")
    with (OUT / "defects.json").open("w") as file:
        json.dump([{"number": it.number, "folder": it.folder, "verdict": it.verdict, "by": it.by,
                    "said": it.said, "seconds": round(it.seconds), **{
                        key: getattr(it.place, key) for key in
                        ("path", "line", "function", "rule", "before", "after")}}
                   for it in results], file, indent=1)


def aims(results):
    """Whether each group of folders reaches its aim: TAP."""
    for name, (folders, aim) in AIMS.items():
        those = [it for it in results if it.folder in folders]
        if those:
            caught, total, share = percent(those)
            say(f"{'ok' if share >= aim else 'not ok'} - {name}: {aim} % die")
            say(f"# {name}: {caught} of {total}, {share:.0f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--budget", type=float, default=240,
                        help="seconds of tests that a defect may take on the host, and again in "
                             "machines")
    parser.add_argument("--folders", default=",".join(FOLDERS))
    parser.add_argument("--only", default="", help="numbers of the choice; the history stays")
    parser.add_argument("--list", action="store_true", help="only list the choice")
    options = parser.parse_args()
    wanted = [name for name in FOLDERS if name in options.folders.split(",")]
    found = all_places(TOP, WORK / "places", options.jobs)
    say("# places: " + ", ".join(f"{name} {len(found[name])}" for name in found))
    chosen = choose(found, options.count, options.seed, wanted)
    if options.list:
        for number, (folder, place) in chosen.items():
            say(f"{number} {folder} {place.name} {place.function}() [{place.rule}] "
                f"{place.before!r} -> {place.after!r}")
        return 0
    (OUT / "record").mkdir(parents=True, exist_ok=True)
    kernels = {settings.get("kernel", "plain") for settings, _ in machines().values()}
    tree = Tree(TOP, WORK / "tree", options.jobs, sorted(kernels))
    (tree.tree / "build").mkdir(parents=True, exist_ok=True)
    tree.link_guest()
    start = time.monotonic()
    tree.build(chosen)
    say(f"# {time.monotonic() - start:.0f} s: builds; {len(tree.not_compiling)} do not compile")
    start = time.monotonic()
    tests = measure(tree, wanted, options.jobs)
    say(f"# {time.monotonic() - start:.0f} s: which of {len(tests)} tests reach what")
    only = {int(number) for number in options.only.split(",") if number}
    if only:
        judge(tree, {number: chosen[number] for number in only if number in chosen}, tests, options)
        return 0
    results = judge(tree, chosen, tests, options)
    write_results(results, options)
    say("\n".join("# " + line for line in table(results).splitlines()))
    aims(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())

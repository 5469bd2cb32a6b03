# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Run clang's analyzer over sources, with the flags that a build of meson's has for them.

usage: analyze.py BUILD_FOLDER JOBS SOURCE ...

A source that the build does not know has those of another one near by.
Prints each finding once, "PATH:LINE: CHECKER: WORDS", and last "N files".

What was said of a preprocessed source is kept in the cache for as long as it is used.
"""

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CLANG = ["clang-19", "--analyze", "--analyzer-output", "text", "-w",
         "-Xclang", "-analyzer-checker=core,deadcode,nullability,security,unix",
         # It wants the functions of C11's annex K, which no library has.
         "-Xclang",
         "-analyzer-disable-checker=security.insecureAPI.DeprecatedOrUnsafeBufferHandling",
         "-o", "/dev/null"]
KEPT = Path(os.environ["ASAHI_CACHE"]) / "analyzer" if "ASAHI_CACHE" in os.environ else None
KEPT_SECONDS = 30 * 86400


def known_flags(build):
    """Those that matter for the meaning of a source, and the first ones of each folder."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = (Path(entry["directory"]) / entry["file"]).resolve()
        flags = [word for word in shlex.split(entry["command"])
                 if word.startswith(("-I", "-D", "-U", "-std=", "-isystem"))]
        for place in (path, *path.parents):
            found.setdefault(place, flags)
    return found


def findings_in(text, build):
    """Findings in what clang says; an error is one, too."""
    top = build.parents[1]
    for line in text.splitlines():
        match = re.match(r"(.+?):(\d+):\d+: (?:warning|error|fatal error): (.*)", line)
        if match:
            path = (build / match[1]).resolve()
            path = path.relative_to(top) if path.is_relative_to(top) else path
            words, checker = re.fullmatch(r"(.*?)(?: \[([\w.,-]+)\])?", match[3]).groups()
            yield f"{path}:{match[2]}: {checker or 'error'}: {words}"


def kept_name(build, path, flags, version):
    """The file of the cache for what this clang says of this source, wherever the clone is."""
    run = subprocess.run([CLANG[0], "-E", *flags, str(path)], cwd=build, capture_output=True,
                         check=False)
    if run.returncode or not KEPT:
        return None
    source = run.stdout.replace(str(build.parents[1]).encode(), b".")
    said_by = json.dumps([version, CLANG, Path(__file__).read_text()]).encode()
    return KEPT / hashlib.sha256(said_by + source).hexdigest()


def analyze(build, path, flags, version):
    """Findings in a file, from the cache or by clang."""
    kept = kept_name(build, path, flags, version)
    if kept and kept.exists():
        os.utime(kept)
        return set(json.loads(kept.read_text()))
    lines = run_clang(build, path, flags)
    if kept:
        new = kept.with_name(f"{kept.name}.{os.getpid()}")
        new.write_text(json.dumps(sorted(lines)))
        new.rename(kept)
    return lines


def run_clang(build, path, flags):
    """What clang says of a file; a bad status without a word is a finding, too."""
    run = subprocess.run([*CLANG, *flags, str(path)], cwd=build, capture_output=True, text=True,
                         check=False)
    lines = set(findings_in(run.stderr, build))
    if run.returncode and not lines:
        lines = {f"{path}:1: error: clang ended with {run.returncode}: {run.stderr[-300:]!r}"}
    return lines


def forget_unused():
    """Removes what nobody has asked for in a long time."""
    for kept in KEPT.iterdir():
        if time.time() - kept.stat().st_mtime > KEPT_SECONDS:
            kept.unlink(missing_ok=True)


def main():
    build, jobs = Path(sys.argv[1]).resolve(), int(sys.argv[2])
    paths = [Path(argument).resolve() for argument in sys.argv[3:]]
    known = known_flags(build)
    flags = [next(known[place] for place in (path, *path.parents) if place in known)
             for path in paths]
    version = subprocess.run([CLANG[0], "--version"], capture_output=True, text=True,
                             check=True).stdout
    if KEPT:
        KEPT.mkdir(exist_ok=True)
        forget_unused()
    with ThreadPoolExecutor(jobs) as pool:
        said = pool.map(lambda path, words: analyze(build, path, words, version), paths, flags)
        for line in sorted(set().union(*said)):
            print(line)
    print(f"{len(paths)} files")


main()

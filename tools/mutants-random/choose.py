# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""The folders, their places, and a choice of them by chance."""

import dataclasses
import hashlib
import json
import random
import re
import subprocess
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import flags
from places import Place, places_of

# Each folder, the paths in it, and its share of what is chosen.
FOLDERS = {
    "driver": (r"drivers/gpu/drm/asahi/", 8),
    "firmware": (r"emulator/firmware/", 4),
    "emulator": (r"emulator/(?!firmware/|fuzz/)", 3),
    "lib/agx": (r"lib/agx/", 2),
    "shim": (r"userspace/shim/", 2),
    "library": (r"userspace/libdrm_asahi/", 1),
}
LEFT_OUT = re.compile(r"/tests/|_trace_points\.c$")
# What has to die of them, in percent
AIMS = {"driver and firmware": (("driver", "firmware"), 85),
        "elsewhere": (("emulator", "lib/agx", "shim", "library"), 80)}
HERE = Path(__file__).parent


def folder_of(path):
    return next((name for name, (pattern, _) in FOLDERS.items()
                 if re.match(pattern, path) and not LEFT_OUT.search(path)), None)


def sources(top):
    names = subprocess.run(["git", "ls-files", "*.c"], cwd=top, check=True, text=True,
                           capture_output=True).stdout.split()
    return [name for name in sorted(names) if folder_of(name)]


def cached_places(path, top, words, cache):
    """Places of a file; what was found before is kept by the file's content."""
    key = hashlib.sha256((top / path).read_bytes())
    for part in ("places.py", "clang.py", "flags.py"):
        key.update((HERE / part).read_bytes())
    key.update(" ".join(words).encode())
    file = cache / f"{path.replace('/', '+')}.{key.hexdigest()[:16]}.json"
    if file.exists():
        return [Place(**place) for place in json.loads(file.read_text())]
    found, errors = places_of(path, top, words)
    if errors:
        print(f"# {path}: libclang says: {errors[0]}")
    cache.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps([dataclasses.asdict(place) for place in found]))
    return found


def all_places(top, cache, jobs):
    """{folder: [place]} of all sources that the builds of top know."""
    known = flags.of_meson(top, top / "build/host")
    words = {path: flags.meaning(*known[path]) for path in known}
    known = flags.of_kbuild(top, top / "build/modules-plain")
    words.update((path, ["--target=aarch64-linux-gnu", *flags.meaning(*known[path])])
                 for path in known)
    found = {name: [] for name in FOLDERS}
    paths = [path for path in sources(top) if path in words]
    with ProcessPoolExecutor(jobs) as pool:
        results = pool.map(cached_places, paths, [top] * len(paths),
                           [words[path] for path in paths], [cache] * len(paths))
        for path, places in zip(paths, results):
            found[folder_of(path)] += places
    return found


def shares(count, wanted):
    """How many of each folder, of which "wanted" are; each has one at least."""
    total = sum(FOLDERS[name][1] for name in wanted)
    numbers = {name: max(1, count * FOLDERS[name][1] // total) for name in wanted}
    for name in wanted:
        if sum(numbers.values()) < count:
            numbers[name] += 1
    return numbers


def choose(found, count, seed, wanted=tuple(FOLDERS)):
    """{number: (folder, place)}: of each folder its share, and of each rule as many as of
    another while there are. The same seed gives the same choice for the same sources."""
    chosen = []
    for name, share in shares(count, wanted).items():
        chance = random.Random(f"{seed} {name}")
        rules = {}
        for place in found[name]:
            rules.setdefault(place.rule, []).append(place)
        for places in rules.values():
            chance.shuffle(places)
        order = sorted(rules)
        chance.shuffle(order)
        taken = []
        while len(taken) < share and any(rules.values()):
            for rule in order:
                if rules[rule] and len(taken) < share:
                    taken.append((name, rules[rule].pop()))
        chosen += sorted(taken, key=lambda it: (it[1].path, it[1].begin, it[1].end, it[1].rule))
    return dict(enumerate(chosen, 1))

# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Divide what "make export" has put into a tree among the patches of a series.

usage: series.py PATCHES_TOML TREE STEPS

TREE is a git repository with two tags, base and driver, whose work tree is the latter.
Writes, for each patch, STEPS/NAME/files, the tree when it is applied, and STEPS/NAME/message;
and STEPS/order, the names. Every file is in exactly one patch, and uses headers of its own
patch or of earlier ones; anything else is an error that names the file.
"""

import re
import subprocess
import sys
import textwrap
import tomllib
from fnmatch import fnmatch
from pathlib import Path

DRIVER = "drivers/gpu/drm/asahi/"
MAKEFILE = DRIVER + "Makefile"


def author(tree):
    """The first maintainer of the driver."""
    entry = (tree / "MAINTAINERS").read_text(encoding="utf-8")
    entry = entry[entry.index("\nDRM DRIVER FOR APPLE AGX GPUS\n"):]
    return re.search(r"^M:\t(.*)$", entry, re.M)[1]


def folded(message):
    """Paragraphs with lines that "git log" shows without folding them."""
    return "\n\n".join(textwrap.fill(paragraph, 72) for paragraph in
                       message.strip().split("\n\n"))


def git(tree, *arguments):
    return subprocess.run(["git", "-C", tree, *arguments], check=True, text=True,
                          capture_output=True).stdout


def patterns_of(patch):
    return ([DRIVER + pattern for pattern in patch.get("files", [])] +
            patch.get("others", []))


def assign(patches, files):
    """A dictionary: file -> number of its patch; and what is wrong."""
    home, errors = {}, []
    for number, patch in enumerate(patches):
        for pattern in patterns_of(patch):
            found = [file for file in files if fnmatch(file, pattern)]
            if not found:
                errors.append(f"patch {patch['name']}: no file is {pattern}")
            for file in found:
                if home.setdefault(file, number) != number:
                    errors.append(f"{file} is in two patches: {patches[home[file]]['name']}"
                                  f" and {patch['name']}")
    errors += [f"{file} is in no patch" for file in files if file not in home]
    return home, errors


def without(hold, lines):
    """Lines as they are before the patch of a hold; and how often it was found.

    A blank line goes, too, where it would stand beside another one or open a function.
    """
    kept, count, inside, gone = [], 0, False, False
    for line in lines:
        if not inside and re.search(hold["begin"], line):
            count += 1
            inside, gone = True, True
            if "instead" in hold:
                kept.append(re.sub(hold["begin"], hold["instead"], line))
                gone = False
            if "end" not in hold:
                inside = False
            continue
        if inside:
            inside = not re.search(hold["end"], line)
            continue
        if gone and not line and kept and (not kept[-1] or kept[-1] == "{"):
            continue
        gone = False
        kept.append(line)
    while kept and not kept[-1]:
        kept.pop()
    return kept, count


def makefile(lines, objects):
    """The driver's makefile with these objects of its list only."""
    kept, listed = [], []
    for line in lines:
        found = re.fullmatch(r"\t(\S+\.o)( \\)?", line)
        if not found:
            kept.append(line)
            continue
        if found[1] in objects:
            listed.append("\t" + found[1])
        if not found[2]:
            kept += (" \\\n".join(listed)).split("\n") if listed else []
    return kept


def included(name, lines):
    """Pairs of the tree's headers that a file includes: as it is written, and candidates."""
    folder = name.rpartition("/")[0] + "/"
    for line in lines:
        found = re.match(r'\s*#\s*include\s+(?:"([^"]+)"|<(agx/[^>]+)>)', line)
        if found:
            header = found[1] or found[2]
            yield header, [place + header for place in (folder, DRIVER, DRIVER + "abi/")]


class Series:
    """The patches, and the driver as it is in the end."""

    def __init__(self, table, tree):
        with open(table, "rb") as file:
            content = tomllib.load(file)
        self.patches, self.holds = content["patch"], content.get("hold", [])
        self.number = {patch["name"]: at for at, patch in enumerate(self.patches)}
        self.tree = Path(tree)
        self.home, self.errors = assign(
            self.patches, git(tree, "diff", "--name-only", "base", "driver").splitlines())
        self.hits = [0] * len(self.holds)
        for hold in self.holds:
            if hold["until"] not in self.number:
                self.errors.append(f"a hold waits for patch {hold['until']}, which is not there")

    def text_at(self, name, number):
        """A file's lines when patch number is applied."""
        text = (self.tree / name).read_text(encoding="utf-8")
        lines = text.removesuffix("\n").split("\n")
        for at, hold in enumerate(self.holds):
            if not any(fnmatch(name, DRIVER + glob if "files" in hold else glob)
                       for glob in hold.get("files", hold.get("others", []))):
                continue
            if number < self.number[hold["until"]]:
                lines, count = without(hold, lines)
                self.hits[at] += count
        if name == MAKEFILE:
            lines = makefile(lines, {file.removeprefix(DRIVER)[:-2] + ".o"
                                     for file in self.home if file.endswith(".c") and
                                     self.home[file] <= number})
        return lines

    def write(self, steps):
        steps.mkdir(parents=True)
        base = git(self.tree, "ls-tree", "-r", "--name-only", "base").splitlines()
        for number, patch in enumerate(self.patches):
            folder = steps / patch["name"]
            for name in base:
                text = (self.tree / name).read_text(encoding="utf-8")
                if self.home.get(name, 0) > number:
                    text = git(self.tree, "show", "base:" + name)
                self.put(folder / "files" / name, text)
            for name in sorted(self.home):
                if self.home[name] <= number and name not in base:
                    lines = self.text_at(name, number)
                    if self.home[name] == number:
                        self.check_headers(patch, name, lines, number)
                    self.put(folder / "files" / name, "\n".join(lines) + "\n")
            (folder / "message").write_text(
                f"{patch['subject']}\n\n{folded(patch['message'])}\n\nSigned-off-by: {author(self.tree)}\n",
                encoding="utf-8")
        for hold, hits in zip(self.holds, self.hits):
            if not hits:
                self.errors.append(f"no line is held by '{hold['begin']}'")
        (steps / "order").write_text("".join(patch["name"] + "\n" for patch in self.patches),
                                     encoding="utf-8")

    @staticmethod
    def put(path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def check_headers(self, patch, name, lines, number):
        for header, places in included(name, lines):
            found = [place for place in places if place in self.home]
            late = [place for place in found if self.home[place] > number]
            if found and len(late) == len(found):
                self.errors.append(f"patch {patch['name']}: {name} includes {header}, which is in "
                                   f"patch {self.patches[self.home[late[0]]]['name']}")


def main():
    table, tree, steps = sys.argv[1:]
    series = Series(table, tree)
    if not series.errors:
        series.write(Path(steps))
    for error in dict.fromkeys(series.errors):
        print(f"series: error: {error}", file=sys.stderr)
    return 1 if series.errors else 0


sys.exit(main())

# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""How a build compiles a file: the words that matter for the meaning of a source."""

import json
import re
import shlex
from pathlib import Path

KEPT = ("-I", "-D", "-U", "-std=", "-isystem", "-include", "-nostdinc", "-f", "-m")
WITH_WORD = ("-I", "-isystem", "-include", "-D", "-U")
# Words of gcc's that clang does not know end its work.
UNKNOWN = ("-fconserve-stack", "-fno-allow-store", "-fmin-function-alignment", "-mstack-protector",
           "-fstrict-flex", "-fplugin", "-fsanitize", "-mabi", "-fpatchable", "-falign",
           "-fno-ipa", "-fno-code-hoisting", "-fno-partial-inlining", "-mgeneral-regs-only",
           "-mbranch", "-fzero-init-padding-bits", "-fmacro-prefix-map", "-fstack", "-fdiagnostics",
           "-fno-delete", "-fno-tree", "-ftrivial", "-fzero-call", "-fno-var", "-femit",
           "-fno-stack",
           "-fconcatenate", "-fasynchronous", "-funwind", "-fno-asynchronous", "-fno-unwind")


def meaning(words, folder):
    """Those of a command's words that a parser needs, with paths that hold everywhere."""
    kept, words = [], iter(words)
    for word in words:
        if not word.startswith(KEPT) or word.startswith(UNKNOWN):
            continue
        value = ""
        if word in WITH_WORD:
            value = next(words)
        else:
            match = re.fullmatch(r"(-I|-isystem|-include)(.+)", word)
            if match:
                word, value = match[1], match[2]
        if value and word in ("-I", "-isystem", "-include") and not value.startswith("/"):
            value = str((folder / value).resolve())
        kept.append(word)
        if value:
            kept.append(value)
    return kept


def of_meson(top, build):
    """{path: (words, folder)} of each file that a build of meson's compiles."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        folder = Path(entry["directory"])
        path = (folder / entry["file"]).resolve()
        if path.is_relative_to(top):
            found.setdefault(str(path.relative_to(top)), (shlex.split(entry["command"]), folder))
    return found


def of_kbuild(top, objects):
    """The same for modules, by the commands that kbuild has left in their folder."""
    found = {}
    for file in objects.rglob(".*.o.cmd"):
        text = file.read_text()
        command = re.match(r"savedcmd_\S+ := (.*)", text)
        source = re.search(r"^source_\S+ := (\S+)", text, re.M)
        if command and source:
            path = (objects / source[1]).resolve()
            if path.is_relative_to(top):
                words = shlex.split(command[1].split(" ; ")[0])
                found[str(path.relative_to(top))] = words, objects
    return found

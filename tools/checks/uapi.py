# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Compare two UAPI headers, as the compiler sees them.

Names and declared types are read from the text; sizes, alignments, offsets and
values come out of an object file that the compiler makes of them, for each of
two architectures. Prints TAP.
"""

import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

COMPILERS = {"64-bit": "", "32-bit": "i686-linux-gnu-"}


class Header:
    """What a header declares, by name."""

    def __init__(self, path):
        self.path = Path(path).resolve()
        text = self.path.read_text()
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        text = re.sub(r"//[^\n]*", " ", text)
        text = re.sub(r"\\\n", " ", text)
        self.macros = {}
        self.macro_functions = {}
        for name, args, body in re.findall(
                r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\([^)]*\))?[ \t]*(.*)$", text, flags=re.M):
            body = " ".join(body.split())
            if args:
                self.macro_functions[name] = args + body
            elif body:
                self.macros[name] = body
        text = re.sub(r"^[ \t]*#.*$", " ", text, flags=re.M)
        self.structs = {name: self.fields(body) for name, body in
                        re.findall(r"\bstruct\s+(\w+)\s*\{(.*?)\}\s*;", text, flags=re.S)}
        self.enums = {}
        for name, body in re.findall(r"\benum\s*(\w*)\s*\{(.*?)\}\s*;", text, flags=re.S):
            while "(" in body:
                body = re.sub(r"\([^()]*\)", "", body)
            self.enums.setdefault(name or "without a name", []).extend(
                re.findall(r"(?:^|,)\s*(\w+)", body))
        rest = re.sub(r"\b(struct|enum)\s+\w*\s*\{.*?\}\s*;", " ", text, flags=re.S)
        rest = re.sub(r'\bextern\s+"C"\s*\{|\}', " ", rest)
        if rest.strip():
            raise SystemExit(f"{path}: cannot read: {rest.strip()[:200]}")

    @staticmethod
    def fields(body):
        """Field name -> declared type; only what the kernel's interfaces use."""
        found = {}
        for declaration in filter(None, (" ".join(d.split()) for d in body.split(";"))):
            match = re.fullmatch(r"((?:struct |enum )?\w+) ([*]*)(\w+)((?:\[\w+\])*)", declaration)
            if not match:
                raise SystemExit(f"cannot read the field: {declaration}")
            kind, pointer, name, array = match.groups()
            found[name] = kind + pointer + array
        return found

    def probes(self):
        """Pairs of a label and a C expression."""
        for name, fields in self.structs.items():
            yield f"struct {name}: size", f"sizeof(struct {name})"
            yield f"struct {name}: alignment", f"_Alignof(struct {name})"
            for field in fields:
                yield f"struct {name}: {field}: offset", f"offsetof(struct {name}, {field})"
                yield (f"struct {name}: {field}: size",
                       f"sizeof(((struct {name} *)0)->{field})")
        for name, constants in self.enums.items():
            for constant in constants:
                yield f"enum {name}: {constant}", constant
        for macro in self.macros:
            yield f"macro {macro}", macro

    def measure(self, prefix, folder):
        """Label -> number, from the compiler."""
        labels, expressions = zip(*self.probes())
        source = folder / "probe.c"
        source.write_text(
            '#include <stddef.h>\n#include "%s"\n'
            '__attribute__((section(".probe"))) const unsigned long long probe[] = {\n%s\n};\n'
            % (self.path, "\n".join(f"(unsigned long long)({e})," for e in expressions)))
        cflags = subprocess.run(["pkg-config", "--cflags", "libdrm"], check=True,
                                capture_output=True, text=True).stdout.split()
        subprocess.run([prefix + "gcc", "-D__user=", *cflags, "-c", str(source),
                        "-o", str(folder / "probe.o")], check=True)
        subprocess.run([prefix + "objcopy", "-O", "binary", "-j", ".probe",
                        str(folder / "probe.o"), str(folder / "probe.bin")], check=True)
        data = (folder / "probe.bin").read_bytes()
        return dict(zip(labels, struct.unpack(f"<{len(labels)}Q", data)))


class Tap:
    """Counts and prints."""

    def __init__(self):
        self.count = self.failed = 0

    def result(self, name, complaints):
        self.count += 1
        self.failed += bool(complaints)
        print("not ok" if complaints else "ok", self.count, "-", name)
        for line in complaints:
            print("#  ", line)


def differences(ours, theirs):
    """Complaints about two dictionaries that should be equal."""
    return [f"{key}: {ours.get(key, 'missing')} here, {theirs.get(key, 'missing')} in mainline"
            for key in dict.fromkeys([*theirs, *ours]) if ours.get(key) != theirs.get(key)]


def main():
    ours, theirs = Header(sys.argv[1]), Header(sys.argv[2])
    if not ours.structs or not theirs.structs:
        raise SystemExit("no structure found: this reads the headers wrongly")
    tap = Tap()

    guards = {name for name in ours.macros if name.endswith("_H_")}
    names = [{n: "there" for n in h.macros if n not in guards} for h in (ours, theirs)]
    tap.result("macros: names", differences(*names))
    tap.result("macros with arguments",
               differences({n: re.sub(r"\s", "", b) for n, b in ours.macro_functions.items()},
                           {n: re.sub(r"\s", "", b) for n, b in theirs.macro_functions.items()}))
    for name in dict.fromkeys([*theirs.structs, *ours.structs]):
        tap.result(f"struct {name}: fields and types in order",
                   differences(dict(enumerate(ours.structs.get(name, {}).items())),
                               dict(enumerate(theirs.structs.get(name, {}).items()))))
    with tempfile.TemporaryDirectory() as folder:
        measured = {}
        for arch, prefix in COMPILERS.items():
            here = ours.measure(prefix, Path(folder))
            there = theirs.measure(prefix, Path(folder))
            measured[arch] = here
            groups = dict.fromkeys(label.split(": ")[0] for label in [*there, *here])
            for group in groups:
                tap.result(f"{arch}: {group}", differences(
                    {k: v for k, v in here.items() if k.split(": ")[0] == group},
                    {k: v for k, v in there.items() if k.split(": ")[0] == group}))
        tap.result("the layout is the same in 32 bits and in 64",
                   [d for d in differences(measured["32-bit"], measured["64-bit"])
                    if ": alignment" not in d])
    print(f"1..{tap.count}")
    sys.exit(tap.failed > 0)


if __name__ == "__main__":
    main()

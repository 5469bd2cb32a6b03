# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Hold the syzkaller description of the UAPI to the header.

usage: uapi_syz.py HEADER DESCRIPTION

Every structure has the header's fields in their order and sizes, every ioctl is
called with its own structure, and every constant is used. Prints TAP.
"""

import re
import sys
from pathlib import Path

from uapi import Header, Tap

INTEGER = re.compile(r"(?:int|bool)(8|16|32|64)\b")


class Description:
    """What a description declares, by name."""

    def __init__(self, text):
        text = re.sub(r"^#.*$", "", text, flags=re.M)
        self.words = set(re.findall(r"\w+", text))
        self.resources = dict(re.findall(r"^resource (\w+)\[(\w+)\]", text, flags=re.M))
        self.structs = {
            name: [line.split(None, 1) for line in body.splitlines() if line.strip()]
            for name, body in re.findall(
                r"^(?:type )?(\w+)(?:\[[^]]*\])? \{\n(.*?)^\}", text, flags=re.M | re.S)}
        self.calls = {name: (command, struct) for name, command, struct in re.findall(
            r"^ioctl\$(\w+)\(.*const\[(\w+)\], arg ptr\[\w+, (\w+)\]\)", text, flags=re.M)}

    def size(self, kind):
        """Bytes of a type, or None when that is open."""
        kind = re.sub(r"\s*\((?:in|out|inout)\)$", "", kind.strip())
        array = re.fullmatch(r"array\[(.+), (\w+)\]", kind)
        if array:
            return (self.size(array.group(1)), array.group(2))
        if kind.startswith("ptr64["):
            return 8
        if kind in self.resources:
            return self.size(self.resources[kind])
        if kind in self.structs:
            return sum(self.size(field) for _, field in self.structs[kind])
        integer = re.search(r"(?:^|, )" + INTEGER.pattern, kind)
        return int(integer.group(1)) // 8 if integer else None


def size(header, kind):
    """Bytes of a type of the header; of an array, with its length's name."""
    array = re.fullmatch(r"(.+)\[(\w+)\]", kind)
    if array:
        return (size(header, array.group(1)), array.group(2))
    if kind.startswith("struct "):
        return sum(size(header, field) for field in header.structs[kind[7:]].values())
    return int(re.fullmatch(r"__u(\d+)", kind).group(1)) // 8


def compare(header, description):
    """Complaints about structures."""
    for name, fields in header.structs.items():
        theirs = description.structs.get(name)
        if theirs is None:
            yield f"{name} is missing"
            continue
        # What follows a command's header belongs to its structure there.
        theirs = [(field, description.size(kind)) for field, kind in theirs if field != "payload"]
        ours = [(field, size(header, kind)) for field, kind in fields.items()]
        for mine, found in zip(ours, theirs):
            if mine != found:
                yield f"{name}: {found[0]} of {found[1]} where {mine[0]} of {mine[1]} is"
        if len(ours) != len(theirs):
            yield f"{name} has {len(theirs)} fields, not {len(ours)}"


def calls(header, description):
    """Complaints about ioctls."""
    names = [name for constants in header.enums.values() for name in constants
             if name.startswith("DRM_IOCTL_")]
    for name in names:
        struct = "drm_asahi_" + name.removeprefix("DRM_IOCTL_ASAHI_").lower()
        if description.calls.get(name) != (name, struct):
            yield f"{name} is called with {description.calls.get(name)}, not with {struct}"


def constants(header, description):
    """Constants that are nowhere; the numbers of ioctls are in their requests."""
    for enum, names in header.enums.items():
        if enum != "drm_asahi_ioctl_id":
            yield from (f"{name} is not used" for name in names if name not in description.words)
    yield from (f"{name} is not used" for name in header.macros
                if not name.endswith("_H_") and name not in description.words)


def main():
    header = Header(sys.argv[1])
    description = Description(Path(sys.argv[2]).read_text())
    tap = Tap()
    tap.result("syzkaller: structures", list(compare(header, description)))
    tap.result("syzkaller: ioctls", list(calls(header, description)))
    tap.result("syzkaller: constants", list(constants(header, description)))
    return bool(tap.failed)


if __name__ == "__main__":
    sys.exit(main())

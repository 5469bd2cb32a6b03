# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Write the fuzzer's tables, as C, out of descriptions in syzkaller's language.

usage: table.py OUTPUT DESCRIPTION...

The structures of ioctls are in tools/syzkaller, which the check "uapi" compares with the
header; the fuzzer's other calls are described in the same language, in calls.txt. The
compiler compares sizes and offsets with the headers once more, also those of the DRM
core's structures.
"""

import re
import sys
from pathlib import Path

INTEGERS = {"int8": 1, "int16": 2, "int32": 4, "int64": 8, "bool32": 4}

# Two directions of one structure, which gives back something else in each
CORE_NAMES = {
    "asahi_prime_export": "drm_prime_handle",
    "asahi_prime_import": "drm_prime_handle",
    "asahi_syncobj_export": "drm_syncobj_handle",
    "asahi_syncobj_import": "drm_syncobj_handle",
}


def split(text):
    """The arguments of a type: commas in brackets separate nothing."""
    parts, depth = [""], 0
    for char in text:
        depth += (char == "[") - (char == "]")
        if char == "," and not depth:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts]


class Tables:
    """The types of the descriptions, as they are needed."""

    def __init__(self, text):
        text = re.sub(r"^#.*$", "", text, flags=re.M)
        self.resources = dict(re.findall(r"^resource (\w+)\[(\w+)\]", text, flags=re.M))
        self.kinds = list(self.resources)
        self.flags = {name: split(values) for name, values in
                      re.findall(r"^(\w+) = (.+)$", text, flags=re.M)}
        self.bodies = {name: (parameters, brace == "[", body.strip().splitlines())
                       for name, parameters, brace, body in re.findall(
                           r"^(?:type )?(\w+)(?:\[([^]]*)\])? ([{[])\n(.*?)^[]}]",
                           text, flags=re.M | re.S)}
        self.calls = re.findall(
            r"^(ioctl|fuzz)\$(\w+)\((?:fd (\w+)(?:, )?)?(?:cmd const\[(\w+)\], )?"
            r"arg ptr\[\w+, (\w+)\]\)", text, flags=re.M)
        self.names = {}
        self.output = []
        self.asserts = []

    def emit(self, key, **members):
        """A type of the table. Return: the C expression for its address."""
        if key not in self.names:
            self.names[key] = f"type_{len(self.names)}"
            inside = "".join(f"\t.{name} = {value},\n" for name, value in members.items())
            self.output.append(f"static const struct fuzz_type {self.names[key]} = {{\n"
                               f"{inside}}};\n")
        return "&" + self.names[key]

    def size_of_integer(self, name):
        """Bytes of a number, which may be a resource's."""
        while name in self.resources:
            name = self.resources[name]
        return 4 if name == "fd" else INTEGERS[name]

    def set(self, name):
        """The C name of the array of a set's values."""
        if f"set {name}" not in self.names:
            self.names[f"set {name}"] = f"set_{name}"
            values = ", ".join(f"(uint64_t)({value})" for value in self.flags[name])
            self.output.append(f"static const uint64_t set_{name}[] = {{ {values} }};\n")
        return f"set_{name}"

    def number(self, text, name, arguments):
        """A number: a certain one, of a set, of a range, or any."""
        kind = name if name in INTEGERS else arguments[-1]
        members = {"kind": "FUZZ_INT", "size": self.size_of_integer(kind)}
        if name == "const":
            members.update(constant="true", low=f"(uint64_t)({arguments[0]})")
        elif name == "flags":
            members.update(values=self.set(arguments[0]), count=len(self.flags[arguments[0]]))
        elif name == "bool32":
            members.update(low=0, high=1, step=1)
        elif arguments:
            low, high = arguments[0].split(":")
            members.update(low=low, high=high, step=arguments[1] if arguments[1:] else 1)
        return self.emit(text, **members)

    def type(self, text, siblings=None):
        """The C expression for the address of the type that the text names."""
        name, _, rest = text.partition("[")
        arguments = split(rest[:-1]) if rest else []
        if name in self.bodies:
            return self.compound(text, name, arguments)
        if name in self.resources:
            return self.emit(text, kind="FUZZ_RESOURCE", size=self.size_of_integer(name),
                             resource=self.kinds.index(name))
        if name in ("len", "bytesize"):
            target = siblings.index(arguments[0])
            return self.emit(f"{text} {target}", kind="FUZZ_LENGTH",
                             size=INTEGERS[arguments[1]], sibling=target,
                             bytes="true" if name == "bytesize" else "false")
        if name == "ptr64":
            return self.emit(text, kind="FUZZ_POINTER", size=8, elem=self.type(arguments[1]))
        if name == "array" and len(arguments) == 1:
            return self.emit(text, kind="FUZZ_BYTES")
        if name == "array":
            low, _, high = arguments[1].partition(":")
            return self.emit(text, kind="FUZZ_ARRAY", elem=self.type(arguments[0]),
                             low=low, high=high or low)
        return self.number(text, name, arguments)

    def compound(self, text, name, arguments):
        """A structure, or one of several."""
        parameters, is_union, lines = self.bodies[name]
        if text in self.names:
            return "&" + self.names[text]
        bound = dict(zip(split(parameters), arguments)) if parameters else {}
        fields = []
        for line in lines:
            field, kind = line.split(None, 1)
            direction = re.search(r"\s*\((in|out|inout)\)$", kind)
            kind = re.sub(r"\s*\((?:in|out|inout)\)$", "", kind)
            kind = re.sub(r"\b([A-Z]+)\b", lambda m: bound.get(m.group(1), m.group(1)), kind)
            fields.append((field, kind, direction and "out" in direction.group(1)))
        names = [field for field, _, _ in fields]
        rows = []
        for field, kind, out in fields:
            kind = self.type(kind, names)
            if field == "timeout_nsec":
                kind = self.emit("deadline", kind="FUZZ_DEADLINE", size=8)
            rows.append(f'\t{{ "{field}", {kind}, {"true" if out else "false"} }},\n')
        array = f"fields_{len(self.names)}"
        self.output.append(f"static const struct fuzz_field {array}[] = {{\n{''.join(rows)}}};\n")
        if not is_union and not parameters and not name.startswith("fuzz_"):
            self.hold(name, fields)
        return self.emit(text, kind="FUZZ_UNION" if is_union else "FUZZ_STRUCT",
                         fields=array, count=len(fields))

    def bytes(self, kind):
        """Bytes of a field, as C."""
        name, _, rest = kind.partition("[")
        arguments = split(rest[:-1]) if rest else []
        if name == "ptr64":
            return "8"
        if name == "array":
            return f"({arguments[1]}) * ({self.bytes(arguments[0])})"
        if name in self.bodies:
            return f"sizeof({self.c_name(name)})"
        return str(self.size_of_integer((arguments[-1] if arguments and name not in INTEGERS
                                         else name).partition("[")[0]))

    @staticmethod
    def c_name(name):
        """The header's name: what is no drm_asahi_* is the core's."""
        if not name.startswith("drm_"):
            name = CORE_NAMES.get(name, "drm_" + name.removeprefix("asahi_"))
        return "struct " + name

    def hold(self, name, fields):
        """Have the compiler compare a structure with the header's."""
        offset = "0"
        struct = self.c_name(name)
        for field, kind, _ in fields:
            self.asserts.append(f"_Static_assert(offsetof({struct}, {field}) == {offset}, "
                                f'"{name}.{field}");\n')
            offset += f" + {self.bytes(kind)}"
        self.asserts.append(f'_Static_assert(sizeof({struct}) == {offset}, "{name}");\n')

    def result(self, struct):
        """Number of the field in which a call gives something back."""
        for index, line in enumerate(self.bodies[struct][2]):
            kind = line.split()[1]
            if re.search(r"\((?:in)?out\)$", line) and kind in self.resources:
                return index
        return -1

    def write(self, path):
        """All of it."""
        rows = []
        for family, name, fd, command, struct in self.calls:
            shown = (command or name).removeprefix("DRM_IOCTL_")
            rows.append(
                f'\t{{ "{shown}", {command or 0}, '
                f"{'FUZZ_' + name.upper() if family == 'fuzz' else 'FUZZ_IOCTL'}, "
                f"{'true' if fd else 'false'}, {self.type(struct)}, {self.result(struct)} }},\n")
        resources = "".join(f'\t"{name}",\n' for name in self.kinds)
        path.write_text(
            "// SPDX-License-Identifier: MIT\n"
            "/* Made by table.py */\n"
            "#include <fcntl.h>\n#include <stddef.h>\n#include <drm/asahi_drm.h>\n"
            '#include "fuzz.h"\n\n' + "".join(self.asserts) + "\n" + "".join(self.output) +
            f"\nconst struct fuzz_op fuzz_ops[] = {{\n{''.join(rows)}}};\n"
            f"const unsigned int fuzz_op_count = {len(rows)};\n"
            f"const char *const fuzz_resources[] = {{\n{resources}}};\n"
            f"const unsigned int fuzz_resource_count = {len(self.kinds)};\n")


def main():
    output, *descriptions = sys.argv[1:]
    tables = Tables("\n".join(Path(path).read_text() for path in descriptions))
    if len(tables.calls) < 20:
        raise SystemExit("few calls found: this reads the descriptions wrongly")
    tables.write(Path(output))


main()

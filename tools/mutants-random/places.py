# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Places of a C file where a rule makes a defect of one line.

A place has the text before and after, and the edits that put both into the file, switched
by DEFECT(number). The defect's branch has the text as it was written, so that places may lie
in each other: no two defects are ever on at once. Line numbers stay.
"""

import re
from dataclasses import dataclass, field

import clang

RULES = {
    "drop": "leave out a call whose value nobody uses",
    "cleanup": "leave out a call behind a label, or in a block that ends in goto or return",
    "assign": "leave out an assignment",
    "compare": "let < and <=, > and >=, == and != change places",
    "bound": "move the right side of <, <=, > or >= by one",
    "clause": "leave out one side of && or ||",
    "swap": "let two arguments of one type change places",
    "skip": "skip the first turn of a for loop",
    "return": "return 0, or nothing, at a function's begin or in the place of a value",
}

OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
BOUNDS = {"<": "-", "<=": "-", ">": "+", ">=": "+"}

# Calls that say something to people, or that check and do nothing else.
NO_BEHAVIOUR = re.compile(
    r"(dev|drm|pr|net)_(dbg|info|notice|warn|err|emerg)\w*|drm_WARN\w*|v?f?d?printf?|perror|"
    r"printk|(WARN|BUG)\w*|(static_)?assert\w*|lockdep_\w+|might_\w+|trace_\w+|"
    r"(BUILD_BUG|kunit)\w*|MODULE_\w+|EXPORT_\w+|cond_resched|"
    r"(__builtin_)?unreachable|va_(start|end|copy)|(__)?(acquire|release)s?|kref_init|"
    r"barrier_nospec|typecheck|READ_ONCE|mutex_destroy|pr_fmt|\w*_(say|log|printf|warn)|seq_\w+")
KEYWORDS = {"if", "for", "while", "switch", "return", "do", "else", "sizeof", "case", "goto",
            "typeof", "_Static_assert", "_Generic", "defined"}
# Macros whose loop is a block with a guard, and turns once.
BLOCKS = re.compile(r"scoped_\w+|drm_exec_until_all_locked|guard")
COMMUTATIVE = re.compile(r"(u?min|u?max)\w*|\w*(equal|same)\w*|(mem|str)n?cmp|gcd|lcm|swap|"
                         r"k?v?calloc")
CALL_TEXT = re.compile(r"([A-Za-z_]\w*)\s*\(.*\)", re.S)


@dataclass
class Place:
    """One defect. "edits" are (offset, order, text): what to insert there for this number,
    written N, such that what begins outside comes first."""

    path: str
    function: str
    line: int
    last: int
    rule: str
    before: str
    after: str
    begin: int
    end: int
    replacement: str
    edits: list = field(default_factory=list)

    @property
    def name(self):
        return f"{self.path}:{self.line}"

    def content(self):
        """What stays the same when lines move."""
        return self.path, self.function, self.rule, self.before, self.after


def flat(text):
    """A text in one line, without comments."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"\s+", " ", text).strip()


class Finder:
    def __init__(self, path, data):
        self.path = path
        self.data = data        # bytes: libclang counts these
        self.places = []
        self.function = self.returns = None
        self.file = None

    def text(self, begin, end):
        return self.data[begin:end].decode()

    def line(self, offset):
        return self.data.count(b"\n", 0, offset) + 1

    def add(self, rule, begin, end, after, edits, before=None, replacement=None):
        """A place; texts that the preprocessor cuts in pieces are left alone."""
        text = self.text(begin, end)
        if re.search(r"^\s*#|//", text, re.M) or "\\\n" in text:
            return
        before = flat(text) if before is None else before
        after = flat(after)
        if before == after:
            return
        self.places.append(Place(self.path, self.function, self.line(begin), self.line(end - 1),
                                 rule, before, after, begin, end,
                                 after if replacement is None else replacement, edits))

    def expression(self, rule, begin, end, after):
        """An expression that another takes the place of."""
        after = flat(after)
        self.add(rule, begin, end, after,
                 [(begin, end, f"(DEFECT(N) ? ({after}) : ("), (end, begin, "))")])

    def statement(self, rule, cursor):
        """A statement that is left out, up to its semicolon."""
        rest = re.match(rb"\s*;", self.data[cursor.end:])
        if not rest:
            return
        end = cursor.end + rest.end()
        self.add(rule, cursor.begin, end, "", [(cursor.begin, end, "{ if (!DEFECT(N)) "),
                                               (end, cursor.begin, " }")],
                 replacement=";")

    # Each kind of node

    def here(self, cursor):
        return cursor.file == self.file and cursor.end > cursor.begin

    def visit_file(self, root):
        for cursor in root.children:
            if cursor.kind == clang.FUNCTION and cursor.is_definition and cursor.in_main_file:
                body = cursor.children[-1]
                if body.kind != clang.COMPOUND or not body.written:
                    continue
                self.file, self.function = body.file, cursor.name
                self.returns = cursor.result
                self.early_return(cursor, body)
                self.walk(body, None)
        unique = {}
        for place in self.places:
            # Macros may have their arguments several times.
            unique.setdefault((place.begin, place.end, place.rule, place.after), place)
        return sorted(unique.values(), key=lambda it: (it.begin, it.end, it.rule, it.after))

    def zero(self):
        """What a function returns that does nothing."""
        if self.returns == clang.VOID:
            return "return;"
        if self.returns in clang.INTEGERS or self.returns == 106:   # an enumeration
            return "return 0;"
        return "return 0;" if self.returns == clang.POINTER_TYPE else None

    def early_return(self, cursor, body):
        zero = self.zero()
        statements = body.children
        if not zero or len(statements) < 2:
            return
        begin = body.begin + 1
        line = self.line(cursor.begin)
        self.places.append(Place(
            self.path, self.function, line, line, "return", "{", "{ " + zero, body.begin, begin,
            "{ " + zero, [(begin, begin, f" if (DEFECT(N)) {zero}")]))

    def walk(self, cursor, parent):
        kind = cursor.kind
        if kind in (clang.CASE, clang.DEFAULT):
            for child in cursor.children[1 if kind == clang.CASE else 0:]:
                self.as_statement(child, False)
                self.walk(child, cursor)
            return
        # What is constant stays so.
        if kind == clang.DECLARATION and any(child.is_static or child.kind == clang.STATIC_ASSERT
                                             for child in cursor.children):
            return
        if not self.here(cursor) and kind != clang.COMPOUND:
            pass
        elif kind == clang.COMPOUND:
            self.block(cursor)
        elif kind == clang.LABEL:
            for child in cursor.children:
                self.as_statement(child, True)
        elif kind in (clang.IF, clang.FOR, clang.WHILE):
            for child in cursor.children[-2 if kind == clang.IF else -1:]:
                if not child.is_expression or child.end == cursor.end or kind == clang.IF:
                    self.branch(cursor, child)
            if kind == clang.FOR:
                self.loop(cursor)
        elif kind == clang.BINARY and cursor.written:
            self.binary(cursor)
        elif kind == clang.CALL and cursor.written:
            self.call(cursor)
        elif kind == clang.RETURN and cursor.written:
            self.value_of_return(cursor)
        for child in cursor.children:
            self.walk(child, cursor)

    def branch(self, parent, child):
        """The statement below an if or a loop; a condition is none."""
        if child.begin > parent.begin and self.data[child.end:child.end + 1] == b";":
            self.as_statement(child, False)

    def block(self, cursor):
        children = cursor.children
        if not cursor.written:
            return
        leaves = bool(children) and children[-1].kind in (clang.GOTO, clang.RETURN)
        nested = self.data[cursor.begin:cursor.begin + 1] == b"{" and \
            not re.search(rb"\n\Z", self.data[:cursor.begin])
        behind_label = False
        for child in children:
            behind_label = behind_label or child.kind == clang.LABEL
            self.as_statement(child, behind_label or (leaves and nested))

    def as_statement(self, cursor, cleanup):
        if not self.here(cursor):
            return
        text = self.text(cursor.begin, cursor.end)
        match = CALL_TEXT.fullmatch(text)
        if cursor.kind in (clang.BINARY, clang.COMPOUND_ASSIGN) and cursor.written:
            if cursor.kind == clang.COMPOUND_ASSIGN or cursor.operator == "=":
                self.statement("assign", cursor)
        elif cursor.kind == clang.UNARY and cursor.written and ("++" in text or "--" in text):
            self.statement("assign", cursor)
        elif match and cursor.kind not in (clang.IF, clang.FOR, clang.WHILE, clang.SWITCH,
                                           clang.RETURN, clang.DECLARATION, clang.LABEL):
            if match[1] not in KEYWORDS and not NO_BEHAVIOUR.fullmatch(match[1]):
                self.statement("cleanup" if cleanup else "drop", cursor)

    def loop(self, cursor):
        body = cursor.children[-1]
        word = re.match(r"\w+", self.text(cursor.begin, cursor.end))
        if body.kind != clang.COMPOUND or not body.written or not word or \
                BLOCKS.fullmatch(word[0]) or body.end != cursor.end:
            return
        inside = body.begin + 1
        head = flat(self.text(cursor.begin, inside))
        line = self.line(cursor.begin)
        if "\n#" in self.text(cursor.begin, cursor.end):
            return
        skip = " if (defect_skip_N) { defect_skip_N = 0; continue; }"
        self.places.append(Place(
            self.path, self.function, line, line, "skip", head, "(without the first turn)",
            cursor.begin, cursor.end, None,
            [(cursor.begin, cursor.end, "{ _Bool defect_skip_N = DEFECT(N); "),
             (inside, inside, skip), (cursor.end, cursor.begin, " }")]))

    def binary(self, cursor):
        sides = cursor.children
        if len(sides) != 2 or not all(self.here(side) for side in sides):
            return
        left, right = (self.text(side.begin, side.end) for side in sides)
        sign = cursor.operator
        begin, end = cursor.begin, cursor.end
        between = self.text(sides[0].end, sides[1].begin)
        if flat(between) != sign:
            return
        if sign in OTHER:
            self.expression("compare", begin, end, f"{left} {OTHER[sign]} {right}")
        # Below zero are errors, and which one hardly matters.
        if sign in BOUNDS and sides[1].type[0] in clang.INTEGERS and right != "0":
            self.expression("bound", begin, end, f"{left} {sign} ({right}) {BOUNDS[sign]} 1")
        if sign in ("&&", "||"):
            self.expression("clause", begin, end, f"!!({left})")
            if sides[0].kind != clang.BINARY or sides[0].operator != sign:
                self.expression("clause", begin, end, f"!!({right})")

    def call(self, cursor):
        callee = re.match(r"\w+", self.text(cursor.begin, cursor.end))
        arguments = cursor.arguments
        if not callee or COMMUTATIVE.fullmatch(callee[0]) or NO_BEHAVIOUR.fullmatch(callee[0]) or \
                not all(self.here(it) for it in arguments):
            return
        texts = [self.text(it.begin, it.end) for it in arguments]
        types = [it.type for it in arguments]
        head = self.text(cursor.begin, arguments[0].begin) if arguments else ""
        for number in range(len(arguments) - 1):
            one, two = texts[number:number + 2]
            # Texts are for people.
            if types[number] != types[number + 1] or flat(one) == flat(two) or \
                    types[number][1] == "const char *":
                continue
            swapped = texts[:number] + [two, one] + texts[number + 2:]
            self.expression("swap", cursor.begin, cursor.end, head + ", ".join(swapped) + ")")

    def value_of_return(self, cursor):
        value = cursor.children
        if self.returns not in clang.INTEGERS or len(value) != 1 or not self.here(value[0]):
            return
        begin, end = value[0].begin, value[0].end
        if flat(self.text(begin, end)) not in ("0", "false"):
            self.expression("return", begin, end, "0")


def places_of(path, top, flags):
    """All places of a file, in its order, and the errors that libclang has seen."""
    root, dispose, errors = clang.parse(top / path, flags)
    try:
        return Finder(path, (top / path).read_bytes()).visit_file(root), errors
    finally:
        dispose()


def rewrite(data, places, header):
    """The file with all places, each switched by its number: {number: place}."""
    edits = []
    for number, place in places.items():
        for offset, other, text in place.edits:
            # What ends at an offset comes before what begins there, and of those that
            # begin the longest comes first, of those that end the shortest.
            begins = other > offset
            edits.append((offset, 2 if begins else 1 if other == offset else 0,
                          -other, number if begins else -number,
                          re.sub(r"\bN\b|(?<=defect_skip_)N", str(number), text)))
    out, last = [f'#include "{header}"\n#line 1\n'.encode()], 0
    for offset, _, _, _, text in sorted(edits):
        out += [data[last:offset], text.encode()]
        last = offset
    return b"".join(out + [data[last:]])


def alone(data, place):
    """The file with this defect and nothing else, for comparing what compilers make of it."""
    if place.replacement is not None:
        lines = data[place.begin:place.end].count(b"\n") * b"\n"
        return data[:place.begin] + place.replacement.encode() + lines + data[place.end:]
    return None

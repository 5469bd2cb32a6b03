# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""The generator's own tests: planted sources, and what each rule makes of them."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from choose import choose
from places import RULES, Place, alone, places_of, rewrite
from tree import Tree

SOURCE = """\
int take(int a, int b);
void put(void *p);
void dev_warn(const char *text, const char *more);
#define BARRIER() do { } while (0)
#define LIMIT(a) ((a) + 1)
#define for_each(i, n) for (int i = 0; i < (n); i++)

struct thing { int count; };

int plain(struct thing *thing, int n)
{
\tint sum = 0;

\tthing->count = n;
\tBARRIER();
\ttake(n, sum);
\tfor (int i = 0; i < n; i++) {
\t\tsum += i;
\t}
\tif (n == 3 && sum > LIMIT(n))
\t\tput(thing);
\telse
\t\tput(0);
\tfor_each(j, n) {
\t\ttake(j,
\t\t     j);
\t}
\treturn sum;
}

void errors(struct thing *thing, int n)
{
\t_Static_assert(sizeof(int) == 4, "an int");
\tstatic const int none = 1 > 2;

\tdev_warn("one", "two");
\tif (n < 0 || none) {
\t\tput(thing);
\t\treturn;
\t}
\tif (n)
\t\tgoto out;
\tthing->count++;
out:
\tput(thing);
}
"""
EXPECTED = {
    ("plain", 10, "return", "{", "{ return 0;"),
    ("plain", 14, "assign", "thing->count = n;", ""),
    ("plain", 15, "drop", "BARRIER();", ""),
    ("plain", 16, "drop", "take(n, sum);", ""),
    ("plain", 16, "swap", "take(n, sum)", "take(sum, n)"),
    ("plain", 17, "skip", "for (int i = 0; i < n; i++) {", "(without the first turn)"),
    ("plain", 17, "compare", "i < n", "i <= n"),
    ("plain", 17, "bound", "i < n", "i < (n) - 1"),
    ("plain", 18, "assign", "sum += i;", ""),
    ("plain", 20, "clause", "n == 3 && sum > LIMIT(n)", "!!(n == 3)"),
    ("plain", 20, "clause", "n == 3 && sum > LIMIT(n)", "!!(sum > LIMIT(n))"),
    ("plain", 20, "compare", "n == 3", "n != 3"),
    ("plain", 20, "compare", "sum > LIMIT(n)", "sum >= LIMIT(n)"),
    ("plain", 20, "bound", "sum > LIMIT(n)", "sum > (LIMIT(n)) + 1"),
    ("plain", 21, "drop", "put(thing);", ""),
    ("plain", 23, "drop", "put(0);", ""),
    ("plain", 24, "skip", "for_each(j, n) {", "(without the first turn)"),
    ("plain", 25, "drop", "take(j, j);", ""),
    ("plain", 28, "return", "sum", "0"),
    ("errors", 31, "return", "{", "{ return;"),
    ("errors", 37, "clause", "n < 0 || none", "!!(n < 0)"),
    ("errors", 37, "clause", "n < 0 || none", "!!(none)"),
    ("errors", 37, "compare", "n < 0", "n <= 0"),
    ("errors", 38, "cleanup", "put(thing);", ""),
    ("errors", 43, "assign", "thing->count++;", ""),
    ("errors", 45, "cleanup", "put(thing);", ""),
}
# The size of a list with a value is constant, and with a switch it is not.
BROKEN = """\
void put(void *p);

void broken(int n)
{
\tput(&n);
\tint list[3 > 2 ? 1 : 2] = { 0 };

\tput(list);
}
"""


class Planted(unittest.TestCase):
    """A folder with one source, whose places are known."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = Path(folder.name)
        self.data = SOURCE.encode()
        (self.top / "a.c").write_bytes(self.data)
        self.places, self.errors = places_of("a.c", self.top, ["-std=gnu11"])

    def test_places_are_those_of_the_rules(self):
        found = {(it.function, it.line, it.rule, it.before, it.after) for it in self.places}
        self.assertEqual(self.errors, [])
        self.assertEqual(found - EXPECTED, set())
        self.assertEqual(EXPECTED - found, set())
        self.assertEqual({it.rule for it in self.places}, set(RULES))

    def run_switched(self, number):
        """What a program says with a defect on, and none of it is where it was not built."""
        chosen = dict(enumerate(self.places, 1))
        header = Path(__file__).with_name("defect.h").resolve()
        main = ('int printf(const char *, ...);\n'
                'int take(int a, int b) { printf("take %d %d\\n", a, b); return 0; }\n'
                'void put(void *p) { printf("put %s\\n", p ? "it" : "none"); }\n'
                'void dev_warn(const char *a, const char *b) { printf("%s %s\\n", a, b); }\n'
                'struct thing { int count; };\n'
                'int plain(struct thing *, int); void errors(struct thing *, int);\n'
                'int main(void) { struct thing t = { 0 }; int s = plain(&t, 3);\n'
                'printf("sum %d count %d\\n", s, t.count); errors(&t, 0); errors(&t, 1);\n'
                'errors(&t, -1); printf("count %d\\n", t.count); return 0; }\n')
        program = self.top / "program"
        if not program.exists():
            (self.top / "b.c").write_bytes(rewrite(self.data, chosen, header))
            (self.top / "main.c").write_text(main)
            subprocess.run(["gcc", "-D_GNU_SOURCE", "-w", "-o", program, self.top / "b.c",
                            self.top / "main.c"], check=True)
        run = subprocess.run([program], env={"ASAHI_DEFECT": str(number)}, text=True,
                             capture_output=True, check=False, timeout=10)
        return run.stdout

    def number_of(self, function, line, rule, after):
        return next(number for number, it in enumerate(self.places, 1)
                    if (it.function, it.line, it.rule, it.after) == (function, line, rule, after))

    def test_each_is_switched_by_its_number(self):
        right = self.run_switched(0)
        self.assertEqual(right, self.run_switched(len(self.places) + 1))
        self.assertIn("sum 3 count 3", right)
        for wanted, changed in (
                (("plain", 10, "return", "{ return 0;"), "sum 0 count 0"),
                (("plain", 14, "assign", ""), "sum 3 count 0"),
                (("plain", 17, "bound", "i < (n) - 1"), "sum 1 count 3"),
                (("plain", 17, "compare", "i <= n"), "sum 6 count 3"),
                (("plain", 18, "assign", ""), "sum 0 count 3"),
                (("plain", 28, "return", "0"), "sum 0 count 3"),
                (("plain", 16, "swap", "take(sum, n)"), "take 0 3"),
                (("plain", 20, "clause", "!!(n == 3)"), "put it")):
            said = self.run_switched(self.number_of(*wanted))
            self.assertIn(changed, said)
            self.assertNotEqual(said, right)
        skipped = self.run_switched(self.number_of("plain", 24, "skip", "(without the first turn)"))
        self.assertEqual(right.replace("take 0 0\n", ""), skipped)

    def test_reached_places_are_recorded(self):
        self.run_switched(0)
        log = self.top / "log"
        subprocess.run([self.top / "program"], env={"ASAHI_DEFECT_LOG": str(log)}, check=True,
                       capture_output=True)
        lines = log.read_text().split()
        self.assertEqual(len(lines), len(set(lines)))
        self.assertIn(str(self.number_of("errors", 45, "cleanup", "")), lines)
        self.assertNotIn(str(self.number_of("plain", 21, "drop", "")), lines)

    def test_lines_stay(self):
        chosen = dict(enumerate(self.places, 1))
        text = rewrite(self.data, chosen, "defect.h").decode().split("#line 1\n")[1]
        self.assertEqual(text.count("\n"), SOURCE.count("\n"))

    def test_one_alone(self):
        place = self.places[self.number_of("plain", 25, "drop", "") - 1]
        self.assertEqual(alone(self.data, place).decode(),
                         SOURCE.replace("take(j,\n\t\t     j);", ";\n"))

    def test_a_seed_gives_the_same(self):
        found = {"driver": self.places, "library": self.places}
        first = choose(found, 10, 1, ("driver", "library"))
        self.assertEqual(first, choose(found, 10, 1, ("driver", "library")))
        self.assertNotEqual(first, choose(found, 10, 2, ("driver", "library")))
        self.assertEqual(len(first), 10)
        self.assertEqual(sum(folder == "library" for folder, _ in first.values()), 1)

    def test_what_does_not_compile_is_found(self):
        (self.top / "a.c").write_text(BROKEN)
        places, _ = places_of("a.c", self.top, ["-std=gnu11"])
        bad = Place("a.c", "broken", 5, 5, "drop", "put(&n);", "", 0, 0, "",
                    [(BROKEN.index("put(&n)"), len(BROKEN), "no such thing ")])
        chosen = dict(enumerate([("library", it) for it in [*places, bad]], 1))
        tree = Tree(self.top, self.top / "tree", 1)
        (self.top / "tree/build").mkdir(parents=True)

        def compile_it():
            header = Path(__file__).with_name("defect.h").resolve()
            text = rewrite(BROKEN.encode(), {n: it for n, (_, it) in chosen.items()}, header)
            (self.top / "tree/a.c").write_bytes(text)
            return tree.run("host.log", "gcc", "-D_GNU_SOURCE", "-c", "-w", "a.c")
        self.assertNotEqual(compile_it(), 0)
        for number in tree.broken("host.log", chosen):
            del chosen[number]
        self.assertNotIn(bad, [it for _, it in chosen.values()])
        self.assertEqual(compile_it(), 0)
        self.assertTrue(chosen)

# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""What counts as a failure of a test, which tests are tried, and what the shares count."""

import tempfile
import unittest
from pathlib import Path

import trial
from mutants_random import Result, percent, table, within
from places import Place


def program(text, name="it", seconds=0.0):
    return trial.Test(name, seconds=seconds, command={
        "cmd": ["sh", "-c", text], "workdir": "/", "env": {"WORD": "said"}})


class Host(unittest.TestCase):
    def test_results(self):
        for text, wrong in (("echo ok 1", ""), ("exit 77", ""), ("echo 'not ok 3 - x'", "not ok 3 - x"),
                            ("echo $WORD; exit 3", "status 3: said"),
                            ("kill -ABRT $$", "status -6: ")):
            self.assertEqual(trial.run_host(program(text), 0, 20), wrong)

    def test_a_hang_ends_with_all_that_it_has_begun(self):
        with tempfile.TemporaryDirectory() as folder:
            mark = Path(folder) / "mark"
            wrong = trial.run_host(program(f"(sleep 2; touch {mark}) & sleep 60"), 0, 0.5)
            self.assertEqual(wrong, "it takes more than 0 s")
            trial.run_host(program("sleep 2.2"), 0, 10)
            self.assertFalse(mark.exists())

    def test_the_number_is_in_the_environment(self):
        text = 'test "$ASAHI_DEFECT" = 7 && test -z "$ASAHI_DEFECT_LOG"'
        self.assertEqual(trial.run_host(program(text), 7, 20), "")
        self.assertNotEqual(trial.run_host(program(text), 0, 20), "")

    def test_what_runs_is_the_cheapest(self):
        tests = [program("", "c", 50), program("", "a", 3), program("", "b", 3)]
        self.assertEqual([test.name for test in within(tests, 10)], ["a", "b"])
        self.assertEqual([test.name for test in within(tests, 1)], ["a"])
        self.assertEqual(within([], 10), [])
        tests[0].first = True
        self.assertEqual([test.name for test in within(tests, 53)], ["c", "a"])


class Console(unittest.TestCase):
    def test_complaints(self):
        cut = "[ cut here ]\nWARNING: CPU: 0 at x\n{}\n---[ end trace ]---\n"
        self.assertEqual(trial.complaint("all is well\n"), "")
        self.assertEqual(trial.complaint("a\nBUG: KASAN: x\n"), "BUG: KASAN: x")
        self.assertEqual(trial.complaint(cut.format("at y")), "WARNING: CPU: 0 at x")
        self.assertEqual(trial.complaint(cut.format("Unbalanced enable for IRQ\napple_mbox_send")), "")
        self.assertEqual(trial.complaint("sysfs: cannot create duplicate filename '/a/devcoredump'\n"
                                         "Call trace:\ndevcoredump create_link failed\n"), "")

    def test_one_that_is_not_complete(self):
        half = "[ cut here ]\nWARNING: CPU: 0 at x\n"
        self.assertEqual(trial.complaint(half, grows=True), "")
        self.assertEqual(trial.complaint(half), "WARNING: CPU: 0 at x")


class Shares(unittest.TestCase):
    def test_what_counts(self):
        place = Place("a.c", "f", 1, 1, "drop", "x();", "", 0, 4, ";")
        verdicts = ["caught"] * 3 + ["survived", "equivalent", "not reached", "not compiling"]
        results = [Result(number, "shim", place, verdict)
                   for number, verdict in enumerate(verdicts, 1)]
        self.assertEqual(percent(results), (3, 4, 75))
        self.assertEqual(table(results).splitlines()[1].split(),
                         ["shim", "4", "3", "1", "1", "1", "1", "75", "%"])

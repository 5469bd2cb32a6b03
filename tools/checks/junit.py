# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Print the cases of a JUnit file as TAP, and what tests say that they have tried again."""

import sys
import xml.etree.ElementTree

for suite in xml.etree.ElementTree.parse(sys.argv[1]).iter("testsuite"):
    for line in (suite.findtext("system-out") or "").splitlines():
        if line.startswith("# retried: "):
            print(line)
    for case in suite.iter("testcase"):
        name = f"{case.get('classname') or suite.get('name')}: {case.get('name')}".replace("#", "")
        bad = case.find("failure")
        bad = bad if bad is not None else case.find("error")
        if bad is not None:
            print(f"not ok - {name}")
            for line in (bad.get("message") or bad.text or "").splitlines():
                print("#  ", line)
        elif case.find("skipped") is not None:
            print(f"ok - {name} # SKIP")
        else:
            print(f"ok - {name}")

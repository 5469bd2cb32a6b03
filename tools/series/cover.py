# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Put subject and text into the cover letter that git has begun.

usage: cover.py TEXT LETTER TREE

The first line of TEXT that is no comment is the subject. {lines:GLOB} stands for the lines
of the series' files that match, {cases} for the number of KUnit cases.
"""

import re
import sys
from fnmatch import fnmatch
from pathlib import Path

DRIVER = "drivers/gpu/drm/asahi/"


def main():
    text, letter, tree = (Path(argument) for argument in sys.argv[1:])
    driver = {str(path.relative_to(tree / DRIVER)): path.read_text(encoding="utf-8")
              for path in (tree / DRIVER).rglob("*") if path.is_file()}

    def count_lines(found):
        sizes = [content.count("\n") for name, content in driver.items()
                 if fnmatch(name, found[1])]
        if not sizes:
            sys.exit(f"series: error: {text}: no file is {found[1]}")
        return f"{sum(sizes):,}"

    lines = [line for line in text.read_text(encoding="utf-8").splitlines()
             if not line.startswith("#")]
    body = re.sub(r"\{lines:([^}]+)\}", count_lines, "\n".join(lines).strip())
    body = body.replace("{cases}", str(sum(len(re.findall(r"^\tKUNIT_CASE", content, re.M))
                                           for content in driver.values())))
    subject, _, body = body.partition("\n")
    content = letter.read_text(encoding="utf-8")
    for placeholder, value in (("*** SUBJECT HERE ***", subject),
                               ("*** BLURB HERE ***", body.strip())):
        if content.count(placeholder) != 1:
            sys.exit(f"series: error: {letter} has no {placeholder}")
        content = content.replace(placeholder, value)
    letter.write_text(content, encoding="utf-8")


main()

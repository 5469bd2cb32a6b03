# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""The history of results of "make bench".

usage: bench_history.py line COMMIT DATE   standard input is a result; prints its line
       bench_history.py plot FOLDER FILE   data and commands for gnuplot, in FOLDER

A plot has the rows of one unit, each divided by its first value: 1 is "as it was". Only
the rows whose last value differs most from the first are drawn, so that they can be told
apart.
"""

import json
import sys
from pathlib import Path

DRAWN = 8
UNITS = ("instructions", "us", "KiB", "million")


def line(commit, date):
    """A result as a line of the history."""
    values = {row["name"]: [row["value"], row["unit"]] for row in json.load(sys.stdin)}
    print(json.dumps({"commit": commit, "date": date, "values": values}))


def changed(results, unit):
    """Rows of that unit, and each result divided by the row's first; what differs most
    comes first."""
    rows = {}
    for result in results:
        for name, (value, its_unit) in result["values"].items():
            if its_unit == unit and value > 0:
                rows.setdefault(name, value)
    ratios = {name: [result["values"].get(name, [0])[0] / first or None for result in results]
              for name, first in rows.items()}
    last = {name: next(value for value in reversed(values) if value)
            for name, values in ratios.items()}
    names = sorted(rows, key=lambda name: -abs(last[name] - 1))
    return [(name, ratios[name]) for name in names[:DRAWN]]


def quoted(text):
    """A text for gnuplot, between single quotes."""
    return "'" + text.replace("'", "''") + "'"


def plots(results):
    """Gnuplot's commands for one picture."""
    tics = ", ".join(f"{quoted(result['date'][5:10] + ' ' + result['commit'][:7])} {i}"
                     for i, result in enumerate(results)
                     if (len(results) - 1 - i) % (len(results) // 10 + 1) == 0)
    yield f"set multiplot layout {len(UNITS)},1"
    yield f"set xrange [-0.5:{len(results) - 0.5}]\nset xtics rotate by -20 ({tics})"
    yield "set rmargin at screen 0.68\nset key outside right top\nset grid\nset ylabel 'times the first'"
    for unit in UNITS:
        rows = changed(results, unit)
        if not rows:
            continue
        yield f"set title 'What changed most, in {unit}'"
        for n, (_, values) in enumerate(rows):
            yield f"$row{n} << END"
            yield from (f"{i} {value:.4f}" for i, value in enumerate(values) if value)
            yield "END"
        yield "plot " + ", ".join(f"$row{n} with linespoints title {quoted(name[:48])}"
                                  for n, (name, _) in enumerate(rows))
    yield "unset multiplot"


def plot(folder, path):
    """One picture for people, one for pages."""
    results = [json.loads(text) for text in Path(path).read_text().splitlines()]
    commands = "\n".join(plots(results)) + "\n"
    pictures = (("png", "pngcairo size 1400,1600 noenhanced"),
                ("svg", "svg size 1400,1600 dynamic noenhanced background 'white'"))
    Path(folder, "history.gnuplot").write_text("".join(
        f"set terminal {terminal}\nset output '{folder}/history.{name}'\n{commands}unset output\n"
        for name, terminal in pictures))


def main():
    {"line": line, "plot": plot}[sys.argv[1]](*sys.argv[2:])


main()

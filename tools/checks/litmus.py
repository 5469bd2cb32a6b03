#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Run the litmus tests of tools/litmus, and compare them with the driver.

usage: litmus.py DRIVER MEMORY_MODEL LITMUS_FOLDER HERD_COMMAND ...

Prints TAP without a plan. Of each test,

- what its last line asks for never happens;
- it happens when any of the lines that end in "needed" is taken out, or loses its acquire or
  release, so the test would notice;
- the functions of the driver that its lines "Code: FILE FUNCTION: WORDS" name use these words in
  this order, and no other barrier or ordered access.
"""
import os
import re
import subprocess
import sys
import tempfile

# What orders accesses, or is an access that is ordered
ORDERED = (r'WRITE_ONCE|READ_ONCE|dma_r?w?mb|smp_[a-z_]+|(?<![a-z_])[rw]?mb(?=\()|'
           r'asahi_tlbi_[a-z]+|dsb')
WEAKER = (('LDAR ', 'LDR '), ('STLR ', 'STR '))
NEEDED = re.compile(r'(//|\(\*) needed')
CODE = re.compile(r'^ \* Code: (\S+) (\w+): (.*)$', re.MULTILINE)


class Tap:
    def __init__(self):
        self.failed = False
        self.count = 0

    def case(self, good, name, why=''):
        self.count += 1
        print(f'{"ok" if good else "not ok"} {self.count} - {name}')
        if not good:
            self.failed = True
            print('\n'.join('#   ' + line for line in why.splitlines()[-20:]))


def body_of(source, function):
    """The text of a function without comments, or None."""
    source = re.sub(r'/\*.*?\*/', '', source, flags=re.DOTALL)
    found = re.search(r'^(?:\w[\w\s*]*[\s*])?' + function + r'\([^;{]*\)\n\{\n(.*?)^\}',
                      source, re.MULTILINE | re.DOTALL)
    return found.group(1) if found else None


def mistake_in_code(driver, file, function, words):
    """Compare a function with the words that a test says it consists of."""
    wanted = words.split()
    with open(os.path.join(driver, file), encoding='utf-8') as source:
        body = body_of(source.read(), function)
    if body is None:
        return f'{file} has no function {function}()'
    others = '|'.join(re.escape(word) for word in wanted)
    found = re.findall(rf'\b(?:{ORDERED}|{others})\b', body)
    if found != wanted:
        return f'{function}() has {" ".join(found)}, the test is of {words}'
    return ''


def observation(herd, model, text):
    """What herd says of a test: Never, Sometimes, Always, or its messages."""
    with tempfile.NamedTemporaryFile('w', suffix='.litmus') as file:
        file.write(text)
        file.flush()
        options = ['-conf', 'linux-kernel.cfg'] if text.startswith('C ') else []
        run = subprocess.run([*herd, *options, file.name], cwd=model, check=False,
                             capture_output=True, text=True)
    found = re.search(r'^Observation \S+ (\w+)', run.stdout, re.MULTILINE)
    return found.group(1) if found else run.stdout + run.stderr


def weakened(lines, number):
    """The test without what a line that is needed does, and how to call that."""
    line = lines[number]
    for strong, weak in WEAKER:
        if strong in line:
            changed = line.replace(strong, weak)
            return lines[:number] + [changed] + lines[number + 1:], strong.strip()
    return lines[:number] + lines[number + 1:], line.split(';')[0].strip(' \t|')


def check(tap, herd, driver, model, path):
    name = os.path.basename(path).removesuffix('.litmus')
    with open(path, encoding='utf-8') as file:
        text = file.read()
    seen = observation(herd, model, text)
    tap.case(seen == 'Never', f'{name}: never', seen)
    lines = text.splitlines(keepends=True)
    needed = [i for i, line in enumerate(lines) if NEEDED.search(line)]
    mistakes = [] if needed else ['no line of it is needed']
    for number in needed:
        changed, what = weakened(lines, number)
        seen = observation(herd, model, ''.join(changed))
        if seen != 'Sometimes':
            mistakes.append(f'line {number + 1}, without {what}: {seen}')
    tap.case(not mistakes, f'{name}: sometimes, without what is needed', '\n'.join(mistakes))
    code = CODE.findall(text)
    mistakes = [] if code else ['it names no function of the driver']
    mistakes += filter(None, (mistake_in_code(driver, *entry) for entry in code))
    tap.case(not mistakes, f'{name}: as in the driver', '\n'.join(mistakes))


def main():
    driver, model, folder, *herd = sys.argv[1:]
    tap = Tap()
    for file in sorted(os.listdir(folder)):
        if file.endswith('.litmus'):
            check(tap, herd, driver, model, os.path.join(folder, file))
    return tap.failed


if __name__ == '__main__':
    sys.exit(main())

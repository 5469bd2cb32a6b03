#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Run a random sample of all of piglit's tests; what only the virtual GPU fails is a failure.

A seed chooses the sample, the day if none is given. Tests of shader_runner that have little to
do with each other share processes, so that memory is used again by what is unlike. What does
not pass is run on llvmpipe as well: alone, if it fails alone, or else with the same others.
The run stops by itself when its seconds are over; tests that it has not come to are no cases.
"""

import argparse
import collections
import os
import random
import re
import sys
import time

import piglit

# All of them but what is only parsed, which brings no work to a GPU. Shaders of "shader" have
# those of "quick_shader" among them.
PROFILES = ('shader', 'opengl', 'cl')
KINDS = ('shaders', 'programs of OpenGL', 'programs of OpenCL')
SOFTWARE = ('env', 'LIBGL_ALWAYS_SOFTWARE=1', 'GALLIUM_DRIVER=llvmpipe', 'RUSTICL_ENABLE=llvmpipe')
GOOD = ('Pass', 'Skip', 'Warn')
OUT_OF_TIME = 0.01      # of the sample, at most


def kind_of(test):
    """Which of KINDS a test is."""
    return KINDS[0] if test.shared else KINDS[1 + test.program.startswith('cl-')]


def sample(known, count, seed):
    """The names of so many tests, in an order of chance: the same ones for the same seed."""
    return random.Random(str(seed)).sample(sorted(known), min(count, len(known)))


def fails_together(status, found):
    """Whether a process with several tests shows what none of them does alone."""
    return status == piglit.FAILED_JOB or any(result not in GOOD for result in found)


class Sample:
    """The results of a sample on the virtual GPU, and of what failed in software."""

    def __init__(self, tests, gpu, software):
        self.tests, self.gpu, self.software = tests, gpu, software
        self.results, self.company = {}, []

    def run(self):
        """Run all, and what has not passed in software."""
        self.results = dict(self.gpu.run(self.tests))
        doubtful = [t for t in self.tests
                    if self.results.get(t.name, 'Pass') not in (*GOOD, 'Timeout')]
        # shared processes are for what passes
        self.software.run([t._replace(shared=False) for t in doubtful])
        for tests in self.gpu.company:
            if fails_together(*self.gpu.parts(tests)) and \
                    not fails_together(*self.software.parts(tests)):
                self.company.append(tests)

    def surprises(self, expected):
        """The tests that fail on the virtual GPU alone, with their results."""
        for test in self.tests:
            result = self.results.get(test.name, 'Pass')
            if result not in (*GOOD, 'Timeout') and \
                    self.software.results.get(test.name) in GOOD and \
                    result != expected.of(test.name):
                yield test, result


def report(chosen, expected, together, tap):
    """A case for each kind of tests, and each test that fails here alone."""
    surprises = collections.defaultdict(list)
    for test, result in chosen.surprises(expected):
        surprises[kind_of(test)].append(f'{test.name}: {result}, passes on llvmpipe')
    for tests in chosen.company:
        if any(re.fullmatch(line, tests[-1].name) for line in together):
            print(f'# known not to pass behind others: {tests[-1].name}')
            continue
        surprises[kind_of(tests[0])].append(
            f'{tests[-1].name}: not behind {len(tests) - 1} others, see the log')
    for kind in KINDS:
        for text in surprises[kind]:
            tap.case(False, text)
        results = collections.Counter(chosen.results[t.name] for t in chosen.tests
                                      if kind_of(t) == kind and t.name in chosen.results)
        text = ', '.join(f'{n} {result.lower()}' for result, n in results.most_common())
        tap.case(not surprises[kind],
                 f'{kind}: what fails here fails on llvmpipe ({text or "none"})')
    late = [t.name for t in chosen.tests if chosen.results.get(t.name) == 'Timeout']
    for name in late:
        print(f'# out of time: {name}')
    tap.case(len(late) <= OUT_OF_TIME * len(chosen.results),
             f'hardly any runs out of time ({len(late)} of {len(chosen.results)})')
    tap.case(2 * len(chosen.results) >= len(chosen.tests),
             f'most of the sample is done in time ({len(chosen.results)} of {len(chosen.tests)})')


def run(arguments):
    """Run a sample; its results are TAP."""
    piglit.environment(no_exec=False)
    known = {name: test for which in PROFILES for name, test in piglit.profile(which).items()}
    names = arguments.test or sample(known, arguments.count, arguments.seed)
    print(f'# seed {arguments.seed}: {len(names)} of {len(known)} tests', flush=True)
    start = time.monotonic()
    os.makedirs(arguments.out, exist_ok=True)
    with open(f'{arguments.out}/log', 'w', encoding='utf-8') as log:
        limits = (arguments.jobs, log, arguments.timeout)
        chosen = Sample([known[n] for n in names],
                        piglit.Runner(arguments.wrapper.split(), *limits,
                                      deadline=start + arguments.seconds),
                        piglit.Runner(SOFTWARE, *limits))
        chosen.run()
        for tests in chosen.company:
            log.write('== not together: ' + ' '.join(t.name for t in tests) + '\n')
    with open(f'{arguments.out}/results.txt', 'w', encoding='utf-8') as stream:
        for name in names:
            here = chosen.results.get(name, 'NotRun')
            stream.write(f'{name},{here},{chosen.software.results.get(name, "")}\n')
    tap = piglit.Tap()
    report(chosen, piglit.Expected(arguments.expected), piglit.lines_of(arguments.together), tap)
    print(f'# {time.monotonic() - start:.0f} s, results and log in {arguments.out}')
    return tap.failed != 0


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seed', default=time.strftime('%Y%m%d', time.gmtime()))
    parser.add_argument('--count', type=int, default=3000, help='tests in the sample')
    parser.add_argument('--seconds', type=int, default=800, help='begin none after these')
    parser.add_argument('--timeout', type=int, default=piglit.ALONE, help='seconds for a test')
    parser.add_argument('--expected', default='igt-tests/ci/piglit-vagx')
    parser.add_argument('--together', default='igt-tests/ci/piglit-random-together.txt')
    parser.add_argument('--out', default='build/out/piglit-random')
    parser.add_argument('--wrapper', default='build/host/userspace/shim/vagx-run')
    parser.add_argument('--jobs', type=int, default=int(os.environ.get('JOBS', '2')))
    parser.add_argument('test', nargs='*', help='these tests in the place of a sample')
    return run(parser.parse_args())


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Run a list of piglit's tests through the shim, and compare with what is expected.

Piglit's own profiles say which program and which file a test is. Tests of
shader_runner share processes, since starting one takes longer than most tests; a
test whose process has crashed, or in whose process a job has failed, is run again
alone, so that every result belongs to one test. What has failed among others only is
kept in Runner.company.

In the virtual machine there are piglit's programs, but not its profiles and files: the
host packs those of a list into a folder.
"""

import argparse
import ast
import collections
import concurrent.futures
import contextlib
import glob
import gzip
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree

PIGLIT = (glob.glob('/usr/lib/*/piglit') or [''])[0]
PROFILES = ('quick_shader', 'quick_gl')
BATCH = 40              # tests a process
ALONE = 60              # seconds that a test may take
FAILED_JOB = 123        # what vagx-run returns if a job has failed
BAD_JOBS = re.compile(r'^vagx-run: .*failed jobs: [1-9]|^asahi_shim: the sanitizer has reported ',
                      re.M)

# of other systems' windows, or of drivers that are not Mesa's for this GPU
NOT_OURS = ('intel_', 'nv_', 'glx_', 'egl', 'amd_performance', 'ext_image_dma', 'ext_external')

Test = collections.namedtuple('Test', 'name program arguments shared')


def profile(which):
    """The tests of one of piglit's profiles, by their names."""
    tests = {}
    with gzip.open(f'{PIGLIT}/tests/{which}.xml.gz') as stream:
        for _, element in xml.etree.ElementTree.iterparse(stream):
            if element.tag != 'Test':
                continue
            options = {o.get('name'): o.get('value') for o in element.iter('option')}
            kind, name = element.get('type'), element.get('name')
            element.clear()
            if kind == 'cl_prog':
                program, arguments = 'cl-program-tester', [ast.literal_eval(options['filename'])]
            elif kind in ('shader', 'gl', 'cl'):
                program, *arguments = ast.literal_eval(options['command'])
            else:
                continue
            arguments = [a for a in arguments if a not in ('-auto', '-fbo')]
            if kind in ('shader', 'cl_prog'):
                arguments = [f'{PIGLIT}/{arguments[0]}']
            tests[name] = Test(name, program, arguments, kind == 'shader')
    return tests


def lines_of(path):
    """The lines of a list, without comments."""
    if not os.path.exists(path):
        return []
    with open(path, encoding='utf-8') as stream:
        return [l for l in (l.strip() for l in stream) if l and not l.startswith('#')]


class Process:
    """A process and its children, which have so many seconds."""

    def __init__(self, command, output, seconds):
        self.killed = False
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output,
                                        stderr=output, start_new_session=True)
        self.timer = threading.Timer(seconds, self.kill)
        self.timer.start()

    def kill(self):
        """It has taken too long: that is known before it ends, and is no crash of its own."""
        self.killed = True
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def wait(self):
        """Its status, None if it was killed, and the processor time that it has taken."""
        _, code, usage = os.wait4(self.process.pid, 0)
        self.timer.cancel()
        self.process.returncode = os.waitstatus_to_exitcode(code)
        return (None if self.killed else self.process.returncode,
                usage.ru_utime + usage.ru_stime)


class Runner:
    """Runs tests, several processes at a time, and collects their results."""

    def __init__(self, wrapper, jobs, log, timeout, deadline=None):
        self.wrapper, self.jobs, self.log, self.timeout = wrapper, jobs, log, timeout
        self.deadline, self.lock = deadline, threading.Lock()
        self.results, self.times = {}, {}
        # lists of tests that have not passed in one process, and all pass outside of it
        self.company = []

    def settle(self, test, result, text=''):
        """A test's result, and what it said if that is not a pass."""
        with self.lock:
            self.results[test.name] = result
            if result != 'Pass':
                self.log.write(f'== {test.name}: {result}\n{text[-4000:]}\n')
                self.log.flush()

    def command(self, tests):
        """The status and the output of a process with these tests."""
        arguments = [a for t in tests for a in t.arguments]
        if not tests[0].program.startswith('cl-'):
            arguments += ['-auto', '-fbo']
        if tests[0].shared:
            arguments.append('-report-subtests')
        with tempfile.TemporaryFile() as output:
            process = Process([*self.wrapper, f'{PIGLIT}/bin/{tests[0].program}', *arguments],
                              output, self.timeout + 5 * len(tests))
            status, seconds = process.wait()
            with self.lock:
                for test in tests:
                    self.times[test.name] = seconds / len(tests)
            output.seek(0)
            text = output.read().decode(errors='replace')
            # a program that ends with a status of its own has that, whatever its jobs did
            if status is not None and 0 <= status < 128 and BAD_JOBS.search(text):
                status = FAILED_JOB
            return status, text

    def alone(self, test):
        """Run one test in a process of its own."""
        status, text = self.command([test])
        found = re.findall(r'^PIGLIT: \{"(?:result": |subtest": \{".*" : )"(\w+)"', text, re.M)
        if status is None:
            result = 'Timeout'
        elif status >= 128 or status < 0 or not found:
            result = 'Crash'
        elif status == FAILED_JOB:
            result = 'Fail'
        else:
            result = found[-1].capitalize()
        self.settle(test, result, text)

    def parts(self, tests):
        """The status of a process with several tests, and the result of each it has come to."""
        status, text = self.command(tests)
        # The number of a test is there twice, and others may write between.
        pieces = re.split(r'^PIGLIT TEST: (\d+) - .*\n', text, flags=re.M)
        parts = collections.defaultdict(str)
        for number, piece in zip(pieces[1::2], pieces[2::2]):
            parts[number] += piece
        found = [re.search(r'^PIGLIT: \{"subtest": \{".*" : "(\w+)"\}\}', part, re.M)
                 for part in parts.values()]
        return status, [f.group(1).capitalize() if f else 'Crash' for f in found]

    def together(self, tests):
        """Run tests of one program; what is not clear is run again in smaller groups."""
        if len(tests) == 1:
            return self.alone(tests[0])
        status, found = self.parts(tests)
        if status == FAILED_JOB:
            # One of them has broken something, whatever it says of itself.
            half = len(tests) // 2
            self.together(tests[:half])
            self.together(tests[half:])
            return self.keep_company(tests)
        for test, result in zip(tests, found):
            if result in ('Pass', 'Skip'):
                self.settle(test, result)
        # One that ends the process takes along those behind it, so the first is run
        # alone, and the others together if there is no result of any of them.
        done = len(found)
        doubtful = [t for t, result in zip(tests, found) if result not in ('Pass', 'Skip')]
        if done == 0:
            doubtful, done = tests[:1], 1
        for test in doubtful:
            self.alone(test)
        if status is not None and found:
            self.keep_company(tests[:done], doubtful)
        if tests[done:]:
            self.together(tests[done:])
        return None

    def keep_company(self, tests, doubtful=None):
        """These have failed together: note that if one in doubt, or all, are good otherwise."""
        with self.lock:
            good = [self.results.get(t.name) in ('Pass', 'Skip')
                    for t in (tests if doubtful is None else doubtful)]
            known = any(all(t in tests for t in other) for other in self.company)
            if not known and (all(good) if doubtful is None else any(good)):
                self.company.append(tests)

    def run(self, tests):
        """Run all of them; the longest of what is known first is not worth its table."""
        groups = collections.defaultdict(list)
        for test in tests:
            groups[test.program if test.shared else test.name].append(test)
        batches = []
        for group in groups.values():
            size = max(1, min(BATCH, len(group) // self.jobs))
            batches += [group[i:i + size] for i in range(0, len(group), size)]
        batches.sort(key=len, reverse=True)
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for future in [pool.submit(self.begin, batch) for batch in batches]:
                future.result()
        return self.results

    def begin(self, tests):
        """Run tests of one program, unless the time for all is over."""
        if self.deadline is None or time.monotonic() < self.deadline:
            self.together(tests)


def sample(tests):
    """A part of piglit's tests: of each folder the same ones on every machine."""
    folders = collections.defaultdict(list)
    for test in tests.values():
        parts = test.name.split('@')
        if parts[0] == 'spec' and not parts[1].startswith(NOT_OURS):
            depth = 3 if parts[1].startswith('!opengl') else 2
            folders[('@'.join(parts[:depth]), test.shared)].append(test.name)
    for (_, shared), names in folders.items():
        count = 10 + len(names) // 14 if shared else 8 + len(names) // 25
        names.sort(key=lambda name: hashlib.md5(name.encode()).hexdigest())
        yield from names[:count]


class Expected:
    """What is expected of each test, from files in the form of the kernel's drm-ci."""

    def __init__(self, prefix):
        self.fails = dict(l.rsplit(',', 1) for l in lines_of(f'{prefix}-fails.txt'))
        self.skips = [re.compile(l) for l in lines_of(f'{prefix}-skips.txt')]
        self.flakes = [re.compile(l) for l in lines_of(f'{prefix}-flakes.txt')]

    def of(self, name):
        """The result that a test has to have; None if any will do."""
        if any(r.fullmatch(name) for r in self.flakes):
            return None
        if any(r.fullmatch(name) for r in self.skips):
            return 'Skip'
        return self.fails.get(name, 'Pass')


class Tap:
    """Prints results; the cases are folders of tests, and each test that surprises."""

    def __init__(self):
        self.count = self.failed = 0

    def case(self, good, text):
        """One result."""
        self.count += 1
        self.failed += not good
        print(f'{"ok" if good else "not ok"} {self.count} - {text}', flush=True)

    def folder(self, folder, results, expected):
        """The tests of a folder, or of all folders: then it has no name."""
        surprises = 0
        known = collections.Counter()
        for name, result in results:
            wanted = expected.of(name)
            if wanted is not None and result != wanted:
                surprises += 1
                self.case(False, f'{name}: {result}, expected is {wanted}')
            elif result != 'Pass':
                known[result] += 1
        rest = [f'{n} {result.lower()} as expected' for result, n in known.items()]
        if folder:
            self.case(not surprises, ', '.join([f'{folder}: {len(results)} tests', *rest]))
        else:
            self.case(not surprises, f'{len(results)} tests do what is expected '
                                     f'({", ".join(rest) or "all pass"})')


def environment(no_exec, jit='on'):
    """What piglit and the shim are told."""
    os.environ.update(PIGLIT_PLATFORM='surfaceless_egl', PIGLIT_SOURCE_DIR=PIGLIT,
                      MESA_SHADER_CACHE_DISABLE='true', ASAHI_SHIM_CORES='1',
                      ASAHI_SHIM_TIMEOUT='30', ASAHI_SHIM_JIT=jit)
    if no_exec:
        os.environ['ASAHI_SHIM_NO_EXEC'] = '1'


def packed(folder):
    """The tests that are packed in a folder, by their names."""
    with open(f'{folder}/tests.json', encoding='utf-8') as stream:
        tests = [Test(*test) for test in json.load(stream)]
    return {t.name: t._replace(arguments=[f'{folder}/{t.arguments[0]}', *t.arguments[1:]])
            if t.shared else t for t in tests}


def pack(arguments):
    """Put what tests of a list are, and their files, into a folder that is made anew."""
    known, names = chosen(arguments)
    shutil.rmtree(arguments.out, ignore_errors=True)
    os.makedirs(arguments.out)
    tests = [known[n] for n in names if n in known]
    for at, test in enumerate(tests):
        if not test.shared:
            continue
        path = os.path.relpath(test.arguments[0], PIGLIT)
        os.makedirs(f'{arguments.out}/{os.path.dirname(path)}', exist_ok=True)
        shutil.copy(test.arguments[0], f'{arguments.out}/{path}')
        tests[at] = test._replace(arguments=[path, *test.arguments[1:]])
    with open(f'{arguments.out}/tests.json', 'w', encoding='utf-8') as stream:
        json.dump(tests, stream)


def chosen(arguments):
    """All tests of piglit by their names, and those names of the list that are wanted."""
    if arguments.packed:
        known = packed(arguments.packed)
    else:
        known = {name: test for which in PROFILES for name, test in profile(which).items()}
    left_out = set(lines_of(arguments.without))
    names = [n for n in lines_of(arguments.list)
             if n not in left_out and re.search(arguments.only, n)]
    return known, names[::arguments.every][arguments.fraction_start - 1::arguments.fraction]


def files(arguments):
    """Print the files of those tests of a list that shader_runner has."""
    known, names = chosen(arguments)
    for test in [known[n] for n in names if n in known]:
        if test.shared:
            print(*test.arguments[:1])


def run_tests(runner, tests, no_exec):
    """The results of tests. With nothing executed, what passes is run again, on memory with noise:
    a test that expects zeros finds them in new memory, on days when it gets some."""
    results = runner.run(tests)
    if no_exec:
        os.environ['ASAHI_SHIM_NOISE'] = '1'
        results = runner.run([t._replace(shared=False) for t in tests if results[t.name] == 'Pass'])
    return results


def run(arguments):
    """Run the tests of a list, or those of its names that fit; what they do is TAP."""
    environment(arguments.no_exec, arguments.jit)
    known, names = chosen(arguments)
    tap, expected = Tap(), Expected(arguments.expected)
    for name in [n for n in names if n not in known]:
        tap.case(False, f'{name}: piglit has no such test')
    names = [n for n in names if n in known]
    wrapper = arguments.wrapper.split()
    start = time.monotonic()
    os.makedirs(arguments.out, exist_ok=True)
    with open(f'{arguments.out}/log', 'w', encoding='utf-8') as log:
        runner = Runner(wrapper, arguments.jobs, log, arguments.timeout)
        results = run_tests(runner, [known[n] for n in names], arguments.no_exec)
    for path, keep in (('results.txt', lambda r: True), ('fails.txt', lambda r: r != 'Pass')):
        with open(f'{arguments.out}/{path}', 'w', encoding='utf-8') as stream:
            stream.writelines(f'{n},{results[n]}\n' for n in names if keep(results[n]))
    with open(f'{arguments.out}/seconds.txt', 'w', encoding='utf-8') as stream:
        stream.writelines(f'{runner.times[n]:.2f} {n}\n' for n in names)
    if arguments.no_exec:
        weak = [n for n in names if results[n] == 'Pass' and expected.of(n) == 'Pass']
        for name in weak:
            tap.case(False, f'{name}: passes with nothing executed')
        tap.case(not weak and names, f'of {len(names)} tests none passes with nothing executed')
    else:
        folders = collections.defaultdict(list)
        for name in names:
            folder = '' if arguments.brief else '@'.join(name.split('@')[:2])
            folders[folder].append((name, results[name]))
        for folder, members in sorted(folders.items()):
            tap.folder(folder, members, expected)
    good = sum(r == 'Pass' for r in results.values())
    print(f'# {good} of {len(names)} tests pass, {time.monotonic() - start:.0f} s, '
          f'{sum(runner.times.values()):.0f} s of processor time, log in {arguments.out}')
    return tap.failed != 0


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('command', choices=('run', 'files', 'pack', 'sample'))
    parser.add_argument('--list', default='igt-tests/ci/piglit-tests.txt')
    parser.add_argument('--expected', default='igt-tests/ci/piglit-vagx')
    parser.add_argument('--out', default='build/out/piglit')
    parser.add_argument('--wrapper', default='build/host/userspace/shim/vagx-run')
    parser.add_argument('--jobs', type=int, default=int(os.environ.get('JOBS', '2')))
    parser.add_argument('--only', default='', help='regular expression of names')
    parser.add_argument('--without', default='', help='file with names to leave out')
    parser.add_argument('--every', type=int, default=1, help='take one of so many')
    parser.add_argument('--fraction', type=int, default=1, help='how many machines share them')
    parser.add_argument('--fraction-start', type=int, default=1, help='which of these this is')
    parser.add_argument('--packed', default='', help='folder that "pack" has made')
    parser.add_argument('--brief', action='store_true', help='one case for all folders')
    parser.add_argument('--timeout', type=int, default=ALONE, help='seconds for a test')
    parser.add_argument('--no-exec', action='store_true', help='execute no shader')
    parser.add_argument('--jit', default='on', help='how shaders run: on, off, all or check')
    arguments = parser.parse_args()
    if arguments.command == 'run':
        return run(arguments)
    if arguments.command in ('files', 'pack'):
        {'files': files, 'pack': pack}[arguments.command](arguments)
        return 0
    for name in sorted(sample({n: t for w in PROFILES for n, t in profile(w).items()})):
        print(name)
    return 0


if __name__ == '__main__':
    sys.exit(main())

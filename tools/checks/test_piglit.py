# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""What the runner of piglit's tests, and the sample of them, say of programs that misbehave."""

import contextlib
import io
import os
import tempfile
import unittest

import piglit
import piglit_random

# A program of piglit's for each behaviour. "shader_runner" takes files, and prints a result for
# each; "poison" fails a job when it is behind "mess", as memory that is used again would.
PROGRAMS = {
    'pass': 'echo \'PIGLIT: {"result": "pass" }\'',
    'fail': 'echo \'PIGLIT: {"result": "fail" }\'; exit 1',
    'crash': 'kill -SEGV $$',
    'hang': 'sleep 100',
    'job': 'echo \'PIGLIT: {"result": "pass" }\'; exit 123',
    'zeros': '[ "$ASAHI_SHIM_NOISE" ] && exec "$(dirname "$0")/fail"; exec "$(dirname "$0")/pass"',
    'here': 'echo "PIGLIT: {\\"result\\": \\"${WHERE:-fail}\\" }"; [ "$WHERE" ]',
    'shader_runner': '''
        messy= number=0
        for file; do
            case $file in
            -*) continue ;;
            */end) exit 1 ;;
            esac
            result=pass
            [ "$file" != /fail ] || result=fail
            [ "$file" != /mess ] || messy=1
            [ "$file$messy$SOFT" != /poison1 ] || result=fail
            [ "$file$messy$SOFT" != /job1 ] || status=123
            number=$((number + 1))
            printf 'PIGLIT TEST: %s - %s\\n' $number "$file"
            [ "$file" != /noisy ] || { echo asahi_shim; noisy=1; result=fail; }
            printf 'PIGLIT TEST: %s - %s\\n' $number "$file"
            printf 'PIGLIT: {"subtest": {"%s" : "%s"}}\\n' "$file" "$result"
            printf 'PIGLIT: {"result": "%s" }\\n' "$result"
        done
        [ -z "$noisy" ] || echo 'vagx-run: with work for it: 1; failed jobs: 1'
        exit ${status:-${noisy:-0}}''',
}


def program(name):
    """A test that has a program of its own."""
    return piglit.Test(name, name, [], False)


def shaders(*names):
    """Tests that share a program."""
    return [piglit.Test(name, 'shader_runner', [f'/{name}'], True) for name in names]


class Tests(unittest.TestCase):
    """Programs of piglit's in a folder, in the place of the real ones."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        os.mkdir(f'{self.folder.name}/bin')
        for name, text in PROGRAMS.items():
            path = f'{self.folder.name}/bin/{name}'
            with open(path, 'w', encoding='utf-8') as stream:
                stream.write(f'#!/bin/sh\n{text}\n')
            os.chmod(path, 0o755)
        self.addCleanup(setattr, piglit, 'PIGLIT', piglit.PIGLIT)
        piglit.PIGLIT = self.folder.name

    def runner(self, *wrapper, seconds=30):
        """One that runs a test at a time."""
        return piglit.Runner(['env', *wrapper], 1, io.StringIO(), seconds)

    def test_alone(self):
        """Each kind of an end has its name."""
        runner = self.runner()
        for name, result in (('pass', 'Pass'), ('fail', 'Fail'), ('crash', 'Crash'),
                             ('job', 'Fail')):
            runner.alone(program(name))
            self.assertEqual(runner.results[name], result)

    def test_out_of_time(self):
        """One that is killed because it takes too long has not crashed, however soon it ends."""
        runner = self.runner(seconds=-4.8)
        for _ in range(20):
            runner.alone(program('hang'))
            self.assertEqual(runner.results['hang'], 'Timeout')

    def test_failed_jobs(self):
        """A failed job counts where the program has a status, and a line before it hides no test."""
        runner = self.runner()
        self.assertEqual(runner.parts(shaders('one', 'noisy', 'two')),
                         (piglit.FAILED_JOB, ['Pass', 'Fail', 'Pass']))
        runner.together(shaders('one', 'noisy', 'two', 'three'))
        self.assertEqual(runner.results, {'one': 'Pass', 'noisy': 'Fail', 'two': 'Pass',
                                          'three': 'Pass'})

    def test_nothing_executed(self):
        """What passes in memory of zeros passes in noise as well, or shows something."""
        self.addCleanup(os.environ.pop, 'ASAHI_SHIM_NOISE', None)
        tests = [program('zeros'), program('pass'), program('fail')]
        self.assertEqual(piglit.run_tests(self.runner(), tests, False)['zeros'], 'Pass')
        self.assertEqual(piglit.run_tests(self.runner(), tests, True),
                         {'zeros': 'Fail', 'pass': 'Pass', 'fail': 'Fail'})

    def test_together(self):
        """Each test that shares a process has its own result."""
        runner = self.runner()
        runner.together(shaders('one', 'fail', 'two', 'end', 'three'))
        self.assertEqual(runner.results, {'one': 'Pass', 'fail': 'Fail', 'two': 'Pass',
                                          'end': 'Crash', 'three': 'Pass'})
        self.assertEqual(runner.company, [])

    def test_company(self):
        """What fails behind others only is kept."""
        for last in ('poison', 'job'):
            runner = self.runner()
            runner.together(shaders('one', 'mess', last))
            self.assertEqual(set(runner.results.values()), {'Pass'})
            self.assertEqual([[t.name for t in c] for c in runner.company],
                             [['mess', last] if last == 'job' else ['one', 'mess', last]])

    def report(self, tests, soft='SOFT=1', together=()):
        """The cases of a sample that are not ok."""
        chosen = piglit_random.Sample(tests, self.runner('WHERE='), self.runner(soft))
        output = io.StringIO()
        chosen.run()
        with contextlib.redirect_stdout(output):
            piglit_random.report(chosen, piglit.Expected(f'{self.folder.name}/none'),
                                 together, piglit.Tap())
        lines = output.getvalue().splitlines()
        return [l.split(' - ', 1)[1] for l in lines if l.startswith('not ok')]

    def test_sample(self):
        """A failure is what fails here alone, or behind others here alone."""
        self.assertEqual(self.report([program('pass'), program('fail'), *shaders('fail')]), [])
        self.assertEqual(self.report([program('here')], 'WHERE=pass')[0],
                         'here: Fail, passes on llvmpipe')
        company = shaders('one', 'mess', 'poison')
        self.assertEqual(self.report(company)[0], 'poison: not behind 2 others, see the log')
        self.assertEqual(self.report(company, 'SOFT='), [])
        self.assertEqual(self.report(company, together=['poi.*']), [])

    def test_seed(self):
        """A seed gives the same sample, another one another."""
        known = [str(i) for i in range(1000)]
        first = piglit_random.sample(known, 10, 1)
        self.assertEqual(first, piglit_random.sample(known[::-1], 10, '1'))
        self.assertNotEqual(first, piglit_random.sample(known, 10, 2))
        self.assertEqual(len(set(piglit_random.sample(known, 5000, 1))), 1000)


if __name__ == '__main__':
    unittest.main()

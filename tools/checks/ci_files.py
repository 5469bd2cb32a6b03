# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""The commands of the files in ci/, as a script for a shell.

usage: ci_files.py container FILE CONTEXT    those of a Containerfile, which copies from CONTEXT
       ci_files.py gitlab FILE JOB           a job's script
       ci_files.py github FILE JOB           the "run" of a job's steps

They fail where the file is not what its reader takes: an instruction that is not known here,
a job without an image, a stage that is not listed, a job that needs one that is not there.
"""
import json
import pathlib
import re
import shlex
import sys

import yaml


def container(name, context):
    """Return: a script."""
    text = re.sub(r"\\\n", " ", re.sub(r"(?m)^#.*\n", "", pathlib.Path(name).read_text()))
    lines = [line.split(None, 1) for line in text.splitlines() if line.strip()]
    if lines[0] != ["FROM", "debian:trixie"]:
        sys.exit(f"{name}: begins with {lines[0]}, and not with FROM debian:trixie")
    script = []
    for instruction, rest in lines[1:]:
        if instruction == "RUN":
            script.append(f"sh -ec {shlex.quote(rest)}")
        elif instruction == "COPY":
            *sources, target = rest.split()
            if not target.endswith("/"):
                sys.exit(f"{name}: COPY of several files to {target}, which is no folder")
            script.append(f"mkdir -p {target}")
            script += [f"cp {context}/{source} {target}" for source in sources]
        elif instruction == "CMD":
            json.loads(rest)
        else:
            sys.exit(f"{name}: {instruction} is not known here")
    return script


def needs(job):
    """The names of the jobs that this one waits for."""
    wanted = job.get("needs", [])
    return [wanted] if isinstance(wanted, str) else wanted


def gitlab(name, wanted):
    """Return: a script."""
    file = yaml.safe_load(pathlib.Path(name).read_text())
    jobs = {key: job for key, job in file.items() if isinstance(job, dict) and "script" in job}
    for key, job in jobs.items():
        if job.get("stage") not in file["stages"] or "image" not in job:
            sys.exit(f"{name}: {key} has no image, or its stage is not listed")
        for other in needs(job):
            if other not in jobs:
                sys.exit(f"{name}: {key} needs {other}, which is not there")
        if not all(isinstance(line, str) for line in job["script"]):
            sys.exit(f"{name}: {key} has a line that is not a string for YAML")
    return jobs[wanted]["script"]


def github(name, wanted):
    """Return: a script."""
    file = yaml.safe_load(pathlib.Path(name).read_text())
    # YAML 1.1 takes "on" for a truth value.
    if True not in file and "on" not in file:
        sys.exit(f"{name}: nothing starts it")
    for key, job in file["jobs"].items():
        for other in needs(job):
            if other not in file["jobs"]:
                sys.exit(f"{name}: {key} needs {other}, which is not there")
        if "runs-on" not in job or not all(("run" in step) != ("uses" in step)
                                           for step in job["steps"]):
            sys.exit(f"{name}: {key} runs nowhere, or has a step that does nothing")
    return [step["run"] for step in file["jobs"][wanted]["steps"] if "run" in step]


def main(arguments):
    """Return: the exit status."""
    kinds = {"container": container, "gitlab": gitlab, "github": github}
    if len(arguments) != 3 or arguments[0] not in kinds:
        sys.stderr.write(__doc__)
        return 2
    print("set -e")
    print("\n".join(kinds[arguments[0]](*arguments[1:])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

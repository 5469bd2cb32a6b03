#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# Which cases a lane has, and whether they are those that it should have; see
# tools/checks/cases.py, or --help.

exec "$(dirname "$0")/toolbox.sh" run python3 "$(dirname "$0")/checks/cases.py" "$@"

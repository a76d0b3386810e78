#!/usr/bin/env bash
# Runs the tests of the package for browsers and Node, in both, with results of the native engine
# beside them. LARQ_ENGINE_TEST_FULL=1 takes ten times as many random networks and damaged files.
#
#   tools/test_web.sh [ARGUMENT...]   arguments of tests.web.make_cases, such as --zoo FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."

more=${LARQ_ENGINE_TEST_FULL:+0}
tools/build_web.sh ${CI:+--noshow_progress}
export LARQ_ENGINE_WEB_CASES=$PWD/.build/web-cases
rm -rf "$LARQ_ENGINE_WEB_CASES"
.venv/bin/python -m tests.web.make_cases "$LARQ_ENGINE_WEB_CASES" \
  --networks "30$more" --damaged "200$more" "$@"
cd web
node_modules/.bin/prettier --check --log-level warn .
# Two files at a time: each has a browser, or a model in every thread.
node --test --test-concurrency=2 --test-timeout=300000 --test-reporter=spec tests/*.test.js

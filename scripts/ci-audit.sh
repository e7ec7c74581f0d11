#!/bin/bash
# Audits kernels and litmus tests in continuous integration: on GitHub Actions with
# annotations and a summary of the step, elsewhere as text. Arguments are files, tests
# and folders (and further flags) of optcheck audit. See docs/ci.md.
#
#   scripts/ci-audit.sh litmus/ src/
#
# Variables:
#   OPTCHECK     the program (default: optcheck)
#   RESULTS      folder for optcheck.sarif, junit.xml, report.md and run.jsonl
#                (default: optcheck-results)
#   FAIL_ON      new (the default), miscompiled, changed, optimised, unknown or never
#   STORE        file that keeps results from run to run; "" for none
#   OPTCHECK_*   the settings of optcheck: OPTCHECK_TARGETS, OPTCHECK_KNOWN, …
#
# The exit status is that of optcheck: 0 nothing found, 1 findings that
# FAIL_ON counts, 2 the audit could not be done. Results are written in all cases but
# the last, and named in the step's outputs sarif, junit, markdown, events, status.
set -u
OPTCHECK=${OPTCHECK:-optcheck}
RESULTS=${RESULTS:-optcheck-results}
FAIL_ON=${FAIL_ON:-new}
STORE=${STORE:-}

if [ $# = 0 ]; then
  echo "ci-audit.sh: no tests: name folders of .litmus, .cu or .ptx files" >&2
  exit 2
fi
mkdir -p "$RESULTS" || exit 2
# What an earlier run left must not pass for the result of this one.
rm -f "$RESULTS"/{optcheck.sarif,junit.xml,report.md,run.jsonl} || exit 2

format=text
[ "${GITHUB_ACTIONS:-}" = true ] && format=github
options=(--quiet --fail-on "$FAIL_ON" --format "$format"
  --report "sarif=$RESULTS/optcheck.sarif,junit=$RESULTS/junit.xml,markdown=$RESULTS/report.md,json=$RESULTS/run.jsonl")
[ -n "$STORE" ] && options+=(--store "$STORE")

echo "compilers:"
"$OPTCHECK" toolchain list || exit 2
"$OPTCHECK" audit "${options[@]}" "$@"
status=$?

if [ -n "${GITHUB_OUTPUT:-}" ]; then
  {
    echo "status=$status"
    for o in sarif=optcheck.sarif junit=junit.xml markdown=report.md events=run.jsonl; do
      if [ -s "$RESULTS/${o#*=}" ]; then
        echo "${o%%=*}=$RESULTS/${o#*=}"
      fi
    done
  } >>"$GITHUB_OUTPUT" || exit 2
fi
exit $status

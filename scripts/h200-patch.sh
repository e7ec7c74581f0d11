#!/bin/bash
# What is each instruction of synchronisation for? Runs tests on the GPU as compiled
# and with instructions changed in the machine code (optcheck run --patch), under two
# sets of incantations each. Results go to the folder that OUT names.
#   OUT=results scripts/h200-patch.sh            3 minutes
set -u
cd "$(dirname "$0")/.."
BIN=${BIN:-bin/optcheck}
OUT=${OUT:-results}
N=${N:-3e7}
TOOL=${TOOL:-}
TESTS=docs/results/h200/patch/tests
mkdir -p "$OUT"
: >"$OUT/patch.txt"
experiment() { # test, edits...
  local test=$1
  shift
  local flags=()
  for e in "$@"; do flags+=(--patch "$e"); done
  [ -n "$TOOL" ] && flags+=(--toolchain "$TOOL")
  echo "== $test ${*:-as compiled}" >>"$OUT/patch.txt"
  timeout 60 "$BIN" run --device cuda "$TESTS/$test.litmus" --iterations "$N" --budget 2s --incantations none,stress+sync+random --seed 20261122 -q \
    -o "$OUT/one.jsonl" "${flags[@]}" >>"$OUT/patch.txt" 2>&1
  cat "$OUT/one.jsonl" >>"$OUT/patch.jsonl" 2>/dev/null
  rm -f "$OUT/one.jsonl"
}
fences="MEMBAR.GPU=NOP MEMBAR.CTA=NOP"
for test in patch-fence patch-acquire patch-strong patch-stale patch-fills patch-queue patch-atomic patch-coRR patch-group patch-cta patch-sb; do experiment $test; done
# The reader's invalidation, and what waits for the flag before it.
for test in patch-fence patch-acquire; do
  experiment $test CCTL.IVALL=NOP
  experiment $test CCTL.IVALL=wait=none
done
experiment patch-acquire LDG.STRONG.GPU#1=LDG.E.STRONG.SM
experiment patch-strong CCTL.IVALL=NOP
# The fences, of the writer (first in the code), of the reader, of both.
for test in patch-fence patch-strong; do
  experiment $test MEMBAR.GPU#1=NOP MEMBAR.CTA#1=NOP
  experiment $test MEMBAR.GPU#2=NOP MEMBAR.CTA#2=NOP
  experiment $test $fences
  experiment $test $fences ERRBAR=NOP CGAERRBAR=NOP
  experiment $test MEMBAR.GPU=NOP
  experiment $test MEMBAR.CTA=NOP
  experiment $test ERRBAR=NOP CGAERRBAR=NOP
  experiment $test MEMBAR.GPU=MEMBAR.SC.GPU
done
experiment patch-sb MEMBAR.GPU=MEMBAR.ALL.GPU
experiment patch-sb MEMBAR.GPU=MEMBAR.SC.CTA
experiment patch-sb MEMBAR.GPU=NOP
experiment patch-sb $fences
experiment patch-sb $fences ERRBAR=NOP CGAERRBAR=NOP CCTL.IVALL=NOP
# Within a CTA.
experiment patch-cta NOP=wait=none
experiment patch-cta MEMBAR.CTA=NOP
experiment patch-cta MEMBAR.CTA=NOP NOP=wait=none
# What waits for a fence that says through a scoreboard barrier when it is done.
experiment patch-cta STG.STRONG.SM#1=wait=none
experiment patch-fence MEMBAR.GPU=wait=none
experiment patch-group DEPBAR=NOP STG.STRONG.SM#1=wait=none
experiment patch-group MEMBAR.GPU=wait=none
# Strength, and order of one location.
experiment patch-fills LDG.STRONG.GPU#1=LDG.E.STRONG.SM
experiment patch-stale LDG.STRONG.GPU#1=LDG.E
experiment patch-coRR LDG.STRONG.GPU#1=swap
experiment patch-coRR LDG.STRONG.GPU=LDG.E
experiment patch-coRR LDG.STRONG.GPU=LDG.E.STRONG.SM
experiment patch-queue LDG.STRONG=LDG.E
experiment patch-group MEMBAR.GPU#1=NOP
experiment patch-group MEMBAR.GPU#1=MEMBAR.ALL.CTA
experiment patch-group MEMBAR.CTA#1=NOP
gzip -9f "$OUT/patch.jsonl"

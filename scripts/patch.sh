#!/bin/bash
# What is each instruction of synchronisation for? Runs tests on the GPU as compiled
# and with instructions changed in the machine code (optcheck run --patch), under two
# sets of incantations each. CUBINS holds the tests as compiled by ptxas 12.4:
#   optcheck run docs/results/h100/patch/tests --target sm_90 --toolchain 12.4 --save-cubins patch.zip
#   CUBINS=patch.zip OUT=results scripts/patch.sh            4 minutes
# Numbers of instructions are those of that release: the harness around a test has
# loads and stores of its own.
set -u
cd "$(dirname "$0")/.."
BIN=${BIN:-bin/optcheck}
OUT=${OUT:-results}
N=${N:-1e8}
TESTS=docs/results/h100/patch/tests
mkdir -p "$OUT"
: >"$OUT/patch.txt"
experiment() { # test, edits...
  local test=$1 flags=()
  shift
  for e in "$@"; do flags+=(--patch "$e"); done
  echo "== $test ${*:-as compiled}" >>"$OUT/patch.txt"
  timeout 60 "$BIN" run --device cuda "$TESTS/$test.litmus" --cubins "$CUBINS" --iterations "$N" --budget 2s --incantations none,stress+sync+random \
    --seed 20261122 -q -o "$OUT/one.jsonl" "${flags[@]}" >>"$OUT/patch.txt" 2>&1
  cat "$OUT/one.jsonl" >>"$OUT/patch.jsonl" 2>/dev/null
  rm -f "$OUT/one.jsonl"
}
writer="MEMBAR.GPU#1=NOP MEMBAR.CTA#1=NOP"
reader="MEMBAR.GPU#2=NOP MEMBAR.CTA#2=NOP"
fences="MEMBAR.GPU=NOP MEMBAR.CTA=NOP"
errors="ERRBAR=NOP CGAERRBAR=NOP"
for file in "$TESTS"/*.litmus; do experiment "$(basename "$file" .litmus)"; done
# The reader's invalidation; whether it waits for the flag (then what uses the flag does).
experiment patch-fence CCTL.IVALL=NOP
experiment patch-acquire CCTL.IVALL=NOP
experiment patch-strong CCTL.IVALL=NOP
experiment patch-acquire CCTL.IVALL=wait=none STG#6=wait=3
experiment patch-acquire CCTL.IVALL=wait=none STG#6=wait=3 CCTL.IVALL=NOP
experiment patch-acquire CCTL.IVALL=wait=none
# The fences, of the writer (first in the code), of the reader, of both; their parts.
for test in patch-fence patch-strong patch-plain; do
  experiment $test $writer
  experiment $test $reader
  experiment $test $reader ERRBAR#2=NOP CGAERRBAR#2=NOP
  experiment $test $fences
  experiment $test $fences $errors
  experiment $test MEMBAR.GPU=NOP
  experiment $test MEMBAR.GPU=MEMBAR.ALL.CTA
  experiment $test MEMBAR.CTA=NOP MEMBAR.GPU=wait=none
  experiment $test $errors
done
experiment patch-acquire $writer
experiment patch-sb MEMBAR.GPU=MEMBAR.ALL.GPU
experiment patch-sb MEMBAR.GPU=MEMBAR.SC.CTA
experiment patch-sb $fences
experiment patch-sb $fences $errors
experiment patch-sb $fences $errors CCTL.IVALL=NOP
# Within a CTA: the fence, and what waits for the flag.
experiment patch-cta MEMBAR.CTA=NOP
experiment patch-cta MEMBAR.CTA=NOP STG#2=wait=none
experiment patch-cta NOP#1=wait=none STG#6=wait=2
experiment patch-cta MEMBAR.CTA=NOP STG#2=wait=none NOP#2=wait=none STG#6=wait=2
# The fence of the GPU behind another warp's store.
experiment patch-group MEMBAR.GPU#1=NOP
experiment patch-group MEMBAR.GPU#1=MEMBAR.ALL.CTA
experiment patch-group MEMBAR.CTA#1=NOP
# Strength, and order of one location.
experiment patch-stale LDG.STRONG.GPU#2=LDG.E
experiment patch-fills LDG.STRONG.GPU#2=LDG.E
experiment patch-coRR LDG.STRONG.GPU#2=LDG.E LDG.STRONG.GPU#2=LDG.E
experiment patch-queue LDG.STRONG.GPU#2=LDG.E
gzip -9f "$OUT/patch.jsonl"

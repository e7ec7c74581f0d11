#!/bin/bash
# The campaign on a GPU: bench, incantations, corpus, generated tests. Results go
# to the folder that OUT names, as few files. Phases may be named as arguments;
# each has a time limit of its own. SCALE scales the limits (default 1).
#   OUT=results scripts/h200.sh smoke
#   OUT=results scripts/h200.sh bench table6 corpus generated
set -u
cd "$(dirname "$0")/.."
BIN=${BIN:-bin/optcheck}
OUT=${OUT:-results}
SEED=${SEED:-20150314}
SCALE=${SCALE:-1}
TOOL=${TOOL:-}
mkdir -p "$OUT"
chmod +x "$BIN"
secs() { echo $(($1 * SCALE))s; }
opt=("$BIN" run --device cuda --seed "$SEED" -q)
[ -n "$TOOL" ] && opt+=(--toolchain "$TOOL")
phase() { # name, limit in seconds, command...
  local name=$1 limit=$2
  shift 2
  echo "== $name: $*" | tee -a "$OUT/report.txt"
  timeout -s INT -k 20 "$((limit * SCALE + 30))" "$@" 2>&1 | tee -a "$OUT/report.txt"
  echo "== $name: ended after ${SECONDS} s with ${PIPESTATUS[0]}" | tee -a "$OUT/report.txt"
}
# pack NAME: compress the events of a phase, which are long.
pack() { [ -f "$OUT/$1.jsonl" ] && gzip -9f "$OUT/$1.jsonl"; return 0; }
BEST=stress+sync+random,stress+random,random,none

for p in "${@:-all}"; do
  case $p in
  smoke | all | bench) phase devices 60 "$BIN" devices --state ;;
  esac
  case $p in
  smoke)
    phase smoke-corpus 30 "${opt[@]}" mp sb-inter lb coRR coRR+relaxed.gpus mp-volatile mp+membar.gls ptx-cluster+mp --iterations 1e7 --budget 5s --incantations none,stress+sync+random --outcomes -o "$OUT/smoke.jsonl" --total 30s
    ;;
  esac
  case $p in
  all | bench)
    phase bench 60 "$BIN" bench-gpu --device cuda --seed "$SEED" -o "$OUT/bench.jsonl"
    ;;
  esac
  case $p in
  all | table6)
    phase table6 120 "${opt[@]}" --table6 --iterations 2e7 --budget 3s --total "$(secs 120)" -o "$OUT/table6.jsonl" --plot "$OUT/table6.svg"
    phase table6-more 60 "${opt[@]}" --table6 coRR-volatile-shared mp-volatile sb+relaxed.gpus lb+relaxed.gpus mp+relaxed.gpus coRR --iterations 5e6 --budget 2s --total "$(secs 60)" -o "$OUT/table6-more.jsonl"
    cat "$OUT/table6-more.jsonl" >>"$OUT/table6.jsonl" && rm "$OUT/table6-more.jsonl"
    pack table6
    ;;
  esac
  case $p in
  all | corpus)
    phase corpus 240 "${opt[@]}" corpus --iterations 1e8 --incantations none,stress+sync+random --total "$(secs 240)" -o "$OUT/corpus.jsonl" --log "$OUT/corpus.log"
    pack corpus
    [ -f "$OUT/corpus.log" ] && gzip -9f "$OUT/corpus.log"
    ;;
  esac
  case $p in
  all | generated | paper)
    phase paper 240 "${opt[@]}" --gen paper --iterations 1e5 --incantations random,stress+sync+random --total "$(secs 240)" -o "$OUT/paper.jsonl"
    pack paper
    ;;
  esac
  case $p in
  all | generated | ptx)
    phase ptx 200 "${opt[@]}" --gen ptx --iterations 1e5 --incantations random,stress+sync+random --total "$(secs 200)" -o "$OUT/ptx.jsonl"
    pack ptx
    ;;
  esac
done
ls -l "$OUT"

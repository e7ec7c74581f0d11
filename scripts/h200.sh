#!/bin/bash
# The campaign on a GPU. Results go to the folder that OUT names, at most eight
# files. Phases may be named; each has a time limit of its own, in seconds,
# multiplied by SCALE (default 1).
#   OUT=results scripts/h200.sh smoke                     a first look, 1 minute
#   OUT=results scripts/h200.sh bench table6 corpus       5 minutes
#   OUT=results scripts/h200.sh paper ptx                 9 minutes
#   OUT=results scripts/h200.sh                           all, 14 minutes at most
set -u
cd "$(dirname "$0")/.."
BIN=${BIN:-bin/optcheck}
OUT=${OUT:-results}
SEED=${SEED:-20150314}
SCALE=${SCALE:-1}
TOOL=${TOOL:-}
mkdir -p "$OUT"
chmod +x "$BIN"
run=("$BIN" run --device cuda --seed "$SEED" -q)
[ -n "$TOOL" ] && run+=(--toolchain "$TOOL")
secs() { echo "$(($1 * SCALE))s"; }
phase() { # name, limit in seconds, command...
  local name=$1 limit=$2 start=$SECONDS
  shift 2
  echo "== $name: $*" | tee -a "$OUT/report.txt"
  timeout -s INT -k 20 "$((limit * SCALE + 15))" "$@" 2>&1 | tee -a "$OUT/report.txt"
  echo "== $name: $((SECONDS - start)) s, status ${PIPESTATUS[0]}" | tee -a "$OUT/report.txt"
}
# pack FILE...: join the events of some phases in the first file, compressed.
pack() {
  local to=$1
  cat "$@" 2>/dev/null | gzip -9 >"$to.gz"
  rm -f "$@"
}
[ $# = 0 ] && set -- bench table6 corpus paper ptx
for p in "$@"; do
  case $p in
  smoke)
    phase devices 20 "$BIN" devices --state
    phase smoke 30 "${run[@]}" mp sb-inter lb coRR coRR+relaxed.gpus mp-volatile mp+membar.gls ptx-cluster+mp --iterations 1e7 --budget 5s \
      --incantations none,stress+sync+random --outcomes -o "$OUT/smoke.jsonl" --total "$(secs 30)"
    ;;
  bench)
    phase devices 20 "$BIN" devices --state
    phase bench 60 "$BIN" bench-gpu --device cuda --seed "$SEED" -o "$OUT/bench.jsonl"
    ;;
  table6)
    phase table6 40 "${run[@]}" --table6 --iterations 2e7 --budget 3s --total "$(secs 40)" -o "$OUT/table6.jsonl" --plot "$OUT/table6.svg"
    phase table6-relaxed 20 "${run[@]}" --table6 coRR coRR+relaxed.gpus coRR-volatile-shared lb+relaxed.gpus mp+relaxed.gpus sb+relaxed.gpus mp-volatile \
      --iterations 5e6 --budget 1s --total "$(secs 20)" -o "$OUT/t2.jsonl"
    pack "$OUT/table6.jsonl" "$OUT/t2.jsonl"
    ;;
  corpus)
    phase corpus 100 "${run[@]}" corpus --iterations 1e8 --budget 3s --incantations none,random,sync+random --total "$(secs 100)" -o "$OUT/corpus.jsonl" --log "$OUT/corpus.log"
    phase corpus-stress 60 "${run[@]}" corpus --iterations 1e7 --budget 1s --incantations stress+sync+random --total "$(secs 60)" -o "$OUT/c2.jsonl" --brief
    phase corpus-jit 30 "${run[@]}" corpus --toolchain driver --iterations 1e6 --incantations random --total "$(secs 30)" -o "$OUT/c3.jsonl" --brief
    more=()
    for z in "$(dirname "$BIN")"/cubins-*.zip; do
      [ -f "$z" ] || continue
      f=$OUT/$(basename "$z" .zip).jsonl
      phase "corpus-$(basename "$z" .zip)" 20 "${run[@]}" corpus --cubins "$z" --iterations 1e7 --incantations random --total "$(secs 20)" -o "$f" --brief
      more+=("$f")
    done
    pack "$OUT/corpus.jsonl" "$OUT/c2.jsonl" "$OUT/c3.jsonl" "${more[@]}"
    gzip -9f "$OUT/corpus.log"
    ;;
  paper | ptx)
    phase "$p" 260 "${run[@]}" --gen "$p" --iterations 1e5 --tune launches=8 --incantations random,stress+sync+random --total "$(secs 240)" -o "$OUT/$p.jsonl" --brief
    pack "$OUT/$p.jsonl"
    ;;
  *)
    echo "no phase $p (smoke bench table6 corpus paper ptx)" >&2
    exit 2
    ;;
  esac
done
ls -l "$OUT"

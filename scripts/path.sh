#!/usr/bin/env bash
# The path of somebody who writes CUDA C++, from a clone to a check with a baseline, with all caches empty: each
# step, its exit code and how long it took. An audit that finds something ends with 1.
#
#	scripts/path.sh FOLDER     (it is made anew)
set -uo pipefail
cd "$(dirname "$0")/.."
from=$PWD
rm -rf "$1" && mkdir -p "$1/mine/src" && cd "$1" || exit 2
export HOME=$PWD TMPDIR=$PWD XDG_CACHE_HOME=$PWD/.cache GOPATH=$PWD/go GOCACHE=$PWD/gocache GOMODCACHE=$PWD/go/mod
all=$(date +%s)

step() { # wanted exit code, command
	local want=$1 began code
	shift
	began=$(date +%s)
	"$@" >>"$HOME/printed.txt" 2>&1
	code=$?
	echo "$(($(date +%s) - began)) s: $*"
	[ "$code" = "$want" ] || { echo "exit code $code, not $want: $HOME/printed.txt"; exit 1; }
}

step 0 git clone --quiet "$from" optcheck
step 0 make -C optcheck build
export PATH=$PWD/optcheck/bin:$PATH
# the kernel of docs/ci.md
awk '/^<!-- file: src\/wait.cu -->/ { on = 1; next } on && /^```/ { if (seen++) exit; next } on' optcheck/docs/ci.md >mine/src/wait.cu
cd mine || exit 2
audit=(optcheck audit src/ --toolchains nvcc-12.4+11.8 --targets sm_80 --levels O3)
step 0 optcheck toolchain install cuda-11.8 nvcc-12.4
step 1 "${audit[@]}"
step 0 optcheck explain missing
step 1 "${audit[@]}" --write-known known.yaml
step 0 "${audit[@]}" --known known.yaml --new-only
echo "$(($(date +%s) - all)) s: all of it"

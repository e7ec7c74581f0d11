#!/bin/sh
# front.sh RELEASE [DIR] installs NVIDIA's compiler of CUDA C++ with its headers (optcheck toolchain install nvcc-RELEASE) and makes
# DIR/RELEASE/root lead to it, for scripts that call nvcc themselves. Programs are audited without it: optcheck audit FILE.cu.
#
#   RELEASE   11.8 or 12.4
#   DIR       default: ${XDG_CACHE_HOME:-~/.cache}/optcheck/fronts
#   OPTCHECK  the program; default: bin/optcheck, which make build makes
set -eu
release=${1:?release: 11.8 or 12.4}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/optcheck
dir=${2:-$cache/fronts}
[ -e "$dir/$release/root" ] && exit 0
"${OPTCHECK:-$(dirname "$0")/../../bin/optcheck}" toolchain install "nvcc-$release"
mkdir -p "$dir/$release"
ln -s "$cache/toolchains/nvcc-$release/root" "$dir/$release/root"

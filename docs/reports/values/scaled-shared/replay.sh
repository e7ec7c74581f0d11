#!/bin/sh
# Executes the counterexample in finding.json: the PTX and the machine code that ptxas makes of it, on the same input. Exit status 0: they do
# different things. With --device they also run on the GPU, as compiled without and with optimising.
# Other compilers: --toolchains, --targets, --levels.
cd "$(dirname "$0")" || exit 2
[ $# -gt 0 ] || set -- --toolchains 12.4.131 --targets sm_80 --levels O3
optcheck replay . "$@"
[ $? -eq 1 ]

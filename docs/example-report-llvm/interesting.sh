#!/bin/sh
# Exit status 0 while test.litmus, in the current folder, shows the finding. For
# reducers of text: cvise ./interesting.sh test.litmus
# OPTCHECK names the program if it is not in the PATH.
exec "${OPTCHECK:-optcheck}" reduce --check --quiet --rule fence-removed --class miscompiled --toolchains 22.1.8+12.4.131 --targets sm_80 --levels O0 --layouts pointers --stage llc --source llvm-ir test.litmus

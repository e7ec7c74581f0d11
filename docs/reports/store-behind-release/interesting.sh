#!/bin/sh
# Exit status 0 while test.litmus, in the current folder, shows the finding. For
# reducers of text: cvise ./interesting.sh test.litmus
# OPTCHECK names the program if it is not in the PATH.
exec "${OPTCHECK:-optcheck}" reduce --check --quiet --rule reordered --class miscompiled --toolchains 12.4.131 --targets sm_90 --levels O1 --layouts adjacent test.litmus

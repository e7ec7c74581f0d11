#!/bin/sh
# Exit status 0 while min.ptx, in the current folder, shows the finding. For
# reducers of text: cvise ./interesting.sh min.ptx
# OPTCHECK names the program if it is not in the PATH.
exec "${OPTCHECK:-optcheck}" reduce --check --quiet --finding wrong-value --class miscompiled --toolchains 12.4.131 --targets sm_80 --levels O3 min.ptx

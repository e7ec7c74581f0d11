#!/bin/sh
# Runs a command that needs the network, up to four times with pauses between,
# and says so: a mirror that is busy for a moment is no reason to give up.
#
#   scripts/retry.sh apt-get update
#
# PAUSE is the first pause in seconds (default 5); each one after it is three
# times as long.
set -u
pause=${PAUSE:-5}
for try in 1 2 3 4; do
  "$@" && exit 0
  status=$?
  # Not found and not executable do not get better; signals are the user's.
  case $status in 126 | 127 | 129 | 130 | 143) exit $status ;; esac
  [ $try = 4 ] && break
  echo "retry.sh: exit status $status; trying again in $pause s: $*" >&2
  sleep "$pause" || exit $status
  pause=$((pause * 3))
done
echo "retry.sh: given up after four tries, exit status $status: $*" >&2
exit $status

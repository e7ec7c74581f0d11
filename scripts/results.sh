#!/usr/bin/env bash
# Runs the commands that make the pages of docs/results again: those of scripts/results.txt of the kinds or
# pages that are named (default: short). What each prints goes to bin/results/PAGE.N.txt, with its date and
# commit in front; compare that with the page. Ends with 1 if a command failed.
#
#	[LIMIT=SECONDS] scripts/results.sh [-n] [short|long|set|device|…|PAGE]...
#
# -n only prints the commands. A command that runs longer than LIMIT is cut, and failed. SET and CHECKOUT are described in scripts/results.txt.
set -uo pipefail
cd "$(dirname "$0")/.."
dry=false
if [ "${1:-}" = -n ]; then dry=true; shift; fi
[ $# -gt 0 ] || set -- short
export PATH="$PWD/bin:$PATH"
failed=0 n=0
while IFS='|' read -r page kind command; do
	page=${page// /} kind=${kind// /} command=${command# }
	case "$page" in '#'* | '') continue ;; esac
	for want in "$@"; do
		if [ "$want" = "$kind" ] || [ "$want" = "$page" ]; then
			n=$((n + 1))
			if $dry; then echo "$page: $command"; continue 2; fi
			case "$command" in *'$SET'*) : "${SET:?this page needs the real set of PTX}" ;; *'$CHECKOUT'*) : "${CHECKOUT:?this page needs a checkout}" ;; esac
			export OUT=bin/results/${page%.md}
			mkdir -p "$OUT"
			log=$OUT.$n.txt
			{ echo "# $(date -u +%F) $(git describe --always --dirty)"; echo "# $command"; } >"$log"
			began=$SECONDS
			if timeout "${LIMIT:-0}" bash -c "$command" >>"$log" 2>&1 </dev/null; then state=done; else state="FAILED ($?)"; failed=1; fi
			echo "$page: $state in $((SECONDS - began)) s: $log"
			continue 2
		fi
	done
done <scripts/results.txt
[ "$n" -gt 0 ] || { echo "scripts/results.sh: nothing in scripts/results.txt is of kind or page: $*" >&2; exit 2; }
exit $failed

#!/bin/sh
# Runs make vulncheck. A database that cannot be reached is told and no failure; a
# vulnerability is one.
cd "$(dirname "$0")/.." || exit 1
if out=$(make vulncheck 2>&1); then
	echo "$out" | tail -n 1
	exit 0
fi
if echo "$out" | grep -q 'dial tcp\|no such host\|connection refused\|i/o timeout\|Forbidden\|TLS handshake\|proxyconnect\|fetching vulnerabilities'; then
	echo "not checked for known vulnerabilities: their database cannot be reached"
	exit 0
fi
echo "$out"
exit 1

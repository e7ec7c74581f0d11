#!/bin/sh
# The light tier of the tests: make test-quick. It needs no network, no compilers and no devices, and leaves out
# what takes long: it is meant for 90 seconds on an idle machine where the packages are built already.
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}
GOCACHE=$($GO env GOCACHE) GOMODCACHE=$($GO env GOMODCACHE)
empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT
# Nothing that was installed for the user is found, nothing is fetched, and no OpenCL is there.
export GOCACHE GOMODCACHE GOPROXY=off GOFLAGS="-mod=readonly -trimpath" CGO_ENABLED=0 XDG_CACHE_HOME="$empty" OCL_ICD_VENDORS="$empty"
export QUICK_TESTS=1 OPTCHECK_REQUIRE_TOOLS=
# Tests that take long.
slow='TestSite|TestTables|TestSentences|TestGenerations|TestRaceFree|TestPTXRaceLoops|TestKilledStores|TestMillion|TestFlips|TestEveryAxiomMatters'
slow="$slow|TestHostileCorpus|TestAnalyzer|TestExitsWithoutTools|TestKnownVerdicts|TestNothingIsLeft|TestGCKilled|TestCreate"
slow="$slow|TestJudged|TestSpliced|TestPresets|TestDefined|TestRandomConfigurations|TestTerms|TestSARIFLimit|TestCountersRandom"
slow="$slow|TestForeignBranches|TestDraw|TestChipsAreHardware|TestSlowReader|TestSearchOrder|TestGrammarMutants|TestMemoryIsFlat|TestDist"
[ -n "${QUICK_ONLY:-}" ] || set -- "$@" ./...
$GO test -vet=off -short -skip "$slow" "$@"

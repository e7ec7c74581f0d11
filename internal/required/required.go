// Package required says what a test does for which something is not on the machine, and how much of what it could do is asked for. It is
// for tests.
package required

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

// Missing skips a test that needs a program which is not there: a compiler, herd7, a browser, OpenCL on the CPU. With
// OPTCHECK_REQUIRE_TOOLS=1, as in CI, that is a failure: what is required and missing is never passed over.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("OPTCHECK_REQUIRE_TOOLS") == "1" {
		t.Fatalf(format+", and OPTCHECK_REQUIRE_TOOLS=1", args...)
	}
	t.Skipf(format, args...)
}

// Quick tells that this is the light tier of the tests (make test-quick), for which no compiler, browser or cluster is there.
func Quick() bool { return os.Getenv("QUICK_TESTS") == "1" }

// Full tells that tests do all that they can (make test-full), and no slices of it.
func Full() bool { return os.Getenv("OPTCHECK_FULL") == "1" }

// Some chooses n of many cases of one kind, in their order: other ones each time, unless OPTCHECK_SEED names those of an earlier time.
// All of them are tried where all is asked for.
func Some[T any](t testing.TB, n int, of []T) []T {
	t.Helper()
	if Full() || len(of) <= n {
		return of
	}
	seed, err := strconv.ParseUint(os.Getenv("OPTCHECK_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64N(1_000_000)
	}
	t.Logf("%d of %d cases: OPTCHECK_SEED=%d takes the same", n, len(of), seed)
	at := rand.New(rand.NewPCG(seed, 0)).Perm(len(of))[:n]
	slices.Sort(at)
	some := make([]T, n)
	for i := range some {
		some[i] = of[at[i]]
	}
	return some
}

// Package required says what a test does for which something is not on the machine. It is for tests.
package required

import (
	"os"
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

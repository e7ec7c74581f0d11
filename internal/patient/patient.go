// Package patient lets tests depend on time limits without depending on the speed of the
// machine. It is for tests only and not part of the program.
package patient

import (
	"fmt"
	"testing"
	"time"
)

// Long is how long a test waits for something that must happen: it matters only if something is
// broken, and is far more than a busy machine needs.
const Long = 5 * time.Minute

// most is the longest limit that Limits tries.
const most = 2 * time.Minute

// Trial receives the assertions of a trial of Limits.
type Trial struct{ failure string }

// Errorf records a failure.
func (t *Trial) Errorf(format string, args ...any) { t.failure += fmt.Sprintf(format, args...) }

// FailNow ends the trial.
func (t *Trial) FailNow() { panic(t) }

// Limits runs a trial in which a short limit must end one thing and not others. On a busy
// machine the limit may hit the others, too: then Limits tries again with a limit four times as
// long, up to two minutes. A failure with the longest limit fails the test.
func Limits(t testing.TB, first time.Duration, try func(t *Trial, limit time.Duration)) {
	t.Helper()
	for limit := min(first, most); ; limit = min(4*limit, most) {
		failure := trial(func(c *Trial) { try(c, limit) })
		if failure == "" {
			return
		}
		if limit == most {
			t.Fatalf("with a limit of %v: %s", limit, failure)
		}
		t.Logf("a limit of %v may be too short for this machine: %s", limit, failure)
	}
}

// trial returns the failures; "" for none.
func trial(f func(*Trial)) string {
	t := &Trial{}
	func() {
		defer func() {
			if r := recover(); r != nil && r != any(t) {
				panic(r)
			}
		}()
		f(t)
	}()
	return t.failure
}

// Package patient lets tests depend on limits of time without depending on the
// speed of the machine. It is for tests only and no part of the program.
package patient

import (
	"fmt"
	"testing"
	"time"
)

// Long is how long a test waits for what must come: it matters only where
// something is broken, and is far more than a busy machine needs.
const Long = 5 * time.Minute

// most is the longest limit that Limits gives.
const most = 2 * time.Minute

// Trial is what a trial of Limits makes its assertions on.
type Trial struct{ failure string }

// Errorf notes a failure.
func (t *Trial) Errorf(format string, args ...any) { t.failure += fmt.Sprintf(format, args...) }

// FailNow ends the trial.
func (t *Trial) FailNow() { panic(t) }

// Limits runs a trial of something that a short limit must end beside things that
// it must not. On a busy machine the limit may hit those, too: then the same is
// tried with a limit that is four times as long, up to two minutes. What fails
// with the longest one fails the test.
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

// trial returns what failed; "" for nothing.
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

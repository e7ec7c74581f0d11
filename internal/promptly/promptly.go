// Package promptly ends work when its context ends, also work that does not look at it for long: readers, decoders, solvers.
package promptly

import "context"

// Do does work until its context ends. What is left behind then goes on until it looks at the context itself: nobody may use
// what it works on.
func Do[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := work()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

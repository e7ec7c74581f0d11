package litmus

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// ParseFiles parses files on all cores. Result i belongs to path i: either the
// test or the error is nil.
func ParseFiles(paths []string) ([]*Test, []error) {
	tests, errs := make([]*Test, len(paths)), make([]error, len(paths))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(paths)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(paths); i = int(next.Add(1)) - 1 {
				tests[i], errs[i] = ParseFile(paths[i])
			}
		})
	}
	wg.Wait()
	return tests, errs
}

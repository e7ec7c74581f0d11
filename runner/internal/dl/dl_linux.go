// Package dl opens shared libraries at run time without cgo.
package dl

import (
	"errors"
	"fmt"

	"github.com/ebitengine/purego"
)

// Library is an open shared library.
type Library struct {
	name   string
	handle uintptr
}

// Open opens the first of the named libraries that the dynamic linker finds;
// if there is none, the error is that of the first.
func Open(names ...string) (*Library, error) {
	first := errors.New("no library named")
	for i, name := range names {
		h, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err == nil {
			return &Library{name, h}, nil
		}
		if i == 0 {
			first = err
		}
	}
	return nil, first
}

// Bind sets the function that fn points to, so that it calls the first of the
// named symbols that the library has.
func (l *Library) Bind(fn any, symbols ...string) error {
	for _, name := range symbols {
		if addr, err := purego.Dlsym(l.handle, name); err == nil {
			purego.RegisterFunc(fn, addr)
			return nil
		}
	}
	return fmt.Errorf("%s has no function %s", l.name, symbols[0])
}

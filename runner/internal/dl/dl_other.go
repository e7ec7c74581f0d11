//go:build !linux

// Package dl opens shared libraries at run time without cgo.
package dl

import "errors"

// Library is an open shared library.
type Library struct{}

// Open fails: devices are driven on Linux only.
func Open(...string) (*Library, error) {
	return nil, errors.New("devices are driven on Linux only")
}

// Bind fails.
func (*Library) Bind(any, ...string) error { return errors.New("no library") }

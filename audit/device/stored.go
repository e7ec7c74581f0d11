package device

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"optcheck/audit/store"
	"optcheck/litmus"
	"optcheck/pipeline"
	"optcheck/spec"
)

// Cubins travel in stores: a machine that compiles leaves them there, and one
// that has a device runs them.

// cubinsKind is what such artefacts are called.
const cubinsKind = "cubins"

// storedTests is the number of tests of one artefact: what is compiled for them
// must not be too large for a store.
const storedTests = 256

// storedName is the name of an artefact with cubins; part tells those apart that
// were made with the same compiler for the same target and level.
func storedName(target, level, tool, part string) string {
	return fmt.Sprintf("%s/%s/%s/%s/%s", cubinsKind, target, level, tool, part)
}

// StoreCubins compiles the harness kernels of tests and leaves the cubins in a
// store. part names this slice of the tests; n counts the kernels.
func (c *Compiler) StoreCubins(ctx context.Context, s *store.Store, part string, tests []*litmus.Test) (n int, err error) {
	k := 0
	for some := range slices.Chunk(tests, storedTests) {
		k++
		var b bytes.Buffer
		m, err := pipeline.WriteCubins(ctx, c.Tool, c.Target, c.Level, c.Layout, some, &b)
		if err != nil {
			return n, err
		}
		n += m
		if err := s.Put(ctx, storedName(c.Target, c.Level, c.Tool.ID, c.part(part, k)), cubinsKind, b.Bytes()); err != nil {
			return n, err
		}
	}
	return n, nil
}

// part names a slice of what is stored.
func (c *Compiler) part(part string, k int) string {
	if c.Layout != spec.Pointers {
		part = c.Layout.String() + "/" + part
	}
	return fmt.Sprintf("%s/%d", part, k)
}

// StoredCubins reads the cubins for a target and level from a store. Those of
// several compilers are an error unless tool says whose are meant.
func StoredCubins(ctx context.Context, s *store.Store, target, level, tool string) (*pipeline.Cubins, error) {
	prefix := fmt.Sprintf("%s/%s/%s/", cubinsKind, target, level)
	names, err := s.Labels(ctx, prefix)
	if err != nil {
		return nil, err
	}
	var wanted []string
	from := ""
	for _, name := range names {
		made, _, _ := strings.Cut(strings.TrimPrefix(name, prefix), "/")
		if tool != "" && !strings.Contains(made, tool) {
			continue
		}
		if from != "" && from != made {
			return nil, fmt.Errorf("store %s has cubins of %s and of %s; say which", s.Path(), from, made)
		}
		from = made
		wanted = append(wanted, name)
	}
	if from == "" {
		return nil, fmt.Errorf("store %s has no cubins for %s at %s", s.Path(), target, level)
	}
	all := &pipeline.Cubins{}
	for _, name := range wanted {
		data, kind, err := s.Get(ctx, name)
		if err != nil {
			return nil, err
		}
		if kind != cubinsKind {
			return nil, fmt.Errorf("store %s: %s is no file of cubins", s.Path(), name)
		}
		one, err := pipeline.ReadCubins(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return nil, fmt.Errorf("store %s: %s: %w", s.Path(), name, err)
		}
		all.Add(one)
	}
	return all, nil
}

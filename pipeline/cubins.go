package pipeline

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"

	"optcheck/litmus"
	"optcheck/ptxgen"
	"optcheck/sass/cubin"
	"optcheck/spec"
	"optcheck/toolchain"
)

// Cubins holds compiled files from another machine, to be checked and run where the compiler is
// not installed.
type Cubins struct {
	Compiler string // the ID of the toolchain that made them
	files    [][]byte
	of       map[string]int // kernel → file
}

// Limits of a file of cubins, which may come from anyone.
const (
	maxCubins     = 4096
	maxCubinBytes = 64 << 20
	maxZipBytes   = 512 << 20
)

// compilerEntry is the name of the member that names the toolchain.
const compilerEntry = "compiler.txt"

// WriteCubins compiles the harness kernels of tests and the collector with a toolchain and
// writes the cubins as a zip file.
func WriteCubins(ctx context.Context, tc *toolchain.Toolchain, target, level string, layout spec.Layout, tests []*litmus.Test,
	w io.Writer) (n int, err error) {
	m, err := newPTXMaker(tc, target, level)
	if err != nil {
		return 0, err
	}
	text, version, err := ptxgen.EmitCollect(target)
	if err != nil {
		return 0, err
	}
	units := map[ptxgen.Version][]toolchain.Unit{version: {{Name: ptxgen.CollectName, Text: text}}}
	for _, t := range tests {
		for form := range ptxgen.Forms {
			h, err := m.Emit(t, ptxgen.Form(form), layout)
			var un *spec.Unsupported
			if ptxgen.Form(form) == ptxgen.FormDevices && !t.OnSeveralDevices() {
				continue
			}
			if errors.As(err, &un) {
				continue
			}
			if err != nil {
				return 0, fmt.Errorf("%s: %w", t.Name, err)
			}
			units[h.Version] = append(units[h.Version], toolchain.Unit{Name: h.Name, Text: h.Text})
		}
	}
	z := zip.NewWriter(w)
	add := func(name string, data []byte) error {
		f, err := z.Create(name)
		if err == nil {
			_, err = f.Write(data)
		}
		return err
	}
	if err := add(compilerEntry, []byte(tc.ID)); err != nil {
		return 0, err
	}
	for v := ptxgen.Version(10); v <= m.newest; v++ {
		if len(units[v]) == 0 {
			continue
		}
		res, err := m.Compile(ctx, &Job{Target: target, Level: level, Way: Way{Version: v}, Units: units[v], BatchUnits: 64})
		if err != nil {
			return n, err
		}
		for i, b := range res.Batches {
			if err := add(fmt.Sprintf("%v-%03d.cubin", v, i), b.Cubin); err != nil {
				return n, err
			}
			n += len(b.Units)
		}
	}
	return n, z.Close()
}

// ReadCubins reads what WriteCubins wrote. It does not trust the cubins: they are disassembled
// and checked like fresh ones.
func ReadCubins(r io.ReaderAt, size int64) (*Cubins, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, err
	}
	c := &Cubins{Compiler: "unknown", of: map[string]int{}}
	if len(z.File) > maxCubins {
		return nil, fmt.Errorf("more than %d members", maxCubins)
	}
	total := 0
	for _, f := range z.File {
		m, err := f.Open()
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(io.LimitReader(m, maxCubinBytes+1))
		m.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		if total += len(data); len(data) > maxCubinBytes || total > maxZipBytes {
			return nil, fmt.Errorf("%s: too large", f.Name)
		}
		if f.Name == compilerEntry {
			c.Compiler = fmt.Sprintf("%.40q", data)
			continue
		}
		names, err := cubin.Functions(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		for _, n := range names {
			c.of[n] = len(c.files)
		}
		c.files = append(c.files, data)
	}
	return c, nil
}

// batches finds the cubins of units.
func (c *Cubins) batches(units []toolchain.Unit) ([]toolchain.Batch, map[int]error) {
	failed := map[int]error{}
	at := map[int]int{}
	var out []toolchain.Batch
	for i, u := range units {
		f, ok := c.of[u.Name]
		if !ok {
			failed[i] = errors.New("not among the cubins given")
			continue
		}
		k, ok := at[f]
		if !ok {
			k = len(out)
			at[f] = k
			out = append(out, toolchain.Batch{Cubin: c.files[f]})
		}
		out[k].Units = append(out[k].Units, i)
	}
	return out, failed
}

// Add adds further cubins.
func (c *Cubins) Add(more *Cubins) {
	if c.of == nil {
		c.of = map[string]int{}
	}
	c.Compiler = more.Compiler
	for name, at := range more.of {
		c.of[name] = len(c.files) + at
	}
	c.files = append(c.files, more.files...)
}

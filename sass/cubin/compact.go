package cubin

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
)

// compactMagic begins the compact form.
const compactMagic = "optcheck-code-2\n"

// maxCompact bounds the unpacked size of a compact form, in bytes.
const maxCompact = 1 << 30

// compact holds what is read from a cubin, and nothing else. Functions with equal code and
// lines share them.
type compact struct {
	Release   string
	SM        int
	Bodies    []body
	Funcs     []compactFunc
	Constants map[int64]string
	Literals  map[string]map[int64]uint32
	Variables []Variable
	Addressed []string
}

type body struct {
	Code  []byte
	Lines []Line
}

type compactFunc struct {
	Name   string
	Body   int
	Relocs []Reloc
	Inner  map[uint64]string
	Kernel kernelData
}

// kernelData is what a kernel has besides its code.
type kernelData struct {
	Banks      map[int]Bank
	Shared     uint64
	Base, Size int // of its parameters
	Params     []Parameter
	HasParams  bool
}

// Compact encodes a cubin so that ParseCompact reads the same from it. It takes little space if
// many functions are alike. Disassemblers do not know this form.
func Compact(f *File) ([]byte, error) {
	c := compact{Release: f.Release, SM: f.SM, Constants: f.Constants(), Literals: f.Literals(), Variables: f.Variables(), Addressed: f.Addressed()}
	seen := map[[sha256.Size]byte]int{}
	for i := range f.Funcs {
		fn := &f.Funcs[i]
		b := body{Code: fn.Code, Lines: f.Lines(fn)}
		key := sha256.Sum256(fmt.Appendf(append([]byte(nil), fn.Code...), "%v", b.Lines))
		n, ok := seen[key]
		if !ok {
			n = len(c.Bodies)
			seen[key] = n
			c.Bodies = append(c.Bodies, b)
		}
		k := kernelData{Banks: f.Banks(fn.Name), Shared: f.SharedSize(fn.Name)}
		k.Base, k.Size, k.Params, k.HasParams = f.Parameters(fn.Name)
		c.Funcs = append(c.Funcs, compactFunc{Name: fn.Name, Body: n, Relocs: f.Relocations(fn), Inner: f.Inner(fn), Kernel: k})
	}
	var out bytes.Buffer
	out.WriteString(compactMagic)
	w, err := flate.NewWriter(&out, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(gob.NewEncoder(w).Encode(&c), w.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// IsCompact reports whether data is the compact form of a cubin.
func IsCompact(data []byte) bool { return bytes.HasPrefix(data, []byte(compactMagic)) }

// ParseCompact reads the compact form. Use it only for data that this program has written
// itself: a gigabyte may be packed into a megabyte.
func ParseCompact(data []byte) (*File, error) {
	if !IsCompact(data) {
		return nil, errors.New("not the compact form of a cubin")
	}
	var c compact
	r := io.LimitReader(flate.NewReader(bytes.NewReader(data[len(compactMagic):])), maxCompact)
	if err := gob.NewDecoder(r).Decode(&c); err != nil {
		return nil, fmt.Errorf("damaged code: %w", err)
	}
	f := &File{Release: c.Release, SM: c.SM, constants: c.Constants, literals: c.Literals, compact: true,
		variables: append([]Variable{}, c.Variables...), addressed: c.Addressed, kernels: map[string]*kernelData{},
		lines: map[int][]Line{}, inner: map[int]map[uint64]string{}, rels: map[int][]Reloc{}}
	for i, fn := range c.Funcs {
		if fn.Body < 0 || fn.Body >= len(c.Bodies) {
			return nil, errors.New("damaged code: a function without a body")
		}
		b := &c.Bodies[fn.Body]
		f.Funcs = append(f.Funcs, Func{Name: fn.Name, Code: b.Code, section: i})
		f.lines[i], f.inner[i], f.rels[i], f.kernels[fn.Name] = b.Lines, fn.Inner, fn.Relocs, &c.Funcs[i].Kernel
	}
	return f, nil
}

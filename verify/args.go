package verify

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"optcheck/emu"
	"optcheck/ir"
	"optcheck/refine"
)

// place is the parameter that an argument gives, where among the bytes of all parameters it is put, and how many bytes it has. NAME+OFFSET is a
// part of a struct: as many bytes as the kernel reads there, those of a pointer for a buffer, else four.
func (o *Options) place(p *ir.Program, a *Arg) (n int, at, size int64, err error) {
	name, offset, part := strings.Cut(a.Name, "+")
	if n = o.paramIndex(p, name); n < 0 {
		return 0, 0, 0, fmt.Errorf("the kernel %s has no parameter %s", p.Kernel, a.Name)
	}
	v := &p.Params[n]
	if !part {
		return n, v.Offset, v.Size, nil
	}
	off, err := strconv.ParseInt(offset, 0, 64)
	if err != nil || off < 0 || off >= v.Size {
		return 0, 0, 0, fmt.Errorf("parameter %s: %s is no offset into its %d bytes", a.Name, offset, v.Size)
	}
	at = v.Offset + off
	if size = refine.ParamReads(p)[at]; a.Buffer {
		size = 8
	}
	if size == 0 {
		size = 4
	}
	if off+size > v.Size {
		return 0, 0, 0, fmt.Errorf("parameter %s: %d bytes at %d are more than its %d bytes", a.Name, size, off, v.Size)
	}
	return n, at, size, nil
}

// boxes are the sizes of boxes of tensors that were given, and those of a choice.
func (o *Options) boxes(p *ir.Program, c choice) map[emu.Place]uint64 {
	out := maps.Clone(c.boxes)
	if out == nil {
		out = map[emu.Place]uint64{}
	}
	for i := range o.Launch.Args {
		a := &o.Launch.Args[i]
		n, offset, _, err := o.place(p, a)
		if a.Tensor == 0 || err != nil {
			continue
		}
		at := emu.Place{Space: ir.Global, Addr: tensorBase + uint64(n)*bufferStep}
		if p.Params[n].Size > 8 {
			at = emu.Place{Space: ir.Param, Addr: uint64(offset)}
		}
		out[at] = uint64(a.Tensor)
	}
	return out
}

// bufferName is what a buffer is called: as a program calls it, else as the parameter that points to it.
func (o *Options) bufferName(p *ir.Program, n int, a *Arg) string {
	if a.Same != "" {
		return a.Same
	}
	_, offset, part := strings.Cut(a.Name, "+")
	if part {
		return parameter(o.param(p, n)) + " + " + offset
	}
	return parameter(o.param(p, n))
}

// parameter is a parameter for people: one that has only a number is called so.
func parameter(name string) string {
	if strings.Trim(name, "0123456789") == "" {
		return "parameter " + name
	}
	return name
}

func (o *Options) paramIndex(p *ir.Program, name string) int {
	for i, v := range p.Params {
		if name == v.Name || name == o.param(p, i) {
			return i
		}
	}
	for i := range p.Params {
		if fmt.Sprint(i) == name {
			return i
		}
	}
	return -1
}

// isGiven reports whether a parameter was given, or each of its parts that the kernel is known to read.
func (o *Options) isGiven(p *ir.Program, i int) bool {
	v, given := &p.Params[i], map[int64]bool{}
	for k := range o.Launch.Args {
		n, at, size, err := o.place(p, &o.Launch.Args[k])
		if err != nil || n != i {
			continue
		}
		if size == v.Size {
			return true
		}
		for b := range size {
			given[at+b] = true
		}
	}
	if len(given) == 0 {
		return false
	}
	known := false
	for at, bytes := range refine.ParamReads(p) {
		for b := range bytes {
			if at < v.Offset || at >= v.Offset+v.Size {
				continue
			}
			if known = true; !given[at+b] {
				return false
			}
		}
	}
	return known
}

// Package drive runs harness kernels on a device: it chooses the numbers of
// CTAs, permutations, layouts and incantations of each launch from a seed,
// packs the kernels' parameters, and turns the bins that the device has counted
// into a histogram of the test's outcomes.
//
// It neither compiles nor validates kernels, and it does not judge outcomes.
package drive

import (
	"context"
	"fmt"
	"slices"

	"optcheck/litmus"
	"optcheck/ptxgen"
	"optcheck/runner"
)

// Program is a harness kernel and the collector, loaded on a device.
type Program struct {
	H       *ptxgen.Harness
	test    runner.Kernel
	collect runner.Kernel
	opencl  bool
	// resident is how many threads of the kernel a multiprocessor holds, 0 if that
	// is not known.
	resident int
}

// Collector is the collector, loaded on a device.
type Collector struct {
	kernel runner.Kernel
	opencl bool
}

// LoadCollector loads the collector: for CUDA from a cubin, for OpenCL from
// source.
func LoadCollector(ctx context.Context, s runner.Session, image runner.Image) (*Collector, error) {
	m, err := s.Load(ctx, image)
	if err != nil {
		return nil, fmt.Errorf("collector: %w", err)
	}
	k, _, err := s.Kernel(ctx, m, ptxgen.CollectName)
	if err != nil {
		return nil, fmt.Errorf("collector: %w", err)
	}
	return &Collector{k, image.Kind == runner.ImageOpenCLC}, nil
}

// Load loads a module that holds the harness kernel of h.
func (c *Collector) Load(ctx context.Context, s runner.Session, h *ptxgen.Harness, image runner.Image) (*Program, error) {
	m, err := s.Load(ctx, image)
	if err != nil {
		return nil, err
	}
	return c.Program(ctx, s, h, m)
}

// Program finds the harness kernel of h in a loaded module, which stays the
// caller's.
func (c *Collector) Program(ctx context.Context, s runner.Session, h *ptxgen.Harness, m runner.Module) (*Program, error) {
	k, info, err := s.Kernel(ctx, m, h.Name)
	if err != nil {
		return nil, err
	}
	return &Program{H: h, test: k, collect: c.kernel, opencl: c.opencl, resident: 128 * info.Resident}, nil
}

// bins is how the outcomes of a test are numbered on the device: each term has
// a list of expected values; outcomes with another value share the last bin.
type bins struct {
	words []binWord
	total int // bins without the last
}

// binWord is a result slot with its expected values.
type binWord struct {
	term, slot int
	high       bool
	values     []uint32
	weight     int
}

// newBins numbers the outcomes. domain lists expected values by term.
func newBins(h *ptxgen.Harness, domain [][]int64) (*bins, error) {
	b := &bins{total: 1}
	for t, src := range h.Terms {
		parts := []binWord{{term: t, slot: src.Slot}}
		if src.Wide {
			parts = append(parts, binWord{term: t, slot: src.Slot + 1, high: true})
		}
		for _, w := range parts {
			for _, v := range domain[t] {
				x := uint32(v)
				if w.high {
					x = uint32(uint64(v) >> 32)
				}
				if !slices.Contains(w.values, x) {
					w.values = append(w.values, x)
				}
			}
			if len(w.values) > ptxgen.MaxTermValues {
				w.values = w.values[:ptxgen.MaxTermValues]
			}
			b.words = append(b.words, w)
		}
	}
	// Too many combinations: the values named last become unexpected ones.
	for b.number() > ptxgen.MaxBins-1 {
		longest := 0
		for i := range b.words {
			if len(b.words[i].values) > len(b.words[longest].values) {
				longest = i
			}
		}
		w := &b.words[longest]
		w.values = w.values[:len(w.values)-1]
	}
	if len(b.words) > ptxgen.SampleWords {
		return nil, fmt.Errorf("%w: more than %d terms", runner.ErrUnsupported, ptxgen.SampleWords)
	}
	return b, nil
}

// number sets the weights and returns the number of bins without the last.
func (b *bins) number() int {
	b.total = 1
	for i := range b.words {
		b.words[i].weight = b.total
		b.total *= max(len(b.words[i].values), 1)
		if b.total > ptxgen.MaxBins {
			break
		}
	}
	return b.total
}

// table is the collector's table.
func (b *bins) table() []byte {
	out := make([]byte, 0, len(b.words)*4*ptxgen.TermWords)
	for _, w := range b.words {
		row := [ptxgen.TermWords]uint32{uint32(w.slot), uint32(len(w.values)), uint32(w.weight)}
		copy(row[3:], w.values)
		for _, x := range row {
			out = append(out, byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
		}
	}
	return out
}

// values are the terms' values of a bin.
func (b *bins) values(h *ptxgen.Harness, bin int) []int64 {
	words := make([]uint32, len(b.words))
	for i, w := range b.words {
		words[i] = w.values[bin/w.weight%len(w.values)]
	}
	return b.join(h, words)
}

// join makes terms of words: 32-bit values are signed, as in tests.
func (b *bins) join(h *ptxgen.Harness, words []uint32) []int64 {
	out := make([]int64, len(h.Terms))
	for i, w := range b.words {
		switch {
		case w.high:
			out[w.term] = int64(uint64(uint32(out[w.term])) | uint64(words[i])<<32)
		default:
			out[w.term] = int64(int32(words[i]))
		}
	}
	return out
}

// Domain lists, for each term of a test, the values that may be expected: those
// given, the likeliest first, then constants of the test and zero. Where values
// are given for many terms, they stand alone.
func Domain(t *litmus.Test, more [][]int64) [][]int64 {
	consts := []int64{0}
	for i := range t.Locations {
		consts = append(consts, t.Locations[i].Init)
	}
	for i := range t.Threads {
		for j := range t.Threads[i].Body {
			in := &t.Threads[i].Body[j]
			for _, o := range in.Src {
				if o.Kind == litmus.OperandConst && (in.Op.IsAccess() || in.Op == litmus.OpMov) {
					consts = append(consts, o.Value)
				}
			}
		}
	}
	out := make([][]int64, len(t.Terms()))
	for i := range out {
		if i < len(more) {
			out[i] = slices.Clone(more[i])
		}
		for _, v := range consts {
			if i >= len(more) || len(more[i]) == 0 || len(out[i]) < 4 && len(out) <= 6 {
				if !slices.Contains(out[i], v) {
					out[i] = append(out[i], v)
				}
			}
		}
	}
	return out
}

package audit

import (
	"crypto/sha256"
	"strings"

	"optcheck/event"
	"optcheck/pipeline"
	"optcheck/ptxgen"
	"optcheck/refine"
)

// kernelSet holds the kernels of an emission, each text once: tests differ in their placement,
// or in other threads, more often than in one thread's code, and compilers take nearly all of
// the time.
type kernelSet struct {
	kernels []distinctKernel
	of      [][]int // kernels of each cell, by thread
	index   map[[sha256.Size]byte]int
}

// distinctKernel is a complete unit of one entry.
type distinctKernel struct {
	name string // of the entry: that of the first test which has it
	text string
}

// user is a cell's thread that uses a unit.
type user struct{ cell, thread int }

// part is the result for one thread of a cell.
type part struct {
	way     pipeline.Way
	code    [16]byte
	result  *checked
	run     *execution        // nil if nobody executes it
	early   []*refine.Finding // by claim of registers in flight, what that changes when it is executed; nil for nothing
	reason  string            // why there is no result
	machine *machineCode      // if artefacts are wanted
	crash   *event.Finding    // what the compiler did instead; nil if it ended well
	// unsupported is set if the release lacks something; otherwise reason says why the thread
	// is unknown.
	unsupported bool
}

// add takes the text of the next cell's unit.
func (s *kernelSet) add(u *ptxgen.Unit, target string) error {
	if s.index == nil {
		s.index = map[[sha256.Size]byte]int{}
	}
	var of []int
	for i := range u.Kernels {
		k := &u.Kernels[i]
		// Each entry gets its own variables: threads are compiled as if alone in any case.
		text := k.Text
		if u.Globals != "" {
			text = strings.ReplaceAll(globals(u, k.Text)+k.Text, u.Name+"_L", k.Name+"_L")
		}
		if u.Program {
			var err error
			if text, k.Lines, err = pipeline.Lined(k.Name, text, u.Version, target); err != nil {
				return err
			}
		}
		key := sha256.Sum256([]byte(strings.ReplaceAll(text, k.Name, "@")))
		d, ok := s.index[key]
		if !ok {
			d = len(s.kernels)
			s.index[key] = d
			s.kernels = append(s.kernels, distinctKernel{k.Name, text})
		}
		of = append(of, d)
		k.Text = ""
	}
	u.Text, u.Globals = "", ""
	s.of = append(s.of, of)
	return nil
}

// filled frees what only add needs.
func (s *kernelSet) filled() { s.index = nil }

// globals returns the declarations of the variables that an entry uses.
func globals(u *ptxgen.Unit, entry string) string {
	var b strings.Builder
	for line := range strings.Lines(u.Globals) {
		begin := strings.Index(line, u.Name+"_L")
		if begin < 0 {
			continue
		}
		name, _, _ := strings.Cut(line[begin:], "[")
		if strings.Contains(entry, name+"]") || strings.Contains(entry, name+";") || strings.Contains(entry, name+"+") {
			b.WriteString(line)
		}
	}
	return b.String()
}

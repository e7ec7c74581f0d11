package reduce

import (
	"slices"

	"optcheck/ptx"
)

// reading is a kernel as a program: statement i is that of the kernel's body.
type reading struct {
	f     *ptx.Func
	label map[string]int
	table map[string][]string
}

// read reads the kernel; nil if it does not parse.
func (k *Kernel) read() *reading {
	m, err := ptx.Parse("k.ptx", []byte(k.String()))
	if err != nil {
		return nil
	}
	f := m.Func(k.name)
	if f == nil || len(f.Body) != len(k.body) {
		return nil
	}
	return readBody(f)
}

func readBody(f *ptx.Func) *reading {
	r := &reading{f: f, label: map[string]int{}, table: map[string][]string{}}
	for i, st := range f.Body {
		switch st.Kind {
		case ptx.StmtLabel:
			r.label[st.Name] = i
		case ptx.StmtTable:
			r.table[st.Name] = st.Labels
		}
	}
	return r
}

// name is the name of a register.
func (r *reading) name(reg int) string { return r.f.Regs[reg].Name }

// next lists the statements that may follow one.
func (r *reading) next(i int) (out []int) {
	in := r.f.Body[i].Inst
	if in == nil {
		return []int{i + 1}
	}
	to := func(l string) {
		if at, ok := r.label[l]; ok {
			out = append(out, at)
		}
	}
	switch in.Name {
	case "bra":
		to(in.Args[0].Name)
	case "brx":
		for _, l := range r.table[in.Args[len(in.Args)-1].Name] {
			to(l)
		}
	case "ret", "exit", "trap":
	default:
		return []int{i + 1}
	}
	if in.Guard >= 0 {
		out = append(out, i+1)
	}
	return out
}

// reached tells which statements control can come to from one.
func (r *reading) reached(from int) []bool {
	seen := make([]bool, len(r.f.Body))
	work := []int{from}
	for len(work) > 0 {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		if i >= len(seen) || seen[i] {
			continue
		}
		seen[i] = true
		work = append(work, r.next(i)...)
	}
	return seen
}

// undefined lists the registers that may be read before they have a value.
func (r *reading) undefined() (out []int) {
	words := (len(r.f.Regs) + 63) / 64
	body := r.f.Body
	in := make([][]uint64, len(body)+1) // what surely has a value before each statement; nil: not reached yet
	in[0] = make([]uint64, words)
	bad := map[int]bool{}
	work := []int{0}
	for len(work) > 0 {
		i := work[0]
		work = work[1:]
		if i >= len(body) {
			continue
		}
		set := slices.Clone(in[i])
		if inst := body[i].Inst; inst != nil && inst.Guard < 0 {
			for _, d := range inst.Defines() {
				set[d/64] |= 1 << (d % 64)
			}
		}
		for _, n := range r.next(i) {
			if in[n] == nil {
				in[n] = slices.Clone(set)
				work = append(work, n)
				continue
			}
			changed := false
			for w := range set {
				if x := in[n][w] & set[w]; x != in[n][w] {
					in[n][w], changed = x, true
				}
			}
			if changed {
				work = append(work, n)
			}
		}
	}
	for i, st := range body {
		if st.Inst == nil || in[i] == nil {
			continue
		}
		for _, u := range st.Inst.Uses() {
			if in[i][u/64]>>(u%64)&1 == 0 && !bad[u] {
				bad[u], out = true, append(out, u)
			}
		}
	}
	return out
}

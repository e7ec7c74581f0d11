package reduce

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"optcheck/ptx"
)

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// idle reports whether an instruction does nothing but give registers values.
func idle(in *ptx.Inst) bool {
	switch e := in.Effect(); e.Kind {
	case ptx.None:
		switch in.Name {
		case "bra", "brx", "ret", "exit", "trap", "brkpt", "nanosleep", "pmevent", "setmaxnreg", "alloca", "stacksave", "stackrestore":
			return false
		}
		return len(in.Defines()) > 0
	case ptx.Load:
		return e.Space == "param" || e.Space == "local" || e.Space == "const"
	}
	return false
}

// tidy removes what has become meaningless after a step: what control does not come to, values
// that nobody uses, jumps to what follows, conditions that are known, unused labels and
// declarations. It returns false if the kernel does not parse.
func (k *Kernel) tidy() bool {
	for {
		r := k.read()
		if r == nil {
			return false
		}
		n, before := len(k.body), k.texts()
		gone := k.useless(r)
		for _, i := range k.fold(r) {
			gone[i] = true
		}
		var body []statement
		for i, s := range k.body {
			if !gone[i] {
				body = append(body, s)
			}
		}
		k.body = body
		if l := len(k.body); l == 0 || k.body[l-1].text != "ret" {
			k.add("ret")
		}
		if len(k.body) == n && k.texts() == before {
			break
		}
	}
	k.undeclare()
	return true
}

func (k *Kernel) texts() string {
	var b strings.Builder
	for _, s := range k.body {
		b.WriteString(s.text + "\n")
	}
	return b.String()
}

// fold drops guards that always hold, and lists the statements whose guards never do.
func (k *Kernel) fold(r *reading) (never []int) {
	known := map[int]string{}
	count := map[int]int{}
	for _, st := range r.f.Body {
		if in := st.Inst; in != nil {
			for _, d := range in.Defines() {
				count[d]++
				if in.Op == "mov.pred" && in.Guard < 0 && len(in.Args) == 2 && in.Args[1].Kind == ptx.Imm {
					known[d] = map[bool]string{true: "1", false: "0"}[in.Args[1].Value != 0]
				}
			}
		}
	}
	for i, st := range r.f.Body {
		in := st.Inst
		if in == nil || in.Guard < 0 || known[in.Guard] == "" || count[in.Guard] != 1 {
			continue
		}
		if (known[in.Guard] == "1") == in.Neg {
			never = append(never, i)
			continue
		}
		_, k.body[i].text, _ = strings.Cut(k.body[i].text, " ")
	}
	return never
}

// useless tells which statements can go.
func (k *Kernel) useless(r *reading) []bool {
	gone, reached := make([]bool, len(k.body)), r.reached(0)
	uses, targets := map[int]bool{}, map[string]bool{}
	for i, st := range r.f.Body {
		if in := st.Inst; in != nil && reached[i] {
			own := map[int]bool{}
			for _, d := range in.Defines() {
				own[d] = idle(in)
			}
			for _, u := range in.Uses() {
				uses[u] = uses[u] || !own[u]
			}
			for _, a := range in.Args {
				targets[a.Name] = true
			}
		}
	}
	for _, list := range r.table {
		for _, l := range list {
			targets[l] = true
		}
	}
	for i, st := range r.f.Body {
		in := st.Inst
		switch {
		case in == nil:
			gone[i] = !targets[st.Name]
		case !reached[i]:
			gone[i] = true
		case idle(in):
			gone[i] = !slices.ContainsFunc(in.Defines(), func(d int) bool { return uses[d] })
		case in.Name == "bra":
			to := r.label[in.Args[0].Name]
			gone[i] = to > i && !slices.ContainsFunc(r.f.Body[i+1:to], func(st ptx.Stmt) bool { return st.Inst != nil })
		}
	}
	return gone
}

// undeclare drops declarations of what nobody names.
func (k *Kernel) undeclare() {
	named := map[string]bool{}
	note := func(text string) {
		for _, w := range nameWord.FindAllString(text, -1) {
			named[w] = true
		}
	}
	for _, s := range k.body {
		note(s.text)
	}
	unused := func(d declaration) bool {
		return !slices.ContainsFunc(d.names, func(n string) bool { return named[n] })
	}
	k.params = slices.DeleteFunc(k.params, unused)
	k.vars = slices.DeleteFunc(slices.Clone(k.vars), unused)
	for range k.globals { // what is named by what is named
		for _, d := range k.globals {
			if !unused(d) {
				note(d.text)
			}
		}
	}
	k.globals = slices.DeleteFunc(k.globals, unused)
}

// flaws are what a kernel is not to have, unless it came with it: registers that may be read
// before they have a value, and addresses that are numbers.
type flaws map[string]bool

func (k *Kernel) flaws() flaws {
	out := flaws{}
	r := k.read()
	if r == nil {
		return flaws{"does not parse": true}
	}
	for _, reg := range r.undefined() {
		out[r.name(reg)] = true
	}
	for _, st := range r.f.Body {
		if st.Inst == nil {
			continue
		}
		for _, a := range st.Inst.Args {
			if a.Kind == ptx.Mem && a.Elems[0].Kind == ptx.Imm {
				out["a number as address"] = true
			}
		}
	}
	return out
}

// fresh lists the flaws that the kernel did not come with.
func (k *Kernel) fresh() (out []string) {
	for f := range k.flaws() {
		if !k.allowed[f] {
			out = append(out, f)
		}
	}
	slices.Sort(out)
	return out
}

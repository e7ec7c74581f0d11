package values

import (
	"regexp"
	"slices"
)

var (
	reads  = regexp.MustCompile(`\b(ld|ldu|atom)\.(global|shared|local)\b`)
	stores = regexp.MustCompile(`\b(st|red|atom|call|bar)\b`)
)

// Slice is the kernel without the statements that the values of a store of its end do not depend on: it finds the store by its
// text. Memory tells whether statements that store are kept as well, as long as a kept one loads. What the rest computes
// is stored, too. The kernel is nil if there is no such store.
func (k *Kernel) Slice(store string, memory bool) *Kernel {
	at := slices.IndexFunc(k.Final, func(s *Stmt) bool { return slices.Contains(s.Lines, store) })
	if at < 0 {
		return nil
	}
	need := map[string]bool{}
	for _, line := range k.Final[at].Lines {
		for _, r := range register.FindAllString(line, -1) {
			need[r] = true
		}
	}
	out := *k
	out.Body = nil
	loads := false
	for _, s := range slices.Backward(k.Body) {
		dst, src, does := s.flow()
		if !slices.ContainsFunc(dst, func(r string) bool { return need[r] }) && !(memory && loads && does) {
			continue
		}
		for _, line := range s.all() {
			loads = loads || reads.MatchString(line)
		}
		if s.pure() && !slices.ContainsFunc(s.Lines, guarded) {
			for _, r := range dst {
				delete(need, r)
			}
		}
		for _, r := range src {
			need[r] = true
		}
		out.Body = append(out.Body, s)
	}
	slices.Reverse(out.Body)
	out.Final = slices.DeleteFunc(slices.Clone(k.Final), func(s *Stmt) bool { return s != k.Final[at] && !writesOne(out.Body, s) })
	return &out
}

// flow are the registers that a statement writes and reads, and whether it stores.
func (s *Stmt) flow() (dst, src []string, does bool) {
	for _, line := range s.all() {
		d, r := split(line)
		dst, src = append(dst, d...), append(src, r...)
		if guarded(line) {
			dst = append(dst, r...)
		}
		does = does || stores.MatchString(line)
	}
	return dst, src, does
}

// guarded reports whether a line need not be performed.
func guarded(line string) bool { return line[0] == '@' }

// writesOne reports whether statements write a register that another one reads.
func writesOne(list []*Stmt, s *Stmt) bool {
	_, src, _ := s.flow()
	return slices.ContainsFunc(list, func(x *Stmt) bool {
		dst, _, _ := x.flow()
		return slices.ContainsFunc(dst, func(r string) bool { return slices.Contains(src, r) })
	})
}

// Ops are the names of the instructions of the statements that compute, each once.
func (k *Kernel) Ops() (out []string) {
	add := func(s *Stmt) {
		for _, line := range slices.Concat(s.Lines, s.Mid, s.End) {
			if op := opOf(line); op != "" && !slices.Contains(out, op) {
				out = append(out, op)
			}
		}
	}
	for _, f := range k.Funcs {
		if k.calls(f) {
			each(f.Body, add)
		}
	}
	each(k.Body, add)
	slices.Sort(out)
	return out
}

// calls reports whether a function is called.
func (k *Kernel) calls(f *Func) bool {
	return slices.ContainsFunc(k.Body, func(s *Stmt) bool {
		return slices.ContainsFunc(s.all(), func(l string) bool { return callOf(l) == f.Name })
	})
}

var (
	opcode = regexp.MustCompile(`^(?:@!?%[a-z0-9]+ )?([a-z][a-z0-9_]*(?:[.:]+[a-z0-9_]+)*) `)
	callee = regexp.MustCompile(`^call \([^)]*\), ([^,]+),`)
)

func opOf(line string) string {
	if m := opcode.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	return ""
}

func callOf(line string) string {
	if m := callee.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	return ""
}

// Without is the kernel without the plain statements that have one of some instructions.
func (k *Kernel) Without(ops ...string) *Kernel {
	var edits []Edit
	drop := func(s *Stmt) {
		if !s.block() && slices.ContainsFunc(s.Lines, func(l string) bool { return slices.Contains(ops, opOf(l)) }) {
			edits = append(edits, Edit{stmt: s, kind: Remove})
		}
	}
	for _, f := range k.Funcs {
		each(f.Body, drop)
	}
	each(k.Body, drop)
	return k.Apply(edits)
}

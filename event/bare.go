package event

import "strings"

// Bare returns the listing of a thread without numbers of registers and control codes, so that code is
// equal that differs in their allocation alone.
func (t ThreadListing) Bare() ThreadListing {
	machine := make([]Line, len(t.Machine))
	for i, l := range t.Machine {
		l.Text, l.Control, l.At = bareText(l.Text), "", 0
		machine[i] = l
	}
	t.Machine = machine
	return t
}

// registerFiles are how registers are spelled before their number: NVIDIA's general,
// uniform, predicate and barrier registers, AMD's vector and scalar ones.
var registerFiles = []string{"R", "UR", "P", "UP", "B", "SB", "v", "s", "a", "T", "KC"}

// bareText leaves the numbers of registers out of an instruction: R12 is R, v[2:3] is v.
func bareText(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if !letter(s[i]) {
			b.WriteByte(s[i])
			i++
			continue
		}
		j := i
		for j < len(s) && letter(s[j]) {
			j++
		}
		word := s[i:j]
		b.WriteString(word)
		i = j
		for _, f := range registerFiles {
			if word == f {
				i = afterNumber(s, j)
			}
		}
		for i == j && i < len(s) && (letter(s[i]) || s[i] >= '0' && s[i] <= '9') {
			b.WriteByte(s[i]) // the rest of a longer word
			i++
			j = i
		}
	}
	return b.String()
}

// afterNumber is after a number or a range in brackets that begins at i; i if there is none.
func afterNumber(s string, i int) int {
	number := func(k int) int {
		for k < len(s) && s[k] >= '0' && s[k] <= '9' {
			k++
		}
		return k
	}
	if k := number(i); k > i {
		if k < len(s) && letter(s[k]) {
			return i
		}
		return k
	}
	if i < len(s) && s[i] == '[' {
		k := number(i + 1)
		if k > i+1 && k < len(s) && s[k] == ':' {
			if e := number(k + 1); e > k+1 && e < len(s) && s[e] == ']' {
				return e + 1
			}
		}
	}
	return i
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }

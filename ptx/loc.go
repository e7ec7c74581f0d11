package ptx

import (
	"regexp"
	"strconv"
	"strings"
)

// Loc is a place in what the PTX was made of: that of .loc. It is the zero value where the
// PTX does not say it.
type Loc struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Col  int    `json:"col"`
}

// locs gathers .file and .loc of a module. Code that was inlined counts as the place
// that it was inlined at.
type locs struct {
	files   map[int]string
	inlined map[locKey]locKey
	now     locKey
	of      map[*Inst]locKey
}

type locKey struct{ file, line, col int }

var (
	fileLine = regexp.MustCompile(`^\.file\s+(\d+)\s+"([^"]*)"`)
	locLine  = regexp.MustCompile(`^\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:.*\binlined_at\s+(\d+)\s+(\d+)\s+(\d+))?`)
)

// read takes a directive in.
func (s *locs) read(text string) {
	num := func(s string) int { n, _ := strconv.Atoi(s); return n } // digits
	if m := fileLine.FindStringSubmatch(text); m != nil {
		s.files[num(m[1])] = m[2]
	} else if m := locLine.FindStringSubmatch(text); m != nil {
		s.now = locKey{num(m[1]), num(m[2]), num(m[3])}
		delete(s.inlined, s.now)
		if m[4] != "" {
			s.inlined[s.now] = locKey{num(m[4]), num(m[5]), num(m[6])}
		}
	}
}

// at notes that an instruction is at the latest place. The chain of calls is followed
// now: a later .loc of the same place may be of another call.
func (s *locs) at(in *Inst) {
	k := s.now
	for range len(s.inlined) {
		up, ok := s.inlined[k]
		if !ok {
			break
		}
		k = up
	}
	if k.line > 0 {
		s.of[in] = k
	}
}

// resolve gives the instructions their places; files may stand behind the code.
func (s *locs) resolve() {
	for in, k := range s.of {
		if name := s.files[k.file]; name != "" {
			in.Loc = Loc{strings.TrimSpace(name), k.line, k.col}
		}
	}
}

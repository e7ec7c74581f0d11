package audit

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"

	"optcheck/isa"
	"optcheck/optcheck"
	"optcheck/sass/hazard"
	"optcheck/spec"
)

// checkCache remembers results by machine code: identical code is checked once.
type checkCache struct {
	mu   sync.Mutex
	seen *generations[cacheKey, *checked]
	// lifted holds each lifted code once: different machine code often lifts to the same. words
	// holds each text once: most lines occur in many listings.
	lifted *generations[string, optcheck.LiftedCode]
	words  *generations[string, string]
}

// checked is the result for one piece of machine code. It refers to no disassembly: one line
// would keep all of it in memory.
type checked struct {
	*optcheck.Result
	code    spec.CodeKey        // the code that was compared with
	look    [16]byte            // hash of its listing without registers
	lifted  optcheck.LiftedCode // nil if not wanted, or if liftErr is set
	liftErr error
	// machine is the code as operations of its hardware, if that was wanted.
	machine    optcheck.LiftedCode
	machineErr error
	hazards    hazard.Verdict
	// unsettled tells that all that the registers in flight can take away are dependencies: lifted is without them.
	unsettled bool
}

// lifting selects the forms into which machine code is lifted.
type lifting uint8

const (
	liftNothing lifting = iota
	liftTest            // those that a verdict needs
	liftMachine         // and operations of the hardware
)

type cacheKey struct {
	code  [16]byte
	lines uint64
	arch  string
	names string
	lits  string // the words of constant bank 2
	// controls is the hash of the control codes.
	controls uint64
}

// Limits of what is remembered. Equal code is found close together: in the layouts, levels and
// targets of a few tests.
const (
	checkedBytes = 40 << 20
	liftedBytes  = 8 << 20
	wordsBytes   = 4 << 20
)

func newCheckCache() *checkCache {
	return &checkCache{seen: newGenerations[cacheKey, *checked](checkedBytes),
		lifted: newGenerations[string, optcheck.LiftedCode](liftedBytes),
		words:  newGenerations[string, string](wordsBytes)}
}

// check checks a kernel against the specification that it carries, which must be the one that
// was emitted, and lifts it if requested.
func (cc *checkCache) check(c *optcheck.Checker, fn *isa.Func, code [16]byte, want *spec.Spec, names []string, lift lifting) *checked {
	k := cacheKey{code: code, lines: optcheck.LineHash(fn), arch: fn.Arch, names: strings.Join(names, ","), controls: optcheck.ControlHash(fn)}
	if len(c.Literals) > 0 {
		k.lits = fmt.Sprint(c.Literals)
	}
	cc.mu.Lock()
	r, _ := cc.seen.get(k)
	cc.mu.Unlock()
	if r != nil && r.Spec != nil && r.Spec.Equal(want) && r.code == want.Code.Key() {
		return r
	}
	res, err := c.CheckAgainst(fn, want)
	if err != nil {
		res.Class, res.Reason = optcheck.Unknown, err.Error()
	}
	r = &checked{Result: res.Result, code: want.Code.Key()}
	r.hazards = hazard.Judge(fn)
	if lift != liftNothing && res.Class != optcheck.Unknown {
		r.lifted, r.liftErr = res.Lift()
	}
	if lift == liftMachine && res.Class != optcheck.Unknown {
		r.machine, r.machineErr = res.LiftMachine()
	}
	if u := unsettled(fn, r.hazards.Claims); len(u) > 0 && r.lifted != nil {
		loose := *c
		loose.Unsettled = u
		if res, err := loose.CheckAgainst(fn, want); err == nil && !res.Wild() {
			r.unsettled = true
			r.lifted, r.liftErr = res.Lift()
			res.Release()
		}
	}
	res.Release()
	cc.mu.Lock()
	defer cc.mu.Unlock()
	cc.own(r)
	r.look = lookOf(r.Result)
	if l := r.lifted; l != nil {
		if old, ok := cc.lifted.get(l.Key()); ok {
			r.lifted = old
		} else {
			cc.lifted.put(l.Key(), l, len(l.Key())+l.Size())
		}
	}
	k.arch, k.names = cc.word(k.arch), cc.word(k.names)
	cc.seen.put(k, r, r.size()+len(k.lits))
	return r
}

// lookOf returns the hash of a result's listing without registers.
func lookOf(r *optcheck.Result) (sum [16]byte) {
	t := threadListing(r, nil).Bare()
	h := sha256.Sum256(fmt.Append(nil, t))
	copy(sum[:], h[:])
	return sum
}

// own replaces the texts of a result, which point into the disassembly, by copies.
func (cc *checkCache) own(r *checked) {
	r.Func, r.Reason = strings.Clone(r.Func), strings.Clone(r.Reason)
	for _, lines := range [][]optcheck.Line{r.Source, r.Machine} {
		for i := range lines {
			lines[i].Text = cc.word(lines[i].Text)
		}
	}
	for _, fs := range [][]optcheck.Finding{r.Findings, r.Notes} {
		for i := range fs {
			fs[i].Detail = cc.word(fs[i].Detail)
		}
	}
	if l, ok := r.lifted.(*optcheck.Lifted); ok {
		for i, x := range l.Extra {
			l.Extra[i] = cc.word(x)
		}
	}
	var e *optcheck.LiftError
	if errors.As(r.liftErr, &e) {
		e.Text = strings.Clone(e.Text)
	}
}

// word returns a copy of a text, the same one for equal texts.
func (cc *checkCache) word(s string) string {
	w, ok := cc.words.get(s)
	if !ok {
		w = strings.Clone(s)
		cc.words.put(w, w, len(w)+wordSize)
	}
	return w
}

// Approximate sizes of the parts of a result in bytes, including pointers to them.
const (
	checkedSize = 600 // and its key
	lineSize    = 40
	findingSize = 100
	claimSize   = 4000 // with the code around it
	entrySize   = 72
	depSize     = 32
	wordSize    = 80
)

// size returns the approximate size of a result in memory, without what it shares.
func (r *checked) size() int {
	n := checkedSize + lineSize*(len(r.Source)+len(r.Machine)) + findingSize*(len(r.Findings)+len(r.Notes)) + claimSize*len(r.hazards.Claims) + len(r.Reason)
	if s := r.Spec; s != nil {
		n += entrySize*len(s.Entries) + depSize*len(s.Deps)
	}
	return n
}

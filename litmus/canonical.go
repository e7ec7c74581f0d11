package litmus

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Canonical returns the test with everything in a fixed form that Hash ignores and that could
// affect a kernel, an outcome's explanation or a message: the order of locations
// (CompareLocations) and of registers (by name), the spelling of the global state space, the
// threads' names and the numbers of places. Tests with the same hash have the same canonical
// form, except for name, doc string, Key=Value lines and positions. Whatever is made from a
// test, and kept under its hash, must be made from this form.
//
// A test that is already canonical is returned itself. Otherwise the result shares the threads'
// instructions with t: neither must be changed.
func (t *Test) Canonical() *Test {
	if t.canonical() {
		return t
	}
	c := *t
	c.Locations, c.Threads = slices.Clone(t.Locations), slices.Clone(t.Threads)
	c.sortLocations()
	for i := range c.Locations {
		if c.Locations[i].Space == Generic {
			c.Locations[i].Space = Global
		}
	}
	for i := range c.Threads {
		th := &c.Threads[i]
		th.Name, th.ID = t.threadName(i), i
		th.Regs = slices.Clone(th.Regs)
		slices.SortStableFunc(th.Regs, byRegister)
		if !th.Placed {
			th.Place = Place{}
		}
	}
	canonicalPlaces(c.Threads)
	return &c
}

// canonical reports whether Canonical has nothing to do.
func (t *Test) canonical() bool {
	if !t.LocationsSorted() {
		return false
	}
	for i := range t.Locations {
		if t.Locations[i].Space == Generic {
			return false
		}
	}
	for i := range t.Threads {
		th := &t.Threads[i]
		if th.ID != i || th.Name != t.threadName(i) || !slices.IsSortedFunc(th.Regs, byRegister) || !th.Placed && th.Place != (Place{}) {
			return false
		}
	}
	threads := slices.Clone(t.Threads)
	canonicalPlaces(threads)
	return slices.EqualFunc(threads, t.Threads, func(a, b Thread) bool { return a.Place == b.Place })
}

func byRegister(a, b RegDecl) int { return strings.Compare(a.Name, b.Name) }

// threadName returns the dialect's conventional name of thread i.
func (t *Test) threadName(i int) string {
	if t.Dialect == PTX {
		return "P" + strconv.Itoa(i)
	}
	return "T" + strconv.Itoa(i)
}

// sortLocations sorts the locations by CompareLocations.
func (t *Test) sortLocations() {
	slices.SortStableFunc(t.Locations, func(a, b Location) int { return CompareLocations(a.Name, b.Name) })
}

// LocationsSorted reports whether the locations are in the order of CompareLocations, as in
// tests that were parsed.
func (t *Test) LocationsSorted() bool {
	return slices.IsSortedFunc(t.Locations, func(a, b Location) int { return CompareLocations(a.Name, b.Name) })
}

// letters is the order of the letters in names of locations: first those of locks and mutexes,
// then x, y, z, then the rest of the alphabet.
const letters = "lmxyzabcdefghijknopqrstuvw"

// CompareLocations orders the names of locations; the result is negative if a comes first. The
// order numbers locations wherever a number stands for one: parameters, symbols, offsets,
// markers. Any fixed order would do; this one is the order in which tests are commonly written
// (m, x, y, z, a, b, …), so that it changes as few kernels as possible. It is lexicographic,
// with the alphabet of letters; all other bytes come before them.
func CompareLocations(a, b string) int {
	for i := range min(len(a), len(b)) {
		if c := cmp.Compare(letter(a[i]), letter(b[i])); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// letter returns the rank of a byte of a name.
func letter(c byte) int {
	if i := strings.IndexByte(letters, c); i >= 0 {
		return 256 + i
	}
	return int(c)
}

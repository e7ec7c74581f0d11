package litmus

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// Hash returns a stable hash of the meaning of the test: 32 hexadecimal digits. It does not
// depend on name, doc string, Key=Value lines, comments, white space, the threads' names, the
// numbers of places, or the order of declarations; everything else counts, including the
// condition and the dialect. What is made from a test and kept under its hash is made from its
// Canonical form.
func (t *Test) Hash() string {
	c := *t
	c.Name, c.Doc, c.Meta = "", "", nil
	c.Locations, c.Threads = slices.Clone(t.Locations), slices.Clone(t.Threads)
	byName := func(a, b Location) int { return strings.Compare(a.Name, b.Name) }
	slices.SortStableFunc(c.Locations, byName)
	for i := range c.Locations {
		if c.Locations[i].Space == Generic {
			c.Locations[i].Space = Global
		}
	}
	for i := range c.Threads {
		th := &c.Threads[i]
		th.Name, th.ID = "P"+strconv.Itoa(i), i
		th.Regs = slices.Clone(th.Regs)
		slices.SortStableFunc(th.Regs, func(a, b RegDecl) int { return strings.Compare(a.Name, b.Name) })
	}
	// Without numbers, a CTA that is alone in its cluster is the same whether or not the test
	// mentions clusters.
	canonicalPlaces(c.Threads)
	sum := sha256.Sum256(c.Append(make([]byte, 0, 1024)))
	return hex.EncodeToString(sum[:16])
}

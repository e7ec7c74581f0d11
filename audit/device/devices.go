package device

import (
	"context"
	"strconv"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/ptxgen"
	"optcheck/runner/drive"
)

// Divide returns the ways to place the CTAs of tests on several devices, each once: some
// tests name devices themselves. parent says which test each was made of.
func Divide(tests []*litmus.Test, devices int) (divided []*litmus.Test, parent map[*litmus.Test]*litmus.Test) {
	parent = map[*litmus.Test]*litmus.Test{}
	seen := map[string]bool{}
	for _, t := range tests {
		for d := range drive.Divide(t, devices) {
			h := d.Canonical().Hash()
			if seen[h] {
				continue
			}
			seen[h] = true
			divided = append(divided, d)
			if d != t {
				parent[d] = t
			}
		}
	}
	return divided, parent
}

// alone is what the machine's own model says of a divided test's condition where all
// its threads are on one device; "" for other tests.
func (c *series) alone(ctx context.Context, t *litmus.Test) string {
	p := c.o.Parents[t]
	if p == nil {
		return ""
	}
	return c.o.Judge.First(ctx, p)
}

// First is what the machine's own model says of the condition of a test.
func (j *Judge) First(ctx context.Context, t *litmus.Test) string {
	own := &Judge{models: j.models[:1]}
	return own.Test(ctx, t).cond[0]
}

// homes are the placements of a part's locations that a setting asks for; nil is one
// device.
func (c *series) homes(x *part, set drive.Setting) ([][]int, error) {
	if set.Form != ptxgen.FormDevices {
		return [][]int{nil}, nil
	}
	return drive.Homes(set.Place, x.bin.Harness, len(c.o.Session.Devices()))
}

// placed is the part of a setting's name that says on which devices locations lie: /01.
func placed(homes []int) (name string) {
	if homes != nil {
		name = "/"
	}
	for _, d := range homes {
		name += strconv.Itoa(d)
	}
	return name
}

// place notes where the threads and locations of a run are.
func (c *series) place(r *Result, x *part, homes []int) {
	if homes == nil {
		return
	}
	h := x.bin.Harness
	p := &event.Placement{Locations: map[string]int{}, OneDevice: x.alone}
	for _, d := range c.o.Session.Devices() {
		p.Devices = append(p.Devices, TestedDevice(d))
	}
	perUnit := h.Shape.Ranks * h.Shape.Warps * h.Shape.Lanes
	for _, role := range h.Shape.Roles {
		p.Threads = append(p.Threads, h.Shape.Devices[role/perUnit])
	}
	r.Setting += placed(homes)
	for i, d := range homes {
		p.Locations[h.Test.Locations[i].Name] = d
	}
	r.Placement = p
}

package match

import "fmt"

// conditions determines for each access whether some path avoids it, and what decides that.
func (r *reader) conditions() error {
	end := len(r.blocks)
	for i := range r.blocks {
		b := &r.blocks[i]
		if b.falls {
			b.next = append(b.next, i+1)
		}
		for _, l := range b.jumps {
			to, ok := end, true
			if l != "" {
				to, ok = r.labels[l]
			}
			if !ok {
				return fmt.Errorf("entry %s: no label %q", r.f.Name, l)
			}
			b.next = append(b.next, to)
		}
	}
	reach := make([][]bool, end+1) // from each block and the end
	for i := range reach {
		reach[i] = r.reached(i, -1)
	}
	type answer struct {
		maybe bool
		cond  []int
	}
	known := map[int]answer{}
	for i := range r.acc {
		a := &r.acc[i]
		x, ok := known[a.block]
		if !ok {
			x.maybe, x.cond = r.decides(a.block, reach)
			known[a.block] = x
		}
		a.maybe = a.maybe || x.maybe
		a.cond = union(x.cond, a.guard)
	}
	return nil
}

// decides reports whether the end can be reached without a block, and what decides that: the
// conditions of branches of which one way leads to the block and the other may avoid it.
func (r *reader) decides(at int, reach [][]bool) (maybe bool, cond []int) {
	end := len(r.blocks)
	maybe = at != 0 && r.reached(0, at)[end]
	for i := range r.blocks {
		b := &r.blocks[i]
		if !b.decided || !reach[0][i] {
			continue
		}
		leads, passes := false, false
		for _, n := range b.next {
			leads = leads || reach[n][at]
			passes = passes || n != at && r.reached(n, at)[end]
		}
		if leads && passes {
			cond = union(cond, b.cond)
		}
	}
	return maybe, cond
}

// reached lists the blocks that can be reached from a block without entering
// another one.
func (r *reader) reached(from, without int) []bool {
	end := len(r.blocks)
	seen := make([]bool, end+1)
	if from == without {
		return seen
	}
	seen[from] = true
	for todo := []int{from}; len(todo) > 0; {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if i == end {
			continue
		}
		for _, n := range r.blocks[i].next {
			if n != without && !seen[n] {
				seen[n] = true
				todo = append(todo, n)
			}
		}
	}
	return seen
}

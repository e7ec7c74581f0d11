package spec

import "optcheck/litmus"

// Lines lists for each thread of a test the line of each access and fence in
// the text that the test was read from, by position as in Entry.Pos. A thread
// without a specification has none; an instruction that was not read from a
// text has line 0.
func Lines(t *litmus.Test) [][]int {
	all := make([][]int, len(t.Threads))
	for i := range t.Threads {
		s, err := FromTest(t, i, Pointers)
		if err != nil {
			continue
		}
		lines := make([]int, len(s.Entries))
		for _, e := range s.Entries {
			lines[e.Pos] = t.Threads[i].Body[e.Instr].Pos.Line
		}
		all[i] = lines
	}
	return all
}

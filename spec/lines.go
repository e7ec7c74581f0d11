package spec

import "optcheck/litmus"

// Lines returns, for each thread of a test, the line and the column of each access and fence in
// the text that the test was read from, by position as in Entry.Pos. A thread without a
// specification has none; an instruction that was not read from a text has line 0.
func Lines(t *litmus.Test) (lines, columns [][]int) {
	lines, columns = make([][]int, len(t.Threads)), make([][]int, len(t.Threads))
	for i := range t.Threads {
		s, err := FromTest(t, i, Pointers)
		if err != nil {
			continue
		}
		th, _, _ := t.Threads[i].Unrolled() // FromTest has checked it
		lines[i], columns[i] = make([]int, len(s.Entries)), make([]int, len(s.Entries))
		for _, e := range s.Entries {
			pos := th.Body[e.Instr].Pos
			lines[i][e.Pos], columns[i][e.Pos] = pos.Line, pos.Col
		}
	}
	return lines, columns
}

package verify

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/emu"
	"optcheck/ir"
	"optcheck/litmus"
	"optcheck/model"
)

// maxWitnesses bounds the races of a kernel whose execution is recorded, maxRecorded the operations of a thread that are shown.
const (
	maxWitnesses = 8
	maxRecorded  = 5
)

// made says which run showed a finding, and by which lanes.
type made struct {
	input, schedule int
	with            choice
	by              [2]id
}

// operation is what a thread of a race did.
type operation struct {
	pc   int32
	text string
	bar  string // the barrier and how often the thread has come to it
	from int    // the operation of the other thread that it reads from, -1
	at   int    // its number among those of both threads
}

// writer is who wrote a word last: one of the threads of a race, or -1, and its operation.
type writer struct{ thread, op int }

// recorder keeps what two threads do to memory that orders it, until they race.
type recorder struct {
	*monitor
	by    [2]id
	key   findingKey
	ops   [2][]operation
	last  map[emu.Word]writer
	times map[string]int
	count int
}

// witnesses runs those runs again that showed races, and keeps of each what its threads did.
func (o *Options) witnesses(p *ir.Program, lines Lines, r *Result) {
	left := maxWitnesses
	for _, f := range r.Found {
		if f.Rule != DataRace || left == 0 {
			continue
		}
		left--
		if f.Execution = o.witness(p, lines, f); f.Execution != nil {
			f.Record = f.Execution.Text()
		}
	}
}

// witness is the execution of a race: what its two threads did; nil if the run does not show it again.
func (o *Options) witness(p *ir.Program, lines Lines, f *Finding) *model.Execution {
	rec := &recorder{by: f.made.by, last: map[emu.Word]writer{}, times: map[string]int{}}
	rec.key = findingKey{DataRace, int32(min(f.First.Inst, f.Second.Inst)), int32(max(f.First.Inst, f.Second.Inst)), ""}
	again := *o
	again.watch = func(m *monitor) {
		rec.monitor = m
		m.grid.Through(rec)
	}
	if _, err := again.once(p, lines, f.made.input, f.made.schedule, f.made.with, false); err != nil || rec.found.of[rec.key] == nil {
		return nil
	}
	return rec.execution(p, f)
}

// over reports whether the race has been noted.
func (r *recorder) over() bool { return r.found.of[r.key] != nil }

// who is the number of the thread of the race that a lane is, or -1.
func (r *recorder) who(w *emu.Warp, lane int) int {
	by := r.id(w, lane)
	return slices.Index(r.by[:], by)
}

// add keeps an operation of a lane; of a loop that waits, the last iteration.
func (r *recorder) add(t int, pc int32, op operation) {
	op.pc, op.at = pc, r.count
	r.count++
	list := r.ops[t]
	if n := len(list); n > 0 && list[n-1].pc == pc {
		list = list[:n-1]
	}
	r.ops[t] = append(list, op)
}

// racing reports whether an instruction is one of the race.
func (r *recorder) racing(pc int32) bool { return pc == r.key.a || pc == r.key.b }

// Access keeps accesses that order others, and those that race.
func (r *recorder) Access(w *emu.Warp, pc int32, a *ir.Access, act uint32, at *[emu.Lanes]emu.Place) error {
	if r.over() {
		return r.monitor.Access(w, pc, a, act, at)
	}
	err := r.monitor.Access(w, pc, a, act, at)
	lanes(act, func(l int) {
		t, word, by := r.who(w, l), emu.WordOf(at[l], r.block(w)), writer{-1, 0}
		from, heard := r.last[word]
		if t >= 0 && (a.Sem != ir.Weak || a.Mbarrier || r.racing(pc)) {
			o := operation{text: r.does(w, a, at[l]), from: -1}
			if v, old := r.old.read(l); old {
				o.text = fmt.Sprintf("R %s=%#x, overwritten", r.layout.short(at[l]), v)
			} else if heard && a.Kind != ir.Store && from.thread == 1-t {
				o.from = from.op
			}
			by = writer{t, r.count}
			r.add(t, pc, o)
		}
		if a.Kind != ir.Load {
			r.last[word] = by
		}
	})
	return err
}

// does is what a lane reads or writes, such as "W sum+4=1".
func (r *recorder) does(w *emu.Warp, a *ir.Access, p emu.Place) string {
	kind := map[ir.AccessKind]string{ir.Load: "R", ir.Store: "W", ir.Atomic: "RMW"}[a.Kind]
	return fmt.Sprintf("%s %s=%#x", kind, r.layout.short(p), r.grid.Memory.Now(emu.WordOf(p, r.block(w)), emu.Integer))
}

// Fence keeps fences.
func (r *recorder) Fence(w *emu.Warp, pc int32, f *ir.Fence, act uint32) error {
	r.each(w, pc, act, operation{text: "fence", from: -1})
	return r.monitor.Fence(w, pc, f, act)
}

// Barrier keeps arrivals at barriers.
func (r *recorder) Barrier(w *emu.Warp, pc int32, b *ir.Barrier, act uint32) (bool, error) {
	r.each(w, pc, act, operation{text: "barrier", from: -1, bar: "barrier"})
	return r.monitor.Barrier(w, pc, b, act)
}

// WarpBarrier keeps barriers of the warp.
func (r *recorder) WarpBarrier(w *emu.Warp, pc int32, b *ir.Barrier, act uint32) error {
	r.each(w, pc, act, operation{text: "barrier of the warp", from: -1, bar: "warp"})
	return r.monitor.WarpBarrier(w, pc, b, act)
}

// Copy keeps asynchronous copies and what waits for them.
func (r *recorder) Copy(w *emu.Warp, pc int32, c *ir.Copy, act uint32, to, from *[emu.Lanes]emu.Place) error {
	if !r.over() {
		text := map[ir.CopyKind]string{ir.CopyAsync: "copy", ir.CopyBulk: "bulk copy", ir.CopyCommit: "commit", ir.CopyStore: "asynchronous store",
			ir.CopyReduce: "asynchronous reduction", ir.CopyProduct: "matrix product", ir.CopyProductFence: "fence of registers"}[c.Kind]
		if text == "" {
			text = "wait for copies"
		}
		r.each(w, pc, act, operation{text: text, from: -1})
	}
	return r.monitor.Copy(w, pc, c, act, to, from)
}

func (r *recorder) each(w *emu.Warp, pc int32, act uint32, op operation) {
	if r.over() {
		return
	}
	lanes(act, func(l int) {
		if t, op := r.who(w, l), op; t >= 0 {
			if op.bar != "" {
				k := fmt.Sprintf("%s of thread %d", op.bar, t)
				r.times[k]++
				op.bar = fmt.Sprintf("%s %d", op.bar, r.times[k])
			}
			r.add(t, pc, op)
		}
	})
}

// shown are the operations of a thread around its part of the race: of the first one those behind it, of the second those before it.
func (r *recorder) shown(t int, inst int32) []operation {
	list := r.ops[t]
	if t == 1 {
		return list[max(0, len(list)-maxRecorded):]
	}
	i := max(0, slices.IndexFunc(list, func(o operation) bool { return o.pc == inst }))
	for k := len(list) - 1; k > i; k-- { // the last time that it did it
		if list[k].pc == inst {
			i = k
			break
		}
	}
	return list[i:min(len(list), i+maxRecorded)]
}

// execution puts what was kept together: the threads, what reads from what, what met at barriers, and the race.
func (r *recorder) execution(p *ir.Program, f *Finding) *model.Execution {
	if len(r.ops[0]) == 0 || len(r.ops[1]) == 0 {
		return nil
	}
	x := &model.Execution{Allowed: true, Test: &litmus.Test{Name: fmt.Sprintf("data race of %s", Plain(p.Kernel)),
		Threads: []litmus.Thread{{Name: f.First.Thread.brief()}, {Name: f.Second.Thread.brief()}}}}
	number, race := map[int]int{}, [2]int{-1, -1}
	for t, inst := range []int{f.First.Inst, f.Second.Inst} {
		for row, op := range r.shown(t, int32(inst)) {
			k := x.Add(t, op.text, strings.TrimSuffix(p.Insts[op.pc].Text, ";"))
			number[op.at] = k
			if row > 0 {
				x.Edges = append(x.Edges, model.ExecEdge{From: k - 1, To: k, Rel: "po"})
			}
			if op.pc == int32(inst) && (t == 1 || race[0] < 0) {
				race[t] = k
			}
		}
	}
	if race[0] < 0 || race[1] < 0 {
		return nil
	}
	bars := map[string]int{}
	for t := range r.ops {
		for _, op := range r.ops[t] {
			k, ok := number[op.at]
			if !ok {
				continue
			}
			if from, ok := number[op.from]; ok && op.from >= 0 && [2]int{from, k} != race {
				x.Edges = append(x.Edges, model.ExecEdge{From: from, To: k, Rel: "rf"})
			}
			if other, ok := bars[op.bar]; ok && op.bar != "" && t == 1 && r.by[0].block == r.by[1].block {
				x.Edges = append(x.Edges, model.ExecEdge{From: other, To: k, Rel: "syncbar"})
			} else if t == 0 {
				bars[op.bar] = k
			}
		}
	}
	x.Edges = append(x.Edges, model.ExecEdge{From: race[0], To: race[1], Rel: "race", Step: 1})
	return x
}

// brief is a thread as the head of a column.
func (t Thread) brief() string {
	return fmt.Sprintf("block %s thread %s", triple(t.Ctaid), triple(t.Tid))
}

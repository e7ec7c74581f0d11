package mapping

import (
	"slices"
	"strings"

	"optcheck/litmus"
	"optcheck/ptxgen"
)

// asyncGroups are the groups of asynchronous operations, by kind.
var asyncGroups = map[litmus.AsyncKind]string{
	litmus.AsyncCopy: "copies", litmus.AsyncCommit: "copies", litmus.AsyncWait: "copies", litmus.BulkCopy: "copies", litmus.BulkCommit: "copies",
	litmus.BulkWait: "copies", litmus.BulkReduce: "copies", litmus.StoreAsync: "copies", litmus.ReduceAsync: "copies",
	litmus.AsyncCopyArrive: "mbarriers", litmus.MbarArrive: "mbarriers", litmus.MbarExpect: "mbarriers", litmus.MbarComplete: "mbarriers",
	litmus.MbarWait: "mbarriers",
}

// asynchronous adds the words of the table of asynchronous operations, of those that differ in types and in what they compute alone one.
func (m *mapOps) asynchronous() {
	for _, f := range litmus.AsyncForms() {
		word := f.Type == litmus.TypeNone || f.Type == litmus.B32 || f.Type == litmus.U32 && f.Kind != litmus.StoreAsync
		if group := asyncGroups[f.Kind]; group != "" && word && f.Vector == 0 && (f.Atom == litmus.AtomNone || f.Atom == litmus.AtomAdd) {
			m.asynchronousOp(group, &f)
		}
	}
	for _, name := range []string{"mbarrier.init.shared.b64", "mbarrier.inval.shared.b64"} {
		text := name + " [%s]" + map[bool]string{true: ", 1"}[strings.Contains(name, "init")]
		m.add("mbarriers", name, false, text+";").Version = 70
	}
}

// asynchronousOp adds one of them, with operands.
func (m *mapOps) asynchronousOp(group string, f *litmus.AsyncForm) {
	places := []string{"[%s]", "[%a]", "[%s+128]"}
	switch {
	case f.Kind == litmus.StoreAsync || f.Kind == litmus.ReduceAsync:
		places = []string{"[%s]", "[%s+128]"}
	case strings.Contains(f.Name, "cluster.shared::cta"):
		places[1] = "[%s+64]"
	case strings.Contains(f.Name, "bulk.global"):
		places[0], places[1] = places[1], places[0]
	}
	var operands, after []string
	result := false
	for _, c := range strings.ReplaceAll(f.Operands, "?s", "") {
		switch {
		case c == 'a':
			operands, places = append(operands, places[0]), places[1:]
		case c == 'd' && f.Kind == litmus.MbarWait:
			operands, result, after = append(operands, "%p"), true, []string{"selp.u32 %r0, 1, 0, %p;"}
		case c == 'd':
			operands, result, after = append(operands, "%w0"), true, []string{"mov.b64 {%r1, %r2}, %w0;", "xor.b32 %r0, %r1, %r2;"}
		default:
			operands = append(operands, asyncSource(f))
		}
	}
	text := strings.TrimSpace(f.Name+" "+strings.Join(operands, ", ")) + ";"
	m.add(group, f.Name, result, append([]string{text}, after...)...).Version = ptxgen.Version(f.PTX)
}

// asyncSource is what an asynchronous operation is given: bytes, a group, a phase, a value.
func asyncSource(f *litmus.AsyncForm) string {
	switch f.Kind {
	case litmus.AsyncWait, litmus.BulkWait:
		return "0"
	case litmus.MbarWait:
		return map[bool]string{true: "0", false: "%v64"}[f.Parity]
	case litmus.StoreAsync, litmus.ReduceAsync:
		return "%v"
	case litmus.AsyncCopy:
		return map[bool]string{true: "4", false: "16"}[strings.Contains(f.Name, ".ca.")]
	}
	return "16"
}

// warps adds operations of the lanes of a warp.
func (m *mapOps) warps() {
	add := func(name string, since ptxgen.Version, lines ...string) {
		own := "mov.u32 %r1, %laneid;" // a value that is not the same in all lanes
		m.add("warps", name, true, append([]string{own}, lines...)...).Version = since
	}
	for _, s := range []string{"idx", "up", "down", "bfly"} {
		add("shfl.sync."+s+".b32", 60, "shfl.sync."+s+".b32 %r0, %r1, 1, 31, 0xffffffff;")
	}
	for _, s := range []string{"all", "any", "uni"} {
		add("vote.sync."+s+".pred", 60, "setp.ne.u32 %p, %r1, 0;", "vote.sync."+s+".pred %p, %p, 0xffffffff;", "selp.u32 %r0, 1, 0, %p;")
	}
	add("vote.sync.ballot.b32", 60, "setp.ne.u32 %p, %r1, 0;", "vote.sync.ballot.b32 %r0, %p, 0xffffffff;")
	for _, s := range []string{"any.sync.b32", "any.sync.b64", "all.sync.b32"} {
		value := map[bool]string{true: "%w0", false: "%r1"}[strings.Contains(s, "64")]
		add("match."+s, 60, "cvt.u64.u32 %w0, %r1;", "match."+s+" %r0, "+value+", 0xffffffff;")
	}
	for _, s := range []string{"add.u32", "add.s32", "min.u32", "max.s32", "and.b32", "or.b32", "xor.b32"} {
		add("redux.sync."+s, 70, "redux.sync."+s+" %r0, %r1, 0xffffffff;")
	}
	add("activemask.b32", 62, "activemask.b32 %r0;")
	add("elect.sync", 80, "elect.sync %r0|%p, 0xffffffff;", "selp.u32 %r0, %r0, 0, %p;")
}

// mapGroupWaits are waits that are operations of a group, and not those of instructions for registers.
func mapGroupWaits(group, op string) bool {
	return group == "copies" && slices.Contains([]string{"LDGDEPBAR", "DEPBAR", "UTMACMDFLUSH"}, op)
}

package hazard

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/plain"
	"optcheck/isa"
)

var chipQuestions = flag.Bool("chip-questions", false, "-write-chip takes kernels put together by hand: two instructions that depend on each other, by all stalls")

// question is what a kernel asks a chip: some instructions, whose results are in the general registers 8 and 9, and other control codes of one
// of them.
type question struct {
	name  string
	body  []word
	at    int
	edits []isa.Control
	extra int // cycles between the edited instruction's successor and the one that depends on it
}

// end is an instruction with its name, and those that bring its result to general registers.
type end struct {
	name string
	word word
	out  []word
}

// distances asks from how many cycles on a consumer gets the result of a producer; between are instructions between the two.
func distances(name string, before []word, producer word, between []word, consumer word, after ...word) question {
	q := question{name: name, body: append(slices.Clone(before), nop(), nop(), producer.stall(0)), at: len(before) + 2}
	for _, w := range between {
		q.extra += int(w.c.Stall)
	}
	q.body = append(append(append(q.body, between...), consumer, nop(), nop()), after...)
	for s := uint8(1); s <= 15 && int(s)+q.extra <= 26; s++ {
		q.edits = append(q.edits, producer.stall(s).c)
	}
	return q
}

// questionKernel is compiled; its code from the first store to global memory on is replaced by a question's. What follows that is for its registers:
// code with others than a kernel has claimed is illegal.
func questionKernel() string {
	var b strings.Builder
	b.WriteString(`.visible .entry k(.param .u64 in, .param .u64 out)
{
	.shared .align 16 .b8 s[4096];
	.reg .b64 %rd<4>; .reg .b32 %r<48>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
	mad.lo.u32 %r4, %r2, %r3, %r1;
	mul.wide.u32 %rd2, %r4, 16;
	add.u64 %rd1, %rd1, %rd2;
	shl.b32 %r5, %r1, 2; mov.u32 %r6, s; add.u32 %r5, %r5, %r6;
	st.shared.u32 [%r5], %r1;
	bar.sync 0;
	st.volatile.global.u32 [%rd1], %r1;
`)
	for i := range 40 {
		fmt.Fprintf(&b, "\tld.volatile.global.u32 %%r%d, [%%rd1+%d];\n", 8+i, 4*i)
	}
	for i := range 40 {
		fmt.Fprintf(&b, "\tst.volatile.global.u32 [%%rd1+%d], %%r%d;\n", 4*i, 47-i)
	}
	b.WriteString("\tret;\n}\n")
	return b.String()
}

// questionKernels puts the questions into a kernel, whose first instructions compute where a thread's results go.
func questionKernels(t *testing.T) (out chipFile) {
	tc := newest(t)
	data := compile(t, tc, "sm_90a", questionKernel())
	fn, base := codeOf(data, decode(t, tc, "k", data), "k")
	store := slices.IndexFunc(fn.Insts, func(in isa.Inst) bool { return in.Op == "STG" })
	for _, q := range questions() {
		const threads = 128
		k := chipKernel{Cubin: slices.Clone(data), Name: "k", Blocks: lanes / threads, Threads: threads, Out: 16 * threads, Input: make([]byte, 256),
			Args: []chipArg{{"in", 0}, {"out", 0}}}
		code := slices.Clone(q.body)
		for i := range uint64(2) {
			low, high := fn.Insts[store].Code[0], fn.Insts[store].Code[1]
			code = append(code, nop(), encode(low&^(0xffffffff<<32)|(8+i)<<32|4*i<<40, high, low>>16&0xff))
		}
		for i, w := range append(code, leave()) {
			w.put(k.Cubin[base+16*(store+i):])
		}
		asked, _ := codeOf(k.Cubin, decode(t, tc, "k", k.Cubin), "k")
		out.Kernels = append(out.Kernels, k)
		out.Jobs = append(out.Jobs, q.jobs(asked, len(out.Kernels)-1, base, store)...)
	}
	out.Jobs = dealt(out.Jobs)
	return out
}

// dealt orders jobs so that one process has all of a kernel, in the order of kernels.
func dealt(jobs []chipJob) (list []chipJob) {
	var hands [chipProcesses][]chipJob
	least := func() (i int) {
		for k := range hands {
			if len(hands[k]) < len(hands[i]) {
				i = k
			}
		}
		return i
	}
	for len(jobs) > 0 {
		n := slices.IndexFunc(jobs, func(j chipJob) bool { return j.Kernel != jobs[0].Kernel })
		if n < 0 {
			n = len(jobs)
		}
		i := least()
		hands[i], jobs = append(hands[i], jobs[:n]...), jobs[n:]
	}
	for k := 0; slices.ContainsFunc(hands[:], func(h []chipJob) bool { return k < len(h) }); k++ {
		for _, h := range hands {
			if k < len(h) {
				list = append(list, h[k])
			}
		}
	}
	return list
}

// jobs are a question's edits, with what Check says of each.
func (q *question) jobs(fn *isa.Func, kernel, base, from int) (list []chipJob) {
	in := &fn.Insts[from+q.at]
	was := in.Control
	defer func() { in.Control = was }()
	for _, c := range q.edits {
		in.Control = c
		found := Check(fn).Findings
		list = append(list, chipJob{Kernel: kernel, At: base + 16*(from+q.at) + 8, Word: q.body[q.at].upper(c), Edit: c.String(), Text: q.name,
			Cycles: int(c.Stall) + q.extra, Noticed: slices.ContainsFunc(found, func(f Finding) bool { return f.Sure }), Doubt: len(found) > 0})
	}
	return list
}

// TestQuestions: with as many cycles as gave an H200 wrong values, there is a finding for certain.
func TestQuestions(t *testing.T) {
	text, err := os.ReadFile("../../docs/results/h200/hazards-questions.txt")
	require.NoError(t, err)
	most := map[string]int{}
	for line := range strings.Lines(string(text)) {
		name, answer, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || line[0] == '#' {
			continue
		}
		var from, to, wrong int
		if n, _ := fmt.Sscanf(answer, "%d to %d: wrong up to %d", &from, &to, &wrong); n < 3 {
			require.True(t, strings.HasSuffix(answer, ": right"), line)
		}
		most[name] = wrong
	}
	harmful, asked := 0, questionKernels(t)
	page, err := os.ReadFile("../../docs/results/hazards.md")
	require.NoError(t, err)
	require.Contains(t, string(page), fmt.Sprintf("In %d kernels two instructions", len(asked.Kernels)))
	require.Contains(t, string(page), fmt.Sprintf("ran the %s changes", plain.Number(len(asked.Jobs))))
	for _, j := range asked.Jobs {
		wrong, asked := most[j.Text]
		require.True(t, asked, j.Text)
		if j.Cycles <= wrong {
			harmful++
			require.True(t, j.Noticed, "%s: %d cycles", j.Text, j.Cycles)
		}
	}
	require.Contains(t, string(page), plain.Number(harmful)+" gave wrong values")
}

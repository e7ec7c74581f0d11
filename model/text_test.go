package model

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
	"optcheck/litmus"
	"optcheck/litmus/herdlog"
)

func known(t testing.TB, name string) *litmus.Test {
	t.Helper()
	test, err := litmus.ParseFile("testdata/known/" + name + ".litmus")
	require.NoError(t, err)
	return test
}

func TestLogFormat(t *testing.T) {
	var b strings.Builder
	test := known(t, "SB-fence-acq_rel")
	_, err := load(t, "ptx").RunCommand(context.Background(), []*litmus.Test{test}, CommandOptions{NoTime: true, Candidates: true}, &b)
	require.NoError(t, err)
	require.Equal(t, `Test SB-fence-acq_rel Allowed
States 4
0:r0=0; 1:r0=0;
0:r0=0; 1:r0=1;
0:r0=1; 1:r0=0;
0:r0=1; 1:r0=1;
Ok
Witnesses
Positive: 1 Negative: 3
Condition exists (0:r0=0 /\ 1:r0=0)
Observation SB-fence-acq_rel Sometimes 1 3
Candidates SB-fence-acq_rel 4
Hash=`+test.Hash()+"\n\n", b.String())
	// What is written can be read.
	n := 0
	require.NoError(t, herdlog.Read("log", strings.NewReader(b.String()), func(l *herdlog.Test) error {
		n++
		require.Equal(t, "SB-fence-acq_rel", l.Name)
		require.Equal(t, test.Hash(), l.Hash)
		require.Len(t, l.States, 4)
		require.EqualValues(t, -1, l.States[3].Count)
		require.Equal(t, []herdlog.Item{{Term: litmus.Term{Kind: litmus.TermReg, Thread: 0, Name: "r0"}, Value: 1}, {Term: litmus.Term{Kind: litmus.TermReg, Thread: 1, Name: "r0"}, Value: 1}}, l.States[3].Items)
		return nil
	}))
	require.Equal(t, 1, n)
}

func TestLogsDoNotDependOnJobs(t *testing.T) {
	var tests []*litmus.Test
	for _, n := range []string{"SB-plain", "MP-rel-acq", "IRIW-acq", "LB-relaxed", "CoRR-weak", "2+2W-relaxed"} {
		tests = append(tests, known(t, n))
	}
	var want string
	for _, jobs := range []int{1, 2, 5, 16} {
		var b strings.Builder
		_, err := load(t, "ptx").RunCommand(context.Background(), tests, CommandOptions{NoTime: true, Jobs: jobs}, &b)
		require.NoError(t, err)
		if want == "" {
			want = b.String()
		}
		require.Equal(t, want, b.String())
	}
	require.Equal(t, 6, strings.Count(want, "\nHash="))
}

func TestExplain(t *testing.T) {
	for _, c := range []struct{ name, model, want string }{
		{"MP-rel-acq", "ptx", "ptx forbids (1:r0=1 /\\ 1:r1=0): check causality is violated.\n  d -fr-> a -po-> b -rf-> c -po-> d\n"},
		{"SB-fence-sc", "ptx", "-fr-> a -po-> b -sync_fence-> e -po-> f\n"},
		{"S-rel-acq", "ptx", "check coherence is violated.\n  a -po-> b -rf-> c -po-> d -co-> a\n"},
		{"atomicity-strong-store", "ptx", "check atomicity is violated.\n  a -fr-> c -co-> b, a -rmw-> b\n"},
		{"MP-barrier", "ptx", "d -fr-> a -po-> b -syncbar-> c -po-> d\n"},
		{"LB-addrs", "sc", "check sc is violated.\n"},
		{"LB-datas", "ptx", "no execution ends in (0:r0=42 /\\ 1:r0=42), whatever the model"},
		{"IRIW-acq", "ptx", "ptx allows (1:r0=1 /\\ 1:r1=0 /\\ 3:r0=1 /\\ 3:r1=0), for example so:\n"},
		{"CoRR-weak", "ptx-2015", "ptx-2015 allows"},
	} {
		x, err := load(t, c.model).Explain(context.Background(), known(t, c.name), Options{})
		require.NoError(t, err)
		var b strings.Builder
		require.NoError(t, x.WriteText(&b))
		require.Contains(t, b.String(), c.want, c.name)
	}
}

// TestPictures draws every known test under every model with an execution to
// draw: the SVG is well-formed, and the parts of a violated cycle are numbered.
func TestPictures(t *testing.T) {
	for _, name := range []string{"MP-rel-acq", "SB-fence-sc", "IRIW-acq", "LB-addrs", "atomicity-strong-store", "MP-barrier", "2+2W-membar", "alias-fence", "ISA2-rel-acq"} {
		for _, m := range []string{"sc", "ptx-2015", "ptx"} {
			x, err := load(t, m).Explain(context.Background(), known(t, name), Options{})
			require.NoError(t, err)
			if x.Execution == nil {
				continue
			}
			var b strings.Builder
			require.NoError(t, x.Execution.SVG(&b))
			d := xml.NewDecoder(strings.NewReader(b.String()))
			for {
				_, err := d.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				require.NoError(t, err)
			}
			require.NotContains(t, b.String(), "NaN")
			for _, e := range x.Execution.Events {
				if e.Thread >= 0 {
					require.Contains(t, b.String(), ">"+e.Text+"<")
				}
			}
			if !x.Execution.Allowed {
				require.Contains(t, b.String(), "forbidden by "+x.Execution.Check)
				require.Contains(t, b.String(), ">1 ")
			}
			b.Reset()
			require.NoError(t, x.Execution.DOT(&b))
			require.Equal(t, strings.Count(b.String(), "{"), strings.Count(b.String(), "}"))
			require.Contains(t, b.String(), "digraph")
		}
	}
}

func TestCompareModels(t *testing.T) {
	tests := []*litmus.Test{known(t, "SB-plain"), known(t, "CoRR-relaxed"), known(t, "MP-rel-acq")}
	c, err := Compare(context.Background(), load(t, "ptx-2015"), load(t, "ptx"), tests, CommandOptions{}, nil)
	require.NoError(t, err)
	diffs := c.Differences
	require.Len(t, diffs, 2)
	require.Equal(t, "CoRR-relaxed", diffs[0].Test.Name)
	var b strings.Builder
	require.NoError(t, diffs[0].WriteText(&b))
	require.Equal(t, "CoRR-relaxed: ptx-2015 Sometimes, ptx Never\n  only ptx-2015: 1:r0=1; 1:r1=0;\n", b.String())
	_, err = Compare(context.Background(), load(t, "ptx-2015"), load(t, "ptx"), tests, CommandOptions{Options: Options{MaxCandidates: 1}}, nil)
	require.ErrorIs(t, err, ErrUndecided)
}

// A log of hardware, as the tool of 2015 wrote them: source, noise, histogram.
const hardwareLog = `%%%%%%%%%%%%%%%%%%%%%%%%%
% Results for mp.litmus %
PTX MP
{ x=0; y=0; }
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0       ;
 st.weak x, 1        | ld.acquire.gpu r0, y ;
 st.release.gpu y, 1 | ld.weak r1, x        ;
exists (P1:r0 == 1 /\ P1:r1 == 0)
Generated assembler
	LDG.E.STRONG.GPU R0, [R2]
Test MP Allowed
Histogram (3 states)
41018 :>1:r0=0; 1:r1=0;
11    *>1:r0=1; 1:r1=0;
58971 :>1:r0=1; 1:r1=1;
Ok

Witnesses
Positive: 11, Negative: 99989
Condition exists (1:r0=1 /\ 1:r1=0) is validated
Hash=0123
Observation MP Sometimes 11 99989
Time MP 0.27

Test unknown Allowed
Histogram (1 states)
5     :>1:r0=0;
No
`

func TestCheckLog(t *testing.T) {
	findings, n, err := load(t, "ptx").CheckLog(context.Background(), "hw.log", strings.NewReader(hardwareLog), nil, Options{})
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Len(t, findings, 2)
	var b strings.Builder
	for i := range findings {
		require.NoError(t, findings[i].WriteText(&b, "ptx"))
	}
	require.Equal(t, "MP: forbidden by ptx: 1:r0=1; 1:r1=0; (line 14, seen 11 times)\n"+
		"unknown: not checked: its source is neither in the log nor among the tests given\n", b.String())
	findings, _, err = load(t, "ptx-2015").CheckLog(context.Background(), "hw.log", strings.NewReader(hardwareLog[:strings.Index(hardwareLog, "Test unknown")]), nil, Options{})
	require.NoError(t, err)
	require.Empty(t, findings)
}

func TestHostileLogs(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"Test a Allowed\nStates 3\n1:r0=0;\n", "in the middle of test a"},
		{"Test a Allowed\nStates 99999999999\n", "hw.log:2: number of states"},
		{"Test a Allowed\nStates -1\n", "hw.log:2: number of states"},
		{"Test a Allowed\nHistogram (1 states)\nx :>1:r0=0;\n", "hw.log:3: "},
		{"Test a Allowed\nStates 1\n1:r0=zero;\n", `hw.log:3: value of 1:r0: "zero" is no number`},
		{"Test a Allowed\nStates 1\nq:r0=1;\n", `hw.log:3: "q:r0" is no register`},
		{"Test a Allowed\nStates 1\nnonsense\n", "hw.log:3: "},
		{strings.Repeat("x", 2<<20), "longer than"},
		{"", "no test in this log"},
	} {
		_, _, err := load(t, "sc").CheckLog(context.Background(), "hw.log", strings.NewReader(c.src), nil, Options{})
		require.ErrorContains(t, err, c.want)
	}
}

func TestBuiltinModelsAreListed(t *testing.T) {
	entries, err := modelFS.ReadDir("models")
	require.NoError(t, err)
	require.Len(t, entries, len(Builtin())-len(machines)+3, "and two of races, which are no memory models, and what ptx-async and ptx-bytes share")
	require.NotContains(t, Names(), RaceModel)
	for _, i := range Builtin() {
		require.NotEmpty(t, i.Title+i.Source+i.Limits)
		m := load(t, i.Name)
		if i.Operational() {
			continue
		}
		require.Empty(t, m.Warnings)
		require.Equal(t, strings.HasPrefix(i.Name, "ptx") && !strings.HasPrefix(i.Name, "ptx-2015"), m.engine.(*axioms).partialCo())
	}
}

// FuzzJudge judges whatever parses, under strict limits: no panic, no hang.
func FuzzJudge(f *testing.F) {
	for _, n := range []string{"MP-rel-acq", "cas-one-wins", "MP-barrier", "alias-fence", "LB-addrs", "LB-ctrls", "atomicity-strong-store"} {
		f.Add(known(f, n).String(), uint8(0))
		f.Add(known(f, n).String(), uint8(6))
	}
	f.Add(spinLock, uint8(1))
	f.Add("PTX!{1:}0;", uint8(0))
	var models []*Model
	for _, i := range Builtin() {
		models = append(models, load(f, i.Name))
	}
	f.Fuzz(func(t *testing.T, src string, k uint8) {
		test, err := litmus.Parse("fuzz", []byte(src))
		if err != nil {
			return
		}
		m := models[int(k)%len(models)]
		start := time.Now()
		defer func() {
			if d := time.Since(start); d > patient.Long {
				t.Fatalf("took %v", d)
			}
		}()
		v, err := m.Judge(t.Context(), test, Options{MaxCandidates: 3000})
		if err != nil || v.Undecided != "" {
			return
		}
		if v.Positive+v.Negative == 0 && len(v.States) > 0 {
			t.Fatal("states without executions")
		}
		w, err := m.Judge(t.Context(), test, Options{MaxCandidates: 6000, StatesOnly: true})
		if err != nil || len(w.States) != len(v.States) {
			t.Fatalf("states only: %v, %v; all executions: %v", w.States, err, v.States)
		}
	})
}

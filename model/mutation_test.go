package model

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/model/cat"
	"optcheck/model/internal/gen"
)

// equivalent lists mutants that allow and forbid exactly what the model does,
// with the reason. Everything else must be noticed by a test. That they change
// nothing is also tried on random tests.
var equivalent = map[string]string{
	"tso: without co in po-loc | rf | co | fr": "a cycle of this check that needs co has its other steps in the check named tso",

	// Fence-SC: if some order makes the check fail, turning the pairs round
	// that contradict causality gives an order with less causality.
	"ptx-6.0: without check fence-sc": "the order is chosen freely",
	"ptx-7.5: without check fence-sc": "the order is chosen freely",
	"ptx: without check fence-sc":     "the order is chosen freely",

	"ptx-6.0: without po in po | po^-1 | [strong] ; sr ; [strong]":       "morally strong pairs matter where one direction is as good as both, or beside po",
	"ptx-6.0: without rf in rf | co | fr":                                "observation then po-loc is causality: a cycle through rf breaks coherence or causality",
	"ptx-7.5: without po in po | po^-1 | [strong] ; sr ; [strong]":       "as in ptx-6.0",
	"ptx-7.5: without po^-1 in po | po^-1 | [strong] ; sr ; [strong]":    "program order is causality here",
	"ptx-7.5: without check sc-per-location":                             sinceCausality,
	"ptx-7.5: without morally-strong & (rf | co | fr) in " + perLocation: sinceCausality,
	"ptx-7.5: without po-vloc & same-proxy in " + perLocation:            sinceCausality,
	"ptx-7.5: without rf in rf | co | fr":                                sinceCausality,
	"ptx-7.5: without co in rf | co | fr":                                sinceCausality,
	"ptx-7.5: without fr in rf | co | fr":                                sinceCausality,
	"ptx: without po in po | po^-1 | [strong] ; sr ; [strong]":           "as in ptx-6.0",
	"ptx: without po^-1 in po | po^-1 | [strong] ; sr ; [strong]":        "program order is causality here",
	"ptx: without check sc-per-location":                                 sinceCausality,
	"ptx: without morally-strong & (rf | co | fr) in " + perLocation:     sinceCausality,
	"ptx: without po-vloc & same-proxy in " + perLocation:                sinceCausality,
	"ptx: without rf in rf | co | fr":                                    sinceCausality,
	"ptx: without co in rf | co | fr":                                    sinceCausality,
	"ptx: without fr in rf | co | fr":                                    sinceCausality,
}

// Both readings of accesses of several sizes have the axioms of ptx, and what cannot matter there does not here.
func init() {
	const (
		excludes = "only what overlaps in part is exclusive and not morally strong: in ptx-async its races have no meaning, in ptx-bytes there is none"
		sides    = "communication | sm ; communication & same-range ; sm | po-vloc & same-proxy"
	)
	for _, name := range []string{AsyncModel, BytesModel} {
		for mutant, why := range map[string]string{
			"without check fence-sc":                                 "the order is chosen freely",
			"without po in po | po^-1 | [strong] ; sr ; [strong]":    "as in ptx-6.0",
			"without po^-1 in po | po^-1 | [strong] ; sr ; [strong]": "program order is causality here",
			"without exclusive in morally-strong | exclusive":        excludes,
			"without communication in " + sides:                      sinceCausality,
			"without po-vloc & same-proxy in " + sides:               sinceCausality,
		} {
			equivalent[name+": "+mutant] = why
		}
	}
	equivalent["ptx-async: without check coherence-order"] = "overlapping writes that race with none are ordered by causality, as wholes"
	for _, name := range []string{AsyncModel, BytesModel} {
		equivalent[name+": without co in rf | co | fr"] = sinceCausality
	}
}

// From 7.5 on base causality contains program order, so that every cycle of
// the check on single locations breaks coherence or causality already. The
// check stays because the official text has it.
const (
	sinceCausality = "program order is causality here: coherence and causality imply the check"
	perLocation    = "morally-strong & (rf | co | fr) | po-vloc & same-proxy"
)

// mutant is one small change of a model's tree, with its undoing.
type mutant struct {
	name       string
	apply, off func()
}

// mutants lists the deletions of single checks and flags and of single
// disjuncts.
func mutants(model string, f *cat.File) []mutant {
	var list []mutant
	var stmts func(file *cat.File)
	stmts = func(file *cat.File) {
		for i, s := range file.Body {
			switch s := s.(type) {
			case *cat.TestStmt:
				body := file.Body
				list = append(list, mutant{
					name: fmt.Sprintf("%s: without check %s", model, s.Test.Name),
					apply: func() {
						file.Body = slices.Delete(slices.Clone(body), i, i+1)
					},
					off: func() { file.Body = body },
				})
			case *cat.IncludeStmt:
				if model != "ptx-strong" { // what it includes is tested as ptx
					stmts(s.File)
				}
			}
		}
	}
	stmts(f)
	cat.Walk(f, func(n cat.Node) bool {
		if _, include := n.(*cat.IncludeStmt); include && model == "ptx-strong" {
			return false
		}
		op, ok := n.(*cat.Op)
		if !ok || op.Kind != cat.OpUnion {
			return true
		}
		args, whole := op.Args, cat.Format(op)
		for i := range args {
			list = append(list, mutant{
				name:  fmt.Sprintf("%s: without %s in %s", model, cat.Format(args[i]), whole),
				apply: func() { op.Args = slices.Delete(slices.Clone(args), i, i+1) },
				off:   func() { op.Args = args },
			})
		}
		return true
	})
	return list
}

// TestEveryAxiomMatters deletes every check and every disjunct of every
// built-in model: some test with a known verdict must notice.
func TestEveryAxiomMatters(t *testing.T) {
	var of [2][]*litmus.Test // of ptx and others, and of what only ptx-async has
	for i, folder := range []string{"known", "async"} {
		files, err := filepath.Glob("testdata/" + folder + "/*.litmus")
		require.NoError(t, err)
		for _, file := range files {
			test, err := litmus.ParseFile(file)
			require.NoError(t, err)
			of[i] = append(of[i], test)
		}
	}
	killed, equal, all := 0, 0, 0
	for _, info := range Builtin() {
		if info.Operational() {
			continue // package machine has its own
		}
		tests := of[0]
		if info.Name == AsyncModel || info.Name == BytesModel {
			tests = slices.Concat(of[1], of[0])
		}
		src, err := Source(info.Name)
		require.NoError(t, err)
		f, err := cat.Parse(info.Name+".cat", src, cat.NewLoader(false, library()...))
		require.NoError(t, err)
		for _, mu := range mutants(info.Name, f) {
			all++
			mu.apply()
			by := killer(t, f, info.Name, tests)
			mu.off()
			_, known := equivalent[mu.name]
			switch {
			case by != "" && known:
				t.Errorf("%s is said to be equivalent but %s tells it from the model", mu.name, by)
			case by != "":
				killed++
			case known:
				equal++
				mu.apply()
				noDifference(t, load(t, info.Name), f, info.Name)
				mu.off()
			default:
				t.Errorf("no test notices %s", mu.name)
			}
		}
		require.Empty(t, killer(t, f, info.Name, tests), "the unchanged model")
	}
	t.Logf("%d mutants: %d noticed, %d equivalent, %d missed", all, killed, equal, all-killed-equal)
}

// killer returns the name of a test whose known verdict the model gets wrong.
func killer(t *testing.T, f *cat.File, name string, tests []*litmus.Test) string {
	m, err := build(t.Context(), f, name, "")
	if err != nil {
		return "the compiler: " + err.Error()
	}
	for _, test := range tests {
		v := judge(t, m, test)
		if obs, ok := verdicts(t, test)[name]; ok && obs != said(v) {
			return test.Name
		}
		for _, w := range strings.Fields(test.Doc) {
			who, flag, ok := strings.Cut(w, "!")
			if !ok || who != name {
				continue
			}
			absent := strings.HasPrefix(flag, "-")
			if slices.Contains(v.Flags, strings.TrimPrefix(flag, "-")) == absent {
				return test.Name
			}
		}
	}
	return ""
}

// noDifference compares a model with its mutant on random tests.
func noDifference(t *testing.T, m *Model, f *cat.File, name string) {
	mu, err := build(t.Context(), f, name, "")
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(11, 13))
	n := 300
	if testing.Short() {
		n = 30
	}
	for range n {
		c := gen.Config{MinThreads: 2, MaxThreads: 3, MaxInstr: 3, MaxAccesses: 5, Locations: 2, Strong: true, Atomics: true, Fences: true, Proxies: r.IntN(3) == 0}
		test := gen.Test(r, c, "R")
		require.Equal(t, values(judge(t, m, test)), values(judge(t, mu, test)), "%s", test)
	}
}

func values(v *Verdict) (list [][]int64) {
	for _, s := range v.States {
		list = append(list, s.Values)
	}
	return list
}

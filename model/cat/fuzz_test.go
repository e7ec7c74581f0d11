package cat

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"optcheck/internal/patient"
)

var fuzzSeeds = append([]string{
	modelSC, modelTSO, modelPTX2015, modelC11, modelPTXLike,
	"let rec r = po \\ (r ; r) and s = ~r | rf as x flag ~empty s as f",
	"let a1 = ('x, 'x) let a2 = (a1, a1) enum t = 'x",
	"let rec f x = f (x, x) in empty f po",
	"let rec f x = f {x} empty f po",
	"with x from linearisations(_, 0) with y from linearisations(_, x) acyclic x | y",
	"procedure rec p(x) = call p(x) call p(po) end call p(rf)",
	"let f = fun x -> x x empty f f",
	"let () = po let _ = rf let (a, b), c = po",
	"if \"a\" && (\"b\" || not \"c\") include \"x\" end",
	"enum e = 'a || 'b forall x in e do forall y in e do empty tag2events(x) end end",
	"let rec x = _ | x and y = ~y and z = {} empty x | y | z",
	"let m = match po with a | b ++ c -> {b} || {} -> {} end empty m",
	"let s = {po, rf, {}} let t = co ++ s let u = t \\ s forall r in u do acyclic r end",
}, rareModels...)

func FuzzParse(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		file, err := Parse("m", src, NewLoader(false, Library()))
		if err != nil {
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("error without place: %v", err)
			}
			return
		}
		Walk(file, func(n Node) bool {
			x, ok := n.(Expr)
			if !ok {
				return true
			}
			text := Format(x)
			again, err := Parse("f", "let x = "+text, nil)
			if err != nil && !strings.Contains(err.Error(), "nested more than") {
				t.Fatalf("%q does not parse: %v", text, err)
			}
			if err == nil && Format(again.Body[0].(*LetStmt).Binds[0].X) != text {
				t.Fatalf("%q reads back as %q", text, Format(again.Body[0].(*LetStmt).Binds[0].X))
			}
			return false
		})
	})
}

func FuzzEval(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s)
	}
	sig := stdSig
	sig.Enums = map[string][]string{"scopes": {"cta", "gl", "sys"}}
	g := sb()
	ex := &Execution{N: g.n, Sets: g.sets, Rels: g.rels}
	f.Fuzz(func(t *testing.T, src string) {
		start := time.Now()
		defer func() {
			if d := time.Since(start); d > patient.Long {
				t.Fatalf("took %v", d)
			}
		}()
		file, err := Parse("m", src, NewLoader(false, Library()))
		if err != nil {
			return
		}
		p, err := Compile(context.Background(), file, sig)
		if err != nil {
			if strings.Contains(err.Error(), "internal error") {
				t.Fatal(err)
			}
			return
		}
		it, err := NewInterp(p)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		res, err := it.Run(ctx, ex, RunOptions{MaxSteps: 200_000})
		if err != nil && strings.Contains(err.Error(), "internal error") {
			t.Fatal(err)
		}
		if !p.Flat() || p.NumOps() > 5000 {
			return
		}
		m, merr := p.NewMachine(g.n)
		if merr != nil {
			return
		}
		bindAll(m, ex)
		fail, merr := m.Run(p.everything())
		if err != nil || merr != nil {
			return
		}
		if res.Allowed != (fail < 0) {
			t.Fatalf("machine %v, interpreter %v", fail < 0, res.Allowed)
		}
	})
}

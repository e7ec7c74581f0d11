package cat

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
)

// chains are models of n definitions, each of which needs the one before it.
var chains = map[string]func(n int) string{
	"sequences": func(n int) string {
		return chain(n, "let a0 = po", "let a> = a<;a<|a<", "acyclic a>")
	},
	"not used": func(n int) string { return chain(n, "let a0 = nosuch", "let a> = a<;po", "acyclic po") },
	"tries": func(n int) string {
		return chain(n, "let a0 = nosuch", "let a> = try a< with a<", "acyclic try a> with po")
	},
	"functions": func(n int) string { return chain(n, "let f0 x = x", "let f> x = f< (x|po)", "acyclic f> rf") },
	"procedures": func(n int) string {
		return chain(n, "procedure p0() = acyclic po end", "procedure p>() = call p<() end", "call p>()")
	},
	"recursive": func(n int) string { return chain(n, "let a0 = po", "let rec a> = a< | (a> ; a<)", "acyclic a>") },
	"interpreted": func(n int) string {
		return chain(n, "with c from po ++ (rf ++ 0)\nlet a0 = c", "let a> = a<;a<|a<", "acyclic a>")
	},
}

// chain puts the number of a definition in the place of > and that of the one
// before it in the place of <.
func chain(n int, first, next, last string) string {
	var b strings.Builder
	b.WriteString("X\n" + first + "\n")
	for i := range n {
		b.WriteString(strings.NewReplacer(">", fmt.Sprint(i+1), "<", fmt.Sprint(i)).Replace(next) + "\n")
	}
	b.WriteString(strings.ReplaceAll(last, ">", fmt.Sprint(n)) + "\n")
	return b.String()
}

// TestChainsEnd: a long chain ends soon, with a result or with the limit that it
// reached, compiled or interpreted.
func TestChainsEnd(t *testing.T) {
	for name, source := range chains {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, n := range []int{10, 20_000} {
				done := make(chan error, 1)
				go func() { done <- compileAndRun(context.Background(), source(n)) }()
				select {
				case err := <-done:
					if n == 10 {
						require.NoError(t, err)
					} else if err != nil {
						require.ErrorIs(t, err, ErrLimit)
						require.Regexp(t, `^m\.cat:\d+:\d+: `, err.Error())
					}
				case <-time.After(patient.Long):
					t.Fatalf("%d definitions: no end", n)
				}
			}
		})
	}
}

func compileAndRun(ctx context.Context, src string) error {
	f, err := Parse("m.cat", src, nil)
	if err != nil {
		return err
	}
	p, err := Compile(ctx, f, stdSig)
	if err != nil {
		return err
	}
	it, err := NewInterp(p)
	if err != nil {
		return err
	}
	g := mp(true, true)
	_, err = it.Run(ctx, &Execution{N: g.n, Sets: g.sets, Rels: g.rels}, RunOptions{})
	return err
}

func TestCompilationStops(t *testing.T) {
	why := errors.New("time is up")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	for name, source := range chains {
		f, err := Parse("m.cat", source(1000), nil)
		require.NoError(t, err)
		_, err = Compile(ctx, f, stdSig)
		require.ErrorIs(t, err, why, name)
		require.ErrorContains(t, err, "compilation of the model stopped", name)
	}
}

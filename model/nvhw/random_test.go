package nvhw

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/model/explore"
)

var update = flag.Bool("update", false, "write what the machine does to the golden file")

// randomPrograms are small programs of all operations, in the language of parse.
func randomPrograms(n int) (out []string) {
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		var ctas []string
		left := 9
		for range 2 - r.IntN(4)/3 {
			var threads []string
			for range 1 + r.IntN(2) {
				ops := 2 + r.IntN(3)
				left -= ops
				threads = append(threads, randomThread(r, ops))
			}
			ctas = append(ctas, strings.Join(threads, "|"))
		}
		if left >= 0 {
			out = append(out, strings.Join(ctas, "||"))
		}
	}
	return out
}

func randomThread(r *rand.Rand, n int) string {
	var ops []string
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	reads := 0
	for range n {
		loc := pick("x", "x", "x", "y", "y", "s")
		value := pick("1", "2")
		if reads > 0 && r.IntN(2) == 0 {
			ops = append(ops, "wait")
			value = fmt.Sprint("r", r.IntN(reads))
		}
		switch r.IntN(8) {
		case 0, 1:
			op := "st " + loc + " " + value
			if strings.HasPrefix(value, "r") && r.IntN(2) == 0 {
				op = "st " + loc + " 1 if " + value
			}
			ops = append(ops, op)
		case 2, 3:
			ops = append(ops, pick("ld ", "ldg ")+loc)
			reads++
		case 4:
			ops = append(ops, "add "+loc)
			reads++
		case 5:
			ops = append(ops, pick("membar.all.cta", "membar.all.gpu", "membar.sc.cta", "membar.sc.gpu"))
		case 6:
			ops = append(ops, "st "+loc+" "+value)
		default:
			ops = append(ops, pick("ivall", "ivall", "bar"))
		}
	}
	return strings.Join(ops, "; ")
}

// explored lists all ends of a program, or why there are none.
func explored(p *Program, run func(*Program, func(*Final)) error) string {
	set := map[string]bool{}
	err := run(p, func(f *Final) { set[fmt.Sprint(f.Read, f.Done, f.Memory)] = true })
	if err != nil {
		return err.Error()
	}
	var out []string
	for s := range set {
		out = append(out, s)
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

func usual(p *Program, end func(*Final)) error {
	return Explore(context.Background(), p, func(f *Final, _ func() []Step) error { end(f); return nil })
}

// apart is a machine that takes no two states for one.
type apart struct {
	*machine
	n int
}

func (a *apart) Key(*state) string {
	a.n++
	return fmt.Sprint(a.n)
}

// TestKeys: states that go by one key have one future.
func TestKeys(t *testing.T) {
	same := 0
	for _, text := range randomPrograms(400) {
		got := explored(parse(t, text), func(p *Program, end func(*Final)) error {
			m := &machine{p: p}
			if err := m.prepare(); err != nil {
				return err
			}
			_, err := explore.Run(t.Context(), &apart{machine: m}, 3_000, func(s *state, _ func() []Step) error {
				if err := m.stuck(s); err != nil {
					return err
				}
				end(m.final(s))
				return nil
			})
			return err
		})
		if got == ErrLimit.Error() {
			continue
		}
		require.Equal(t, got, explored(parse(t, text), usual), text)
		same++
	}
	require.Greater(t, same, 200)
}

// TestRulesRestrict: without a rule a machine does what it did, and perhaps more.
func TestRulesRestrict(t *testing.T) {
	for _, text := range randomPrograms(80) {
		all := explored(parse(t, text), usual)
		if !strings.HasPrefix(all, "[[") {
			continue
		}
		for r := range Rules {
			p := parse(t, text)
			p.Without = 1 << r
			more := strings.Split(explored(p, usual), "\n")
			for _, s := range strings.Split(all, "\n") {
				require.Contains(t, more, s, "%s without %s", text, Rules[r].ID)
			}
		}
		p := parse(t, text)
		p.Fresh = true
		for _, s := range strings.Split(explored(p, usual), "\n") {
			require.Contains(t, strings.Split(all, "\n"), s, "%s, fresh", text)
		}
	}
}

// TestRandom: all ends of random programs are those of the golden file, which nobody
// has judged: it tells when the machine changes.
func TestRandom(t *testing.T) {
	var b strings.Builder
	for _, text := range randomPrograms(120) {
		fmt.Fprintf(&b, "%s\n\t%s\n", text, strings.ReplaceAll(explored(parse(t, text), usual), "\n", "\n\t"))
	}
	const file = "testdata/random.txt"
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
}

package figures

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

var update = flag.Bool("update", false, "write the tables of the pages")

const root = Tree("../..")

// TestTables: tables of pages are those that follow from the stored files.
func TestTables(t *testing.T) {
	for _, x := range Tables {
		t.Run(filepath.Base(x.Page)+" "+x.Name, func(t *testing.T) {
			rows, err := x.Rows(root)
			require.NoError(t, err)
			require.Greater(t, len(rows), 2)
			file := filepath.Join(string(root), x.Page)
			page, err := os.ReadFile(file)
			require.NoError(t, err)
			want, err := Fill(string(page), x.Name, rows)
			require.NoError(t, err)
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
				return
			}
			require.Equal(t, want, string(page), "go test ./report/figures -update writes the table")
		})
	}
}

// said is what each page says with numbers, computed once.
var said = sync.OnceValues(func() (map[string][]string, error) {
	say := map[string][]string{}
	for _, x := range Sentences {
		more, err := x.Say(root)
		if err != nil || len(more) == 0 {
			return nil, fmt.Errorf("%s: %d sentences, %w", x.Page, len(more), err)
		}
		say[x.Page] = append(say[x.Page], more...)
	}
	return say, nil
})

// TestSentences: what pages say with numbers follows from the stored files.
func TestSentences(t *testing.T) {
	say, err := said()
	require.NoError(t, err)
	for name, list := range say {
		page, err := os.ReadFile(filepath.Join(string(root), name))
		require.NoError(t, err)
		text := strings.Join(strings.Fields(string(page)), " ")
		for _, s := range list {
			if !strings.Contains(text, s) {
				t.Errorf("%s does not say: %s", name, s)
			}
		}
	}
}

// TestNumbers: each number of a result page is computed from what is stored, or is marked as measured once, with the date, the
// commit and how.
func TestNumbers(t *testing.T) {
	say, err := said()
	require.NoError(t, err)
	for _, pattern := range Pages {
		pages, err := filepath.Glob(filepath.Join(string(root), pattern))
		require.NoError(t, err)
		require.NotEmpty(t, pages)
		for _, file := range pages {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			name, err := filepath.Rel(string(root), file)
			require.NoError(t, err)
			if Whole[name] != nil {
				continue
			}
			for _, l := range FindLoose(string(text), say[name]) {
				t.Errorf("%s:%d: neither computed nor marked: %s in %.100q", name, l.Line, strings.Join(l.Numbers, "; "), l.Paragraph)
			}
		}
	}
}

// TestFill: a table is replaced, and nothing beside it.
func TestFill(t *testing.T) {
	const page = "before\n\n<!-- figures: x -->\n| a |\n|---|\n| 1 |\n\nbehind | not a row\n"
	got, err := Fill(page, "x", []string{"| a |", "|---|", "| 2 |", "| 3 |"})
	require.NoError(t, err)
	require.Equal(t, "before\n\n<!-- figures: x -->\n| a |\n|---|\n| 2 |\n| 3 |\n\nbehind | not a row\n", got)
	_, err = Fill(page, "y", nil)
	require.ErrorContains(t, err, "figures: y")
}

// TestMatrix: a matrix that is written and read is the same, cells that are missing included.
func TestMatrix(t *testing.T) {
	m := Matrix{}
	for _, test := range []string{"mp", "sb"} {
		for _, target := range []string{"sm_70", "sm_80"} {
			for i, level := range []string{"O0", "O3"} {
				for _, layout := range []string{"pointers", "symbols"} {
					if target == "sm_80" && layout == "symbols" {
						continue
					}
					m[Place{test, "ptxas 12.4.131", target, level, layout}] = []string{"preserved", "optimised merged lost known:a+b"}[i]
				}
			}
		}
	}
	m[Place{"mp", "llc 22 + ptxas 11.8", "sm_70", "O3", "symbols"}] = "unsupported"
	var b bytes.Buffer
	_, err := m.WriteTo(&b)
	require.NoError(t, err)
	got, err := ReadMatrix(bytes.NewReader(b.Bytes()))
	require.NoError(t, err)
	require.Equal(t, m, got)
	for _, bad := range []string{"levels O0\nlayouts pointers\ntest mp\n\t..\tptxas 1: sm_70\n", "nonsense here\n"} {
		_, err = ReadMatrix(strings.NewReader(bad))
		require.Error(t, err)
	}
	full := Matrix{}
	for i := range len(letters) + 1 {
		full[Place{Test: "mp", Level: strings.Repeat("O", i+1)}] = strings.Repeat("x", i+1)
	}
	_, err = full.WriteTo(&b)
	require.ErrorContains(t, err, "letters")
}

// TestDecided: no cell of a stored matrix is unknown.
func TestDecided(t *testing.T) {
	for _, file := range []string{Quick, LLVM, Depends} {
		f, err := os.Open(filepath.Join(string(root), file))
		require.NoError(t, err)
		defer f.Close()
		m, err := ReadMatrix(f)
		require.NoError(t, err)
		require.Greater(t, len(m), 10_000, file)
		for p, fate := range m {
			require.NotContains(t, fate, "unknown", "%s: %v", file, p)
		}
	}
}

// TestFate: what is published of a cell.
func TestFate(t *testing.T) {
	c := &event.Cell{Result: event.Result{Class: event.Preserved}}
	require.Equal(t, "preserved", Fate(c))
	c.Result = event.Result{Class: event.Optimised, Findings: []event.Finding{{Rule: "reordered"}, {Rule: "merged"}, {Rule: "merged"}}}
	require.Equal(t, "optimised merged+reordered new", Fate(c))
	c.Verdict = &event.Verdict{Lost: []string{"x=1;"}, SCNew: []string{"x=2;"}}
	c.Known = []string{"a", "b"}
	require.Equal(t, "optimised merged+reordered lost sc known:a+b", Fate(c))
}

// TestWhole: pages that are computed as a whole are what the stored files say.
func TestWhole(t *testing.T) {
	for name, page := range Whole {
		got, err := page(root)
		require.NoError(t, err)
		want, err := os.ReadFile(filepath.Join(string(root), name))
		require.NoError(t, err)
		require.Equal(t, string(want), got, name)
	}
}

// TestPatchRates: each pair of rates in the table of experiments is that of a run of the row's test with a patch, or, where nothing was changed,
// without one.
func TestPatchRates(t *testing.T) {
	hs, err := root.histograms(h100 + "patch/patch.jsonl.gz")
	require.NoError(t, err)
	pairs := map[string][][2]float64{} // by test, and "as compiled "+test
	for i := 0; i+1 < len(hs); i += 2 {
		a, b := hs[i], hs[i+1]
		require.Equal(t, []string{a.Test, "none", "stress+sync+random"}, []string{b.Test, a.Setting, b.Setting})
		k := a.Test
		if a.Validated {
			k = "as compiled " + k
		}
		pairs[k] = append(pairs[k], [2]float64{1e5 * float64(a.Weak) / float64(a.Instances), 1e5 * float64(b.Weak) / float64(b.Instances)})
	}
	page, err := os.ReadFile(filepath.Join(string(root), h100, "README.md"))
	require.NoError(t, err)
	pair := regexp.MustCompile(`[\d.]+ / [\d.]+`)
	near := func(said string, x float64) bool {
		_, digits, _ := strings.Cut(said, ".")
		return fmt.Sprintf("%.*f", len(digits), x) == said || len(said) == 3 && !strings.Contains(said, ".") && fmt.Sprintf("%.0f", x) == said
	}
	rows, checked := 0, 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) < 5 || !pair.MatchString(cells[3]) {
			continue
		}
		rows++
		var tests []string
		for _, name := range strings.Split(strings.TrimSpace(cells[2]), ", ") {
			name = strings.TrimPrefix(strings.TrimPrefix(name, "patch"), "-")
			if strings.HasPrefix(cells[1], " nothing:") {
				name = "as compiled patch-" + name
			} else {
				name = "patch-" + name
			}
			tests = append(tests, name)
		}
		if tests[0] == "patch-all" {
			tests = nil
			for name := range pairs {
				if !strings.HasPrefix(name, "as compiled") {
					tests = append(tests, name)
				}
			}
		}
		for i, said := range pair.FindAllString(cells[3], -1) {
			checked++
			from, to, _ := strings.Cut(said, " / ")
			of := tests
			if i > 0 && len(tests) > i {
				of = tests[i : i+1]
			}
			var any [][2]float64
			for _, name := range of {
				any = append(any, pairs[name]...)
			}
			require.True(t, slices.ContainsFunc(any, func(p [2]float64) bool { return near(from, p[0]) && near(to, p[1]) }), "%s of %v is none of %.2f", said, of, any)
		}
	}
	require.Greater(t, rows, 15)
	require.Greater(t, checked, 18)
}

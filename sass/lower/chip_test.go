package lower_test

import (
	"compress/gzip"
	"encoding/json"
	"flag"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/emu"
	"optcheck/ir"
	"optcheck/ptx"
	ptxlower "optcheck/ptx/lower"
	"optcheck/runner"
	"optcheck/runner/cuda"
	"optcheck/sass"
	"optcheck/sass/cubin"
	"optcheck/sass/lower"
)

var (
	writeChip = flag.String("write-chip", "", "write the machine code of all forms and programs for sm_90 to this file")
	onlyChip  = flag.String("chip-only", "", "write the programs of these names only, and forms if they are among them, with commas between")
	onChip    = flag.String("chip", "", "run the machine code of this file on a device of sm_90, and compare with the emulator")
)

// chipCase is machine code to run.
type chipCase struct {
	Name           string
	Cubin, Listing []byte
	Forms          []string // none for a program
	Text           string   // of a program: its PTX
	Places         []int
	Threads, Size  int
	Inputs         [][]byte
}

// TestChip asserts that machine code does on a chip what it does emulated. To judge a chip: go test -c ./sass/lower; with compilers,
// ./lower.test -test.run TestChip -write-chip FILE; where the chip is, ./lower.test -test.run TestChip -chip FILE.
func TestChip(t *testing.T) {
	switch {
	case *writeChip != "":
		writeCases(t, *writeChip)
	case *onChip != "":
		runCases(t, *onChip)
	}
}

// asked reports whether the cases of a name are written: those of a program, or "forms".
func asked(name string) bool {
	return *onlyChip == "" || slices.Contains(strings.Split(*onlyChip, ","), name)
}

func writeCases(t *testing.T, file string) {
	tcs := releases(t)
	f, err := os.Create(file)
	require.NoError(t, err)
	defer f.Close()
	z := gzip.NewWriter(f)
	defer z.Close()
	enc := json.NewEncoder(z)
	r := rand.New(rand.NewPCG(3, 5))
	var inputs [][]byte
	for range 16 {
		inputs = append(inputs, operands(r))
	}
	for _, rel := range slices.Sorted(maps.Keys(tcs)) {
		if rel == "11.2" {
			continue
		}
		for _, level := range []string{"O0", "O3"} {
			add := func(c chipCase, text string) {
				m, err := compile(t, tcs[rel], "sm_90", level, text)
				require.NoError(t, err)
				c.Name = rel + " " + level + " " + c.Name
				c.Cubin, c.Listing = m.data, m.listing
				require.NoError(t, enc.Encode(c))
			}
			for _, forms := range [][]string{integerForms(), floatForms()} {
				if !asked("forms") {
					break
				}
				forms = slices.DeleteFunc(slices.Clone(forms), func(f string) bool { return lacks(rel, "sm_90", f) })
				for chunk := range slices.Chunk(forms, 60) {
					text, places, size := kernel("k", chunk)
					add(chipCase{Name: "forms", Forms: chunk, Places: places, Threads: threads, Size: size, Inputs: inputs}, text)
				}
			}
			programs, err := filepath.Glob("testdata/*.ptx")
			require.NoError(t, err)
			for _, p := range programs {
				text, err := os.ReadFile(p)
				require.NoError(t, err)
				if rel != "12.4" && strings.Contains(string(text), "version 8.") {
					continue
				}
				name := strings.TrimSuffix(filepath.Base(p), ".ptx")
				if !asked(name) {
					continue
				}
				add(chipCase{Name: name, Text: string(text), Threads: 40, Size: outSize / 40 &^ 3, Inputs: programInputs()}, string(text))
			}
		}
	}
}

func runCases(t *testing.T, name string) {
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	s, err := cuda.New().Open(t.Context(), 0)
	require.NoError(t, err)
	defer s.Close()
	out, err := s.Alloc(t.Context(), 0, 1<<20)
	require.NoError(t, err)
	in, err := s.Alloc(t.Context(), 0, 1<<20)
	require.NoError(t, err)
	good, source := map[string]bool{}, map[string]bool{}
	for dec := json.NewDecoder(z); dec.More(); {
		var c chipCase
		require.NoError(t, dec.Decode(&c))
		file, err := cubin.Parse(c.Cubin)
		require.NoError(t, err)
		prog, err := sass.Parse(c.Name, c.Listing)
		require.NoError(t, err)
		p, err := lower.Kernel(prog, file, "k")
		require.NoError(t, err)
		p.Cluster = c.cluster(t)
		m, err := s.Load(t.Context(), runner.Image{Kind: runner.ImageCubin, Data: c.Cubin})
		require.NoError(t, err, c.Name)
		k, _, err := s.Kernel(t.Context(), m, "k")
		require.NoError(t, err)
		ok, done := true, map[string]bool{}
		for i, input := range c.Inputs {
			res, err := s.Run(t.Context(), &runner.Batch{
				Setup: []runner.Command{runner.Fill(out, 0, 1<<20, 0), runner.Fill(in, 0, 1<<20, 0), runner.Write(in, 0, input)},
				Body:  []runner.Command{runner.Launch(k, runner.Dim1(1, uint32(c.Threads)), runner.BufArg(out), runner.BufArg(in), runner.U32(5))},
				Final: []runner.Command{runner.Read(out, 0, uint64(c.Threads*c.Size))}})
			require.NoError(t, err, c.Name)
			got, insts, err := covered(p, c.Threads, input, c.Threads*c.Size, emu.Policy{})
			if err != nil {
				t.Errorf("%s: %v%s", c.Name, err, at(p, err))
				ok = false
				break
			}
			ok = c.compare(t, i, res.Reads[0], got) && ok
			for i, on := range insts {
				if on {
					done[p.Insts[i].Form] = true
				}
			}
		}
		if ok {
			maps.Copy(good, done)
			c.source(t, source)
		}
	}
	require.NoError(t, os.WriteFile(name+".ptx", []byte(strings.Join(slices.Sorted(maps.Keys(source)), "\n")+"\n"), 0o644))
	t.Logf("%d forms of machine instructions are in code whose results are the chip's", len(good))
	require.NoError(t, os.WriteFile(name+".forms", []byte(strings.Join(slices.Sorted(maps.Keys(good)), "\n")+"\n"), 0o644))
}

// cluster is the size of clusters that a program asks for.
func (c *chipCase) cluster(t *testing.T) [3]int {
	if c.Text == "" {
		return [3]int{}
	}
	return c.program(t).Cluster
}

// program is that of the PTX.
func (c *chipCase) program(t *testing.T) *ir.Program {
	m, err := ptx.Parse(c.Name, []byte(c.Text))
	require.NoError(t, err)
	p, err := ptxlower.Kernel(m, "k")
	require.NoError(t, err)
	return p
}

// source notes the forms of a program's PTX whose emulation stores what its machine code does.
func (c *chipCase) source(t *testing.T, source map[string]bool) {
	if c.Text == "" {
		return
	}
	p := c.program(t)
	file, err := cubin.Parse(c.Cubin)
	require.NoError(t, err)
	prog, err := sass.Parse(c.Name, c.Listing)
	require.NoError(t, err)
	machine, err := lower.Kernel(prog, file, "k")
	require.NoError(t, err)
	machine.Cluster = p.Cluster
	done := map[string]bool{}
	for _, input := range c.Inputs {
		got, insts, err := covered(p, c.Threads, input, c.Threads*c.Size, emu.Policy{})
		want, err2 := execute(machine, c.Threads, input, c.Threads*c.Size, emu.Policy{})
		if err != nil || err2 != nil || string(got) != string(want) {
			return
		}
		for i, on := range insts {
			if on {
				op, _, _ := strings.Cut(p.Insts[i].Form, " ")
				done[op] = true
			}
		}
	}
	maps.Copy(source, done)
}

// compare reports where the emulator differs from a chip, each form once.
func (c *chipCase) compare(t *testing.T, n int, chip, emulated []byte) bool {
	if len(c.Forms) == 0 {
		for k := range chip {
			if chip[k] != emulated[k] {
				t.Errorf("%s: input %d byte %d: chip %x, emulated %x", c.Name, n, k, chip[k], emulated[k])
				return false
			}
		}
		return true
	}
	ok := true
	for i, f := range c.Forms {
		for th := range c.Threads {
			k := th*c.Size + c.Places[i]
			if w, g := chip[k:k+results[f[0]].bytes], emulated[k:k+results[f[0]].bytes]; string(w) != string(g) {
				t.Errorf("%s: %s: chip %x, emulated %x\n%s", c.Name, f, reversed(w), reversed(g), shown(c.Inputs[n][th*stride:]))
				ok = false
				break
			}
		}
	}
	return ok
}

package bug

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/audit"
	"optcheck/event"
	"optcheck/litmus/corpus"
	"optcheck/model"
	"optcheck/optcheck"
	"optcheck/pipeline"
	"optcheck/ptxgen"
	"optcheck/reduce"
	"optcheck/spec"
	"optcheck/toolchain"
)

// TestAwk: the script reads machine code as this package does, in disassemblies
// of every release and generation.
func TestAwk(t *testing.T) {
	needs(t, "awk")
	files, err := filepath.Glob("../audit/testdata/golden/*/*.sass")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	label := regexp.MustCompile(`(?m)^\.text\.(\S+):$`)
	n := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		names := label.FindAllSubmatch(text, -1)
		for i := 0; i < len(names); i += 1 + len(names)/3 {
			name := string(names[i][1])
			for _, rule := range []string{"merged", "fence-weakened"} {
				b := &bundler{prog: &program{ambiguous: i == 0}, find: event.Finding{Rule: rule}}
				b.road = &ptxRoad{b}
				b.bad = &code{lines: accesses.of(text, name, b.prog.ambiguous)}
				script := strings.Replace(b.road.awk(), `kernel = "min_T0"`, `kernel = "`+name+`"`, 1)
				prog := filepath.Join(t.TempDir(), "check.awk")
				require.NoError(t, os.WriteFile(prog, []byte(script), 0o600))
				out, err := exec.Command("awk", "-f", prog, file).CombinedOutput()
				require.NoErrorf(t, err, "%s %s: %s", file, name, out)
				n += len(b.bad.lines)
			}
		}
	}
	require.Positive(t, n)
}

// TestHostile: names and flags from outside stay words, whatever is in them.
func TestHostile(t *testing.T) {
	needs(t, "make", "sh")
	lt, _ := corpus.Lookup("coRR")
	flags := []string{"-a'$(touch pwned)`touch pwned`", "--b=$HOME #x\ntouch pwned", `-c"d,e`, "$(shell touch pwned)", "; touch pwned"}
	b := &bundler{in: &Input{}, find: event.Finding{Rule: "merged"}, prog: &program{}, bad: &code{},
		f: &reduce.Finding{Test: lt, Toolchain: &toolchain.Toolchain{Kind: toolchain.CUDA{}, MaxPTX: "7.0", ID: "ptxas 1\n$(shell touch pwned)", Version: "1'; touch pwned", Build: "b\n\ttouch pwned"},
			Target: "sm_80", Level: "O1", Layout: spec.Pointers, Flags: flags, Signature: reduce.Signature{Rule: "merged", Class: "changed"}}}
	b.road = &ptxRoad{b}
	var err error
	b.pipe, err = pipeline.Of(b.f.Toolchain, "")
	require.NoError(t, err)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o700))
		return path
	}
	write("Makefile", b.road.makefile())
	write("check.awk", `{ print }`)
	write("min.ptx", "")
	show := write("show", "#!/bin/sh\nfor a in \"$@\"; do printf '<%s>\\n' \"$a\" >> args; done\n: > min.cubin\n")
	cmd := exec.Command("make", "PTXAS="+show, "NVDISASM=true")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	want := "<-arch=sm_80>\n<-O1>\n"
	for _, f := range flags {
		want += "<" + oneLine(f) + ">\n"
	}
	got, err := os.ReadFile(filepath.Join(dir, "args"))
	require.NoError(t, err)
	require.Equal(t, want+"<min.ptx>\n<-o>\n<min.cubin>\n", string(got))

	script := write("interesting.sh", b.interesting())
	require.NoError(t, os.Remove(filepath.Join(dir, "args")))
	cmd = exec.Command(script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "OPTCHECK="+show)
	out, err = cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	got, err = os.ReadFile(filepath.Join(dir, "args"))
	require.NoError(t, err)
	require.Contains(t, string(got), "<1'; touch pwned>\n")
	require.NoFileExists(t, filepath.Join(dir, "pwned"))
}

// TestMarkdown: no text breaks out of its span, block or line.
func TestMarkdown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching("[a-z`#*_<>|\\\\\\n\\[\\]-]{0,30}").Draw(t, "s")
		require.NotContains(t, md(s), "\n")
		require.NotContains(t, span(s), "\n")
		lines := strings.Split(strings.TrimSuffix(block("x", s), "\n"), "\n")
		fence := strings.TrimSuffix(lines[0], "x")
		require.Equal(t, fence, lines[len(lines)-1])
		for _, l := range lines[1 : len(lines)-1] {
			require.NotContains(t, l, fence)
		}
	})
	require.Equal(t, `sm_35 \<b\> \*x\* #1 a\_`, md("sm_35 <b> *x* #1 a_"))
	require.Equal(t, `\# head`, md("# head"))
}

// TestTidyPTX: whatever the test, the tidied program declares what it uses,
// uses what it declares, and keeps every access of the emitted one.
func TestTidyPTX(t *testing.T) {
	access := regexp.MustCompile(`(?m)^\t(?:@\S+ )?((?:ld|st|atom|red|membar|fence|bar)\b[^;]*;)`)
	n := 0
	for _, lt := range corpus.Tests() {
		for _, l := range spec.AllLayouts {
			u, err := ptxgen.Emit(lt, ptxgen.Options{Target: "sm_90", Layout: l, Plain: true, Unit: unit})
			if err != nil {
				continue
			}
			n++
			got := tidyPTX(u.Text)
			var want []string
			for _, m := range access.FindAllStringSubmatch(u.Text, -1) {
				if !strings.HasPrefix(m[1], "ld.param") {
					want = append(want, m[1])
				}
			}
			var have []string
			for _, m := range access.FindAllStringSubmatch(got, -1) {
				if !strings.HasPrefix(m[1], "ld.param") {
					have = append(have, m[1])
				}
			}
			require.Equal(t, want, have, lt.Name)
			require.NotContains(t, got, ".loc")
			require.NotContains(t, got, "%m<")
			for _, entry := range splitEntries(got) {
				used := map[string]int{}
				for _, r := range helperReg.FindAllString(entry, -1) {
					used[r]++
				}
				for r, k := range used {
					require.Greaterf(t, k, 1, "%s: %s is mentioned once only in\n%s", lt.Name, r, entry)
				}
			}
		}
	}
	require.Greater(t, n, 300)
}

func TestParseAccess(t *testing.T) {
	for _, c := range []struct{ in, class, mnemonic string }{
		{"  { LDG.E.CG R4, [R4+-0x40]         }", "LD", "LDG.E.CG"},
		{"@!P0 ST.E.CG.S [R2], R6;", "ST", "ST.E.CG"},
		{"@UP1 MEMBAR.SC.GPU ;", "MEMBAR", "MEMBAR.SC.GPU"},
		{"CCTL.IVALL [RZ]", "AUX", "CCTL.IVALL"},
		{"ATOMG.E.CAS.STRONG.GPU PT, R0, [R2], R4, R5", "ATOM", "ATOMG.E.CAS.STRONG.GPU"},
		{"STG.E.EF desc[UR4][R4.64+0x10], R7 ;", "", ""},
		{"ST.E.CS [R2], R6;", "", ""},
		{"LDC.64 R2, c[0x0][0x210] ;", "", ""},
		{"REDUX.SUM UR4, R0", "", ""},
		{"LDL R0, [R1]", "", ""},
		{"", "", ""},
	} {
		a, ok := parseAccess(c.in, false)
		require.Equal(t, c.class != "", ok, c.in)
		if ok {
			require.Equal(t, c.class, a.class, c.in)
			require.Equal(t, c.mnemonic, a.mnemonic)
		}
	}
	_, ok := parseAccess("ST.E.CS [R2], R6;", true)
	require.True(t, ok)
}

// TestWords: every rule and every check of the models that cells are judged
// under has words.
func TestWords(t *testing.T) {
	for _, r := range optcheck.Rules {
		if !r.Note {
			require.NotEmpty(t, headlineOf(r.ID), r.ID)
			require.True(t, strings.HasSuffix(expectationOf(r.ID), "."), r.ID)
			require.Equal(t, headline[r.ID] == "", expectation[r.ID] == "", r.ID)
		}
	}
	name := regexp.MustCompile(`(?m)^(?:empty|acyclic|irreflexive) .* as (\S+)$`)
	for _, m := range []string{audit.DefaultModel("sm_35"), audit.DefaultModel("sm_90")} {
		src, err := model.Source(m)
		require.NoError(t, err)
		checks := name.FindAllStringSubmatch(src, -1)
		require.Greater(t, len(checks), 3, m)
		for _, c := range checks {
			require.NotContains(t, plainCheck(m, c[1]), "is violated", c[1])
		}
	}
}

package main

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
	"optcheck/internal/required"
	"optcheck/report/html"
	"optcheck/toolchain"
)

// needs skips a test without a managed release.
func needs(t *testing.T, name string) string {
	dir := filepath.Join(toolchain.ManagedDir(os.Getenv), name)
	if _, err := os.Stat(dir); err != nil {
		required.Missing(t, "no %s", name)
	}
	return dir
}

func try(t *testing.T, at, text string, more ...string) (int, string) {
	form := url.Values{"test": {text}}
	for i := 0; i < len(more); i += 2 {
		form.Add(more[i], more[i+1])
	}
	r, err := http.PostForm(at+"try.html", form)
	require.NoError(t, err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return r.StatusCode, string(body)
}

func corpusText(t *testing.T, name string) string {
	text, ok := (&workbench{}).Text(tryLitmus, name)
	require.True(t, ok, name)
	return text
}

// TestServeTry: a test typed into the page goes the whole road, in every language, and a
// store that is served beside it is not touched.
func TestServeTry(t *testing.T) {
	needs(t, "cuda-12.4")
	at := startServeWith(t, os.Getenv)
	code, page := try(t, at, corpusText(t, "coRR"), "on", "ptx ptxas 12.4.131", "on", "ptx ptxas 11.2.152", "target", "sm_90", "level", "O3",
		"layout", "pointers")
	require.Equal(t, http.StatusOK, code, page)
	for _, want := range []string{"optimised", `class="tag fp-rule">merged`, "ld.global.cg.s32", "fp-merged", "LDG.E", "the test", "<svg",
		"ptxas 11.2.152 is left out: it does not know the target.", "PTX of thread T1", "Whole machine code of thread T1"} {
		require.Contains(t, page, want)
	}
	code, page = try(t, at, corpusText(t, "mp+fence.acq_rel.gpus"), "on", "ptx ptxas 12.4.131", "target", "sm_80", "level", "O0",
		"layout", "symbols")
	require.Equal(t, http.StatusOK, code, page)
	for _, want := range []string{"c-preserved", "fp-arrows", "MEMBAR", "They are the same.", `class="fp-picture"`} {
		require.Contains(t, page, want, "a preserved test is shown just so")
	}
	needs(t, "llvm-22")
	code, page = try(t, at, corpusText(t, "cl-mp+mem_fences"), "on", "opencl clang 22.1.8", "on", "ptx ptxas 12.4.131", "target", "gfx90a",
		"target", "sm_90", "level", "O3", "layout", "pointers")
	require.Equal(t, http.StatusOK, code, page)
	require.Contains(t, page, "OpenCL C of thread T0")
	require.Contains(t, page, "c-unsupported", "ptxas compiles no OpenCL C")
}

// TestServeTryHostile: whatever a test says, nothing of it reaches a compiler that could open a
// file, and refusals name the place.
func TestServeTryHostile(t *testing.T) {
	needs(t, "cuda-12.4")
	at := startServeWith(t, os.Getenv)
	const form = "GPU_PTX NAME\n\"DOC\"\n{\nLOC=0;\n0:.reg .b64 REG = LOC;\n}\n THREAD ;\n st.cg.s32 [REG],1 ;\n" +
		"ScopeTree(grid(cta(warp THREAD)))\nLOC: global\nexists (LOC=1)\n"
	names := []string{"NAME", "DOC", "LOC", "REG", "THREAD"}
	good := strings.NewReplacer("LOC", "x", "REG", "rd0", "THREAD", "T0")
	ran := 0
	for _, evil := range []string{`#include "/etc/passwd"`, `a";.include"/etc/passwd";"`, "a\n.file 1 \"/etc/passwd\"", "../../etc/passwd",
		"a*/asm(\".incbin /etc/passwd\")/*", "a\\\n.include \"/etc/passwd\"", "\u202ea", "a\x00/etc/passwd"} {
		for _, where := range names {
			code, page := try(t, at, good.Replace(strings.ReplaceAll(form, where, evil)), "on", "ptx ptxas 12.4.131", "target", "sm_90", "level", "O3",
				"layout", "symbols")
			require.Contains(t, []int{http.StatusOK, http.StatusUnprocessableEntity}, code, "%q as %s: %s", evil, where, page)
			for _, m := range strings.Split(page, "<pre ")[1:] {
				if code == http.StatusOK {
					ran++
					pre, _, _ := strings.Cut(m, "</pre>")
					for line := range strings.Lines(pre) {
						text, _, _ := strings.Cut(line, "//")
						require.NotContains(t, text, "passwd", "%q as %s: %s", evil, where, pre)
					}
				}
			}
		}
	}
	require.Positive(t, ran, "what is no word of PTX may stand in a doc string")
	code, page := try(t, at, strings.Replace(good.Replace(form), "st.cg", "st.foo", 1))
	require.Equal(t, http.StatusUnprocessableEntity, code)
	require.Contains(t, page, "Line 8, column 4: </strong><span>unknown modifier .foo")
	long := strings.Replace(good.Replace(form), " st.cg.s32 [rd0],1 ;\n", strings.Repeat(" st.cg.s32 [rd0],1 ;\n", tryInstructions+1), 1)
	code, page = try(t, at, long)
	require.Equal(t, http.StatusUnprocessableEntity, code)
	require.Contains(t, page, "here a test may have 64")
}

// TestServeTryProgram: a program goes the whole road, its machine code has the lines of the text, and
// what is wrong with a text has its place.
func TestServeTryProgram(t *testing.T) {
	needs(t, "cuda-11.8")
	at := startServeWith(t, os.Getenv)
	wait := programExamples[tryPTX]["wait.ptx"]
	place := []string{"what", "ptx", "on", "ptx ptxas 11.8.89", "target", "sm_80", "level", "O3"}
	code, page := try(t, at, wait, place...)
	require.Equal(t, http.StatusOK, code, page)
	for _, want := range []string{"c-miscompiled", `data-finding data-line="16" data-col="2" data-severity="error"`, `data-of="13"`, "STRONG.SYS", "causality"} {
		require.Contains(t, page, want)
	}
	require.Regexp(t, `<code>(\.L_\w+):</code>`, page, "the loop's label stands before its first instruction")
	label := regexp.MustCompile(`<code>(\.L_\w+):</code>`).FindStringSubmatch(page)[1]
	require.Regexp(t, `BRA [^<]*`+regexp.QuoteMeta(label), page)
	require.NotContains(t, page, `data-of="16"`, "there is nothing of the lost load")
	for text, want := range map[string]string{
		strings.Replace(wait, "setp.eq", "setq.eq", 1): "Line 14, column ",
		".version 7.0\n.include \"/etc/passwd\"\n":     "a module is one file",
		strings.Replace(wait, "\tret;", strings.Repeat("\tmov.b32 %r1, %r1;\n", 3000)+strings.Repeat("\tret;\n", 1100), 1): "here one may have 4000",
	} {
		code, page := try(t, at, text, place...)
		if code == http.StatusOK { // ptxas refuses it
			require.Contains(t, page, "c-invalid")
			continue
		}
		require.Equal(t, http.StatusUnprocessableEntity, code, text)
		require.Contains(t, page, want)
	}
}

// TestServeTryCUDA: CUDA C++ has its own lines beside the machine code, and reads no foreign file.
func TestServeTryCUDA(t *testing.T) {
	needs(t, "cuda-11.8")
	needs(t, "nvcc-12.4")
	at := startServeWith(t, os.Getenv)
	place := []string{"what", "cuda", "on", "cuda nvcc 12.4.131 + ptxas 11.8.89", "target", "sm_80", "level", "O3"}
	code, page := try(t, at, programExamples[tryCUDA]["wait.cu"], place...)
	require.Equal(t, http.StatusOK, code, page)
	for _, want := range []string{"c-miscompiled", `data-finding data-line="7"`, `data-of="8"`, "wait(int*, int*, int*)", "The PTX between them"} {
		require.Contains(t, page, want)
	}
	code, page = try(t, at, "#include \"/etc/hostname\"\n__global__ void k() {}\n", place...)
	require.Equal(t, http.StatusUnprocessableEntity, code)
	require.Contains(t, page, "Line 1")
	require.Contains(t, page, "lies outside of the program")
	code, page = try(t, at, "__global__ void k() { nothing(); }\n", place...)
	require.Equal(t, http.StatusUnprocessableEntity, code)
	require.Contains(t, page, "Line 1")
}

// TestServeTryModel: a model lists the final states, and says why it forbids one.
func TestServeTryModel(t *testing.T) {
	w := &workbench{models: newPainter()}
	for _, c := range []struct {
		test, model, answer, why string
		states, drawn            int
		forbidden                bool
	}{
		{"mp", "sc", "Never: sc allows it in 0 of", "forbids", 3, 3, true},
		{"mp", "ptx", "Sometimes: ptx allows it in", "allows", 4, 4, false},
		{"coRR", "ptx-2015-op", "Sometimes", "allows", 4, 0, false},
	} {
		out, err := w.judge(t.Context(), html.Trial{What: tryModel, Text: corpusText(t, c.test), Compilers: []string{c.model}})
		require.NoError(t, err)
		j := out.Judged
		require.Contains(t, j.Answer, c.answer)
		require.Contains(t, j.Why, c.why)
		require.Len(t, j.States, c.states, c)
		require.Equal(t, c.forbidden, j.Forbidden != nil, c)
		drawn := 0
		for _, s := range j.States {
			if s.Picture != nil {
				drawn++
			}
		}
		if c.drawn > 0 {
			require.Equal(t, c.drawn, drawn, c)
		}
	}
	_, err := w.judge(t.Context(), html.Trial{Text: corpusText(t, "mp"), Compilers: []string{"../../etc/passwd"}})
	require.ErrorContains(t, err, "not built in")
}

// TestServeTryHangs: a compiler that hangs is killed when its time is over, and when its reader
// leaves; neither ends the server.
func TestServeTryHangs(t *testing.T) {
	bin := filepath.Join(needs(t, "cuda-12.4"), "root/usr/bin")
	dir := t.TempDir()
	started := filepath.Join(dir, "started")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ptxas"), []byte("#!/bin/sh\ncase \"$*\" in *probe*) ;; *.ptx*) echo $$ >> "+started+
		"; sleep 1000 & wait;; esac\nexec "+bin+"/ptxas \"$@\"\n"), 0o755))
	for _, tool := range []string{"nvdisasm", "cuobjdump"} {
		require.NoError(t, os.Symlink(filepath.Join(bin, tool), filepath.Join(dir, tool)))
	}
	env := func(limit string) func(string) string {
		return func(key string) string {
			return map[string]string{"HOME": dir, "OPTCHECK_TIMEOUT": limit, "OPTCHECK_TOOLCHAIN_DIRS": dir}[key]
		}
	}
	at := startServeWith(t, env("1s"))
	code, page := try(t, at, corpusText(t, "mp"))
	require.Equal(t, http.StatusOK, code, page)
	require.Contains(t, page, "c-unknown")
	require.Contains(t, page, "killed after 1s")

	at = startServeWith(t, env("1h"))
	require.NoError(t, os.Remove(started))
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", at+"try.html", strings.NewReader(url.Values{"test": {corpusText(t, "mp")}}.Encode()))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	done := make(chan error, 1)
	go func() {
		_, err := http.DefaultClient.Do(r)
		done <- err
	}()
	var pid []byte
	require.Eventually(t, func() bool { pid, _ = os.ReadFile(started); return len(pid) > 0 }, patient.Long, 10*time.Millisecond)
	leave()
	require.Error(t, <-done)
	id, _, _ := strings.Cut(string(pid), "\n")
	require.Eventually(t, func() bool {
		_, err := os.Stat("/proc/" + id)
		return os.IsNotExist(err)
	}, patient.Long, 10*time.Millisecond, "its compiler is gone")
	fetch(t, at+"try.html")
}

package bug

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"optcheck/litmus"
	"optcheck/pipeline"
	"optcheck/ptxgen"
	"optcheck/reduce"
	"optcheck/spec"
)

// unit is the prefix of all names in the smallest program.
const unit = "min"

// program is the smallest program.
type program struct {
	text    string // complete, with its header
	header  string // up to the first declaration
	body    string
	markers bool // the program carries its specification, because it needs to
	// ambiguous is set if the cache operator does not distinguish the stores of results from
	// the test's own.
	ambiguous bool

	// For a program in OpenCL C: its standard, and the file of libclc that it needs.
	cl2     bool
	library string
	// spec is the specification of the kernel with the finding; nil for one that is compared by
	// its instructions.
	spec *spec.Spec
	// ir is the LLVM IR that a program in PTX was made of, and llc the command that made it.
	ir, llc string
}

// kernel returns the name of a thread's entry.
func kernel(thread int) string { return fmt.Sprintf("%s_T%d", unit, thread) }

// Program returns a finding's test as a program for people, in the language of its kernels
// (source, one of pipeline's; "" for the toolchain's default): PTX or LLVM IR as in bundles, or
// all kernels in OpenCL C.
func Program(f *reduce.Finding, source string) (string, error) {
	pipe, err := pipeline.Of(f.Toolchain, source)
	if err != nil {
		return "", err
	}
	b := &bundler{f: f, pipe: pipe}
	p, err := roads[roadOf(pipe)].program(b)
	if err != nil {
		return "", err
	}
	return p.text, nil
}

// newProgram emits a finding's test as PTX for people: without line information and unneeded
// registers, and with the accesses numbered in comments. The stores that only keep results
// alive have the cache operator .cs, which distinguishes them from the test's own.
func newProgram(f *reduce.Finding, markers bool) (*program, error) {
	u, err := ptxgen.Emit(f.Test, ptxgen.Options{Target: f.Target, Layout: f.Layout, Plain: !markers, Unit: unit})
	if err != nil {
		return nil, err
	}
	p := &program{markers: markers, ambiguous: u.Program} // what is compared as programs are has all stores
	for i := range f.Test.Threads {
		for j := range f.Test.Threads[i].Body {
			if f.Test.Threads[i].Body[j].Cache == litmus.CacheCS {
				p.ambiguous = true
			}
		}
	}
	text := u.Text
	if !p.ambiguous {
		text = resultStore.ReplaceAllString(text, "st.global.cs.u32 [%out")
	}
	p.header = fmt.Sprintf(".version %v\n.target %s\n.address_size 64\n", u.Version, f.Target)
	p.body = tidyPTX(text)
	p.text = p.header + "\n" + p.body
	return p, nil
}

var (
	resultStore = regexp.MustCompile(`st\.global\.u32 \[%out`)
	locLine     = regexp.MustCompile(`^\t\.loc 1 (\d+) 0$`)
	defines     = regexp.MustCompile(`^\t(?:mov|cvt|ld\.param)[.\w]* (%\w+), `)
	helperReg   = regexp.MustCompile(`%(?:[mox]\d+(?:_\d+)?|tok|out)\b`)
	helperDecl  = regexp.MustCompile(`^\t\.reg .*(?:%tok|%out|%o\d+_\d+|%m<).*;$`)
	zeroAdd     = regexp.MustCompile(`^\tadd\.u\d+ (%\w+), (%\w+), 0;$`) // an address at offset 0
	keeper      = regexp.MustCompile(`^\t(?:mov|cvt)[.\w]* %[mo]\d|^\t\{ \.reg`)
)

// tidyPTX makes emitted kernels readable, entry by entry.
func tidyPTX(text string) string {
	var out strings.Builder
	for _, part := range splitEntries(text) {
		if !strings.HasPrefix(part, ".visible .entry") {
			out.WriteString(part)
			continue
		}
		out.WriteString(tidyEntry(part))
	}
	return out.String()
}

// splitEntries splits a module into the part before the entries, and the entries.
func splitEntries(text string) []string {
	var parts []string
	for {
		i := strings.Index(text[min(1, len(text)):], "\n.visible .entry")
		if i < 0 {
			return append(parts, text)
		}
		parts = append(parts, text[:i+2])
		text = text[i+2:]
	}
}

// tidyEntry removes line information, unused copies and unused helper registers from one entry,
// and numbers its accesses in comments.
func tidyEntry(text string) string {
	lines := dropDead(number(strings.Split(strings.TrimSuffix(text, "\n"), "\n")))
	used := map[string]bool{}
	for _, l := range lines {
		if !helperDecl.MatchString(l) {
			for _, r := range helperReg.FindAllString(l, -1) {
				used[r] = true
			}
		}
	}
	var out []string
	declared := false
	for i, l := range lines {
		switch {
		case i == 0 && !used["%tok"]:
			l = strings.Replace(strings.Replace(l, ", .param .u32 tok)", ")", 1), "(.param .u32 tok)", "()", 1)
		case helperDecl.MatchString(l):
			if !declared {
				declared = true
				out = append(out, helperDecls(used)...)
			}
			continue
		}
		out = append(out, l)
	}
	return strings.Join(out, "\n") + "\n"
}

// number replaces line information by comments on the accesses and fences.
func number(lines []string) []string {
	var out []string
	next := -1
	for _, l := range lines {
		if m := locLine.FindStringSubmatch(l); m != nil {
			n, err := strconv.Atoi(m[1])
			if next = -1; err == nil && n < ptxgen.LineAsync {
				next = n - 1
			}
			continue
		}
		if next >= 0 && !keeper.MatchString(l) && strings.HasSuffix(l, ";") {
			l = fmt.Sprintf("%-44s // #%d", l, next)
			next = -1
		}
		if m := zeroAdd.FindStringSubmatch(l); m != nil && m[1] == m[2] {
			continue
		}
		out = append(out, l)
	}
	return out
}

// dropDead removes copies into helper registers that nothing reads.
func dropDead(lines []string) []string {
	for {
		uses := map[string]int{}
		for _, l := range lines {
			if !helperDecl.MatchString(l) {
				for _, r := range helperReg.FindAllString(l, -1) {
					uses[r]++
				}
			}
		}
		n := len(lines)
		lines = slices.DeleteFunc(lines, func(l string) bool {
			if strings.HasPrefix(l, "\t{ .reg") {
				r := helperReg.FindString(l)
				return r != "" && uses[r] == 1
			}
			m := defines.FindStringSubmatch(l)
			return m != nil && uses[m[1]] == 1
		})
		if len(lines) == n {
			return lines
		}
	}
}

// helperDecls declares the helper registers that are used.
func helperDecls(used map[string]bool) []string {
	var words []string
	for r := range used {
		if r != "%out" {
			words = append(words, r)
		}
	}
	slices.SortFunc(words, func(a, b string) int {
		return strings.Compare(fmt.Sprintf("%08s", a), fmt.Sprintf("%08s", b))
	})
	var out []string
	if used["%out"] {
		out = append(out, "\t.reg .b64 %out;")
	}
	if len(words) > 0 {
		out = append(out, "\t.reg .b32 "+strings.Join(words, ", ")+";")
	}
	return out
}

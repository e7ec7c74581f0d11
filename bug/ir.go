package bug

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"optcheck/pipeline"
	"optcheck/ptxgen"
	"optcheck/toolchain"
)

// newIR emits the kernel of the finding's thread, or the kernels of all threads, in LLVM IR for
// a toolchain: without line information, and with the accesses numbered in comments where the
// emitter knows them.
func (b *bundler) newIR(tc *toolchain.Toolchain, markers, all bool) (*program, error) {
	pipe, err := pipeline.Of(tc, pipeline.LLVMIR)
	if err != nil {
		return nil, err
	}
	ir := pipe.(pipeline.IR)
	u, err := ir.Emit(b.f.Test, "", ptxgen.Options{Target: b.f.Target, Layout: b.f.Layout, Plain: !markers, Unit: unit, Lines: true})
	if err != nil {
		return nil, err
	}
	p := &program{markers: markers, spec: u.Kernels[b.find.Thread].Spec}
	for i := range u.Kernels {
		if !all && i != b.find.Thread {
			continue
		}
		if p.body != "" {
			p.body += "\n"
		}
		p.body += tidyIR(u.Kernels[i].Text)
	}
	if strings.Contains(p.body, "@llvm.amdgcn.s.barrier") {
		p.body += "\n" + ptxgen.HeaderAMD
	}
	p.text = fmt.Sprintf("target triple = %q\n\n%s", ir.Triple(b.f.Target), p.body)
	return p, nil
}

// wholeIR returns a finding's test in LLVM IR for people.
func wholeIR(b *bundler) (*program, error) { return b.newIR(b.f.Toolchain, false, true) }

var (
	irLine   = regexp.MustCompile(`, !dbg !DILocation\(line: (\d+), scope: [^)]*\)$`)
	irAccess = regexp.MustCompile(`^  (?:%\w+ = )?(?:load|store|atomicrmw|cmpxchg|fence) `)
)

// tidyIR makes an emitted kernel readable.
func tidyIR(text string) string {
	var out []string
	for _, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if strings.HasPrefix(l, ptxgen.KernelScope+" =") {
			continue
		}
		l = strings.Replace(l, " !dbg "+ptxgen.KernelScope+" {", " {", 1)
		if m := irLine.FindStringSubmatch(l); m != nil {
			l = strings.TrimSuffix(l, m[0])
			if n, err := strconv.Atoi(m[1]); err == nil && n < ptxgen.LineOther && irAccess.MatchString(l) {
				l = fmt.Sprintf("%-84s ; #%d", l, n-1)
			}
		}
		out = append(out, l)
	}
	text = strings.Join(out, "\n") + "\n"
	if strings.Count(text, "%tok") == 1 { // only programs with markers read it
		text = strings.NewReplacer(", i32 %tok)", ")", "(i32 %tok)", "()").Replace(text)
	}
	return text
}

package bug

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"optcheck/litmus"
	"optcheck/optcheck"
	"optcheck/pipeline"
	"optcheck/ptxgen"
	"optcheck/spec"
	"optcheck/target"
	"optcheck/toolchain"
)

// ErrLibrary is wrapped by the error for a bundle that would need libclc if the release has
// none.
var ErrLibrary = errors.New("the kernel needs libclc")

// clRoad is OpenCL C and clang, or LLVM IR and llc, for AMD's targets.
type clRoad struct {
	*bundler
	ir bool
}

// compiler names clang, or llc, with its release.
func (b *clRoad) compiler() string {
	return b.line().Tool() + " " + b.f.Toolchain.Version
}

func (b *clRoad) promise(*litmus.Instr) string { return "" }

// variants returns none: variants exist only in PTX.
func (b *clRoad) variants() ([]variant, bool) { return nil, false }

// wholeCL returns a finding's test in OpenCL C for people.
func wholeCL(b *bundler) (*program, error) {
	u, err := ptxgen.EmitOpenCL(b.f.Test, ptxgen.Options{Target: b.f.Target, Layout: b.f.Layout, Plain: true, Unit: unit})
	if err != nil {
		return nil, err
	}
	p := &program{}
	for i := range u.Kernels {
		p.text += u.Kernels[i].Text
	}
	return p, nil
}

// emit emits the kernel of the finding's thread.
func (b *clRoad) emit(_ context.Context, tc *toolchain.Toolchain, _ string, markers bool) (*program, error) {
	if b.ir {
		return b.newIR(tc, markers, false)
	}
	u, err := ptxgen.EmitOpenCL(b.f.Test, ptxgen.Options{Target: b.f.Target, Layout: b.f.Layout, Plain: !markers, Unit: unit})
	if err != nil {
		return nil, err
	}
	k := u.Kernels[b.find.Thread]
	p := &program{markers: markers, text: k.Text, body: k.Text, cl2: k.CL2, spec: k.Spec}
	if k.Library {
		if p.library = tc.LibclcFile(b.f.Target); p.library == "" {
			return nil, fmt.Errorf("%w: %s has none for %s", ErrLibrary, tc.ID, b.f.Target)
		}
	}
	return p, nil
}

// line returns the pipeline, which knows its command line.
func (b *clRoad) line() pipeline.CommandLine { return b.pipe.(pipeline.CommandLine) }

// job returns how a program is compiled.
func (b *clRoad) job(p *program, level string) *pipeline.Job {
	return &pipeline.Job{Target: b.f.Target, Level: level, Plain: true, Flags: b.f.Flags,
		Way:   pipeline.Way{CL2: p.cl2, Library: p.library != ""},
		Units: []toolchain.Unit{{Name: kernel(b.find.Thread), Text: p.body}}}
}

// compile compiles a program as the bundle's Makefile does, and checks the kernel
// against the test.
func (b *clRoad) compile(ctx context.Context, p *program, tc *toolchain.Toolchain, level string) (*code, error) {
	pipe, err := pipeline.Of(tc, b.pipe.Road().Source)
	if err != nil {
		return nil, err
	}
	res, err := pipe.Compile(ctx, b.job(p, level))
	if err != nil {
		return nil, err
	}
	if e := res.Failed[0]; e != nil {
		return nil, e
	}
	parse, err := pipe.Decode(ctx, "min.s", b.f.Target, &res.Batches[0])
	if err != nil {
		return nil, err
	}
	read, err := parse()
	if err != nil {
		return nil, err
	}
	name := kernel(b.find.Thread)
	fn, err := read.Func(name)
	if err != nil {
		return nil, err
	}
	check := optcheck.NewChecker()
	for i := range b.f.Test.Locations {
		check.Locations = append(check.Locations, b.f.Test.Locations[i].Name)
	}
	text := res.Batches[0].Text
	c := &code{tc: tc, target: b.f.Target, level: level, text: text, lines: accessesCL(text, name)}
	if p.markers {
		r, err := check.CheckAgainst(fn, p.spec)
		if err != nil {
			return nil, err
		}
		c.checked = r.Result
	} else {
		c.checked = check.CheckUnmarked(fn, p.spec, b.places(p.spec))
	}
	return c, nil
}

// places returns the addresses of the locations as the emitted kernels have them, where
// each location has a parameter.
func (b *clRoad) places(s *spec.Spec) map[int]string {
	if s.Layout != spec.Pointers || target.IsTeraScale(b.f.Target) {
		return nil
	}
	out := map[int]string{}
	for i := range b.f.Test.Locations {
		out[i] = fmt.Sprintf("param+0x%x", 8*i)
	}
	return out
}

// shows reports whether the checker finds the same rule broken at the same access of a program;
// without markers it matches by addresses.
func (b *clRoad) shows(_ *program, bad *code) bool {
	return slices.ContainsFunc(bad.checked.Findings, func(f optcheck.Finding) bool {
		return f.Rule == b.find.Rule &&
			f.Access == b.find.Access
	})
}

// classesCL maps instructions in LLVM's AMD listings to their classes, in order; the script
// check.awk has the same list.
var classesCL = []struct{ pattern, class string }{
	{`^(s_wait|WAIT)`, "WAIT"},
	{`^(buffer_wbinvl1|buffer_wbl2|buffer_inv|buffer_gl[01]_inv|global_inv|global_wb|s_dcache)`, "CACHE"},
	{`^(s_barrier|GROUP_BARRIER)`, "BAR"},
	{`atomic|ATOMIC|^ds_(add|sub|inc|dec|min|max|and|or|xor|cmpst|cmpstore|wrxchg|storexchg)|^LDS_(ADD|WRXCHG|CMPST)`, "ATOM"},
	{`^(s_load|s_buffer_load|global_load|flat_load|buffer_load|scratch_load|ds_read|ds_load|VTX_READ|LDS_READ)`, "LD"},
	{`^(global_store|flat_store|buffer_store|scratch_store|ds_write|ds_store|MEM_RAT|LDS_WRITE)`, "ST"},
}

var (
	classRegsCL = func() (out []*regexp.Regexp) {
		for _, c := range classesCL {
			out = append(out, regexp.MustCompile(c.pattern))
		}
		return out
	}()
	bitsCL = regexp.MustCompile(`^(glc|slc|dlc|scc|sc0|sc1|nt|nv|scope:.*|th:.*)$`)
)

// accessesCL lists what touches or orders memory in a kernel's listing, including arguments and
// results. It mirrors the script check.awk.
func accessesCL(text []byte, kernel string) []access {
	var list []access
	inside := false
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(strings.TrimRight(line, "\r\n"), ";")
		switch {
		case strings.HasPrefix(line, kernel+":"):
			inside = true
		case strings.HasPrefix(line, ".Lfunc_end"):
			inside = false
		case inside:
			words := strings.Fields(line)
			if len(words) == 0 {
				continue
			}
			for i, re := range classRegsCL {
				if !re.MatchString(strings.Join(words, " ")) {
					continue
				}
				a := access{class: classesCL[i].class, mnemonic: words[0], text: strings.Join(words, " ")}
				for _, w := range words[1:] {
					if a.class == "WAIT" || bitsCL.MatchString(w) {
						a.mnemonic += " " + w
					}
				}
				list = append(list, a)
				break
			}
		}
	}
	return list
}

// expected returns nil: waits and cache operations belong to the code, so there is no list.
func (b *clRoad) expected() []string { return nil }

func (b *clRoad) particulars() (expected, actual string) { return "", "" }

// listing returns what the checker matched, without private memory and arguments.
func (b *clRoad) listing(c *code) (out []string) {
	for _, l := range c.checked.Machine {
		out = append(out, l.Text)
	}
	return out
}

// marked lists the test's accesses in machine order, as the checker matched them,
// with the wrong ones marked.
func (b *clRoad) marked() string {
	rule := fmt.Sprintf("   <== %s: T%d #%d", b.find.Rule, b.find.Thread, b.find.Access)
	var lines []string
	hit := false
	for _, l := range b.bad.checked.Machine {
		s := l.Text
		if l.Pos >= 0 {
			s = fmt.Sprintf("%-44s // #%d", s, l.Pos)
			if l.Pos == b.find.Access {
				s, hit = s+rule, true
			}
		}
		lines = append(lines, s)
	}
	if !hit && b.find.Access >= 0 {
		lines = append(lines, fmt.Sprintf("%-44s // no instruction for #%d%s", "", b.find.Access, rule))
	}
	return strings.Join(lines, "\n")
}

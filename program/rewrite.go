package program

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"optcheck/ptx"
)

// ErrUnsupported is why a program cannot be rewritten or run: it, or the device, has
// something that is not provided for.
var ErrUnsupported = errors.New("unsupported")

// Site is an access to memory that several blocks may share, behind and in front of
// which a fence can stand. Sites are numbered from 1, in the order of the text.
type Site struct {
	N    int     `json:"site"`
	Func string  `json:"function"`
	Pos  ptx.Pos `json:"pos"`
	Text string  `json:"access"`

	inst *ptx.Inst
}

// Sites lists the sites of the kernels that are named, and of all functions that are
// no kernels.
func Sites(m *ptx.Module, kernels []string) (sites []Site) {
	for _, f := range m.Funcs {
		if f.Entry && !slices.Contains(kernels, f.Name) {
			continue
		}
		for _, st := range f.Body {
			if st.Inst == nil {
				continue
			}
			e := st.Inst.Effect()
			if e.Kind.IsAccess() && !e.Constant && (e.Space == "global" || e.Space == "generic") {
				sites = append(sites, Site{len(sites) + 1, f.Name, st.Inst.Pos, st.Inst.Text, st.Inst})
			}
		}
	}
	return sites
}

// FullFence is what is put behind an access: __threadfence(), which is fence.sc.gpu on
// sm_70 and newer.
const FullFence = "membar.gl"

// Fences are the fences of a variant: the text of each by the number of its site, if it
// stands behind the access; in front of access 5 it is that of -5. A text that begins with a dot is no fence: it takes the place of the access's strength
// and scope (.acquire.gpu).
type Fences map[int]string

// Full are full fences at sites.
func Full(sites ...int) Fences {
	f := Fences{}
	for _, n := range sites {
		f[n] = FullFence
	}
	return f
}

// Rewrite changes the kernels of a program: fences are put in; and with stress, ids of
// blocks and warps come from parameters, and blocks that the program does not have
// stress memory (see stressed). Everything else stays: proven by Same.
func Rewrite(m *ptx.Module, kernels []string, fences Fences, stress bool) (*ptx.Module, error) {
	var edits []ptx.Edit
	texts := map[*ptx.Inst]string{}
	for _, s := range Sites(m, kernels) {
		if text := fences[-s.N]; text != "" {
			edits = append(edits, s.inst.Before(text+";\n\t"))
		}
		switch text := fences[s.N]; {
		case strings.HasPrefix(text, "."):
			texts[s.inst] = strengthen(s.inst, text)
		case text != "":
			edits = append(edits, s.inst.After("\n\t"+text+";"))
		}
	}
	if stress {
		more, err := stressed(m, kernels, texts)
		if err != nil {
			return nil, err
		}
		edits = append(more, edits...)
	}
	for _, f := range m.Funcs {
		for _, st := range f.Body {
			if text, ok := texts[st.Inst]; ok && st.Inst != nil {
				edits = append(edits, st.Inst.Replace(text+";"))
			}
		}
	}
	out, err := ptx.Parse(m.File, m.Apply(edits...))
	if err != nil {
		return nil, fmt.Errorf("rewritten: %w", err)
	}
	return out, Same(m, out, kernels, fences)
}

var ordered = regexp.MustCompile(`\.(weak|relaxed|volatile|acquire|release|acq_rel|cta|cluster|gpu|sys|ca|cg|cs|lu|cv|wb|wt)\b`)

// strengthen gives an access another strength and scope, .release.gpu, with which no
// cache operator goes.
func strengthen(in *ptx.Inst, with string) string {
	word := ordered.ReplaceAllString(in.Op, "")
	name, mods, _ := strings.Cut(word, ".")
	return strings.Replace(in.Text, in.Op, name+with+"."+mods, 1)
}

// ids are the special registers that a program must not read as they are.
var (
	ids     = regexp.MustCompile(`%(tid|ctaid|nctaid)\.([xyz])\b`)
	places  = regexp.MustCompile(`%(tid|ctaid|nctaid|cluster\w*|ncluster\w*|is_explicit_cluster)\b`)
	cluster = regexp.MustCompile(`\.(explicitcluster|reqnctapercluster)\b`)
	ours    = regexp.MustCompile(`%optcheck_(tid|ctaid|nctaid)_([xyz])\b`)
)

const programLabel = "$optcheck_program"

// stressed makes the edits after which a kernel takes the parameters of Params. texts
// gets the instructions that change.
func stressed(m *ptx.Module, kernels []string, texts map[*ptx.Inst]string) (edits []ptx.Edit, err error) {
	if cluster.Match(m.Apply()) {
		return nil, fmt.Errorf("%w: %s: kernels in clusters cannot be given further blocks", ErrUnsupported, m.File)
	}
	tells := slices.ContainsFunc(m.Funcs, func(f *ptx.Func) bool { return !f.Entry && asks(f) })
	if tells {
		edits = append(edits, m.Funcs[0].Before(declaration()))
	}
	for _, f := range m.Funcs {
		if f.Entry && !slices.Contains(kernels, f.Name) {
			continue
		}
		for _, st := range f.Body {
			if st.Inst == nil || !places.MatchString(st.Inst.Text) {
				continue
			}
			text := st.Inst.Text
			if t, ok := texts[st.Inst]; ok {
				text = t
			}
			text = ids.ReplaceAllString(text, "%optcheck_${1}_$2")
			if places.MatchString(text) {
				return nil, fmt.Errorf("%w: %s:%d:%d: %s: ids are permuted where a kernel itself reads them by %%tid.x and the like",
					ErrUnsupported, m.File, st.Inst.Pos.Line, st.Inst.Pos.Col, st.Inst.Text)
			}
			texts[st.Inst] = text
		}
		if !f.Entry {
			if asks(f) {
				edits = append(edits, f.Begin(prologue(m, false, false)))
			}
			continue
		}
		var list []string
		for _, p := range Params {
			list = append(list, fmt.Sprintf(".param .%s optcheck_%s", p.Type, p.Name))
		}
		params, ok := f.AddParams(strings.Join(list, ", "))
		if !ok {
			return nil, fmt.Errorf("%w: %s: kernel %s has no list of parameters", ErrUnsupported, m.File, f.Name)
		}
		edits = append(edits, params, f.Begin(prologue(m, true, tells)))
	}
	return edits, nil
}

// asks reports whether a function reads ids.
func asks(f *ptx.Func) bool {
	return slices.ContainsFunc(f.Body, func(st ptx.Stmt) bool { return st.Inst != nil && ids.MatchString(st.Inst.Text) })
}

// Same reports in what two modules differ beside the fences, parameters, and what
// stands in front of the program's own code in its kernels.
func Same(was, is *ptx.Module, kernels []string, fences Fences) error {
	if len(was.Funcs) != len(is.Funcs) {
		return fmt.Errorf("%d functions became %d", len(was.Funcs), len(is.Funcs))
	}
	at, before := map[*ptx.Inst]string{}, map[*ptx.Inst]string{}
	for _, s := range Sites(was, kernels) {
		at[s.inst], before[s.inst] = fences[s.N], fences[-s.N]
	}
	for i, f := range was.Funcs {
		body := is.Funcs[i].Body
		for k, st := range body {
			if st.Kind == ptx.StmtLabel && strings.HasPrefix(st.Name, programLabel) {
				body = body[k+1:]
				break
			}
		}
		var want []string
		for _, st := range f.Body {
			fence := ""
			text := plain(st)
			if st.Inst != nil {
				fence = at[st.Inst]
			}
			if strings.HasPrefix(fence, ".") {
				text, fence = strengthen(st.Inst, fence), ""
			}
			if st.Inst != nil && before[st.Inst] != "" {
				want = append(want, before[st.Inst])
			}
			want = append(want, text)
			if fence != "" {
				want = append(want, fence)
			}
		}
		for k, w := range want {
			if k >= len(body) || plain(body[k]) != w {
				return fmt.Errorf("%s: function %s, statement %d: %q is not there any more", was.File, f.Name, k+1, w)
			}
		}
		if len(body) != len(want) {
			return fmt.Errorf("%s: function %s: %d statements became %d", was.File, f.Name, len(want), len(body))
		}
	}
	return nil
}

// plain is a statement as the program wrote it.
func plain(st ptx.Stmt) string {
	if st.Inst == nil {
		return st.Name + ":" + strings.Join(st.Labels, ",")
	}
	return ours.ReplaceAllString(st.Inst.Text, "%${1}.$2")
}

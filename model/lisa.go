package model

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"optcheck/litmus"
)

// LISABell is the bell file of the tests that ToLISA writes: their scopes and
// annotations.
const LISABell = `BELL "optcheck"
enum scopes = 'cta || 'cluster || 'grid || 'gpu || 'system
let narrower(t) = match t with
|| 'system -> 'gpu || 'gpu -> 'grid || 'grid -> 'cluster || 'cluster -> 'cta end
let wider(t) = match t with
|| 'cta -> 'cluster || 'cluster -> 'grid || 'grid -> 'gpu || 'gpu -> 'system end
enum access = 'weak || 'relaxed || 'acquire || 'release || 'acqrel
enum reach = 'scta || 'scluster || 'sgpu || 'ssys
enum fence = 'membarcta || 'membargl || 'membarsys || 'acqrelfence || 'acquirefence || 'releasefence
instructions R[{'weak}]
instructions R[{'relaxed, 'acquire}, {'scta, 'scluster, 'sgpu, 'ssys}]
instructions W[{'weak}]
instructions W[{'relaxed, 'release}, {'scta, 'scluster, 'sgpu, 'ssys}]
instructions RMW[{'relaxed, 'acquire, 'release, 'acqrel}, {'scta, 'scluster, 'sgpu, 'ssys}]
instructions F[{'membarcta, 'membargl, 'membarsys}]
instructions F[{'acqrelfence, 'acquirefence, 'releasefence}, {'scta, 'scluster, 'sgpu, 'ssys}]
`

// lisaModels are the built-in models that ModelForHerd can write.
var lisaModels = []string{"sc", "ptx-2015", "ptx-2015-rmw", "ptx"}

// ModelsForHerd lists the built-in models that ModelForHerd supports.
func ModelsForHerd() []string { return slices.Clone(lisaModels) }

// ModelForHerd returns a built-in model as a file that herd7 runs on tests written by ToLISA:
// the model's own text, preceded by definitions of the names that herd lacks; see
// ModelsForHerd. herd has neither partial coherence orders nor barriers. Under ptx its
// coherence is total, as with CoTotal here, it tries all orders of the fences, and what a red
// reads can be acquired.
func ModelForHerd(name string) (string, error) {
	if !slices.Contains(lisaModels, name) {
		return "", fmt.Errorf("model %s cannot be written for herd; only %s can", name, strings.Join(lisaModels, ", "))
	}
	src, err := Source(name)
	if err != nil {
		return "", err
	}
	if name == "ptx-2015-rmw" {
		base, err := Source("ptx-2015")
		if err != nil {
			return "", err
		}
		src = strings.Replace(src, `include "ptx-2015.cat"`, afterHeader(base), 1)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "LISA \"%s\"\ninclude \"cos.cat\"\n", name)
	// herd does not order the two halves of an atomic in program order.
	b.WriteString("let po = po | rmw\nlet po-loc = po & loc\n")
	switch name {
	case "sc":
		b.WriteString("let syncbar = 0\n")
	case "ptx":
		b.WriteString(herdPTX)
	default:
		b.WriteString(`let WW(r) = r & (W * W)
let WR(r) = r & (W * R)
let RW(r) = r & (R * W)
let membar.cta = fencerel(tag2events('membarcta))
let membar.gl = fencerel(tag2events('membargl))
let membar.sys = fencerel(tag2events('membarsys))
let cta = tag2scope('cta)
let gl = tag2scope('grid)
let sys = _ * _
`)
	}
	for _, line := range strings.Split(afterHeader(src), "\n") {
		if !strings.HasPrefix(line, "flag ") {
			b.WriteString(line + "\n")
		}
	}
	return b.String(), nil
}

// herdPTX defines what ptx.cat needs in terms of the annotations of LISABell. There are no
// proxies and no barriers; the order of the fences is any one that agrees with po.
const herdPTX = `let SC = tag2events('membarcta) | tag2events('membargl) | tag2events('membarsys)
let CTA = tag2events('scta) | tag2events('membarcta)
let CLUSTER = tag2events('scluster)
let GPU = tag2events('sgpu) | tag2events('membargl)
let SYS = tag2events('ssys) | tag2events('membarsys)
let scoped = CTA | CLUSTER | GPU | SYS
let ACQ = ((tag2events('acquire) | tag2events('acqrel)) & R) | tag2events('acquirefence)
let REL = ((tag2events('release) | tag2events('acqrel)) & W) | tag2events('releasefence)
let ACQ_REL = tag2events('acqrelfence) | SC
let RLX = tag2events('relaxed) | (tag2events('acquire) & W) | (tag2events('release) & R)
let none = R & W
let RED = none
let TEX = none
let SUR = none
let CON = none
let ALIAS = none
let GEN = _
let vloc = loc
let syncbar = 0
let scta = tag2scope('cta)
let reaches = ((CTA * scoped) & tag2scope('cta)) | ((CLUSTER * scoped) & tag2scope('cluster))
            | ((GPU * scoped) & tag2scope('gpu)) | (SYS * scoped)
let sr = (reaches & reaches^-1) | (int & (scoped * scoped))
with fences from linearisations(SC, po & (SC * SC))
let sync_fence = fences & (sr | po)
`

// afterHeader returns a model's text without its header line.
func afterHeader(src string) string {
	_, rest, _ := strings.Cut(src, "\n")
	return rest
}

// HerdName returns a test's name in a form that herd keeps whole. herd ends a name at the first
// character that is no ASCII letter or digit and none of "+-._/[]", and of tests with one name
// it silently judges only the first. A colon becomes a slash; other characters (and their
// bytes) become their hexadecimal numbers in brackets: different names stay different.
func HerdName(name string) string {
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case c == ':':
			b.WriteByte('/')
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', strings.IndexByte("+-._", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "[%02x]", c)
		}
	}
	return b.String()
}

// LISA is a test in herd's LISA dialect.
type LISA struct {
	// Name is the test's name as herd prints it; see HerdName.
	Name string
	Text string
	// Names maps the names in Text's condition, as herd prints them in its states ("1:r3",
	// "[x]"), to the test's own terms.
	Names map[string]litmus.Term
}

var lisaReg = regexp.MustCompile(`^r[0-9]{1,6}$`)

// ToLISA writes a test in herd's LISA dialect, for use with LISABell. It returns an error for
// what the dialect cannot express: barriers, proxies, failed compare-and-swap, guarded
// instructions, and arithmetic other than sums, and, xor and equality.
func ToLISA(t *litmus.Test) (*LISA, error) {
	w := &lisaWriter{t: t, out: &LISA{Names: map[string]litmus.Term{}}}
	if t.Parted() || t.Extended() {
		return nil, w.no(litmus.Pos{}, "parts of locations, or asynchronous operations")
	}
	for i := range t.Locations {
		if l := &t.Locations[i]; l.Alias != "" || l.Proxy != litmus.ProxyNone && l.Proxy != litmus.ProxyGeneric {
			return nil, w.no(l.Pos, "alias %s", l.Name)
		}
	}
	var cols [][]string
	for i := range t.Threads {
		col, err := w.thread(&t.Threads[i])
		if err != nil {
			return nil, err
		}
		cols = append(cols, col)
	}
	cond, err := w.condition()
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	w.out.Name = HerdName(t.Name)
	fmt.Fprintf(&b, "LISA %s\n{\n%s}\n", w.out.Name, w.init())
	b.WriteString(lisaTable(cols))
	fmt.Fprintf(&b, "scopes: %s\n%s", w.scopes(), cond)
	w.out.Text = b.String()
	return w.out, nil
}

type lisaWriter struct {
	t    *litmus.Test
	out  *LISA
	regs []map[string]string // by thread: name in the test → name in LISA
	tmp  int
}

func (w *lisaWriter) no(pos litmus.Pos, format string, args ...any) error {
	return &litmus.Error{Pos: pos, Msg: fmt.Sprintf(format, args...) + " cannot be written in LISA"}
}

// reg returns the LISA name of a register: its own if it is a LISA name, else a free number.
func (w *lisaWriter) reg(thread int, name string) string {
	m := w.regs[thread]
	if n, ok := m[name]; ok {
		return n
	}
	n := name
	if !lisaReg.MatchString(n) {
		n = fmt.Sprintf("r%d", 1000+len(m))
		for _, used := range m {
			if used == n {
				w.tmp++
				n = fmt.Sprintf("r%d", 5000+w.tmp)
			}
		}
	}
	m[name] = n
	return n
}

func (w *lisaWriter) operand(thread int, o litmus.Operand) string {
	switch o.Kind {
	case litmus.OperandReg:
		return w.reg(thread, o.Name)
	case litmus.OperandLoc:
		return o.Name
	}
	return fmt.Sprint(o.Value)
}

func (w *lisaWriter) addr(thread int, a litmus.Addr) string {
	if a.Loc != "" {
		return a.Loc
	}
	return w.reg(thread, a.Reg)
}

func (w *lisaWriter) thread(th *litmus.Thread) ([]string, error) {
	w.regs = append(w.regs, map[string]string{})
	var col []string
	for i := range th.Body {
		in := &th.Body[i]
		lines, err := w.instr(th.ID, in)
		if err != nil {
			return nil, err
		}
		for _, l := range in.Labels {
			col = append(col, l+":")
		}
		col = append(col, lines...)
	}
	return col, nil
}

func (w *lisaWriter) init() string {
	var b strings.Builder
	for _, l := range w.t.Locations {
		fmt.Fprintf(&b, "%s=%d;\n", l.Name, l.Init)
	}
	for i := range w.t.Threads {
		for _, d := range w.t.Threads[i].Regs {
			if d.Init.Kind != litmus.OperandNone {
				fmt.Fprintf(&b, "%d:%s=%s;\n", i, w.reg(i, d.Name), w.operand(i, d.Init))
			}
		}
	}
	return b.String()
}

func lisaTable(cols [][]string) string {
	rows := 0
	widths := make([]int, len(cols))
	for i, c := range cols {
		rows = max(rows, len(c))
		widths[i] = len(fmt.Sprintf("P%d", i))
		for _, s := range c {
			widths[i] = max(widths[i], len(s))
		}
	}
	var b strings.Builder
	line := func(cell func(i int) string) {
		for i := range cols {
			if i > 0 {
				b.WriteString(" |")
			}
			fmt.Fprintf(&b, " %-*s", widths[i], cell(i))
		}
		b.WriteString(" ;\n")
	}
	line(func(i int) string { return fmt.Sprintf("P%d", i) })
	for r := range rows {
		line(func(i int) string {
			if r < len(cols[i]) {
				return cols[i][r]
			}
			return ""
		})
	}
	return b.String()
}

// scopes writes the scope tree.
func (w *lisaWriter) scopes() string {
	type path [4]int
	at := func(i int) path {
		p := w.t.Threads[i].Place
		if !w.t.Threads[i].Placed {
			return path{0, 0, -1 - i, -1 - i}
		}
		return path{p.GPU, p.Grid, p.Cluster, p.CTA}
	}
	order := make([]int, len(w.t.Threads))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool {
		x, y := at(order[a]), at(order[b])
		for k := range x {
			if x[k] != y[k] {
				return x[k] < y[k]
			}
		}
		return false
	})
	names := []string{"gpu", "grid", "cluster", "cta"}
	var level func(list []int, k int) string
	level = func(list []int, k int) string {
		var parts []string
		if k == len(names) {
			for _, i := range list {
				parts = append(parts, fmt.Sprintf("P%d", i))
			}
			return strings.Join(parts, " ")
		}
		for len(list) > 0 {
			n := 1
			for n < len(list) && at(list[n])[k] == at(list[0])[k] {
				n++
			}
			parts = append(parts, fmt.Sprintf("(%s %s)", names[k], level(list[:n], k+1)))
			list = list[n:]
		}
		return strings.Join(parts, " ")
	}
	return "(system " + level(order, 0) + ")"
}

func (w *lisaWriter) term(x litmus.Term) string {
	switch x.Kind {
	case litmus.TermReg:
		s := fmt.Sprintf("%d:%s", x.Thread, w.reg(x.Thread, x.Name))
		w.out.Names[s] = x
		return s
	case litmus.TermLoc:
		w.out.Names["["+x.Name+"]"] = x
		return "[" + x.Name + "]"
	}
	return fmt.Sprint(x.Value)
}

func (w *lisaWriter) condition() (string, error) {
	var b strings.Builder
	var observed []string
	for _, x := range w.t.Terms() {
		s := w.term(x)
		observed = append(observed, strings.Trim(s, "[]")+";")
	}
	if len(observed) > 0 {
		fmt.Fprintf(&b, "locations [%s]\n", strings.Join(observed, " "))
	}
	e, err := w.expr(w.t.Cond.Expr)
	if err != nil {
		return "", err
	}
	quant := map[litmus.Quantifier]string{litmus.Exists: "exists", litmus.NotExists: "~exists", litmus.Forall: "forall"}[w.t.Cond.Quant]
	fmt.Fprintf(&b, "%s (%s)\n", quant, e)
	return b.String(), nil
}

func (w *lisaWriter) expr(e litmus.Expr) (string, error) {
	list := func(l []litmus.Expr, sign string) (string, error) {
		var parts []string
		for _, x := range l {
			s, err := w.expr(x)
			if err != nil {
				return "", err
			}
			parts = append(parts, "("+s+")")
		}
		return strings.Join(parts, sign), nil
	}
	switch e := e.(type) {
	case litmus.And:
		return list(e.List, ` /\ `)
	case litmus.Or:
		return list(e.List, ` \/ `)
	case litmus.Not:
		s, err := w.expr(e.X)
		return "not (" + s + ")", err
	case litmus.Atom:
		l, r := e.Left, e.Right
		if l.Kind == litmus.TermConst {
			l, r = r, l
		}
		if r.Kind != litmus.TermConst || e.Cmp != litmus.CmpEq && e.Cmp != litmus.CmpNe {
			return "", w.no(w.t.Cond.Pos, "a comparison of the condition")
		}
		s := fmt.Sprintf("%s=%d", w.term(l), r.Value)
		if e.Cmp == litmus.CmpNe {
			return "not (" + s + ")", nil
		}
		return s, nil
	}
	return "true", nil
}

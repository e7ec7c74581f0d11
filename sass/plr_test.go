package sass

import (
	"iter"
	"maps"
	"reflect"
	"sort"
	"strconv"
	"strings"

	"optcheck/isa"
)

// liveRow is what nvdisasm -plr -lrm narrow says of one instruction.
type liveRow struct {
	addr       uint64
	text       string
	defs, uses []isa.Reg
	live       []isa.Reg // in use, neither read nor written
	cc         bool      // the listing has a column for the carry flag
}

// liveColumns maps character positions after the "// " to registers.
type liveColumns map[int]isa.Reg

var liveClasses = map[string]isa.Class{"GPR": isa.ClassGPR, "PRED": isa.ClassPred, "UGPR": isa.ClassUGPR, "UPRED": isa.ClassUPred,
	"CC": isa.ClassCC}

// parseLive reads the register columns of a disassembly, per function.
func parseLive(src string) map[string][]liveRow {
	out := map[string][]liveRow{}
	name := ""
	var head []string
	var cols liveColumns
	rules := 0
	for _, line := range strings.Split(src, "\n") {
		if i := strings.Index(line, ".section\t.text."); i >= 0 {
			name = line[i+len(".section\t.text."):]
			name = name[:strings.IndexByte(name, ',')]
			head, cols, rules = nil, nil, 0
			continue
		}
		i := strings.Index(line, "// ")
		if i < 0 || len(line) < i+4 {
			continue
		}
		row := line[i+3:]
		if row[0] == '+' {
			if rules++; rules == 2 {
				cols = columns(head)
			}
			continue
		}
		if row[0] != '|' {
			continue
		}
		if rules == 1 {
			head = append(head, row)
			continue
		}
		t := strings.TrimLeft(line[:i], " \t")
		if cols == nil || !strings.HasPrefix(t, "/*") {
			continue
		}
		j := strings.Index(t, "*/")
		addr, ok := parseHex(t[2:j])
		if !ok {
			continue
		}
		r := liveRow{addr: addr, text: strings.TrimSpace(t[j+2:])}
		for pos, reg := range cols {
			r.cc = r.cc || reg.Class == isa.ClassCC
			if pos >= len(row) {
				continue
			}
			switch row[pos] {
			case '^':
				r.defs = append(r.defs, reg)
			case 'v':
				r.uses = append(r.uses, reg)
			case ':':
				r.live = append(r.live, reg)
			case 'x':
				r.defs, r.uses = append(r.defs, reg), append(r.uses, reg)
			}
		}
		sortRegs(r.defs)
		sortRegs(r.uses)
		out[name] = append(out[name], r)
	}
	return out
}

// columns reads the header: a row of class names, rows of digits above each
// other, the last of which starts with '#'.
func columns(head []string) liveColumns {
	cols := liveColumns{}
	if len(head) < 2 {
		return cols
	}
	start := 1
	for i := 1; i < len(head[0]); i++ {
		if head[0][i] != '|' {
			continue
		}
		class, ok := liveClasses[strings.TrimSpace(head[0][start:i])]
		for pos := start; ok && pos < i; pos++ {
			n := ""
			for _, h := range head[1:] {
				if pos < len(h) && h[pos] >= '0' && h[pos] <= '9' {
					n += h[pos : pos+1]
				}
			}
			if n == "" {
				continue
			}
			num, err := strconv.Atoi(n)
			if err != nil {
				continue
			}
			if class == isa.ClassCC {
				num = 0
			}
			cols[pos] = isa.Reg{Class: class, Num: uint16(num)}
		}
		start = i + 1
	}
	return cols
}

func sortRegs(l []isa.Reg) {
	sort.Slice(l, func(i, j int) bool { return l[i].Class < l[j].Class || l[i].Class == l[j].Class && l[i].Num < l[j].Num })
}

// liveRegs keeps the register classes that the columns show.
func liveRegs(l []isa.Reg, cc bool) []isa.Reg {
	var out []isa.Reg
	for _, r := range l {
		if r.Class < isa.ClassCC || cc && r.Class == isa.ClassCC {
			out = append(out, r)
		}
	}
	sortRegs(out)
	return out
}

func hasCC(rows []liveRow) bool { return len(rows) > 0 && rows[0].cc }

// compareLive compares definitions and uses with the oracle's and returns the
// number of instructions compared. A pair of dual-issued instructions has one
// common row in the oracle, printed twice.
func compareLive(fn *isa.Func, rows map[uint64]liveRow, cc bool, bad func(*isa.Inst, string, []isa.Reg, []isa.Reg, liveRow)) int {
	n := 0
	for i := 0; i < len(fn.Insts); i++ {
		r, ok := rows[fn.Insts[i].Addr]
		if !ok {
			continue
		}
		first, text := i, fn.Insts[i].Text
		var defs, uses []isa.Reg
		for pair := strings.HasPrefix(r.text, "{"); ; i++ {
			in := &fn.Insts[i]
			for _, d := range in.Defs {
				defs = appendReg(defs, d)
			}
			for _, u := range in.Uses {
				uses = appendReg(uses, u)
			}
			if i > first {
				text += " | " + in.Text
			}
			if !pair || strings.HasSuffix(cutLive(rows[in.Addr].text), "}") || i+1 == len(fn.Insts) {
				break
			}
		}
		n += i - first + 1
		if d, u := liveRegs(defs, cc), liveRegs(uses, cc); !reflect.DeepEqual(d, r.defs) || !reflect.DeepEqual(u, r.uses) {
			bad(&fn.Insts[first], text, d, u, r)
		}
	}
	return n
}

// cutLive drops the register columns and the encoding.
func cutLive(s string) string {
	if i := strings.Index(s, "/"); i >= 0 {
		s = s[:i]
	}
	return strings.TrimSpace(s)
}

func mapKeys(m map[string]int) iter.Seq[string] { return maps.Keys(m) }

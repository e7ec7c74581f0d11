package ptx

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// MaxInit bounds the initialiser of a variable, in bytes.
const MaxInit = 16 << 20

// Address is a place of an initialiser that holds the address of a variable or function.
type Address struct {
	Offset  int64 // in the variable
	Bytes   int
	Symbol  string
	Addend  int64
	Generic bool
	// Shift is how far the address is shifted to the right before its low bytes are taken: 8 for 0xff00(symbol).
	Shift int
}

// Init is the initialiser of a variable, nil if it has none: the first bytes of its content; the others are zero.
// An array without length has as many as these. PTX ISA 5.4.4.
func (m *Module) Init(v *Var) ([]byte, []Address, error) {
	if v.init.to == 0 {
		return nil, nil, nil
	}
	l, err := newLexer(m.File, m.src[v.init.from:v.init.to], m.before)
	if err != nil {
		return nil, nil, err
	}
	i := &initialiser{size: int(width("." + v.Type)), typ: v.Type}
	text := strings.TrimRight(strings.TrimSpace(string(l.src)), "; \t\r\n")
	if err := i.read(text, v.Size, maxBrackets); err != nil {
		return nil, nil, fmt.Errorf("%s: the initialiser of %s: %w", m.File, v.Name, err)
	}
	if i.rows && int64(i.out.Len()) != v.Size {
		return nil, nil, fmt.Errorf("%s: the initialiser of %s: rows that are not full are not understood", m.File, v.Name)
	}
	return i.out.Bytes(), i.at, nil
}

type initialiser struct {
	size int
	typ  string
	rows bool // there are braces in braces
	out  bytes.Buffer
	at   []Address
}

// read appends what a text says: a value, or several in braces.
func (i *initialiser) read(text string, size int64, depth int) error {
	inner, ok := strings.CutPrefix(text, "{")
	if !ok {
		return i.value(text)
	}
	if inner, ok = strings.CutSuffix(inner, "}"); !ok || depth == 0 {
		return fmt.Errorf("%.40q is not understood", text)
	}
	row := -1
	for _, one := range split(inner, ',') {
		from := i.out.Len()
		if err := i.read(one, size, depth-1); err != nil {
			return err
		}
		if n := i.out.Len() - from; strings.HasPrefix(one, "{") {
			if row >= 0 && n != row {
				return fmt.Errorf("rows of different lengths are not understood")
			}
			row, i.rows = n, true
		}
		if n := int64(i.out.Len()); n > MaxInit || size > 0 && n > size {
			return fmt.Errorf("%d bytes are too many", n)
		}
	}
	return nil
}

var addressWord = regexp.MustCompile(`^(?:0[xX]([fF]+0*)\s*\(\s*)?(generic\s*\()?\s*([A-Za-z_$%][\w$]*)\s*(?:([+-])\s*(\w+))?\s*(\))?\s*(?:([+-])\s*(\w+))?\s*(\))?$`)

// value appends a number or an address.
func (i *initialiser) value(text string) error {
	if v, ok := number(text); ok {
		switch i.typ {
		case "f16", "bf16", "f32", "f64":
			return fmt.Errorf("the integer %s as .%s is not understood", text, i.typ)
		}
		return i.put(uint64(v))
	}
	if v, bits, ok := float(text); ok {
		switch {
		case i.size*8 == bits:
		case bits == 64 && i.typ == "f32":
			v = int64(math.Float32bits(float32(math.Float64frombits(uint64(v)))))
		default:
			return fmt.Errorf("%s as .%s is not understood", text, i.typ)
		}
		return i.put(uint64(v))
	}
	m := addressWord.FindStringSubmatch(text)
	if m == nil || strings.Count(text, "(") != strings.Count(text, ")") {
		return fmt.Errorf("%.40q is not understood", text)
	}
	a := Address{Offset: int64(i.out.Len()), Bytes: i.size, Symbol: m[3], Generic: m[2] != ""}
	if m[1] != "" {
		a.Shift = 4 * strings.Count(m[1], "0")
		if n := len(m[1]) - a.Shift/4; n != 2*i.size {
			return fmt.Errorf("%.40q is not understood", text)
		}
	}
	for k := 4; k <= 7; k += 3 {
		if m[k] == "" {
			continue
		}
		n, err := strconv.ParseInt(m[k+1], 0, 64)
		if err != nil {
			return fmt.Errorf("%.40q is not understood", text)
		}
		if m[k] == "-" {
			n = -n
		}
		a.Addend += n
	}
	i.at = append(i.at, a)
	return i.put(0)
}

func (i *initialiser) put(v uint64) error {
	if i.size > 8 {
		return fmt.Errorf("elements of %d bytes are not understood", i.size)
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	i.out.Write(b[:i.size])
	return nil
}

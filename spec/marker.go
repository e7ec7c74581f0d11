package spec

import (
	"errors"
	"fmt"
	"sort"

	"optcheck/litmus"
)

// Version is the version of the encoding. It changes whenever a literal changes its meaning, so
// that stored results are not mixed up.
const Version = 3

// A literal is a 25-bit payload and a 7-bit checksum, whitened:
//
//	payload   type:2 thread:3 rest:20
//	access    pos:5 loc:3 guarded:1 kind:11
//	fence     pos:5 kind:6 guarded:1 zero:8
//	dep       from:5 to:5 kind:2 zero:8
//	adjacent  31:5 4:5 kind:2=3 wide:8
//	narrow    31:5 5:5 kind:2=3 locations:8 (bytes; with 6, 16-bit words)
//	part      31:5 8+location:5 kind:2=3 whole:3 offset:5
//	operand   pos:5 index:5 kind:2=3 zero:8 (index 3: the access is unread)
//	header    layout:2 count:6 locations-1:3 sum:9
//	digest    layout:2=3 digest:18
//
// The header counts the other literals of the thread, but for the digest, and sums
// them all up, so that a lost, invented or altered marker cannot pass for a
// smaller specification.
const (
	typeAccess = iota
	typeFence
	typeDep
	typeHeader

	whiten   = 0x07f3a5c3 // begins with the magic number of the 2015 tool
	crc7Poly = 0x09       // x^7 + x^3 + 1
	crc9Poly = 0x119
	// kindOperand marks an operand in a dependency's kind field.
	kindOperand = 3
	// layoutDigest marks a digest in a header's layout field.
	layoutDigest = 3
	digestBits   = 18
	// adjacentMark replaces an operand's index for the layout Adjacent, whose header says
	// Offsets: there is no fourth number.
	adjacentMark = 4
	// narrowMark and the next one are of the locations that are bytes and 16-bit words.
	narrowMark = 5
	// partMark and the next ones are of the locations that are parts of others.
	partMark = 8
)

func crc(v uint64, bits, width int, poly uint32) uint32 {
	var c uint32 = 1<<uint(width) - 1 // the start is not zero, so that the checksum of an all-zero payload is not zero
	mask := c
	for i := bits - 1; i >= 0; i-- {
		in := uint32(v>>uint(i)) & 1
		top := c >> uint(width-1) & 1
		c = c << 1 & mask
		if top != in {
			c ^= poly
		}
	}
	return c & mask
}

func literal(payload uint32) uint32 {
	return (payload<<7 | crc(uint64(payload), 25, 7, crc7Poly)) ^ whiten
}

func payloadOf(lit uint32) (uint32, bool) {
	v := lit ^ whiten
	p := v >> 7
	return p, v&0x7f == crc(uint64(p), 25, 7, crc7Poly)
}

func sum(lits []uint32) uint32 {
	s := append([]uint32(nil), lits...)
	sort.Slice(s, func(i, j int) bool { return s[i] < s[j] })
	var c uint32
	for _, l := range s {
		c = crc(uint64(c)<<32|uint64(l), 41, 9, crc9Poly)
	}
	return c
}

// OperandMarkers lists the markers of the remaining operands, as position and index, in the
// order of their literals.
func (s *Spec) OperandMarkers() (list [][2]int) {
	for _, e := range s.Entries {
		for _, i := range e.Operands() {
			list = append(list, [2]int{e.Pos, i})
		}
		if e.Unread {
			list = append(list, [2]int{e.Pos, unreadMark})
		}
	}
	return list
}

// Held reports whether literal number i marks a value: that of an access (index -1), or an
// operand of one; it returns position and index. All other markers are made with the token.
func (s *Spec) Held(i int) (pos, index int, ok bool) {
	if i < len(s.Entries) {
		e := s.Entries[i]
		return e.Pos, -1, !e.IsFence() && !e.Unread
	}
	operands := s.OperandMarkers()
	if i -= len(s.Entries) + len(s.Deps); i < 0 || i >= len(operands) || operands[i][1] == unreadMark {
		return 0, 0, false
	}
	return operands[i][0], operands[i][1], true
}

// Markers returns the number of literals, not counting the digest: entries, dependencies,
// operands, header, and one for the layout Adjacent.
func (s *Spec) Markers() int {
	n := len(s.Entries) + len(s.Deps) + len(s.OperandMarkers()) + 1
	if s.Layout == Adjacent {
		n++
	}
	for _, set := range s.Narrow {
		if set != 0 {
			n++
		}
	}
	for _, p := range s.Parts {
		if p.Is {
			n++
		}
	}
	return n
}

// Literals returns the markers' literals: one per entry, in order, then one per dependency,
// then one per remaining operand, the digest if there is one, and the header.
func (s *Spec) Literals() ([]uint32, error) {
	if s.Thread >= MaxThreads || len(s.Entries) > MaxPositions || s.Markers() > MaxMarkers || s.Locations < 1 || s.Locations > MaxLocations {
		return nil, fmt.Errorf("thread %d: %d accesses and fences and %d dependencies are more than a specification can hold",
			s.Thread, len(s.Entries), len(s.Deps))
	}
	var out []uint32
	th := uint32(s.Thread) << 20
	for _, e := range s.Entries {
		pos := uint32(e.Pos) << 15
		guarded := uint32(0)
		if e.Guarded {
			guarded = 1
		}
		if e.IsFence() {
			code, ok := fenceCodes[e.Kind]
			if !ok {
				return nil, fmt.Errorf("%v has no specification code", e.Kind)
			}
			out = append(out, literal(typeFence<<23|th|pos|code<<9|guarded<<8))
			continue
		}
		code, ok := accessCodes[e.Kind.coded()]
		if !ok {
			return nil, fmt.Errorf("%v (%d bytes) has no specification code", e.Kind, e.Kind.Width)
		}
		if e.Loc < 0 || e.Loc >= MaxLocations {
			return nil, fmt.Errorf("location %d is beyond the %d that a specification can hold", e.Loc, MaxLocations)
		}
		out = append(out, literal(typeAccess<<23|th|pos|uint32(e.Loc)<<12|guarded<<11|code))
	}
	for _, d := range s.Deps {
		out = append(out, literal(typeDep<<23|th|uint32(d.From)<<15|uint32(d.To)<<10|uint32(d.Kind)<<8))
	}
	for _, o := range s.OperandMarkers() {
		out = append(out, literal(typeDep<<23|th|uint32(o[0])<<15|uint32(o[1])<<10|kindOperand<<8))
	}
	layout := s.Layout
	if layout == Adjacent {
		layout = Offsets
		out = append(out, literal(typeDep<<23|th|(MaxPositions-1)<<15|adjacentMark<<10|kindOperand<<8|uint32(s.Wide)))
	}
	for i, set := range s.Narrow {
		if set != 0 {
			out = append(out, literal(typeDep<<23|th|(MaxPositions-1)<<15|uint32(narrowMark+i)<<10|kindOperand<<8|uint32(set)))
		}
	}
	for l, p := range s.Parts {
		if p.Is {
			out = append(out, literal(typeDep<<23|th|(MaxPositions-1)<<15|uint32(partMark+l)<<10|kindOperand<<8|uint32(p.Of)<<5|uint32(p.Offset)))
		}
	}
	count := uint32(len(out))
	if s.Digest != 0 {
		out = append(out, literal(typeHeader<<23|th|layoutDigest<<18|s.Digest))
	}
	head := typeHeader<<23 | th | uint32(layout)<<18 | count<<12 | uint32(s.Locations-1)<<9 | sum(out)
	return append(out, literal(head)), nil
}

// Marker is a decoded literal.
type Marker struct {
	Literal uint32
	Thread  int
	Entry   *Entry  // an access or fence
	Dep     *Dep    // a dependency
	Operand *[2]int // another operand: position, index
	Header  *Header // the header
	Wide    *uint8  // of the layout Adjacent: Spec.Wide
	Narrow  [2]uint8
	Part    *Part // of location PartOf
	PartOf  int
	Digest  uint32 // the digest, 0 for other literals
}

// Header is the content of a thread's header marker.
type Header struct {
	Layout    Layout
	Count     int // number of other markers
	Locations int // of the test
	Sum       uint32
}

// DecodeLiteral decodes one literal; ok is false if it is not a marker.
func DecodeLiteral(lit uint32) (m Marker, ok bool) {
	p, ok := payloadOf(lit)
	if !ok {
		return m, false
	}
	m.Literal, m.Thread = lit, int(p>>20&7)
	switch p >> 23 {
	case typeAccess:
		code := p & 0x7ff
		if int(code) >= len(accessKinds) {
			return m, false
		}
		m.Entry = &Entry{Pos: int(p >> 15 & 31), Loc: int(p >> 12 & 7), Kind: accessKinds[code], Instr: -1, Guarded: p>>11&1 == 1}
	case typeFence:
		code := p >> 9 & 63
		if p&0xff != 0 || int(code) >= len(fenceKinds) {
			return m, false
		}
		m.Entry = &Entry{Pos: int(p >> 15 & 31), Kind: fenceKinds[code], Instr: -1, Guarded: p>>8&1 == 1}
	case typeDep:
		d := &Dep{From: int(p >> 15 & 31), To: int(p >> 10 & 31), Kind: DepKind(p >> 8 & 3)}
		if d.Kind == kindOperand && d.To == adjacentMark && d.From == MaxPositions-1 {
			w := uint8(p)
			m.Wide = &w
			break
		}
		if i := d.To - narrowMark; d.Kind == kindOperand && i >= 0 && i < len(m.Narrow) && d.From == MaxPositions-1 && p&0xff != 0 {
			m.Narrow[i] = uint8(p)
			break
		}
		if l := d.To - partMark; d.Kind == kindOperand && l >= 0 && l < MaxLocations && d.From == MaxPositions-1 {
			m.Part, m.PartOf = &Part{true, int(p >> 5 & 7), int64(p & 31)}, l
			break
		}
		if d.Kind == kindOperand && d.To <= unreadMark && p&0xff == 0 {
			m.Operand = &[2]int{d.From, d.To}
			break
		}
		if p&0xff != 0 || d.Kind > DepCtrl || d.From >= d.To {
			return m, false
		}
		m.Dep = d
	case typeHeader:
		if p>>18&3 == layoutDigest {
			m.Digest = p & (1<<digestBits - 1)
			return m, m.Digest != 0
		}
		m.Header = &Header{Layout: Layout(p >> 18 & 3), Count: int(p >> 12 & 63), Locations: int(p>>9&7) + 1, Sum: p & 0x1ff}
		if m.Header.Layout > Offsets {
			return m, false
		}
	}
	return m, true
}

// ErrNoSpec is returned for machine code without any specification.
var ErrNoSpec = errors.New("no specification found")

// Decode rebuilds a specification from the literals found in machine code, in any order. It
// ignores literals that are not markers. It is an error if the header is missing or duplicated,
// or if the markers disagree with it: a damaged specification must not pass for a smaller one.
func Decode(lits []uint32) (*Spec, error) {
	x := decoded{s: &Spec{}}
	if err := x.read(lits); err != nil {
		return nil, err
	}
	s := x.s
	if x.head == nil {
		if len(x.body) > 0 {
			return nil, fmt.Errorf("specification header lost (%d other markers found)", len(x.body))
		}
		return nil, ErrNoSpec
	}
	if n := len(x.body) - x.digests; n != x.head.Header.Count || x.digests > 1 {
		return nil, fmt.Errorf("specification incomplete: %d of %d markers found", n, x.head.Header.Count)
	}
	if sum(x.body) != x.head.Header.Sum {
		return nil, errors.New("specification damaged: checksum does not match")
	}
	if s.Layout != Adjacent {
		s.Layout = x.head.Header.Layout
	} else if x.head.Header.Layout != Offsets {
		return nil, errors.New("specification damaged: two layouts")
	}
	s.Thread, s.Locations = x.head.Thread, x.head.Header.Locations
	s.sort()
	if err := x.check(); err != nil {
		return nil, err
	}
	return s, nil
}

// decoded are the markers of a specification.
type decoded struct {
	s       *Spec
	head    *Marker
	body    []uint32 // the literals of the others
	unread  []int    // positions
	digests int
}

// read takes in the markers among some literals, each once.
func (x *decoded) read(lits []uint32) error {
	seen := map[uint32]bool{}
	s := x.s
	for _, l := range lits {
		m, ok := DecodeLiteral(l)
		if !ok || seen[l] {
			continue
		}
		seen[l] = true
		switch {
		case m.Header != nil:
			if x.head != nil {
				return errors.New("two specification headers in one kernel")
			}
			x.head = &m
			continue
		case m.Entry != nil:
			s.Entries = append(s.Entries, *m.Entry)
		case m.Dep != nil:
			s.Deps = append(s.Deps, *m.Dep)
		case m.Operand != nil && m.Operand[1] == unreadMark:
			x.unread = append(x.unread, m.Operand[0])
		case m.Wide != nil:
			s.Layout, s.Wide = Adjacent, *m.Wide
		case m.Narrow != [2]uint8{}:
			for i, set := range m.Narrow {
				s.Narrow[i] |= set
			}
		case m.Part != nil:
			s.Parts[m.PartOf] = *m.Part
		case m.Digest != 0:
			s.Digest = m.Digest
			x.digests++
		}
		x.body = append(x.body, l)
	}
	return nil
}

// check completes a specification, and refuses one whose markers do not fit each other.
func (x *decoded) check() error {
	s := x.s
	for i, e := range s.Entries {
		if e.Pos != i {
			return fmt.Errorf("specification damaged: position %d is missing or doubled", i)
		}
	}
	if err := s.narrow(); err != nil {
		return err
	}
	for l, p := range s.Parts {
		if p.Is && (p.Of == l || s.Parts[p.Of].Is || p.Of >= s.Locations || l >= s.Locations || s.Layout == Adjacent) {
			return errors.New("specification damaged: a part of a part, or of no location")
		}
	}
	for _, pos := range x.unread {
		if pos >= len(s.Entries) || !s.Entries[pos].Reads() {
			return errors.New("specification damaged: an unread result without its access")
		}
		s.Entries[pos].Unread = true
	}
	if s.Markers() != len(x.body)-x.digests+1 {
		return errors.New("specification damaged: operands do not fit the accesses")
	}
	for _, d := range s.Deps {
		if d.To >= len(s.Entries) || !s.Entries[d.From].Reads() {
			return errors.New("specification damaged: dependency without its accesses")
		}
	}
	return nil
}

// narrow gives the accesses of narrow locations their width.
func (s *Spec) narrow() error {
	if s.Narrow[0]&s.Narrow[1] != 0 || (s.Narrow[0]|s.Narrow[1])&s.Wide != 0 {
		return errors.New("specification damaged: a location of two widths")
	}
	for i := range s.Entries {
		e := &s.Entries[i]
		if e.IsFence() || (s.Narrow[0]|s.Narrow[1])>>uint(e.Loc)&1 == 0 {
			continue
		}
		if e.Kind.Width != 4 || e.Kind.Op != litmus.OpLd && e.Kind.Op != litmus.OpSt {
			return errors.New("specification damaged: an access of another width than its location")
		}
		e.Kind.Width = int(s.width(e.Loc))
	}
	return nil
}

func (s *Spec) sort() {
	sort.Slice(s.Entries, func(i, j int) bool { return s.Entries[i].Pos < s.Entries[j].Pos })
	sort.Slice(s.Deps, func(i, j int) bool {
		a, b := s.Deps[i], s.Deps[j]
		if a.From != b.From {
			return a.From < b.From
		}
		if a.To != b.To {
			return a.To < b.To
		}
		return a.Kind < b.Kind
	})
}

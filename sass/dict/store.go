package dict

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"optcheck/internal/input"
	"optcheck/internal/whole"
)

// store is a folder of segments. Each segment is written completely under another name and then
// renamed, holds the encodings that one process had to ask for, and never changes; so any
// number of processes may read and write at once, without locks. A damaged segment, or one of
// another disassembler, is ignored: its encodings are asked for again.
type store struct {
	dir, id string
	kept    map[string]bool // names of segments that were read or written
}

const (
	format = "optcheck-dictionary-1\n"
	suffix = ".segment"
	// maxSegment bounds the size of a file that is read, in bytes; maxSegments is the number of
	// files from which on they are merged.
	maxSegment  = 64 << 20
	maxSegments = 24
)

// Open returns the dictionary stored in a folder, which is created when there is something to
// store. id names the disassembler and everything that determines what it prints. Whatever
// cannot be read is ignored.
func Open(dir, id string) *Dict {
	d := New()
	d.store = &store{dir: dir, id: id, kept: map[string]bool{}}
	for _, name := range d.store.segments() {
		d.read(name)
	}
	return d
}

// segments lists the files of the folder.
func (s *store) segments() []string {
	list, err := input.ReadDir(s.dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range list {
		if strings.HasSuffix(e.Name(), suffix) && e.Type().IsRegular() {
			out = append(out, e.Name())
		}
	}
	return out
}

// read adds the content of a segment. It removes a damaged one.
func (d *Dict) read(name string) {
	path := filepath.Join(d.store.dir, name)
	data, err := input.ReadFile(path, maxSegment)
	if err != nil {
		return
	}
	text, keys, places, err := decode(data, d.store.id)
	if err != nil {
		if errors.Is(err, errDamaged) {
			_ = os.Remove(path) // it is useless
		}
		return
	}
	d.store.kept[name] = true
	d.entries.add(text, keys, places)
}

// keep stores new entries. If that fails it tries again later: what is not stored is asked for
// again, and nothing else depends on it.
func (d *Dict) keep() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.store == nil || len(d.fresh) == 0 {
		return
	}
	keys := d.fresh
	merge := len(d.store.kept) >= maxSegments
	if merge {
		keys = nil
		for k, e := range d.entries.all() {
			if e.kind != beyond {
				keys = append(keys, k)
			}
		}
	}
	name, err := d.store.write(encode(d.store.id, keys, d.entries))
	if err != nil {
		return
	}
	d.fresh = nil
	if merge {
		for old := range d.store.kept {
			if old != name {
				_ = os.Remove(filepath.Join(d.store.dir, old)) // its content is in the new one
			}
		}
		clear(d.store.kept)
	}
	d.store.kept[name] = true
}

// write writes a segment, named after its content.
func (s *store) write(data []byte) (string, error) {
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	name := hex.EncodeToString(sum[:8]) + suffix
	return name, whole.Write(filepath.Join(s.dir, name), data, 0o644)
}

// A segment consists of the format, a SHA-256 of everything that follows, the id, and entries
// in the order of their keys.
func encode(id string, keys []Key, entries *table) []byte {
	slices.SortFunc(keys, func(a, b Key) int { return slices.Compare(a[:], b[:]) })
	body := appendText(nil, id)
	body = binary.AppendUvarint(body, uint64(len(keys)))
	for _, k := range keys {
		e, _ := entries.get(k)
		body = binary.LittleEndian.AppendUint64(body, k[0])
		body = binary.LittleEndian.AppendUint64(body, k[1])
		body = appendEntry(body, &e)
	}
	sum := sha256.Sum256(body)
	return append(append([]byte(format), sum[:]...), body...)
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// Errors of segments.
var (
	errDamaged = errors.New("damaged")
	errForeign = errors.New("of another disassembler or version")
)

// decode reads a segment: its text, and where in it the entries of keys are.
func decode(data []byte, id string) (text string, keys []Key, places []uint32, err error) {
	fail := func(err error) (string, []Key, []uint32, error) { return "", nil, nil, err }
	head, ok := bytes.CutPrefix(data, []byte(format))
	if !ok || len(head) < sha256.Size {
		if bytes.HasPrefix(data, []byte("optcheck-dictionary-")) && !ok {
			return fail(errForeign)
		}
		return fail(errDamaged)
	}
	body := head[sha256.Size:]
	if sha256.Sum256(body) != [sha256.Size]byte(head) {
		return fail(errDamaged)
	}
	text = string(body)
	r := &segment{rest: text}
	if r.text() != id {
		return fail(errForeign)
	}
	n := r.number()
	if r.bad || n > uint64(len(body)) {
		return fail(errDamaged)
	}
	keys, places = make([]Key, 0, n), make([]uint32, 0, n)
	for range n {
		keys = append(keys, Key{r.word(), r.word()})
		places = append(places, uint32(len(text)-len(r.rest)))
		if e := r.entry(); r.bad || e.kind != plain && e.kind != branch {
			return fail(errDamaged)
		}
	}
	return text, keys, places, nil
}

// segment reads the parts of a segment.
type segment struct {
	rest string
	bad  bool
}

func (r *segment) take(n uint64) string {
	if r.bad || n > uint64(len(r.rest)) {
		r.bad = true
		return ""
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

func (r *segment) byte() byte {
	if s := r.take(1); s != "" {
		return s[0]
	}
	return 0
}

func (r *segment) word() (v uint64) {
	if s := r.take(8); s != "" {
		v = binary.LittleEndian.Uint64([]byte(s))
	}
	return v
}

func (r *segment) number() uint64 {
	v, n := binary.Uvarint([]byte(r.rest[:min(len(r.rest), binary.MaxVarintLen64)]))
	r.take(uint64(max(n, 0)))
	r.bad = r.bad || n <= 0
	return v
}

func (r *segment) signed() int64 {
	v, n := binary.Varint([]byte(r.rest[:min(len(r.rest), binary.MaxVarintLen64)]))
	r.take(uint64(max(n, 0)))
	r.bad = r.bad || n <= 0
	return v
}

// longest bounds the text of an entry, in bytes.
const longest = 1 << 12

func (r *segment) text() string {
	n := r.number()
	if n > longest {
		r.bad = true
	}
	return r.take(n)
}

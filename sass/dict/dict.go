// Package dict remembers how a disassembler prints encodings, so that it is asked once per
// encoding and not once per instruction: of 72,112 instructions of 1,000 tests, 2,587 are
// different.
//
// A dictionary belongs to one disassembler and one generation of targets. It contains what that
// disassembler printed and nothing else. What depends on more than the encoding (labels,
// symbols) is found by decoding each encoding at two addresses, and computed here. Code with
// anything that is not understood to that extent is rejected with ErrBeyond: then the
// disassembler has to print it.
package dict

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"optcheck/sass"
	"optcheck/sass/cubin"
	"optcheck/target"
)

// ErrBeyond is the error for code that has to be disassembled as a whole.
var ErrBeyond = errors.New("not within the reach of a dictionary")

// Disassembler prints raw code for a target at address 0, without labels.
type Disassembler func(ctx context.Context, target string, code []byte) ([]byte, error)

// Key is an encoding in the form of cubin.Word.Code.
type Key = [2]uint64

// entry describes an encoding.
type entry struct {
	kind kind
	// text is the instruction; for a branch, the part before its target, and after the part
	// that follows the target.
	text, after string
	rel         int64 // of a branch: target minus address
}

// kind is the kind of an encoding.
type kind uint8

const (
	plain  kind = iota + 1 // the same text everywhere
	branch                 // a text with one address that moves with the instruction
	beyond                 // something else, or nothing was printed
)

// Dict is a dictionary. It is safe for concurrent use.
type Dict struct {
	store *store // nil: nothing is stored

	mu      sync.RWMutex
	entries *table
	fresh   []Key // those that are not in the store

	asking sync.Mutex // one question at a time: others may find the answer in it
}

// New returns an empty dictionary that is not stored.
func New() *Dict {
	return &Dict{entries: newTable()}
}

// Generation returns the name of the group of targets whose encodings one dictionary holds:
// what two targets of a group both know, they print alike (audit's TestDecode).
func Generation(name string) string {
	switch n, _ := target.SM(name); n {
	case 35, 37:
		return "sm_35"
	case 50, 52, 53, 60, 61, 62:
		return "sm_50"
	case 70, 72:
		return "sm_70"
	case 80, 86, 87, 89:
		return "sm_80"
	case 90:
		return "sm_90"
	}
	return name
}

// questions bounds the number of encodings that one process prints, each of them twice.
const questions = 1 << 14

// learn makes sure that the encodings are known.
func (d *Dict) learn(ctx context.Context, ask Disassembler, target string, keys map[Key]bool) error {
	if len(d.unknown(keys)) == 0 {
		return nil
	}
	d.asking.Lock()
	defer d.asking.Unlock()
	list := d.unknown(keys)
	for len(list) > 0 {
		n := min(len(list), questions)
		if err := d.question(ctx, ask, target, list[:n]); err != nil {
			return err
		}
		list = list[n:]
	}
	d.keep()
	return nil
}

func (d *Dict) unknown(keys map[Key]bool) []Key {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var list []Key
	for k := range keys {
		if !d.entries.has(k) {
			list = append(list, k)
		}
	}
	return list
}

// question prints encodings at two addresses each.
func (d *Dict) question(ctx context.Context, ask Disassembler, name string, keys []Key) error {
	n, ok := target.SM(name)
	if !ok {
		return fmt.Errorf("%w: target %s", ErrBeyond, name)
	}
	format, err := cubin.FormatOf(n)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBeyond, err)
	}
	twice := append(append(make([]Key, 0, 2*len(keys)), keys...), keys...)
	out, err := ask(ctx, name, format.Join(twice))
	if err != nil {
		return err
	}
	texts, err := sass.Texts(out)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	entries := make([]entry, len(keys))
	for i, k := range keys {
		a, b := format.Place(i), format.Place(i+len(keys))
		entries[i] = entryOf(texts[a], texts[b], a, b)
		if entries[i].kind != beyond { // not stored: who knows what went wrong
			d.fresh = append(d.fresh, k)
		}
	}
	d.entries.put(keys, entries)
	return nil
}

// entryOf compares what was printed for an encoding at two addresses.
func entryOf(first, second string, a, b uint64) entry {
	switch {
	case first == "" || second == "" || max(len(first), len(second)) > longest:
		return entry{kind: beyond}
	case first == second:
		return entry{kind: plain, text: first}
	}
	i := 0
	for i < min(len(first), len(second)) && first[i] == second[i] {
		i++
	}
	for i > 0 && isNumber(first[i-1]) {
		i--
	}
	x, after, ok1 := number(first[i:])
	y, rest, ok2 := number(second[i:])
	if !ok1 || !ok2 || after != rest || y-x != int64(b-a) {
		return entry{kind: beyond}
	}
	return entry{kind: branch, text: first[:i], after: after, rel: x - int64(a)}
}

func isNumber(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c == 'x' || c == '-'
}

// number reads 0x1f or -0x1f at the start of s.
func number(s string) (v int64, rest string, ok bool) {
	i := 0
	for i < len(s) && isNumber(s[i]) {
		i++
	}
	digits, neg := strings.CutPrefix(s[:i], "-")
	digits, hex := strings.CutPrefix(digits, "0x")
	v, err := strconv.ParseInt(digits, 16, 64)
	if neg {
		v = -v
	}
	return v, s[i:], hex && err == nil
}

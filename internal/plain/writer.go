package plain

import (
	"bytes"
	"io"
	"sync"
	"unicode/utf8"
)

// Writer passes text on through Text, however it is divided into writes. Several goroutines may
// use it at once.
type Writer struct {
	mu   sync.Mutex
	w    io.Writer
	rest []byte // the beginning of a character whose end has not arrived yet
	scan scanner
	err  error
}

// NewWriter returns a Writer that writes to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w, scan: scanner{lines: true, blank: true}} }

// Write implements io.Writer. It returns the number of bytes accepted: all of them, or none
// with an error.
func (p *Writer) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return 0, p.err
	}
	all := append(p.rest, text...)
	end := len(all)
	for k := 1; k < utf8.UTFMax && k <= len(all); k++ {
		if tail := all[len(all)-k:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				end -= k
			}
			break
		}
	}
	_, p.err = io.WriteString(p.w, p.scan.escape(string(all[:end])))
	p.rest = bytes.Clone(all[end:])
	if p.err != nil {
		return 0, p.err
	}
	return len(text), nil
}

// Flush writes the rest: bytes that began an incomplete character.
func (p *Writer) Flush() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.rest) > 0 && p.err == nil {
		_, p.err = io.WriteString(p.w, p.scan.escape(string(p.rest)))
		p.rest = nil
	}
	return p.err
}

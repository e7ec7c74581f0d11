package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// progress shows how far a run is: a bar that is redrawn on a terminal, a plain
// line from time to time elsewhere.
type progress struct {
	mu    sync.Mutex
	w     io.Writer
	tty   bool
	quiet bool
	what  string // is counted
	start time.Time
	last  time.Time
	drawn bool
}

func newProgress(w io.Writer, quiet bool) *progress {
	p := &progress{w: w, quiet: quiet, what: "cells", start: time.Now()}
	p.tty = isTerminal(w)
	p.last = p.start
	return p
}

// isTerminal reports whether what is written can be drawn over.
func isTerminal(w io.Writer) bool {
	f, ok := fileOf(w)
	return ok && term.IsTerminal(int(f.Fd()))
}

// terminalWidth is the width of a terminal in columns, 0 if it does not say it.
func terminalWidth(w io.Writer) int {
	if f, ok := fileOf(w); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return width
		}
	}
	return 0
}

func fileOf(w io.Writer) (*os.File, bool) {
	if o, ok := w.(*printed); ok {
		w = o.Writer
	}
	f, ok := w.(*os.File)
	return f, ok
}

func (p *progress) update(done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.quiet || total == 0 {
		return
	}
	now := time.Now()
	every := 10 * time.Second
	if p.tty {
		every = 100 * time.Millisecond
	}
	if now.Sub(p.last) < every && (done < total || !p.drawn) {
		return
	}
	p.last = now
	p.drawn = true
	left := time.Duration(0)
	if done > 0 {
		left = now.Sub(p.start) * time.Duration(total-done) / time.Duration(done)
	}
	if !p.tty {
		fmt.Fprintf(p.w, "optcheck: %d of %d %s, about %v left\n", done, total, p.what, left.Round(time.Second))
		return
	}
	const width = 40
	full := width * done / total
	fmt.Fprintf(p.w, "\r[%-*s] %d/%d %s, about %v left \x1b[K", width, bars[:full], done, total, p.what, left.Round(time.Second))
}

const bars = "########################################"

func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tty && p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

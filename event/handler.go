package event

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
)

// Handler consumes events. Close is called once, after the last event.
type Handler interface {
	Handle(Event) error
	Close() error
}

// JSONLines writes events as JSON lines.
type JSONLines struct {
	w   *bufio.Writer
	enc *json.Encoder
}

// NewJSONLines returns a Handler that writes to w.
func NewJSONLines(w io.Writer) *JSONLines {
	b := bufio.NewWriterSize(w, 1<<16)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	return &JSONLines{w: b, enc: enc}
}

// Handle writes one event.
func (j *JSONLines) Handle(e Event) error { return j.enc.Encode(e) }

// Close writes what is still buffered.
func (j *JSONLines) Close() error { return j.w.Flush() }

// Flush writes what is buffered, so that a run that dies keeps its results.
func (j *JSONLines) Flush() error { return j.w.Flush() }

// Tee passes every event to several handlers.
type Tee []Handler

// Handle passes the event on; the first error ends it.
func (t Tee) Handle(e Event) error {
	for _, h := range t {
		if err := h.Handle(e); err != nil {
			return err
		}
	}
	return nil
}

// Flush writes out what handlers have buffered, those that can.
func (t Tee) Flush() error {
	for _, h := range t {
		if f, ok := h.(interface{ Flush() error }); ok {
			if err := f.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close closes all handlers and joins their errors.
func (t Tee) Close() error {
	var errs []error
	for _, h := range t {
		errs = append(errs, h.Close())
	}
	return errors.Join(errs...)
}

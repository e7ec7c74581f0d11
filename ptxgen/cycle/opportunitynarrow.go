package cycle

import (
	"errors"
	"fmt"

	"optcheck/litmus"
)

// narrow makes the event's location a word of less than 32 bits everywhere.
func (e *editor) narrow(to litmus.Type) error {
	loc, err := e.loc()
	if err != nil {
		return err
	}
	for i := range e.t.Threads {
		th := &e.t.Threads[i]
		for k := range th.Body {
			if in := &th.Body[k]; in.IsAccess() && th.AddrLoc(in) == loc && (i < e.o.Thread || i == e.o.Thread && k < e.events[e.o.Event]) {
				return errors.New("it is not the first event of the location")
			}
		}
	}
	return narrowed(e.t, loc, to)
}

// narrowAll makes all locations words of less than 32 bits.
func (e *editor) narrowAll(to litmus.Type) error {
	switch {
	case e.o.Thread > 0 || e.o.Event > 0:
		return errors.New("it stands at thread 0, event 0")
	case len(e.t.Locations) < 2:
		return errors.New("the test has one location")
	}
	for _, l := range e.t.Locations {
		if err := narrowed(e.t, l.Name, to); err != nil {
			return err
		}
	}
	return nil
}

// narrowed gives all accesses of a location a type of less than 32 bits; registers stay as they are.
func narrowed(t *litmus.Test, loc string, to litmus.Type) error {
	for i := range t.Threads {
		th := &t.Threads[i]
		for k := range th.Body {
			in := &th.Body[k]
			switch {
			case !in.IsAccess() || th.AddrLoc(in) != loc:
			case in.Type != litmus.TypeNone && in.Type.Bits() != 32 || in.Atom != litmus.AtomNone:
				return fmt.Errorf("%s has no narrower form", in)
			default:
				in.Type = to
			}
		}
	}
	return nil
}

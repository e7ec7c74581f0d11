package event

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/internal/plain"
)

// OneLine refuses words with line ends: names of toolchains, targets and the like stand at the
// beginning of printed lines, where a file could otherwise put what it wants read as a line of its
// own, a command to the runner of a pipeline (::add-mask::) for one.
func OneLine(words ...string) error {
	for _, w := range words {
		if strings.ContainsAny(w, "\n\r") {
			return fmt.Errorf("%q is no name: it has several lines", plain.Clip(w, plain.MaxName))
		}
	}
	return nil
}

// oneLine is OneLine for the names of an event.
func (e *Event) oneLine() error {
	switch {
	case e.Config != nil:
		c := e.Config
		words := slices.Concat([]string{c.Tool, c.Build, c.Source, c.Model, c.Shard}, c.Targets, c.Levels, c.Layouts)
		for _, t := range c.Toolchains {
			words = append(words, t.ID, t.Build, t.MaxPTX)
		}
		return OneLine(words...)
	case e.Cell != nil:
		return OneLine(e.Cell.Toolchain, e.Cell.Target, e.Cell.Level, e.Cell.Layout, e.Cell.Class)
	case e.Problem != nil:
		return OneLine(e.Problem.Kind, e.Problem.Toolchain, e.Problem.Target, e.Problem.Level)
	case e.Histogram != nil:
		h := e.Histogram
		return OneLine(h.Toolchain, h.Target, h.Level, h.Layout, h.Setting, h.Status, h.Device.Name)
	}
	return nil
}

package main

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/event"
	"optcheck/known"
	"optcheck/optcheck"
	"optcheck/report/html"
	"optcheck/report/serve"
)

// selection is which cells of a saved run or a store are wanted. It means the same
// for all commands that read one.
type selection struct {
	setting int64
	filter  html.Filter
}

// selectionHelp explains the flags of a selection.
const selectionHelp = `--classes, --rules, --toolchains, --targets, --levels, --layouts, --presets, --races
and --text choose cells, as the filter of the pages does: a cell must have one of the values of
each. What none of the cells has is an error (but for classes, rules and races).`

// selectFlags adds the flags of a selection.
func selectFlags(cmd *cobra.Command, s *selection) {
	fl := cmd.Flags()
	fl.Int64Var(&s.setting, "setting", 0, "of a store, this setting, as optcheck store info numbers them (default: that of the latest run)")
	fl.StringSliceVar(&s.filter.Class, "classes", nil, "only cells of these classes ("+strings.Join(event.Severities, ",")+")")
	fl.StringSliceVar(&s.filter.Rule, "rules", nil, "only cells in which one of these rules is broken (optcheck explain)")
	fl.StringSliceVar(&s.filter.Release, "toolchains", nil, "only these toolchains, by ID or a piece of it (12.4)")
	fl.StringSliceVar(&s.filter.Target, "targets", nil, "only these targets (sm_80,sm_90)")
	fl.StringSliceVar(&s.filter.Level, "levels", nil, "only these optimisation levels (O0,O1,O2,O3)")
	fl.StringSliceVar(&s.filter.Layout, "layouts", nil, "only these layouts (pointers,symbols,offsets)")
	fl.StringSliceVar(&s.filter.Preset, "presets", nil,
		"only tests of these presets (corpus,paper; files for those that were read from files)")
	fl.StringSliceVar(&s.filter.Race, "races", nil,
		"only findings in tests of which the language says so ("+strings.Join(event.RaceWords(), ",")+")")
	fl.StringVar(&s.filter.Text, "text", "", "only cells with all of these words in the name of the test or in what was found")
}

// all reports whether no cell is left out.
func (s *selection) all() bool { return reflect.DeepEqual(s.filter.Values(), html.Filter{}.Values()) }

// check looks for words that no set can have.
func (s *selection) check() error {
	for _, c := range s.filter.Class {
		if !slices.Contains(event.Severities, c) {
			return fmt.Errorf("--classes: there is no class %q (%s)", c, strings.Join(event.Severities, ", "))
		}
	}
	for _, r := range s.filter.Rule {
		if !slices.ContainsFunc(optcheck.Rules, func(x *optcheck.Rule) bool { return x.ID == r }) {
			return fmt.Errorf("--rules: there is no rule %q (optcheck explain lists them)", r)
		}
	}
	for _, w := range s.filter.Race {
		if !slices.Contains(event.RaceWords(), w) {
			return fmt.Errorf("--races: %q must be one of %s", w, strings.Join(event.RaceWords(), ", "))
		}
	}
	_, err := html.ParseFilter(s.filter.Values())
	return err
}

// keep tells which cells of a set that is whole are wanted.
func (s *selection) keep(set *event.Set) (func(cell int) bool, error) {
	if s.all() {
		return func(int) bool { return true }, nil
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	return html.Choose(set, s.filter, true)
}

// apply returns a set that is whole with the cells that are wanted.
func (s *selection) apply(set *event.Set) (*event.Set, error) {
	if s.all() {
		return set, nil
	}
	keep, err := s.keep(set)
	if err != nil {
		return nil, err
	}
	return set.Keep(keep), nil
}

// sides splits a selection for a comparison: what chooses places holds for both
// sides, what chooses by what was found is enough on one.
func (s *selection) sides() (places, found selection) {
	places, found = *s, *s
	places.filter.Class, places.filter.Rule, places.filter.Race, places.filter.Text = nil, nil, nil, ""
	found.filter.Release, found.filter.Target, found.filter.Level, found.filter.Layout, found.filter.Preset = nil, nil, nil, nil, nil
	return places, found
}

// cellPlace identifies a cell.
type cellPlace struct {
	test, hash string
	column     event.Column
}

func placeOf(c *event.Cell) cellPlace {
	return cellPlace{c.Test, c.Hash, event.Column{Toolchain: c.Toolchain, Target: c.Target, Level: c.Level, Layout: c.Layout}}
}

// side reads one side of a comparison, and adds the cells that are wanted to wanted.
func (s *selection) side(env *environment, file string, list *known.List, wanted map[cellPlace]bool) (*event.Run, error) {
	places, found := s.sides()
	set, err := readSet(env, []string{file}, &places, list)
	if err != nil {
		return nil, err
	}
	keep, err := found.keep(set)
	if err != nil {
		return nil, err
	}
	for i := range set.Cells {
		if keep(i) {
			c := set.Cell(i)
			wanted[placeOf(&c)] = true
		}
	}
	return set.Run(), nil
}

// chosen is a source of which a selection is served.
type chosen struct {
	serve.Source
	s *selection
}

// Next returns the set if it has changed.
func (c *chosen) Next(ctx context.Context) (*event.Set, error) {
	set, err := c.Source.Next(ctx)
	if err != nil || set == nil {
		return nil, err
	}
	if c.s.all() {
		return set, nil
	}
	keep, err := html.Choose(set, c.s.filter, false) // what is asked for may come yet
	if err != nil {
		return nil, err
	}
	return set.Keep(keep), nil
}

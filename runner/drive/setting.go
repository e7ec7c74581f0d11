package drive

import (
	"fmt"
	"strings"

	"optcheck/ptxgen"
)

// Incantations is a set of the four incantations of the study (Alglave et al., ASPLOS 2015, Sec.
// 4.3). Its value plus one is the column of the study's Tab. 6.
type Incantations uint8

// The incantations.
const (
	Random Incantations = 1 << iota // thread randomisation
	Sync                            // thread synchronisation
	Banks                           // general bank conflicts
	Stress                          // memory stress
	None   Incantations = 0
	All    Incantations = 15
)

var incantationNames = []struct {
	i    Incantations
	name string
}{{Stress, "stress"}, {Banks, "banks"}, {Sync, "sync"}, {Random, "random"}}

// String lists the incantations: "stress+random"; "none" for the empty set.
func (i Incantations) String() string {
	var parts []string
	for _, n := range incantationNames {
		if i&n.i != 0 {
			parts = append(parts, n.name)
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, "+")
}

// ParseIncantations reads what String writes; "all" is all sixteen sets in the
// order of Tab. 6. Several sets are separated by commas.
func ParseIncantations(s string) ([]Incantations, error) {
	if s == "all" {
		var list []Incantations
		for i := None; i <= All; i++ {
			list = append(list, i)
		}
		return list, nil
	}
	var list []Incantations
	for _, set := range strings.Split(s, ",") {
		i := None
		for _, w := range strings.Split(set, "+") {
			if w == "none" {
				continue
			}
			found := false
			for _, n := range incantationNames {
				if n.name == w {
					i |= n.i
					found = true
				}
			}
			if !found {
				return nil, fmt.Errorf("unknown incantation %q (stress, banks, sync, random, joined by +; none; all)", w)
			}
		}
		list = append(list, i)
	}
	return list, nil
}

// oneDevice are the forms for tests on one device.
var oneDevice = []ptxgen.Form{ptxgen.FormFast, ptxgen.FormPermuted}

// ParseForms reads the name of a form, or both.
func ParseForms(s string) ([]ptxgen.Form, error) {
	if s == "both" {
		return oneDevice, nil
	}
	for _, f := range oneDevice {
		if s == f.String() {
			return []ptxgen.Form{f}, nil
		}
	}
	return nil, fmt.Errorf("unknown form %q (%v, %v, both)", s, oneDevice[0], oneDevice[1])
}

// Setting is all that decides how a test is run but the seed.
type Setting struct {
	Name         string // "" for the incantations' own
	Form         ptxgen.Form
	Incantations Incantations
	Tuning       Tuning
	// Place says on which devices the locations of tests lie (see Homes); of the form
	// devices.
	Place string
}

// Kernel is the form of the kernels that the setting runs: of the fast form's those with bank
// lanes only where it asks for some.
func (s Setting) Kernel() ptxgen.Form {
	if t := s.Tuning; s.Form == ptxgen.FormFast && s.Incantations&Banks != 0 && t.BankLanes.High > 0 && t.Lone.Value == 0 {
		return ptxgen.FormBanks
	}
	return s.Form
}

// String names the setting: stress+random, permuted:sync+random, or Name.
func (s Setting) String() string {
	switch {
	case s.Name != "":
		return s.Name
	case s.Form == ptxgen.FormPermuted:
		return s.Form.String() + ":" + s.Incantations.String()
	}
	return s.Incantations.String()
}

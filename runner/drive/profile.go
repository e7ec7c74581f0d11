package drive

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"optcheck/runner"
)

// Profile is what tuning found for a chip, and for what it was found.
type Profile struct {
	Device   string            `json:"device"` // name
	Driver   string            `json:"driver"`
	Compiler string            `json:"compiler"`
	Target   string            `json:"target,omitempty"`
	Level    string            `json:"level"`
	Patch    int               `json:"patch_words"`
	Agreed   bool              `json:"idioms_agree"`
	Sequence string            `json:"sequence"`
	Spread   int               `json:"spread"`
	Rounds   [3]int            `json:"distances"` // of each search
	Epsilon  uint64            `json:"epsilon"`
	Count    uint64            `json:"executions"` // of each test
	Seconds  float64           `json:"seconds"`
	Seed     uint64            `json:"seed"`
	Tuning   map[string]string `json:"tuning"` // NAME: VALUE, as --tune takes them
}

// ReadProfile reads a profile and checks that a tuning takes it.
func ReadProfile(r io.Reader) (*Profile, error) {
	p := &Profile{}
	d := json.NewDecoder(io.LimitReader(r, 1<<20))
	d.DisallowUnknownFields()
	if err := d.Decode(p); err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	return p, p.Apply(&Tuning{})
}

// Write writes a profile.
func (p *Profile) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(p)
}

// Apply sets what was tuned; neither environments nor random choices change it.
func (p *Profile) Apply(t *Tuning) error {
	for _, name := range slices.Sorted(maps.Keys(p.Tuning)) {
		if err := t.Keep(name + "=" + p.Tuning[name]); err != nil {
			return fmt.Errorf("profile: %w", err)
		}
	}
	return nil
}

// Differs says in what a device and a compiler differ from those of the profile; "" if
// in nothing.
func (p *Profile) Differs(d runner.Device, compiler string) string {
	for _, x := range [][3]string{{"device", p.Device, d.Name}, {"driver", p.Driver, d.Driver}, {"compiler", p.Compiler, compiler}} {
		if x[1] != x[2] {
			return fmt.Sprintf("it is for %s %q, this is %q", x[0], x[1], x[2])
		}
	}
	return ""
}

package drive

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"optcheck/runner"
)

// Knob is a parameter of launches: Value without the incantation random; with it
// each launch draws from Low to High, small ones as likely as large ones. What is
// tuned has one value, Low = Value = High, which nothing overwrites.
type Knob struct{ Value, Low, High uint32 }

// Fixed is a knob with one value.
func Fixed(v uint32) Knob { return Knob{v, v, v} }

// String is what ParseKnob reads.
func (k Knob) String() string {
	if k.Low == k.High {
		return strconv.Itoa(int(k.Low))
	}
	return fmt.Sprintf("%d..%d", k.Low, k.High)
}

// maxKnob bounds the values of knobs.
const maxKnob = 1 << 24

// ParseKnob reads a value (64), or a range (1..64) whose value without random is k's
// if it lies in it.
func (k Knob) parse(s string) (Knob, error) {
	low, high, isRange := strings.Cut(s, "..")
	if !isRange {
		high = low
	}
	a, err := strconv.ParseUint(low, 0, 32)
	b, err2 := strconv.ParseUint(high, 0, 32)
	if err != nil || err2 != nil || a > b || b > maxKnob {
		return k, fmt.Errorf("%q is neither a number nor a range (8, 1..64) up to %d", s, maxKnob)
	}
	return Knob{min(max(k.Value, uint32(a)), uint32(b)), uint32(a), uint32(b)}, nil
}

// MarshalJSON writes a number or a range.
func (k Knob) MarshalJSON() ([]byte, error) {
	if k.Low == k.High {
		return json.Marshal(k.Low)
	}
	return json.Marshal(k.String())
}

// UnmarshalJSON reads what MarshalJSON writes.
func (k *Knob) UnmarshalJSON(data []byte) (err error) {
	*k, err = Knob{}.parse(strings.Trim(string(data), `"`))
	return err
}

// draw is the knob's value in a launch.
func (k Knob) draw(rnd *rand.Rand, random bool) uint32 {
	switch {
	case !random:
		return k.Value
	case k.Low == k.High:
		return k.Low
	}
	low, high := math.Log(float64(k.Low)+1), math.Log(float64(k.High)+2)
	return min(max(uint32(math.Exp(low+(high-low)*rnd.Float64()))-1, k.Low), k.High)
}

// Tuning are the parameters of launches and incantations. The names of Knobs and
// their meaning are in the tags: they are what --tune takes.
type Tuning struct {
	Instances Knob `tune:"instances" help:"instances per launch, at most; without synchronisation, stress and randomisation"`
	Equal     Knob `tune:"equal" help:"instances of every launch, whatever the incantations, so that settings can be compared; 0: as they make it"`
	Lone      Knob `tune:"lone" help:"fast form: 1: one instance a launch, by CTAs of one thread, with stress around it"`
	Warps     Knob `tune:"warps" help:"warps of a CTA"`
	Blocks    Knob `tune:"blocks" help:"CTAs per role (permuted: in all) where stress or sync is on, at most"`

	Stride     Knob `tune:"stride" help:"bytes between neighbouring instances of a location"`
	BankStride Knob `tune:"bank-stride" help:"the other stride, which makes lanes share a bank"`
	BankLanes  Knob `tune:"bank-lanes" help:"with banks, fast form: lanes of a warp, at least, that do not test but access memory, bank-stride bytes apart"`
	BankRounds Knob `tune:"bank-rounds" help:"how often they perform the sequence of stress"`
	Distance   Knob `tune:"distance" help:"bytes between the locations of an instance in one arena; 0: memory of their own"`
	Offset     Knob `tune:"offset" help:"bytes in front of a location's instances"`
	Scatter    Knob `tune:"scatter" help:"with random: per cent of the locations whose instances are permuted"`
	Mixed      Knob `tune:"mixed" help:"with distance: 1: each location is permuted by itself"`
	Near       Knob `tune:"near" help:"CTAs from one of an instance to the next, about, without stress and sync; 0: any"`

	StressCTAs   Knob `tune:"stress-ctas" help:"CTAs that stress"`
	StressEvery  Knob `tune:"stress-every" help:"with near and stress: one of so many CTAs stresses, and those of an instance are as far apart; 0: none"`
	StressOwn    Knob `tune:"stress-own" help:"1: the stress loads from the memory of a location of the test"`
	StressLine   Knob `tune:"stress-line" help:"bytes between stressed lines: the patch"`
	StressLines  Knob `tune:"stress-lines" help:"stressed lines: the spread"`
	StressBase   Knob `tune:"stress-base" help:"bytes in front of the first stressed line"`
	StressWrap   Knob `tune:"stress-wrap" help:"bytes of the memory that stressed lines go round in, a power of two; 0: they go on"`
	StressLane   Knob `tune:"stress-lane" help:"bytes between the lanes of a warp"`
	StressRounds Knob `tune:"stress-rounds" help:"how often a stressing thread performs the sequence"`
	PreShare     Knob `tune:"pre-share" help:"permuted: per cent of the warps that stress before a round"`
	PreRounds    Knob `tune:"pre-rounds" help:"permuted: how often they perform the sequence, at most"`

	SyncBound  Knob `tune:"sync-bound" help:"polls until a warp gives up waiting"`
	SyncShare  Knob `tune:"sync-share" help:"permuted: per cent of the warps that wait before a round"`
	SyncGroups Knob `tune:"sync-groups" help:"permuted: groups of CTAs that wait for each other"`
	OrderShift Knob `tune:"order-shift" help:"permuted: 2^n neighbouring threads play the roles in one order (0 to 31)"`

	Pattern  string // of stress: "ld st", one to five of them; random: another one for each launch
	Launches int    // different launches of a batch, where choices are random

	// Kept are the names of parameters that a profile or a user has set: environments
	// leave them as they are.
	Kept []string `json:"-"`
}

// DefaultTuning returns the defaults for a device.
func DefaultTuning(d runner.Device) Tuning {
	if d.Type == "cpu" {
		return Tuning{Instances: Fixed(1 << 16), Warps: Knob{32, 1, 8}, Blocks: Knob{64, 1, 64}, StressCTAs: Fixed(1),
			StressLine:  Fixed(64),
			StressLines: Knob{16, 1, 16},
			Pattern:     "ld st", StressRounds: Fixed(200), SyncBound: Fixed(1000), Stride: Fixed(4), BankStride: Fixed(64),
			BankRounds: Fixed(8),
			Offset:     Knob{0, 0, 2016}, Scatter: Fixed(100),
			PreShare: Fixed(50), PreRounds: Fixed(15), SyncShare: Fixed(50), SyncGroups: Fixed(1), OrderShift: Fixed(5), Launches: 8}
	}
	return Tuning{Instances: Fixed(1 << 20), Warps: Knob{8, 1, 8}, Blocks: Knob{64, 1, 1024}, StressCTAs: Knob{256, 64, 320},
		StressLine: Fixed(128), StressLines: Knob{64, 1, 64},
		Pattern: "ld st", StressRounds: Fixed(100), SyncBound: Fixed(2000), Stride: Fixed(4), BankStride: Fixed(128),
		BankRounds: Knob{8, 1, 32}, Offset: Knob{0, 0, 2016}, Scatter: Fixed(100),
		PreShare: Knob{50, 0, 100}, PreRounds: Knob{15, 0, 127}, SyncShare: Knob{50, 0, 100}, SyncGroups: Knob{1, 1,
			8}, OrderShift: Knob{5, 0, 8}, Launches: 32}
}

// knobs calls do for each knob until it returns false.
func (t *Tuning) knobs(do func(name, help string, k *Knob) bool) {
	v := reflect.ValueOf(t).Elem()
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if k, ok := v.Field(i).Addr().Interface().(*Knob); ok && !do(f.Tag.Get("tune"), f.Tag.Get("help"), k) {
			return
		}
	}
}

// TuningNames lists the names that Set takes; help says what each is.
func TuningNames() (names, help []string) {
	(&Tuning{}).knobs(func(n, h string, _ *Knob) bool {
		names, help = append(names, n), append(help, h)
		return true
	})
	return append(names, "stress-pattern", "launches"), append(help, "sequence of stress: ld and st, up to five, joined by -; random",
		"different launches of a batch")
}

// Keep sets a parameter that environments are to leave as it is.
func (t *Tuning) Keep(assignment string) error {
	name, _, _ := strings.Cut(assignment, "=")
	t.Kept = append(slices.Clone(t.Kept), name)
	return t.Set(assignment)
}

// change sets a parameter unless it is kept.
func (t *Tuning) change(assignment string) error {
	if name, _, _ := strings.Cut(assignment, "="); slices.Contains(t.Kept, name) {
		return nil
	}
	return t.Set(assignment)
}

// Set sets a parameter: NAME=VALUE or NAME=LOW..HIGH.
func (t *Tuning) Set(assignment string) error {
	name, value, _ := strings.Cut(assignment, "=")
	switch name {
	case "stress-pattern":
		t.Pattern = strings.ReplaceAll(value, "-", " ")
		_, _, _, err := t.pattern(nil)
		return err
	case "launches":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > 1024 {
			return fmt.Errorf("launches: %q is not from 1 to 1024", value)
		}
		t.Launches = n
		return nil
	}
	found, err := false, error(nil)
	t.knobs(func(n, _ string, k *Knob) bool {
		if n == name {
			found = true
			*k, err = k.parse(value)
		}
		return !found
	})
	if !found {
		names, _ := TuningNames()
		return fmt.Errorf("%q: want NAME=NUMBER or NAME=LOW..HIGH with one of %s", assignment, strings.Join(names, ", "))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// String lists what differs from the zero value: names and values as Set takes them.
func (t Tuning) String() string {
	var b strings.Builder
	t.knobs(func(n, _ string, k *Knob) bool {
		fmt.Fprintf(&b, "%s=%v ", n, *k)
		return true
	})
	fmt.Fprintf(&b, "stress-pattern=%s launches=%d", strings.ReplaceAll(t.Pattern, " ", "-"), t.Launches)
	return b.String()
}

// pattern returns a sequence of stress as bits: access k is a load or a store, of
// so many. rnd draws one if the pattern is random.
func (t *Tuning) pattern(rnd *rand.Rand) (loads, stores, steps uint32, err error) {
	if t.Pattern == randomPattern {
		if rnd == nil {
			return 1, 2, 2, nil
		}
		steps = 1 + rnd.Uint32N(5)
		stores = rnd.Uint32N(1 << steps)
		return (1<<steps - 1) &^ stores, stores, steps, nil
	}
	for _, w := range strings.Fields(t.Pattern) {
		switch w {
		case "st":
			stores |= 1 << steps
		case "ld":
			loads |= 1 << steps
		default:
			return 0, 0, 0, fmt.Errorf("stress pattern %q: want ld and st", t.Pattern)
		}
		steps++
	}
	if steps < 1 || steps > 5 {
		return 0, 0, 0, fmt.Errorf("stress pattern %q: want one to five accesses", t.Pattern)
	}
	return loads, stores, steps, nil
}

// randomPattern draws another sequence for each launch.
const randomPattern = "random"

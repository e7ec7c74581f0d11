package program

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"time"
)

// Lab measures a program on a device, keeps what it measured, and goes on from what was
// kept.
type Lab struct {
	*Machine
	Environments []Environment
	Keep         *Keep
	Seed         uint64
	// Length is how many times as long as its own a run takes under stress.
	Length float64
	// Progress, if not nil, is told what is measured.
	Progress func(what string, c Count)

	rounds map[string]uint32
	loaded map[bool]*Variant // by stress
	fences string            // of what is loaded
}

// Sparse tells how many blocks stress at most beside the largest launch, if they are
// fewer than the device's units: then some of these are not stressed. 0: they are not.
func (l *Lab) Sparse() (blocks int) {
	for i := range l.P.Launches {
		blocks = max(blocks, int(l.P.Launches[i].Blocks()*stressHigh/100))
	}
	stress := func(e Environment) bool { return e.Stress && !e.ctas }
	if !slices.ContainsFunc(l.Environments, stress) || blocks >= l.S.Device().Units {
		return 0
	}
	return max(1, blocks)
}

// Result is a measurement.
type Result struct {
	Key
	Setting
	Count
	// Class is what the comparison of the machine code with its source says.
	Class     string  `json:"class,omitempty"`
	Rate      float64 `json:"rate"`
	Low       float64 `json:"low"` // of the 95 % interval
	High      float64 `json:"high"`
	Effective bool    `json:"effective"`
}

// EffectiveRate is the rate of errors above which an environment is effective
// (Sorensen and Donaldson, PLDI 2016, Sec. 4.3).
const EffectiveRate = 0.05

// Hash is that of a program: its file, as it was read, and its sources.
func (p *Program) Hash() string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%v\n", p.text, p.Params)
	for _, s := range []Source{p.PTX, p.CUDA, p.OpenCL} {
		fmt.Fprintf(h, "%s %d\n%s\n", s.Name, len(s.Text), s.Text)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// key is that of a measurement.
func (l *Lab) key(e *Environment, fences Fences, what string) Key {
	d := l.S.Device()
	return Key{Program: l.P.Name, Hash: l.P.Hash(), Device: d.Name, Driver: d.Driver, Compiler: l.Road.Compiler(), Environment: e.Name,
		Stress: e.Stressing(l.Length), Fences: maps.Clone(fences), What: what, Seed: l.Seed}
}

// Measure runs a program with fences in an environment until the limit is reached,
// together with what was kept of it. An error leaves what was counted in the result.
func (l *Lab) Measure(ctx context.Context, e *Environment, fences Fences, what string, limit Limit) (*Result, error) {
	if l.Keep == nil {
		l.Keep = &Keep{}
	}
	at := line{Key: l.key(e, fences, what)}
	had, ok := l.Keep.get(&at.Key)
	if ok {
		at = had
	}
	if ok && limit.reached(&at.Count) {
		return l.result(&at, ""), nil
	}
	v, err := l.variant(ctx, fences, !e.Native())
	if err != nil {
		return nil, err
	}
	if !ok {
		at.Setting.Seed = mixed(l.Seed, at.Key.text())
		if at.Setting.Rounds, err = l.calibrated(ctx, e); err != nil {
			return nil, err
		}
		// Calibration may have loaded another variant.
		if v, err = l.variant(ctx, fences, !e.Native()); err != nil {
			return nil, err
		}
	}
	told := time.Now()
	each := func(c Count) {
		if l.Progress != nil {
			l.Progress(what+" "+e.Name, c)
		}
		if time.Since(told) > time.Second { // a process that is killed loses this much
			told, at.Count = time.Now(), c
			_ = l.Keep.put(at) // the last one tells
		}
	}
	at.Count, err = l.Run(ctx, v, e, at.Setting, limit, at.Count, each)
	if e := l.Keep.put(at); err == nil {
		err = e
	}
	return l.result(&at, v.Build.Class), err
}

func (l *Lab) result(at *line, class string) *Result {
	r := &Result{Key: at.Key, Setting: at.Setting, Count: at.Count, Class: class}
	rate, i := r.Count.Rate()
	r.Rate, r.Low, r.High, r.Effective = rate, i.Low, i.High, rate > EffectiveRate
	return r
}

// mixed makes a seed of a seed and a text.
func mixed(seed uint64, text string) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", seed, text)
	return h.Sum64()
}

// variant loads the program with fences, and forgets what had others.
func (l *Lab) variant(ctx context.Context, fences Fences, stress bool) (*Variant, error) {
	text := (&Key{Fences: fences}).text()
	if l.loaded == nil || l.fences != text {
		for _, v := range l.loaded {
			if err := l.Unload(ctx, v); err != nil {
				return nil, err
			}
		}
		l.loaded, l.fences = map[bool]*Variant{}, text
	}
	if v := l.loaded[stress]; v != nil {
		return v, nil
	}
	v, err := l.Load(ctx, fences, stress)
	if err == nil {
		l.loaded[stress] = v
	}
	return v, err
}

// calibrated is how many rounds an environment stresses; measured once, without fences.
func (l *Lab) calibrated(ctx context.Context, e *Environment) (uint32, error) {
	if n, ok := l.rounds[e.Name]; ok || !e.Stress {
		return n, nil
	}
	v, err := l.variant(ctx, nil, true)
	if err != nil {
		return 0, err
	}
	n, err := l.Calibrate(ctx, v, e, l.Seed, l.Length)
	if err == nil {
		if l.rounds == nil {
			l.rounds = map[string]uint32{}
		}
		l.rounds[e.Name] = n
	}
	return n, err
}

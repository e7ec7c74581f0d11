package drive

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"optcheck/litmus"
	"optcheck/ptxgen"
	"optcheck/runner"
	"optcheck/spec"
)

// spread prepares for launches on the devices of a session.
func (p *planner) spread(devices []runner.Device) error {
	if p.h.Form != ptxgen.FormDevices {
		return nil
	}
	p.devices = len(devices)
	for _, d := range devices[1:] {
		if d.Target != devices[0].Target {
			return runner.Errorf(runner.ErrUnsupported, "run", "%s and %s are not of one architecture", devices[0].Name, d.Name)
		}
		p.d.Units = min(p.d.Units, d.Units)
	}
	if most := slices.Max(p.h.Shape.Devices); most >= p.devices {
		return runner.Errorf(runner.ErrUnsupported, "run", "a test on %d devices, there are %d", most+1, p.devices)
	}
	if i := slices.IndexFunc(p.homes, func(d int) bool { return d < 0 || d >= p.devices }); i >= 0 {
		return runner.Errorf(runner.ErrUnsupported, "run", "location %s is to lie on device %d, there are %d", p.h.Test.Locations[i].Name,
			p.homes[i], p.devices)
	}
	if p.h.Layout == spec.Adjacent && !together(p.h, p.homes) {
		return runner.Errorf(runner.ErrUnsupported, "run", "neighbours in the memory of several devices")
	}
	return nil
}

// Divide yields each way to place the CTAs of a test (its clusters, if it has any) on
// devices so that several are used, as a test whose outermost scopes are devices:
// name@01 has thread 0 on one device and thread 1 on another. Which of the devices is
// which makes no difference. A test that names several devices itself is yielded as it is.
func Divide(t *litmus.Test, devices int) iter.Seq[*litmus.Test] {
	return func(yield func(*litmus.Test) bool) {
		if t.OnSeveralDevices() {
			yield(t)
			return
		}
		unit, units := make([]int, len(t.Threads)), 0
		for i := range t.Threads {
			p := t.Threads[i].Place
			if !t.Threads[i].Placed { // nobody knows of which CTA it is
				return
			}
			unit[i] = slices.IndexFunc(t.Threads[:i], func(q litmus.Thread) bool { return q.Place.SameScope(p, litmus.ScopeCluster) })
			if unit[i] >= 0 {
				unit[i] = unit[unit[i]]
			} else {
				unit[i] = units
				units++
			}
		}
		for on := range partitions(units, devices) {
			if slices.Max(on) > 0 && !yield(divided(t, unit, on)) {
				return
			}
		}
	}
}

// partitions yields the ways to put n things on at most so many places that are alike.
func partitions(n, places int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		on := make([]int, n)
		var next func(i, used int) bool
		next = func(i, used int) bool {
			if i == n {
				return yield(on)
			}
			for on[i] = 0; on[i] < min(used+1, places); on[i]++ {
				if !next(i+1, max(used, on[i]+1)) {
					return false
				}
			}
			return true
		}
		if n > 0 {
			next(0, 0)
		}
	}
}

// divided places the units of a test on devices.
func divided(t *litmus.Test, unit, on []int) *litmus.Test {
	c := t.Clone()
	c.Name += "@"
	for i := range c.Threads {
		d := on[unit[i]]
		c.Threads[i].Place.GPU = d
		c.Name += strconv.Itoa(d)
	}
	return c
}

// Homes returns the placements of a test's locations on devices that a setting asks
// for: each (of all locations in global memory for which the test's memory map names no
// device), a number (all are there, whatever the test says), or
// x=1,y=0 (the others are where the test says, or on the first one). Locations in shared
// memory are where their CTA is.
func Homes(place string, h *ptxgen.Harness, devices int) ([][]int, error) {
	n := len(h.Widths)
	if d, err := strconv.Atoi(place); err == nil {
		if d < 0 || d >= devices {
			return nil, fmt.Errorf("there is no device %d of %d to place locations on", d, devices)
		}
		return [][]int{slices.Repeat([]int{d}, n)}, nil
	}
	if place != "each" {
		return namedHomes(place, h, devices)
	}
	list := [][]int{{}}
	for l := range n {
		var longer [][]int
		for _, homes := range list {
			if at := h.Test.Locations[l]; at.Homed {
				longer = append(longer, append(slices.Clone(homes), at.Device))
				continue
			}
			for d := range devices {
				if h.Shape.Shared[l] < 0 || d == 0 {
					longer = append(longer, append(slices.Clone(homes), d))
				}
			}
		}
		list = longer
	}
	if h.Layout == spec.Adjacent { // neighbours are together
		if list = slices.DeleteFunc(list, func(homes []int) bool { return !together(h, homes) }); len(list) == 0 {
			return namedHomes("", h, devices) // which is refused
		}
	}
	return list, nil
}

// together reports whether all locations in global memory are on one device.
func together(h *ptxgen.Harness, homes []int) bool {
	first := slices.IndexFunc(h.Shape.Shared, func(cta int) bool { return cta < 0 })
	for l, d := range homes {
		if h.Shape.Shared[l] < 0 && d != homes[first] {
			return false
		}
	}
	return true
}

func namedHomes(place string, h *ptxgen.Harness, devices int) ([][]int, error) {
	homes := make([]int, len(h.Widths))
	for l := range homes {
		homes[l] = h.Test.Locations[l].Device
	}
	for _, part := range strings.Split(place, ",") {
		if place == "" {
			break
		}
		name, number, _ := strings.Cut(part, "=")
		d, err := strconv.Atoi(number)
		if err != nil || d < 0 || d >= devices {
			return nil, fmt.Errorf("placement %q: want each, the number of a device, or LOCATION=NUMBER below %d", part, devices)
		}
		l := slices.IndexFunc(h.Test.Locations, func(l litmus.Location) bool { return l.Name == name })
		if l >= 0 { // other tests may have no such location
			homes[l] = d
		}
	}
	return [][]int{homes}, nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"optcheck/audit/device"
	"optcheck/litmus"
	"optcheck/ptxgen"
	"optcheck/runner/drive"
)

// acrossFlags are the flags of runs on several devices.
type acrossFlags struct{ devices, place string }

func (f *acrossFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&f.devices, "devices", "",
		"several devices (0,1): tests with their CTAs divided over them in each way, by kernels that wait for each other")
	fl.StringVar(&f.place, "place", "each", "with --devices: where locations lie: each (in each way), the number of a device, or x=1,y=0")
}

// open opens the device, or several, over which the tests are then divided.
func (f *runFlags) open(ctx context.Context, env *environment, o *device.Options) (err error) {
	if f.across.devices == "" {
		o.Session, err = openDevice(ctx, env, f.device)
		return err
	}
	switch {
	case f.device != "":
		return errors.New("--devices and --device exclude each other")
	case f.table6:
		return errors.New("--devices and --table6 exclude each other: the table is of one device")
	}
	if o.Session, err = openDevices(ctx, env, f.across.devices); err != nil {
		return err
	}
	if o.Tests, o.Parents, err = divided(o.Tests, len(o.Session.Devices())); err != nil {
		return errors.Join(err, o.Session.Close())
	}
	for t, parent := range o.Parents {
		if at, ok := env.origins[parent]; ok {
			env.origins[t] = at
		}
	}
	return nil
}

// divided are the tests divided over so many devices.
func divided(tests []*litmus.Test, n int) ([]*litmus.Test, map[*litmus.Test]*litmus.Test, error) {
	list, parents := device.Divide(tests, n)
	if len(list) == 0 {
		return nil, nil, fmt.Errorf("no test has CTAs that can lie on %d devices", n)
	}
	return list, parents, nil
}

// spread are settings for runs on several devices, whose kernels are of the fast form and
// always wait for each other.
func (f *runFlags) spread(list []drive.Setting) ([]drive.Setting, error) {
	// What is wrong with the placement is told before anything runs.
	if _, err := drive.Homes(f.across.place, &ptxgen.Harness{Test: &litmus.Test{}}, 1<<30); err != nil {
		return nil, fmt.Errorf("--place: %w", err)
	}
	var out []drive.Setting
	for _, s := range list {
		if s.Form == ptxgen.FormFast {
			s.Form, s.Incantations, s.Place = ptxgen.FormDevices, s.Incantations|drive.Sync, f.across.place
			out = append(out, s)
		} else if f.form != ptxgen.FormFast.String() || slices.Contains(strings.Split(f.environments, ","), s.Name) {
			return nil, fmt.Errorf("--devices: %v is of the permuted form, whose threads play roles on one device; want the fast form", s)
		}
	}
	return out, nil
}

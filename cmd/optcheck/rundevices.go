package main

import (
	"context"
	"errors"
	"fmt"

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
	for flag, given := range map[string]bool{"--device": f.device != "", "--until": f.until != "", "--environments": f.environments != "",
		"--drawn": f.drawn > 0, "--table6": f.table6, "--cubins": f.cubins != ""} {
		if given {
			return fmt.Errorf("--devices and %s exclude each other", flag)
		}
	}
	if o.Session, err = openDevices(ctx, env, f.across.devices); err != nil {
		return err
	}
	n := len(o.Session.Devices())
	if o.Tests, o.Parents = device.Divide(o.Tests, n); len(o.Tests) == 0 {
		return errors.Join(fmt.Errorf("no test has CTAs that can lie on %d devices", n), o.Session.Close())
	}
	for t, parent := range o.Parents {
		if at, ok := env.origins[parent]; ok {
			env.origins[t] = at
		}
	}
	return nil
}

// spread are the settings of runs on several devices, whose kernels always wait for
// each other.
func (f *runFlags) spread(t drive.Tuning) ([]drive.Setting, error) {
	sets, err := drive.ParseIncantations(f.incantations)
	if err != nil {
		return nil, err
	}
	// What is wrong with the placement is told before anything runs.
	if _, err := drive.Homes(f.across.place, &ptxgen.Harness{Test: &litmus.Test{}}, 1<<30); err != nil {
		return nil, fmt.Errorf("--place: %w", err)
	}
	var out []drive.Setting
	for _, i := range sets {
		out = append(out, drive.Setting{Form: ptxgen.FormDevices, Incantations: i | drive.Sync, Tuning: t, Place: f.across.place})
	}
	return out, nil
}

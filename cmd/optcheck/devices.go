package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"optcheck/internal/plain"
	"optcheck/runner"
	"optcheck/runner/opencl"
)

// backendNames lists the back ends in the order of preference.
var backendNames = []string{"cuda", "opencl"}

// backend returns a back end whose devices are driven by processes of their
// own: this program, started again with a hidden command.
func backend(env *environment, name string) (runner.Backend, error) {
	return lockedIn(env, name, env.getenv("OPTCHECK_LOCK_DIR"))
}

// lockedIn is backend with its lock files in a folder.
func lockedIn(env *environment, name, locks string) (runner.Backend, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("this program's own file: %w", err)
	}
	return runner.Isolated(runner.Isolation{
		Backend: name,
		Command: []string{exe, deviceProcess, name},
		// A cache of the driver's compiler would hide what it does today.
		Env:     append([]string{"CUDA_CACHE_DISABLE=1"}, opencl.Env...),
		LockDir: locks,
		Notify:  func(err error) { env.tell("device process ended: %v", err) },
	}), nil
}

// listDevices lists the devices of all back ends, and the reasons of back ends
// that cannot be used here.
func listDevices(ctx context.Context, env *environment) (devices []runner.Device, problems []error, err error) {
	for _, name := range backendNames {
		b, err := backend(env, name)
		if err != nil {
			return nil, nil, err
		}
		list, err := b.Devices(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			problems = append(problems, fmt.Errorf("%s: %w", name, err))
		}
		devices = append(devices, list...)
	}
	return devices, problems, nil
}

// openDevice opens the device that a user named: "cuda:0", "opencl:1", a back
// end's name for its first device, or "" for the first GPU, else the first
// device. The caller closes the session.
func openDevice(ctx context.Context, env *environment, name string) (runner.Session, error) {
	var at runner.Device
	if name == "" {
		devices, problems, err := listDevices(ctx, env)
		if err != nil {
			return nil, err
		}
		if len(devices) == 0 {
			return nil, fmt.Errorf("no device found: %w", errors.Join(problems...))
		}
		at = devices[0]
		for i := len(devices) - 1; i >= 0; i-- {
			if devices[i].Type == "gpu" {
				at = devices[i]
			}
		}
	} else if err := deviceNamed(name, &at); err != nil {
		return nil, err
	}
	b, err := backend(env, at.Backend)
	if err != nil {
		return nil, err
	}
	return b.Open(ctx, at.Index)
}

// deviceNamed reads the name of a device.
func deviceNamed(name string, at *runner.Device) (err error) {
	backend, index, has := strings.Cut(name, ":")
	at.Backend = backend
	if has {
		at.Index, err = strconv.Atoi(index)
	}
	if err != nil || at.Index < 0 || backend != "cuda" && backend != "opencl" {
		return fmt.Errorf("device %q: expected cuda:N or opencl:N as listed by: optcheck devices", name)
	}
	return nil
}

// openDevices opens several devices: 0,1 of CUDA, or names, all of one back end.
func openDevices(ctx context.Context, env *environment, names string) (runner.Session, error) {
	var first runner.Device
	var indices []int
	for i, name := range strings.Split(names, ",") {
		if _, err := strconv.ParseUint(name, 10, 16); err == nil {
			name = "cuda:" + name
		}
		var at runner.Device
		if err := deviceNamed(name, &at); err != nil {
			return nil, err
		}
		if i == 0 {
			first = at
		} else if at.Backend != first.Backend {
			return nil, fmt.Errorf("--devices %s: devices of %s and of %s do not work together", names, first.Backend, at.Backend)
		}
		indices = append(indices, at.Index)
	}
	b, err := backend(env, first.Backend)
	if err != nil {
		return nil, err
	}
	return b.Open(ctx, indices...)
}

const deviceProcess = "device-process"

func newDevicesCmd(env *environment) *cobra.Command {
	var asJSON, state bool
	cmd := &cobra.Command{
		Use:   "devices",
		Short: "List the devices that tests can be run on",
		Long: `List the devices that tests can be run on: GPUs by the CUDA driver, and whatever
OpenCL finds. A machine without a GPU needs an OpenCL driver for its CPU, on
Debian: apt-get install pocl-opencl-icd ocl-icd-libopencl1. NVIDIA's OpenCL can
be chosen with OCL_ICD_FILENAMES=libnvidia-opencl.so.1.

With --state each device is opened to read its clocks and temperature.`,
		Example: "  optcheck devices\n  optcheck devices --state --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printDevices(cmd.Context(), env, asJSON, state)
		},
	}
	jsonFlag(cmd, &asJSON, oneObject)
	cmd.Flags().BoolVar(&state, "state", false, "also read clocks, temperature and free memory")
	return cmd
}

func printDevices(ctx context.Context, env *environment, asJSON, state bool) error {
	devices, problems, err := listDevices(ctx, env)
	if err != nil {
		return err
	}
	out := deviceListing{Devices: []deviceStatus{}, Unavailable: map[string]string{}}
	for _, d := range devices {
		s := deviceStatus{ID: fmt.Sprintf("%s:%d", d.Backend, d.Index), Device: d}
		if state {
			if s.State, err = readState(ctx, env, s.ID); err != nil {
				return fmt.Errorf("%s: %w", s.ID, err)
			}
		}
		out.Devices = append(out.Devices, s)
	}
	for _, p := range problems {
		name, why, _ := strings.Cut(p.Error(), ": ")
		out.Unavailable[name] = why
	}
	if asJSON {
		return env.printJSON(out)
	}
	for _, p := range problems {
		env.tell("%v", p)
	}
	if len(devices) == 0 {
		return errors.New("no device found")
	}
	return writeDevices(env, out.Devices, state)
}

func readState(ctx context.Context, env *environment, id string) (*runner.State, error) {
	s, err := openDevice(ctx, env, id)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	state, err := s.State(ctx)
	return &state, err
}

func writeDevices(env *environment, devices []deviceStatus, state bool) error {
	tw := tabwriter.NewWriter(env.text, 0, 8, 2, ' ', 0)
	fmt.Fprint(tw, "ID\tNAME\tTARGET\tUNITS\tMEMORY\tCLOCK\tMEMORY CLOCK\tDRIVER\tAPI")
	if state {
		fmt.Fprint(tw, "\tNOW")
	}
	fmt.Fprintln(tw)
	for _, d := range devices {
		target := d.Target
		if target == "" {
			target = d.Type
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%d\t%.1f GiB\t%s\t%s\t%s\t%s", d.ID, plain.Line(d.Name), target, d.Units,
			float64(d.Memory)/(1<<30), mhz(d.ClockMHz), mhz(d.MemoryClockMHz), orDash(d.Driver), orDash(d.API))
		if s := d.State; s != nil {
			fmt.Fprintf(tw, "\t%s", now(s))
		}
		fmt.Fprintln(tw)
	}
	return tw.Flush()
}

// now prints what is known of a state.
func now(s *runner.State) string {
	var parts []string
	if s.ClockMHz > 0 {
		parts = append(parts, mhz(s.ClockMHz))
	}
	if s.Temperature > 0 {
		parts = append(parts, fmt.Sprintf("%d °C", s.Temperature))
	}
	if s.PowerWatt > 0 {
		parts = append(parts, fmt.Sprintf("%.0f W", s.PowerWatt))
	}
	return orDash(strings.Join(append(parts, s.Throttle...), ", "))
}

func mhz(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%d MHz", n)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

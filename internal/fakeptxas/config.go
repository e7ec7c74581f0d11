// Package fakeptxas is a compiler that does what it is told wrongly: it wraps a
// real ptxas and changes the PTX of chosen kernels before it compiles them, or
// breaks down in a chosen way. It serves to check the checkers: whatever it does
// wrong must be found. It is for tests only and no part of the program.
//
// The tools start with a clean environment, so a fake is configured by a file
// beside it.
//
//input:allow a compiler for tests reads what tests have written
package fakeptxas

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// configName is the file beside the fake that configures it.
const configName = "fakeptxas.json"

// Config says what a fake does.
type Config struct {
	// Real is the path of the real ptxas.
	Real string `json:"real"`
	// Edits are the changes of kernels, by target and by the kernel's name. A
	// target "" means all targets.
	Edits map[string]map[string][]Edit `json:"edits,omitempty"`
	// Optimise names the passes that are run, by the kernel's name. A kernel ""
	// means all kernels that are not named.
	Optimise map[string][]string `json:"optimise,omitempty"`
	// Hasty has the machine code of all kernels wait for no scoreboard, on sm_70 and later.
	Hasty bool `json:"hasty,omitempty"`
	// Faults are the breakdowns, by the name of the kernel that provokes them.
	Faults map[string]Fault `json:"faults,omitempty"`
}

// Fault is a way to break down.
type Fault string

// The faults.
const (
	Crash     Fault = "crash"     // dies of a fault of its own, each time
	Flicker   Fault = "flicker"   // dies so, but alone with the kernel only the first time
	Killed    Fault = "killed"    // is killed from outside
	Hang      Fault = "hang"      // does not end
	Garbage   Fault = "garbage"   // writes something that is no cubin, prints nonsense, status 0
	Truncated Fault = "truncated" // writes the first half of the real cubin, status 0
	Empty     Fault = "empty"     // writes an empty file, status 0
	NoOutput  Fault = "no-output" // writes nothing, status 0
	Refusal   Fault = "refusal"   // says no
	Lost      Fault = "lost"      // leaves the kernel out of the cubin, status 0
)

// Faults lists all faults.
var Faults = []Fault{Crash, Flicker, Killed, Hang, Garbage, Truncated, Empty, NoOutput, Refusal, Lost}

// Build compiles the fake into a folder, under the name ptxas, and puts the real
// disassemblers beside it. The folder can then be given to the program as one
// that holds a compiler. Write must be called before the fake is used.
func Build(dir, nvdisasm, cuobjdump string) error {
	out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "ptxas"), "optcheck/internal/fakeptxas/ptxas").CombinedOutput()
	if err != nil {
		return fmt.Errorf("build the fake: %w: %s", err, out)
	}
	return Copy(dir, dir, nvdisasm, cuobjdump)
}

// Copy makes another fake of one that was built.
func Copy(dir, built, nvdisasm, cuobjdump string) error {
	if dir != built {
		if err := os.Link(filepath.Join(built, "ptxas"), filepath.Join(dir, "ptxas")); err != nil {
			return err
		}
	}
	for name, path := range map[string]string{"nvdisasm": nvdisasm, "cuobjdump": cuobjdump} {
		if path != "" {
			if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Write configures the fake in a folder; it may be called again between runs.
func (c *Config) Write(dir string) error {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, optimisedName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(filepath.Join(dir, configName), data, 0o600)
}

func readConfig(dir string) (*Config, error) {
	data, err := os.ReadFile(filepath.Join(dir, configName))
	if err != nil {
		return nil, err
	}
	c := &Config{}
	if err := json.Unmarshal(data, c); err != nil {
		return nil, fmt.Errorf("%s: %w", configName, err)
	}
	return c, nil
}

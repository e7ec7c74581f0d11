// Package herd runs herd7, the tool that this engine is compared with, on
// tests in its LISA dialect. It is for tests and measurements only.
package herd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"optcheck/internal/input"
)

// ErrMissing says that herd7 is not installed.
var ErrMissing = errors.New(
	"herd7 is not installed: neither HERD7, nor the PATH, nor the cache folder has it; make herd7 installs it there",
)

// Find returns the path of herd7: the environment variable HERD7, the PATH, or
// the folder of the set-up script.
func Find() (string, error) {
	if p := os.Getenv("HERD7"); p != "" {
		return p, nil
	}
	if p, err := exec.LookPath("herd7"); err == nil {
		return p, nil
	}
	if cache, err := os.UserCacheDir(); err == nil {
		p := filepath.Join(cache, "herd7", "bin", "herd7")
		if _, err := os.Stat(p); err == nil {
			return p, nil
		}
	}
	return "", ErrMissing
}

// Write puts a model, its bell file and tests into a folder and returns the
// arguments that make herd7 judge them in order.
func Write(dir, bell, model string, tests []string) ([]string, error) {
	files := map[string]string{"optcheck.bell": bell, "model.cat": model}
	var index strings.Builder
	for i, t := range tests {
		name := fmt.Sprintf("%05d.litmus", i)
		files[name] = t
		index.WriteString(filepath.Join(dir, name) + "\n")
	}
	files["@all"] = index.String()
	for name, text := range files {
		if err := input.WriteFile(filepath.Join(dir, name), []byte(text)); err != nil {
			return nil, err
		}
	}
	return []string{
		"-bell",
		filepath.Join(dir, "optcheck.bell"),
		"-model",
		filepath.Join(dir, "model.cat"),
		filepath.Join(dir, "@all"),
	}, nil
}

// Result is one run of herd7.
type Result struct {
	Log     string
	Wall    time.Duration
	PeakKiB int64 // largest resident set
}

// Run runs herd7. A warning of the tool (it skips what it cannot read) is an
// error.
func Run(ctx context.Context, args ...string) (*Result, error) {
	path, err := Find()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	start := time.Now()
	out, err := cmd.Output()
	r := &Result{Log: string(out), Wall: time.Since(start)}
	if err != nil {
		return nil, fmt.Errorf("herd7: %w: %.400s", err, stderr.String())
	}
	if s := stderr.String(); strings.Contains(s, "Warning") {
		return nil, fmt.Errorf("herd7 skipped something: %.400s", s)
	}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.PeakKiB = u.Maxrss
	}
	return r, nil
}

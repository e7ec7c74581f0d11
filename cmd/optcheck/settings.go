package main

import (
	"fmt"
	"strings"
	"time"

	"optcheck/event"
	"optcheck/pipeline"
	"optcheck/target"
)

// settings are the options that can come from a flag, the environment or a
// configuration file, as the command uses them.
type settings struct {
	vendor                               string // nvidia, amd; everyVendor where a command allows it
	source                               string // what kernels are written in, "" for the vendor's usual one
	toolchainDirs                        []string
	toolchains, targets, levels, layouts []string
	jobs                                 int
	timeout                              string // of one external process, a duration
	disassembler                         string // dictionary, nvdisasm
	failOn                               string // one of failOn
	allowUnknown                         int    // cells
	known                                []string
	newOnly                              bool
}

// everyVendor stands for all vendors.
const everyVendor = "all"

// settings returns the effective configuration of a command.
func (c *config) settings() settings {
	s := settings{vendor: c.v.GetString("vendor"), source: c.v.GetString("source"), toolchainDirs: c.strings("toolchain-dirs"),
		toolchains: c.strings("toolchains"), targets: c.strings("targets"), levels: c.strings("levels"), layouts: c.strings("layouts"),
		jobs: c.v.GetInt("jobs"), timeout: c.v.GetString("timeout"), disassembler: c.v.GetString("disassembler"),
		failOn: c.v.GetString("fail-on"), allowUnknown: c.v.GetInt("allow-unknown"), known: c.strings("known"), newOnly: c.v.GetBool("new-only")}
	if c.cmd.Flags().Lookup("source") == nil {
		s.source = "" // a setting for others
	}
	return s
}

// forVendor returns an environment with another vendor in its settings.
func (env *environment) forVendor(vendor string) *environment {
	sub := *env
	sub.settings.vendor = vendor
	return &sub
}

// forSource returns an environment with another source of kernels in its settings.
func (env *environment) forSource(source string) *environment {
	sub := *env
	sub.settings.source = source
	return &sub
}

// kernels is what kernels are written in, "" for the vendor's usual source, however
// it was asked for: results do not depend on that.
func (s *settings) kernels() string {
	if r := pipeline.Usual(s.vendor); r != nil && r.Source == s.source {
		return ""
	}
	return s.source
}

// amd reports whether AMD's compilers are asked.
func (s *settings) amd() bool { return s.vendor == target.AMD }

// limit is how long an external process may take.
func (s *settings) limit() (time.Duration, error) {
	d, err := time.ParseDuration(s.timeout)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("timeout %q is no duration (60s, 2m)", s.timeout)
	}
	return d, nil
}

// fileTimeout is the time limit of a process that reads a file from outside: compiling may take
// long, printing what somebody else compiled does not. With all around it the command takes less than ten seconds.
const fileTimeout = "8s"

// forFile returns an environment for reading files from outside: unless somebody has chosen
// another one, fileTimeout is the time limit.
func (env *environment) forFile() *environment {
	sub := *env
	if env.config.origin("timeout") == "default" {
		sub.settings.timeout = fileTimeout
	}
	return &sub
}

// fail returns the cells that make the exit code 1.
func (s *settings) fail() (event.FailOn, error) {
	var names []string
	for _, x := range event.FailOns {
		if string(x.Value) == s.failOn {
			return x.Value, nil
		}
		names = append(names, string(x.Value))
	}
	return "", fmt.Errorf("--fail-on %q: must be one of %s", s.failOn, strings.Join(names, ", "))
}

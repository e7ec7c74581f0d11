package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	campaigns "optcheck/audit/campaign"
	"optcheck/ptxgen/cycle"
)

// engineFlags are the flags of an audit that an engine does in parts.
type engineFlags struct {
	engine, folder string
	shards         int
	slurm          []string
	follow         followFlags
}

func (f *engineFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.engine, "engine", "", "who does the work in parts: slurm, or local; without it, this very process")
	fl.IntVar(&f.shards, "shards", 8, "with --engine: the number of parts")
	fl.StringVar(&f.folder, "folder", "",
		"with --engine: where tasks and their state lie; on a cluster all machines must see it (default: the store's name and .campaign)")
	fl.StringArrayVar(&f.slurm, "slurm", nil,
		"with --engine slurm: what each task asks for, KEY=VALUE with partition, account, qos, time, memory or cpus, or an argument of sbatch (--NAME=VALUE); may be repeated")
	fl.BoolVar(&f.follow.detach, "detach", false, "with --engine slurm: submit and return at once")
	pollFlag(cmd, &f.follow.poll)
}

// spec is the campaign that the flags of an audit describe.
func (f *engineFlags) spec(env *environment, a *auditFlags, args []string) (*campaigns.Spec, error) {
	if a.store == "" {
		return nil, errors.New("--engine needs --store, where the results go")
	}
	if a.shard != "" || a.output != "" {
		return nil, errors.New("--engine makes the shards itself, and leaves its results in the store: it goes without --shard and --output")
	}
	folder := f.folder
	if folder == "" {
		folder = strings.TrimSuffix(a.store, filepath.Ext(a.store)) + ".campaign"
	}
	set := &env.settings
	s := &campaigns.Spec{Name: "audit", Vendors: []string{set.vendor}, Toolchains: set.toolchains,
		ToolchainDirs: set.toolchainDirs, Targets: set.targets, Levels: set.levels, Layouts: set.layouts,
		Source: set.source, Flags: a.flags, Model: a.model, NoVerdict: a.noVerdict, Execute: &a.execute, Known: set.known,
		Timeout: campaigns.Duration(set.timeout), Jobs: set.jobs,
		Store: a.store, Folder: folder, Shards: f.shards, Engine: f.engine}
	for _, t := range args {
		if t == "-" {
			return nil, errors.New("with --engine tests are not read from standard input")
		}
		s.Tests = append(s.Tests, campaigns.Tests{Name: t})
	}
	if a.gen != "" {
		if _, err := cycle.PresetText(a.gen); err == nil {
			s.Tests = append(s.Tests, campaigns.Tests{Preset: a.gen})
		} else {
			s.Tests = append(s.Tests, campaigns.Tests{Gen: a.gen})
		}
	}
	if err := f.resources(s); err != nil {
		return nil, err
	}
	return s, s.Complete()
}

// resources reads --slurm.
func (f *engineFlags) resources(s *campaigns.Spec) error {
	if len(f.slurm) > 0 && f.engine != campaigns.EngineSlurm {
		return errors.New("--slurm goes with --engine slurm")
	}
	o := &campaigns.Slurm{}
	into := map[string]*string{"partition": &o.Partition, "account": &o.Account, "qos": &o.QOS, "time": &o.Time, "memory": &o.Memory}
	for _, kv := range f.slurm {
		k, v, _ := strings.Cut(kv, "=")
		switch {
		case strings.HasPrefix(kv, "--"):
			o.Args = append(o.Args, kv)
		case k == "cpus":
			n, err := strconv.Atoi(v)
			if err != nil {
				return fmt.Errorf("--slurm %s: %q is no number", kv, v)
			}
			o.CPUs = n
		case into[k] != nil:
			*into[k] = v
		default:
			return fmt.Errorf("--slurm %q: want KEY=VALUE with partition, account, qos, time, memory or cpus, or --NAME=VALUE for sbatch", kv)
		}
	}
	s.Slurm = o
	return nil
}

// runEngine does an audit in parts.
func (f *engineFlags) run(ctx context.Context, env *environment, a *auditFlags, args []string) error {
	if a.writeKnown != "" && f.follow.detach {
		return errors.New("--write-known waits for what is found: not with --detach")
	}
	s, err := f.spec(env, a, args)
	if err := cmp.Or(err, baselineFile(a.writeKnown)); err != nil {
		return err
	}
	f.follow.writeKnown = a.writeKnown
	f.follow.quiet, f.follow.format, f.follow.html, f.follow.reports, f.follow.text = a.quiet, a.format, a.html, a.reports, a.text
	f.follow.text.NewOnly = env.settings.newOnly
	return beginCampaign(ctx, env, s, ".", &f.follow)
}

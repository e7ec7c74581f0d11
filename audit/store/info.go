package store

import (
	"context"
	"os"

	"optcheck/event"
)

// Info describes the content of a store.
type Info struct {
	Schema    int   `json:"schema"`
	Bytes     int64 `json:"bytes"` // of the file and its log
	Cells     int64 `json:"cells"`
	Tests     int64 `json:"tests"`
	Results   int64 `json:"results"` // distinct ones, regardless of code
	Listings  int64 `json:"listings"`
	Artefacts int64 `json:"artefacts"`
	// Histograms is the number of tests that ran on devices, counted once for each setting of a
	// run.
	Histograms int64         `json:"histograms"`
	Settings   []SettingInfo `json:"settings"`
	Runs       []RunInfo     `json:"runs"`
}

// SettingInfo is a setting and the number of its cells.
type SettingInfo struct {
	ID int64 `json:"id"`
	Setting
	Cells   int64 `json:"cells"`
	Columns int64 `json:"columns"`
}

// The states of a run.
const (
	StateDone        = "done"
	StateInterrupted = "interrupted" // it said so
	StateOpen        = "open"        // it is still running, or was killed
)

// RunInfo describes a run. Cells counts those that it was the first to store.
type RunInfo struct {
	ID      int64  `json:"id"`
	Setting int64  `json:"setting"`
	Started int64  `json:"started"` // seconds since 1970
	Cells   int64  `json:"cells"`
	Planned int    `json:"planned"`
	Shard   string `json:"shard,omitempty"`
	State   string `json:"state"`
	// Histograms is the number of histograms of a run on a device.
	Histograms int64 `json:"histograms,omitempty"`

	plan   string // the config: equal if the same was planned
	device bool
}

// Unfinished reports whether a run on a device with a setting (0: that of the latest run) did
// not finish, and no later run with the same plan did. What audits lack is counted by Load in
// cells, whoever made them.
func (s *Store) Unfinished(ctx context.Context, setting int64) (bool, error) {
	state := map[string]string{}
	err := s.read(ctx, func() error {
		n, err := s.setting(ctx, setting)
		if err != nil {
			return err
		}
		var info Info
		if err := s.runs(ctx, &info); err != nil {
			return err
		}
		for _, r := range info.Runs {
			if r.Setting == n.ID && r.device {
				state[r.plan] = r.State
			}
		}
		return nil
	})
	for _, x := range state {
		if x != StateDone {
			return true, s.fail(err)
		}
	}
	return false, s.fail(err)
}

// Info counts the content of the store.
func (s *Store) Info(ctx context.Context) (*Info, error) {
	info := &Info{Schema: version, Settings: []SettingInfo{}, Runs: []RunInfo{}}
	for _, suffix := range []string{"", "-wal"} {
		if st, err := os.Stat(s.path + suffix); err == nil {
			info.Bytes += st.Size()
		}
	}
	err := s.read(ctx, func() error { return s.info(ctx, info) })
	if err != nil {
		return nil, s.fail(err)
	}
	return info, nil
}

func (s *Store) info(ctx context.Context, info *Info) error {
	for table, n := range map[string]*int64{"cell": &info.Cells, "test": &info.Tests, "body": &info.Results, "listing": &info.Listings,
		"artefact": &info.Artefacts} {
		if err := s.c.QueryRowContext(ctx, "SELECT count(*) FROM "+table).Scan(n); err != nil {
			return err
		}
	}
	all, err := s.settings(ctx)
	if err != nil {
		return err
	}
	at := map[int64]int{}
	for _, n := range all {
		at[n.ID] = len(info.Settings)
		info.Settings = append(info.Settings, SettingInfo{ID: n.ID, Setting: n.Setting})
	}
	err = s.each(
		ctx,
		"SELECT c.setting, count(*), coalesce(sum(n.n), 0) FROM col c LEFT JOIN (SELECT col, count(*) AS n FROM cell GROUP BY col) n ON n.col=c.id GROUP BY c.setting",
		nil,
		func(scan func(...any) error) error {
			var id, cols, cells int64
			if err := scan(&id, &cols, &cells); err != nil {
				return err
			}
			if i, ok := at[id]; ok {
				info.Settings[i].Columns, info.Settings[i].Cells = cols, cells
			}
			return nil
		},
	)
	if err != nil {
		return err
	}
	return s.runs(ctx, info)
}

func (s *Store) runs(ctx context.Context, info *Info) error {
	cells, err := s.countByRun(ctx, "SELECT run, count(*) FROM cell GROUP BY run")
	if err != nil {
		return err
	}
	histograms, err := s.countByRun(ctx, "SELECT run, count(*) FROM event WHERE kind=? GROUP BY run", kindHistogram)
	if err != nil {
		return err
	}
	return s.each(
		ctx,
		"SELECT r.id, r.setting, r.started, r.config, (SELECT e.data FROM event e WHERE e.run=r.id AND e.kind=? ORDER BY e.n DESC LIMIT 1) FROM run r ORDER BY r.id",
		[]any{kindStats},
		func(scan func(...any) error) error {
			var r RunInfo
			var config, stats []byte
			if err := scan(&r.ID, &r.Setting, &r.Started, &config, &stats); err != nil {
				return err
			}
			var c event.Config
			if err := unmarshal(config, &c); err != nil {
				return errDamaged("run %d: %w", r.ID, err)
			}
			r.Cells, r.Planned, r.Shard, r.State, r.plan, r.device = cells[r.ID], c.Cells, c.Shard, StateOpen, string(
				config,
			), c.OnDevice != nil
			r.Histograms = histograms[r.ID]
			info.Histograms += r.Histograms
			if len(stats) > 0 {
				e, err := decodeEvent(kindStats, stats)
				if err != nil {
					return errDamaged("statistics of run %d: %w", r.ID, err)
				}
				if r.State = StateDone; e.Stats.Interrupted {
					r.State = StateInterrupted
				}
			}
			info.Runs = append(info.Runs, r)
			return nil
		},
	)
}

// countByRun reads pairs of a run and a number.
func (s *Store) countByRun(ctx context.Context, query string, args ...any) (map[int64]int64, error) {
	out := map[int64]int64{}
	err := s.each(ctx, query, args, func(scan func(...any) error) error {
		var run, n int64
		err := scan(&run, &n)
		out[run] = n
		return err
	})
	return out, err
}

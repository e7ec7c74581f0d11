package store

import (
	"context"
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"optcheck/event"
)

// Row is a cell as a row of a table.
type Row struct {
	ID        int64  `parquet:"id"` // the number of the cell in the store
	Test      string `parquet:"test,dict,zstd"`
	Hash      string `parquet:"hash,dict,zstd"`
	Preset    string `parquet:"preset,dict,zstd"`
	Toolchain string `parquet:"toolchain,dict,zstd"`
	Target    string `parquet:"target,dict,zstd"`
	Level     string `parquet:"level,dict,zstd"`
	Layout    string `parquet:"layout,dict,zstd"`
	Class     string `parquet:"class,dict,zstd"`
	Rules     string `parquet:"rules,dict,zstd"` // of the findings, each once, sorted, separated by spaces
	Notes     string `parquet:"notes,dict,zstd"`
	Reason    string `parquet:"reason,dict,zstd"`
	Code      string `parquet:"code,dict,zstd"`
	Known     string `parquet:"known,dict,zstd"`
	Model     string `parquet:"model,dict,zstd"`
	// New and Lost are the numbers of outcomes that only the machine code, or only the test,
	// allows; Source and Machine are the numbers of all outcomes.
	Source  int32 `parquet:"source_outcomes"`
	Machine int32 `parquet:"machine_outcomes"`
	New     int32 `parquet:"new_outcomes"`
	Lost    int32 `parquet:"lost_outcomes"`
	// Race says whether the test has a data race in its language: see event.Verdict.
	Race string `parquet:"race,dict,zstd"`
}

var columns = []string{"id", "test", "hash", "preset", "toolchain", "target", "level", "layout", "class", "rules", "notes",
	"reason", "code", "known",
	"model", "source_outcomes", "machine_outcomes", "new_outcomes", "lost_outcomes", "race"}

// rules lists the rules of findings.
func rules(fs []event.Finding) string {
	var out []string
	for _, f := range fs {
		if !slices.Contains(out, f.Rule) {
			out = append(out, f.Rule)
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// rows calls f for the cells of a view in canonical order.
func (s *Store) rows(ctx context.Context, v View, f func(*Row) error) error {
	v.NoText = true
	l, err := s.Follow(ctx, v)
	if err != nil {
		return err
	}
	keep := func(int) bool { return true }
	if v.Keep != nil {
		if keep, err = v.Keep(l.Set); err != nil {
			return err
		}
	}
	for _, i := range Canonical(l.Set) {
		if !keep(i) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		c := l.Cell(i)
		r := Row{ID: l.Numbers[i], Test: c.Test, Hash: c.Hash, Preset: l.Tests[l.Cells[i].Test].Preset, Toolchain: c.Toolchain,
			Target: c.Target, Level: c.Level,
			Layout: c.Layout, Class: c.Class, Rules: rules(c.Findings), Notes: rules(c.Notes), Reason: c.Reason, Code: c.Code,
			Known: strings.Join(c.Known, " ")}
		if x := c.Verdict; x != nil {
			r.Model, r.Source, r.Machine, r.New, r.Lost = x.Model, int32(x.Source), int32(x.Machine), int32(len(x.New)), int32(len(x.Lost))
			r.Race = x.Race
		}
		if err := f(&r); err != nil {
			return err
		}
	}
	return nil
}

// ExportCSV writes the cells of a view as a table with a header, in canonical
// order.
func (s *Store) ExportCSV(ctx context.Context, v View, w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(columns); err != nil {
		return err
	}
	err := s.rows(ctx, v, func(r *Row) error {
		n := func(i int32) string { return strconv.Itoa(int(i)) }
		return out.Write([]string{strconv.FormatInt(r.ID, 10), r.Test, r.Hash, r.Preset, r.Toolchain, r.Target, r.Level, r.Layout,
			r.Class, r.Rules, r.Notes,
			r.Reason, r.Code, r.Known, r.Model, n(r.Source), n(r.Machine), n(r.New), n(r.Lost), r.Race})
	})
	out.Flush()
	if err == nil {
		err = out.Error()
	}
	return err
}

// parquetBatch is the number of rows that are written at once.
const parquetBatch = 4096

// ExportParquet writes the same table in the Parquet format.
func (s *Store) ExportParquet(ctx context.Context, v View, w io.Writer) error {
	out := parquet.NewGenericWriter[Row](w, parquet.MaxRowsPerRowGroup(1<<17))
	var batch []Row
	flush := func() error {
		_, err := out.Write(batch)
		batch = batch[:0]
		return err
	}
	err := s.rows(ctx, v, func(r *Row) error {
		if batch = append(batch, *r); len(batch) < parquetBatch {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err != nil {
		return err
	}
	return out.Close()
}

package store

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

// twins writes a cell whose machine code another compiler makes too, in a text
// that differs in names.
func twins(t *testing.T, dir, name string, releases ...string) *Store {
	s := fresh(t, dir, name)
	cfg := event.Config{Schema: event.Schema, Tool: "test", Build: "b"}
	for _, v := range releases {
		cfg.Toolchains = append(cfg.Toolchains, event.Toolchain{ID: v, Build: "build " + v})
	}
	w := s.Writer()
	require.NoError(t, w.Handle(event.Event{Config: &cfg}))
	require.NoError(t, w.Handle(event.Event{Test: &event.Test{Name: "mp", Hash: "h"}}))
	for _, v := range releases {
		c := event.Cell{Test: "mp", Hash: "h", Toolchain: v, Target: "sm_80", Level: "O3", Layout: "pointers",
			Result: event.Result{Class: event.Preserved, Code: "0123456789abcdef"}}
		require.NoError(t, w.Handle(event.Event{Cell: &c}))
		require.NoError(t, w.Artefacts(&c, []event.Artefact{
			{Kind: event.ArtefactPTX, Text: ".version 7.0"},
			{Kind: event.ArtefactMachine, Text: "kernel of " + v}}))
	}
	require.NoError(t, w.Flush())
	return s
}

// TestMachineOnce: of equal machine code one text is kept, of equal results one, and what is not kept
// takes no room, whether cells come from an audit or from other stores.
func TestMachineOnce(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	whole := twins(t, dir, "whole", "11.2", "11.8")
	merged := fresh(t, dir, "merged")
	for i, v := range []string{"11.2", "11.8"} {
		part := twins(t, dir, fmt.Sprint(i), v)
		_, err := merged.Merge(ctx, part)
		require.NoError(t, err)
		require.NoError(t, part.Close())
	}
	for _, s := range []*Store{whole, merged} {
		list, err := s.Artefacts(ctx)
		require.NoError(t, err)
		require.Len(t, list, 2)
		set, err := s.Load(ctx, View{})
		require.NoError(t, err)
		require.Len(t, set.Cells, 2)
		require.Len(t, set.Results, 1, "what two cells say alike is there once")
		for _, v := range []string{"11.2", "11.8"} {
			of, err := s.CellArtefacts(ctx, &event.Cell{Test: "mp", Hash: "h", Toolchain: v, Target: "sm_80", Level: "O3", Layout: "pointers",
				Result: event.Result{Code: "0123456789abcdef"}})
			require.NoError(t, err)
			require.Len(t, of, 2)
			require.Equal(t, "kernel of 11.2", of[0].Text)
		}
		g, err := s.GC(ctx, Policy{})
		require.NoError(t, err)
		require.Zero(t, g.Artefacts)
		require.NoError(t, s.Close())
	}
}

// TestLostArtefacts: a store whose sources or machine code are gone, though cells refer to them, is damaged: another
// store takes nothing from it.
func TestLostArtefacts(t *testing.T) {
	for _, kind := range []string{event.ArtefactPTX, event.ArtefactMachine} {
		dir := t.TempDir()
		part, merged := twins(t, dir, "part", "11.2"), fresh(t, dir, "merged")
		_, err := part.exec("DELETE FROM artefact WHERE kind=?", kind)
		require.NoError(t, err)
		_, err = merged.Merge(t.Context(), part)
		require.ErrorIs(t, err, ErrDamaged, kind)
		require.ErrorContains(t, err, "a reference to no artefact", kind)
		list, err := merged.Artefacts(t.Context())
		require.NoError(t, err)
		require.Empty(t, list, kind)
		require.NoError(t, part.Close())
		require.NoError(t, merged.Close())
	}
}

// TestInfoHistograms: what ran on a device is counted, for each run and in all.
func TestInfoHistograms(t *testing.T) {
	cfg := event.Config{Schema: event.Schema, Tool: "test"}
	events := []event.Event{{Config: &cfg}, {Histogram: &event.Histogram{Test: "mp"}}, {Histogram: &event.Histogram{Test: "sb"}},
		{Stats: &event.Stats{}}}
	s := imported(t, t.TempDir(), "s", stream(t, events), stream(t, events[:2]))
	info, err := s.Info(context.Background())
	require.NoError(t, err)
	require.EqualValues(t, 3, info.Histograms)
	require.EqualValues(t, 2, info.Runs[0].Histograms)
	require.EqualValues(t, 1, info.Runs[1].Histograms)
	require.Zero(t, info.Cells)
	require.NoError(t, s.Close())
}

package toolchain

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
)

// only looks into the given folders.
func only(dirs ...string) Options {
	return Options{Dirs: dirs, DirsOnly: true, Cache: "off", Runner: NewRunner(4, patient.Long)}
}

func TestDiscoverAmongBrokenTools(t *testing.T) {
	good, older := fakeTools(t, "10.1.7", ""), fakeTools(t, "9.2.88", "")
	broken := []string{fakeTools(t, "1.0.0", "crash"), fakeTools(t, "1.0.0", "hang"), fakeTools(t, "1.0.0", "babble"),
		fakeTools(t, "1.0.0", "loader"), fakeTools(t, "1.0.0", "flood")}
	empty := t.TempDir()
	text := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(text, "ptxas"), []byte("no program"), 0o700))
	patient.Limits(t, 4*time.Second, func(t *patient.Trial, limit time.Duration) {
		o := only(append(broken, good, empty, older, text, good)...)
		o.Runner = NewRunner(4, limit)
		all, errs := Discover(context.Background(), o)
		require.Len(t, all, 2)
		assert.Equal(t, "ptxas 9.2.88", all[0].ID)
		assert.Equal(t, "cuda-10.1", all[1].Name)
		assert.Equal(t, []string{"sm_70", "sm_90", "sm_90a", "sm_100"}, all[1].Targets)
		assert.Equal(t, "6.4", all[1].MaxPTX)
		assert.Equal(t, "cuda_10.1.fake/compiler.1_0", all[1].Build)
		require.Len(t, errs, 7)
		for i, dir := range append(broken, empty, text) {
			assert.ErrorContains(t, errs[i], dir, "the error names the place")
		}
		for i, kind := range []error{ErrInfrastructure, ErrTimeout, ErrInfrastructure, ErrInfrastructure, ErrInfrastructure} {
			assert.ErrorIs(t, errs[i], kind)
		}
		assert.ErrorIs(t, errs[6], ErrInfrastructure)
	})
}

func TestDiscoverWhere(t *testing.T) {
	var dirs []string
	for _, v := range []string{"9.0.1", "9.1.1", "9.2.1"} {
		dirs = append(dirs, fakeTools(t, v, ""))
	}
	home := t.TempDir()
	require.NoError(t, os.Symlink(fakeTools(t, "10.0.1", ""), filepath.Join(home, "bin")))
	managed := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(managed, "cuda-x", "root", "usr"), 0o700))
	require.NoError(t, os.Symlink(fakeTools(t, "10.1.1", ""), filepath.Join(managed, "cuda-x", "root", "usr", "bin")))
	env := map[string]string{"OPTCHECK_TOOLCHAIN_DIRS": dirs[0], "PATH": "/nonexistent:" + dirs[1] + "::" + dirs[0], "CUDA_HOME": home}
	all, errs := Discover(context.Background(), Options{Dirs: []string{dirs[2]}, Managed: managed,
		Env: func(k string) string { return env[k] }, Cache: "off"})
	assert.Empty(t, errs)
	source := map[string]string{}
	for _, tc := range all {
		source[tc.Version] = tc.Source
	}
	for v, s := range map[string]string{"9.0.1": "OPTCHECK_TOOLCHAIN_DIRS", "9.1.1": "PATH", "9.2.1": "configured",
		"10.0.1": "CUDA_HOME", "10.1.1": "managed"} {
		assert.Equal(t, s, source[v], v)
	}
}

// TestLend: a compiler without a disassembler gets that of the next newer
// release, never that of an older one.
func TestLend(t *testing.T) {
	own, newer, newest := fakeTools(t, "10.1.7", ""), fakeTools(t, "10.2.1", ""), fakeTools(t, "11.0.1", "")
	for _, dir := range []string{own, newest} {
		require.NoError(t, os.Remove(filepath.Join(dir, "nvdisasm")))
		require.NoError(t, os.Remove(filepath.Join(dir, "cuobjdump")))
	}
	all, errs := Discover(context.Background(), only(own, newer, newest))
	require.Empty(t, errs)
	require.Len(t, all, 3)
	assert.Equal(t, filepath.Join(newer, "nvdisasm"), all[0].Nvdisasm)
	assert.Equal(t, "10.2", all[0].Reader)
	assert.Empty(t, all[1].Reader)
	assert.Empty(t, all[2].Nvdisasm)
	name, err := all[0].Disassembler()
	require.NoError(t, err)
	assert.Contains(t, name, "nvdisasm 10.2,")
}

// One toolchain per build; disassemblers of an older release are not used, of
// the same release they are lent.
func TestDiscoverMerges(t *testing.T) {
	a, b, mixed := fakeTools(t, "10.1.7", ""), fakeTools(t, "10.1.7", ""), fakeTools(t, "10.2.1", "")
	require.NoError(t, os.Remove(filepath.Join(a, "nvdisasm")))
	require.NoError(t, os.Remove(filepath.Join(mixed, "nvdisasm")))
	require.NoError(t, os.WriteFile(filepath.Join(mixed, "nvdisasm"),
		[]byte("#!/bin/sh\nexec "+b+"/nvdisasm \"$@\"\n"), 0o700))
	all, errs := Discover(context.Background(), only(a, b, mixed))
	require.Len(t, all, 2)
	assert.Equal(t, filepath.Join(a, "ptxas"), all[0].Ptxas)
	assert.Equal(t, filepath.Join(b, "nvdisasm"), all[0].Nvdisasm)
	assert.Empty(t, all[1].Nvdisasm)
	assert.False(t, all[1].Describe().Complete)
	require.Len(t, errs, 1)
	assert.ErrorContains(t, errs[0], "release 10.1.7")
	_, err := all[1].Disassemble(context.Background(), makeCubin([]string{"k"}), DisasmOptions{})
	assert.ErrorIs(t, err, ErrInfrastructure)
}

func TestNamesAreUnique(t *testing.T) {
	all := []*Toolchain{{Version: "12.4.99", Build: "cuda/a.1_0"}, {Version: "12.4.131", Build: "cuda/a.1_0"},
		{Version: "12.4.131", Build: "cuda/a.2_0"}, {Version: "11.2.152"}}
	for _, tc := range all {
		tc.Kind = CUDA{}
	}
	name(all)
	seen := map[string]bool{}
	for _, tc := range all {
		assert.False(t, seen[tc.ID] || seen[tc.Name], tc.ID)
		seen[tc.ID], seen[tc.Name] = true, true
	}
	assert.Equal(t, "cuda-11.2", all[3].Name)
	picked, err := Find(all, "12.4")
	require.NoError(t, err)
	assert.Len(t, picked, 3)
	_, err = Find(all, "11", "cuda-13.0")
	assert.ErrorContains(t, err, `"cuda-13.0"`)
}

// Identification is remembered as long as the file is the same, and a broken
// cache file is no worse than none.
func TestIdentityCache(t *testing.T) {
	dir := t.TempDir()
	for _, tool := range toolNames { // plain files: their times are their own
		fakes := fakeTools(t, "10.1.7", "")
		require.NoError(t, os.WriteFile(filepath.Join(dir, tool), []byte("#!/bin/sh\nexec "+fakes+"/"+tool+" \"$@\"\n"), 0o700))
	}
	cache := filepath.Join(t.TempDir(), "sub", "identities.json")
	processes := func() int64 {
		o := only(dir)
		o.Cache = cache
		all, errs := Discover(context.Background(), o)
		require.Empty(t, errs)
		require.Len(t, all, 1)
		assert.Equal(t, []string{"sm_70", "sm_90", "sm_90a", "sm_100"}, all[0].Targets)
		return o.Runner.Stats().Processes
	}
	assert.Equal(t, int64(5), processes(), "version of three, help, probe")
	assert.Zero(t, processes())
	later := time.Now().Add(time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(dir, "nvdisasm"), later, later))
	assert.Equal(t, int64(1), processes())
	for _, bad := range []string{"", "{", `{"format":"other"}`, `{"format":"optcheck-identities-1","entries":null}`} {
		require.NoError(t, os.WriteFile(cache, []byte(bad), 0o600))
		assert.Equal(t, int64(5), processes(), "%q", bad)
	}
}

func TestDescribeJSON(t *testing.T) {
	tc := fake(t, patient.Long)
	data, err := json.Marshal(tc.Describe())
	require.NoError(t, err)
	var m map[string]any
	require.NoError(t, json.Unmarshal(data, &m))
	assert.Equal(t, "10.1", m["release"])
	assert.Equal(t, "ptxas 10.1.7", m["id"])
	assert.Equal(t, true, m["complete"])
	assert.Equal(t, "sm_70", tc.TargetRange())
}

func TestCompareVersions(t *testing.T) {
	assert.Negative(t, CompareVersions("9.2.88", "11.2.1"))
	assert.Negative(t, CompareVersions("11.2", "11.2.1"))
	assert.Zero(t, CompareVersions("11.2.152", "11.2.152"))
}

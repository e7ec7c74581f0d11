package target

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestOf: names as compilers, listings and object files spell them.
func TestOf(t *testing.T) {
	for name, want := range map[string]Target{
		"sm_90":                      {Name: "sm_90", Vendor: NVIDIA, SM: 90},
		"sm_90a":                     {Name: "sm_90a", Vendor: NVIDIA, SM: 90, Suffix: "a"},
		"sm_120f":                    {Name: "sm_120f", Vendor: NVIDIA, SM: 120, Suffix: "f"},
		"tahiti":                     {Name: "tahiti", Vendor: AMD, Chip: "gfx600", Family: GFX6, Major: 6},
		"Tonga":                      {Name: "tonga", Vendor: AMD, Chip: "gfx802", Family: GFX8, Major: 8, Step: 2},
		"gfx803":                     {Name: "gfx803", Vendor: AMD, Chip: "gfx803", Family: GFX8, Major: 8, Step: 3},
		"vega20":                     {Name: "vega20", Vendor: AMD, Chip: "gfx906", Family: GFX9, Major: 9, Step: 6},
		"gfx90a:xnack+":              {Name: "gfx90a", Vendor: AMD, Chip: "gfx90a", Family: GFX90A, Major: 9, Step: 10},
		"gfx90c":                     {Name: "gfx90c", Vendor: AMD, Chip: "gfx90c", Family: GFX9, Major: 9, Step: 12},
		"gfx942:sramecc+":            {Name: "gfx942", Vendor: AMD, Chip: "gfx942", Family: GFX940, Major: 9, Step: 0x42},
		"gfx950":                     {Name: "gfx950", Vendor: AMD, Chip: "gfx950", Family: GFX940, Major: 9, Step: 0x50},
		"amdgcn-amd-amdhsa--gfx1250": {Name: "gfx1250", Vendor: AMD, Chip: "gfx1250", Family: GFX125, Major: 12, Step: 0x50},
		"gfx9-generic":               {Name: "gfx9-generic", Vendor: AMD, Chip: "gfx9-generic", Family: GFX9, Major: 9, Step: 15},
		"gfx9-4-generic":             {Name: "gfx9-4-generic", Vendor: AMD, Chip: "gfx9-4-generic", Family: GFX940, Major: 9, Step: 0x4f},
		"gfx10-3-generic":            {Name: "gfx10-3-generic", Vendor: AMD, Chip: "gfx10-3-generic", Family: GFX10, Major: 10, Step: 0x3f},
		"gfx6":                       {Name: "gfx6", Vendor: AMD, Chip: "gfx6", Family: GFX6, Major: 6},
		"gfx11":                      {Name: "gfx11", Vendor: AMD, Chip: "gfx11", Family: GFX11, Major: 11},
		"gfx1201":                    {Name: "gfx1201", Vendor: AMD, Chip: "gfx1201", Family: GFX12, Major: 12, Step: 1},
		"cypress":                    {Name: "cypress", Vendor: AMD, Chip: "cypress", Family: TeraScale},
		"evergreen":                  {Name: "evergreen", Vendor: AMD, Chip: "evergreen", Family: TeraScale},
	} {
		got, ok := Of(name)
		assert.True(t, ok, name)
		assert.Equal(t, want, got, name)
	}
	for _, name := range []string{"", "sm_", "sm_x", "sm_-1", "sm_90af", "sm_90b", "SM_90", "gfx", "gfx5", "gfx13", "gfxabc", "gfx12345", "gfx9x0", "gfx+1",
		"gfx-1", "navi", "x86", "generic", "-generic", "gfx9-4", "gfx9--generic", "gfx-generic"} {
		got, ok := Of(name)
		assert.False(t, ok, "%s is %v", name, got)
	}
}

// TestNames: every code name is a target of its own, and none is two.
func TestNames(t *testing.T) {
	for _, name := range slices.Concat(slices.Collect(maps.Keys(chips)), teraScale) {
		got, ok := Of(name)
		assert.True(t, ok, name)
		assert.Equal(t, name, got.Name)
		assert.NotEqual(t, NoFamily, got.Family, name)
		assert.Equal(t, got.Family == TeraScale, IsTeraScale(name), name)
		if got.Family != TeraScale {
			chip, ok := Of(got.Chip)
			assert.True(t, ok, name)
			assert.Equal(t, chip.Family, got.Family, name)
		}
	}
	for _, name := range teraScale {
		assert.NotContains(t, chips, name)
	}
}

func TestCompare(t *testing.T) {
	want := []string{"sm_50", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_100f", "cayman", "cypress", "gfx600", "tahiti", "bonaire", "fiji", "gfx803", "gfx810",
		"gfx900", "gfx908", "gfx90a", "gfx942", "gfx9-4-generic", "gfx1030", "gfx1100", "gfx11-generic", "gfx1200", "nothing"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, Compare)
	assert.Equal(t, want, got)
}

func TestVendor(t *testing.T) {
	assert.Equal(t, NVIDIA, Vendor("sm_80"))
	assert.Equal(t, AMD, Vendor("cypress"))
	assert.Empty(t, Vendor("znver4"))
	sm, ok := SM("sm_75")
	assert.True(t, ok)
	assert.Equal(t, 75, sm)
	_, ok = SM("gfx900")
	assert.False(t, ok)
}

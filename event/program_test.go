package event

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFileTitle: a program's file is its author's, with the front end that made PTX of it if one did.
func TestFileTitle(t *testing.T) {
	for want, x := range map[string]Test{
		"k.ptx":                       {File: "k.ptx"},
		"k@v.ptx":                     {File: "k@v.ptx"},
		"k.cu (PTX by nvcc-12.4.131)": {File: "k.cu@nvcc-12.4.131.ptx", Origin: "k.cu"},
		"made.ptx":                    {File: "made.ptx", Origin: "k.cu"},
	} {
		require.Equal(t, want, x.FileTitle())
	}
	for want, x := range map[string]Test{"mp": {Name: "mp"}, "f in k.cu": {Name: "k.cu:f", Dialect: Program, File: "k.ptx", Origin: "k.cu"},
		"f(int) in k.ptx": {Name: "k.ptx:_Z1fi", Dialect: Program, File: "k.ptx"}} {
		require.Equal(t, want, x.Title())
	}
}

// TestFailOn: which cells fail a run, by what was asked for.
func TestFailOn(t *testing.T) {
	classes := []string{Preserved, Unsupported, Optimised, Changed, Miscompiled, Crashed, Unknown}
	for f, want := range map[FailOn]string{FailNew: "miscompiled crashed", FailMiscompiled: "miscompiled crashed unknown", FailChanged: "changed miscompiled crashed unknown",
		FailOptimised: "optimised changed miscompiled crashed unknown", FailUnknown: "unknown", FailNever: ""} {
		var names []string
		for _, class := range classes {
			if f.Names(class) {
				names = append(names, class)
			}
			c := &Cell{Result: Result{Class: class}}
			assert.Equal(t, f.Names(class) && class != Unknown, f.Counts(c), "%s %s", f, class)
			c.Known = []string{"k"}
			assert.Equal(t, f.Names(class) && class != Unknown && f != FailNew, f.Counts(c), "known, %s %s", f, class)
		}
		assert.Equal(t, want, strings.Join(names, " "), f)
	}
}

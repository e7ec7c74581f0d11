package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNearest(t *testing.T) {
	words := []string{"coRR", "coWW", "mp", "mp+membar.gls", "targets", "toolchains", "layouts"}
	for word, want := range map[string]string{
		"corr": "coRR", "CORR": "coRR", "coRRx": "coRR", "target": "targets", "toolchian": "toolchains",
		"mp+membar.gl": "mp+membar.gls", "mp+membar": "mp+membar.gls", "lb": "", "": "", "x": "", "nothing": "",
	} {
		assert.Equal(t, want, nearest(word, words), word)
	}
	assert.Equal(t, 3, distance("kitten", "sitting"))
	assert.Equal(t, 4, distance("", "four"))
	assert.Equal(t, 4, distance("four", ""))
}

// What a file is called does nothing to the terminal that the error goes to.
func TestErrorsVisible(t *testing.T) {
	var out, errs bytes.Buffer
	code := Main(t.Context(), func(string) string { return "" }, nil, &out, &errs, []string{"tests", "a\x1b[31m\u202eb"})
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, errs.String(), `a\u001b[31m\u202eb: no such file`)
}

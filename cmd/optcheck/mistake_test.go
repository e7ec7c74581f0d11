package main

import (
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

package html

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJoinMatrix(t *testing.T) {
	good, bad := matrixCell{Class: "preserved"}, matrixCell{Class: "optimised", Here: true}
	rows := func(third matrixCell) []matrixRow {
		return []matrixRow{{"a", "O0", true, 3, []matrixCell{good}}, {"a", "O1", false, 0, []matrixCell{bad}},
			{"a", "O2", false, 0, []matrixCell{third}},
			{"b", "O0", true, 1, []matrixCell{third}}}
	}
	got := joinMatrix([]matrixView{{"x", []string{"t"}, rows(bad)}, {"y", []string{"t"}, rows(good)}, {"z", []string{"t"}, rows(bad)},
		{"u", []string{"s"}, rows(bad)}})
	joined := []matrixRow{{"a", "O0", true, 2, []matrixCell{good}}, {"a", "O1 O2", false, 0, []matrixCell{bad}},
		{"b", "O0", true, 1, []matrixCell{bad}}}
	require.Equal(t, []matrixView{
		{"x, z", []string{"t"}, joined},
		{"y", []string{"t"}, []matrixRow{{"a", "O0", true, 3, []matrixCell{good}}, {"a", "O1", false, 0, []matrixCell{bad}},
			{"a", "O2", false, 0, []matrixCell{good}},
			{"b", "O0", true, 1, []matrixCell{good}}}},
		{"u", []string{"s"}, joined}}, got)
}

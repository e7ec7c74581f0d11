package mapping

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRead: what is read is what was written, and the tables are made of it.
func TestRead(t *testing.T) {
	cell := func(op, tc, target, level, machine string) Cell {
		return Cell{Op: op, Group: "loads", Toolchain: tc, Target: target, Level: level, Status: Mapped, Machine: machine, Sequence: []Inst{{Text: machine}}}
	}
	cells := []Cell{cell("ld", "ptxas 1.0", "sm_70", "O0", "A"), cell("ld", "ptxas 1.0", "sm_70", "O3", "A"), cell("ld", "ptxas 1.0", "sm_80", "O0", "A"),
		cell("ld", "ptxas 2.0", "sm_70", "O0", "B"), cell("ld", "ptxas 2.0", "sm_70", "O3", "B"), cell("ld", "ptxas 2.0", "sm_80", "O0", "B")}
	var b bytes.Buffer
	require.NoError(t, WriteJSON(&b, cells))
	got, err := Read("f", &b)
	require.NoError(t, err)
	require.Equal(t, cells, got)
	require.Equal(t, []ChangeRow{{"ld", "ptxas 1.0", "ptxas 2.0", "A", "B", "O0 O3: sm_70; O0: sm_80"}}, ChangeRows(got))
	rows := Rows(got)
	require.Len(t, rows, 2)
	require.Equal(t, Row{Op: "ld", Group: "loads", Machine: "A", Where: "sm_70–sm_80 (1.0)", Releases: []string{"1.0"},
		Targets: []string{"sm_70", "sm_80"}}, rows[0])
}

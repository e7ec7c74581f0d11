package report

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNames(t *testing.T) {
	const id = "nvcc 12.4.131 + ptxas 11.2.152"
	for word, want := range map[string]bool{id: true, "12": true, "12.4": true, "12.4.131": true, "nvcc": true, "ptxas 11.2": true, "11.2": true,
		"ptx": true, "": false, "13": false, "131": false, "4": false, "2.4": false, "12.4.1": false, "1": false, "11.21": false, "52": false} {
		require.Equal(t, want, Names(word, id), word)
	}
}

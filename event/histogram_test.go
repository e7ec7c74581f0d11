package event

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Nobody makes a reader hold more outcomes than a harness has bins.
func TestManyOutcomes(t *testing.T) {
	line := func(n int) string {
		return `{"outcomes":[` + strings.Repeat(`{"values":[],"count":0},`, n-1) + `{"values":[],"count":0}]}`
	}
	var h Histogram
	require.NoError(t, json.Unmarshal([]byte(line(maxBins)), &h))
	require.Len(t, h.Outcomes, maxBins)
	require.ErrorContains(t, json.Unmarshal([]byte(line(maxBins+1)), new(Histogram)), "more than 65536 outcomes")
	require.Error(t, json.Unmarshal([]byte(`{"outcomes":{}}`), new(Histogram)))
}

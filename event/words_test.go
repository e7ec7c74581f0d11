package event

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUnknownWords: a value that no version writes is an error with the place, wherever a field has one
// of a few values. One damaged letter must not take a cell out of what is counted.
func TestUnknownWords(t *testing.T) {
	const config = `{"config":{"schema":3,"tool":"t","spec_version":1,"tests":1,"cells":1,"toolchains":[],"targets":[],"levels":[],"layouts":[]}}` + "\n"
	const place = `"test":"mp","hash":"h","toolchain":"ptxas 12.4.131","target":"sm_80","level":"O3","layout":"pointers"`
	histogram, err := json.Marshal(Event{Histogram: &Histogram{Test: "mp", Status: StatusDone, Terms: []string{"x"}, Instances: 1,
		Outcomes: []Outcome{{Values: []int64{1}, Count: 1, Effect: Effects[3]}}}})
	require.NoError(t, err)
	for _, x := range []struct{ event, good, bad, field string }{
		{`{"cell":{` + place + `,"class":"miscompiled"}}`, "miscompiled", "miscompilee", "class"},
		{`{"cell":{` + place + `,"class":"crashed"}}`, "crashed", "crushed", "class"},
		{`{"cell":{` + place + `,"class":"preserved"}}`, "pointers", "pointerz", "layout"},
		{`{"cell":{` + place + `,"class":"changed","findings":[{"rule":"merged","thread":0,"access":1,"detail":""}]}}`, "merged", "mergd", "rule"},
		{`{"cell":{` + place + `,"class":"preserved","notes":[{"rule":"unread-gone","thread":0,"access":1,"detail":""}]}}`, "unread-gone", "unread-gine", "rule"},
		{`{"cell":{` + place + `,"class":"changed","findings":[{"rule":"merged","thread":0,"access":1,"detail":"","stage":"ptxas"}]}}`, `"ptxas"}]`,
			`"ptxqs"}]`, "stage"},
		{`{"cell":{` + place + `,"class":"optimised","verdict":{"model":"ptx","source_outcomes":1,"machine_outcomes":1,"lifted":"","race":"none"}}}`,
			"none", "nine", "race"},
		{`{"cell":{` + place + `,"class":"optimised","verdict":{"model":"ptx","source_outcomes":1,"machine_outcomes":1,"lifted":"",` +
			`"others":[{"model":"x","class":"miscompiled"}]}}}`, `"miscompiled"`, `"mixcompiled"`, "class"},
		{`{"problem":{"kind":"infrastructure","detail":"d"}}`, "infrastructure", "infrastrucsure", "kind"},
		{`{"test":{"name":"mp","hash":"h","dialect":"GPU_PTX","text":""}}`, "GPU_PTX", "GPU_PTY", "dialect"},
		{string(histogram), "hardware, forbidden", "hardware, forbiddem", "effect"},
		{string(histogram), `"done"`, `"dona"`, "status"},
	} {
		read := func(event string) error { return Read("f", strings.NewReader(config+event), NewRun().Handle) }
		require.NoError(t, read(x.event))
		bad := strings.Replace(x.event, x.good, x.bad, 1)
		require.NotEqual(t, x.event, bad)
		require.ErrorContains(t, read(bad), "f:2: bad event: unknown "+x.field, bad)
	}
}

// TestNegativeCounts: a run of fewer than no tests or cells is none.
func TestNegativeCounts(t *testing.T) {
	read := func(counts string) error {
		return Read("f", strings.NewReader(`{"config":{"schema":3,"tool":"t","spec_version":1,`+counts+`,"toolchains":[],"targets":[],"levels":[],"layouts":[]}}`),
			NewRun().Handle)
	}
	require.NoError(t, read(`"tests":0,"cells":0`))
	for _, counts := range []string{`"tests":-1,"cells":0`, `"tests":0,"cells":-1`} {
		require.ErrorContains(t, read(counts), "f:1: bad event", counts)
	}
}

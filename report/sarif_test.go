package report

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"net/url"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/event"
	"optcheck/optcheck"
)

// sarifSchema is the official JSON schema of SARIF 2.1.0 (errata 01), as the
// module that writes our SARIF carries it in its source.
var sarifSchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif").Output()
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "schema.go"), nil, 0)
	if err != nil {
		return nil, err
	}
	text := ""
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.ValueSpec); ok && s.Names[0].Name == "schema" {
			text, err = strconv.Unquote(s.Values[0].(*ast.BasicLit).Value)
		}
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	const id = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	if err := c.AddResource(id, doc); err != nil {
		return nil, err
	}
	return c.Compile(id)
})

func validSARIF(t require.TestingT, data []byte) {
	schema, err := sarifSchema()
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	require.NoError(t, err)
	require.NoError(t, schema.Validate(doc))
}

func sarifOf(t require.TestingT, r *event.Run) []byte {
	var b bytes.Buffer
	require.NoError(t, WriteSARIF(&b, r, func(id string) string { return "reason of " + id }))
	return b.Bytes()
}

// sarifDoc is what the tests look at.
type sarifDoc struct {
	Runs []struct {
		Tool struct {
			Driver struct {
				Version string
				Rules   []struct {
					ID                                      string
					ShortDescription, FullDescription, Help struct{ Text string }
				}
			}
		}
		Artifacts []struct {
			Location struct{ URI, URIBaseID string }
			Contents struct{ Text string }
		}
		Invocations []struct {
			ExecutionSuccessful        bool
			ToolExecutionNotifications []struct {
				Level   string
				Message struct{ Text string }
			}
		}
		Results []sarifResult
	}
}

type sarifLocation struct {
	Message          struct{ Text string }
	PhysicalLocation struct {
		ArtifactLocation struct {
			URI, URIBaseID string
			Index          int
		}
		Region struct {
			StartLine, StartColumn int
			Snippet                struct{ Text string }
		}
	}
}

type sarifResult struct {
	RuleID, Level       string
	RuleIndex           int
	Message             struct{ Text string }
	PartialFingerprints map[string]string
	Suppressions        []struct{ Kind, Status, Justification string }
	Locations           []sarifLocation
	RelatedLocations    []sarifLocation
	Properties          struct {
		Cells     []Place
		CellCount int
		Class     string
		Finding   string
		Reasons   []string
	}
}

func parseSARIF(t require.TestingT, data []byte) (d sarifDoc) {
	require.NoError(t, json.Unmarshal(data, &d))
	require.Len(t, d.Runs, 1)
	return d
}

// TestSARIF looks at every part that consumers use.
func TestSARIF(t *testing.T) {
	data := sarifOf(t, sample())
	validSARIF(t, data)
	run := parseSARIF(t, data).Runs[0]
	require.False(t, run.Invocations[0].ExecutionSuccessful, "not all was decided")
	require.Contains(t, run.Invocations[0].ToolExecutionNotifications[0].Message.Text, "2 cells could not be decided: ")
	require.Equal(t, "compile ptxas 1.0 sm_80 O3: ptxas said no", run.Invocations[0].ToolExecutionNotifications[1].Message.Text)
	allowed := sample()
	allowed.AllowUnknown = 2
	require.True(t, parseSARIF(t, sarifOf(t, allowed)).Runs[0].Invocations[0].ExecutionSuccessful)
	var got []string
	for _, r := range run.Results {
		p := r.Locations[0].PhysicalLocation
		got = append(got, strings.Join([]string{r.Level, r.RuleID, p.ArtifactLocation.URIBaseID, p.ArtifactLocation.URI,
			strconv.Itoa(p.Region.StartLine), strconv.Itoa(p.Region.StartColumn), strconv.Itoa(r.Properties.CellCount)}, " "))
		require.Equal(t, run.Tool.Driver.Rules[r.RuleIndex].ID, r.RuleID)
		require.Equal(t, run.Artifacts[p.ArtifactLocation.Index].Location.URI, p.ArtifactLocation.URI)
	}
	require.Equal(t, []string{
		"error fence-weakened %SRCROOT% lib/tests%20dir/mp.litmus 9 22 2",
		"warning reordered %SRCROOT% lib/sb.litmus 1 1 1",
		"warning reordered %SRCROOT% lib/sb.litmus 1 1 1",
		"warning undecided OPTCHECK_TESTS quick/lb.litmus 1 1 1",
		"warning undecided OPTCHECK_TESTS quick/lb.litmus 1 1 1",
		"note merged OPTCHECK_TESTS corpus/coRR.litmus 8 22 2",
	}, got)
	mp, sb, old, lb, co := run.Results[0], run.Results[1], run.Results[2], run.Results[3], run.Results[5]
	require.Equal(t, []Place{{"ptxas 1.0", []string{"sm_35"}, []string{"O3"}, []string{"pointers"}}, {"ptxas 2.0", []string{"sm_35"},
		[]string{"O3"}, []string{"pointers"}}}, mp.Properties.Cells)
	require.Equal(t, "lib/tests dir/mp.litmus@1.0/sm_35/O3/pointers:fence-weakened", mp.Properties.Finding)
	require.Equal(t, "#1 membar.gl", mp.Locations[0].PhysicalLocation.Region.Snippet.Text)
	for _, part := range []string{"MEMBAR.CTA", "1:r1=1; 1:r2=0;", "gl-constraint", "ptxas 2.0 sm_35 at O3"} {
		require.Contains(t, mp.Message.Text, part)
	}
	require.Empty(t, sb.Suppressions)
	require.Len(t, old.Suppressions, 1, "the same in a known cell is another finding")
	require.Equal(t, []string{"pointers"}, old.Properties.Cells[0].Layouts)
	require.Contains(t, sb.Message.Text, "arose in the back end")
	require.Len(t, append(lb.Properties.Reasons, run.Results[4].Properties.Reasons...), 2)
	require.Len(t, co.Suppressions, 1)
	require.Equal(t, "known finding weak-loads: reason of weak-loads", co.Suppressions[0].Justification)
	require.Equal(t, coRR, run.Artifacts[co.Locations[0].PhysicalLocation.ArtifactLocation.Index].Contents.Text)
	require.Empty(t, run.Artifacts[0].Contents.Text, "the user has the file")
	allowed.AllowUnknown = 2
	fresh := parseSARIF(t, sarifOf(t, allowed.WithoutKnown())).Runs[0]
	require.Len(t, fresh.Results, 4)
	require.True(t, fresh.Invocations[0].ExecutionSuccessful, "nothing is missing")
}

// TestSARIFRelated: a finding that breaks several rules is one result, with the further
// rules at their places.
func TestSARIFRelated(t *testing.T) {
	r := sample()
	for i := range 2 {
		r.Cells[i].Findings = append(slices.Clone(r.Cells[i].Findings), event.Finding{Rule: "reordered", Thread: 0, Access: 2, Detail: "too early"})
	}
	data := sarifOf(t, r)
	validSARIF(t, data)
	list := parseSARIF(t, data).Runs[0].Results
	require.Len(t, list, len(parseSARIF(t, sarifOf(t, sample())).Runs[0].Results))
	require.Equal(t, "fence-weakened", list[0].RuleID)
	require.Contains(t, list[0].Message.Text, "\nreordered: T0 too early")
	require.Len(t, list[0].RelatedLocations, 1)
	require.Equal(t, 11, list[0].RelatedLocations[0].PhysicalLocation.Region.StartLine)
	require.Equal(t, "reordered: too early", list[0].RelatedLocations[0].Message.Text)
}

// TestSARIFRules: every rule that a finding can break is described, and IDs are
// those of optcheck explain.
func TestSARIFRules(t *testing.T) {
	rules := parseSARIF(t, sarifOf(t, sample())).Runs[0].Tool.Driver.Rules
	ids := map[string]bool{}
	for _, r := range rules {
		require.False(t, ids[r.ID], r.ID)
		ids[r.ID] = true
		require.NotEmpty(t, r.ShortDescription.Text, r.ID)
		require.NotEmpty(t, r.FullDescription.Text, r.ID)
		require.LessOrEqual(t, len(r.FullDescription.Text), 1024, r.ID)
		require.True(t, strings.HasSuffix(r.FullDescription.Text, "."), r.FullDescription.Text)
		require.NotEmpty(t, r.Help.Text, r.ID)
	}
	for _, r := range optcheck.Rules {
		require.Equal(t, r.Breakable(), ids[r.ID], r.ID)
	}
}

// TestSARIFFingerprints: they stay when lines, machine code and versions change,
// differ between results, and do not move with other results.
func TestSARIFFingerprints(t *testing.T) {
	prints := func(r *event.Run) (list []string) {
		for _, x := range parseSARIF(t, sarifOf(t, r)).Runs[0].Results {
			list = append(list, x.PartialFingerprints[sarifFingerprint])
			require.Equal(t, x.PartialFingerprints[sarifFingerprint]+":1", x.PartialFingerprints[githubFingerprint])
		}
		return list
	}
	before := prints(sample())
	seen := map[string]bool{}
	for _, p := range before {
		require.Len(t, p, 32)
		require.False(t, seen[p])
		seen[p] = true
	}
	r := sample()
	r.Config.Tool = "v2"
	r.Tests[0].Lines = [][]int{{18, 19, 21}, {28, 29, 31}}
	r.Tests[0].File = "elsewhere/mp.litmus"
	for i := range r.Cells {
		c := &r.Cells[i]
		c.Toolchain = strings.Replace(c.Toolchain, "2.0", "3.0", 1)
		c.Code += "x"
		for k := range c.Findings {
			c.Findings[k].Detail += " in another register"
		}
	}
	require.Equal(t, before, prints(r))
	r.Cells = r.Cells[2:] // without mp
	require.Equal(t, before[1:], prints(r))
}

// TestSARIFIncomplete: a run with cells missing is no success.
func TestSARIFIncomplete(t *testing.T) {
	for _, change := range []func(*event.Run){
		func(r *event.Run) { r.Stats.Interrupted = true },
		func(r *event.Run) { r.Cells = r.Cells[:5] },
		func(r *event.Run) { r.Config.Cells = 11 },
	} {
		r := sample()
		change(r)
		data := sarifOf(t, r)
		validSARIF(t, data)
		inv := parseSARIF(t, data).Runs[0].Invocations[0]
		require.False(t, inv.ExecutionSuccessful)
		require.Equal(t, "error", inv.ToolExecutionNotifications[0].Level)
	}
}

// TestSARIFDevice: what a device showed although the model forbids it is an
// error, a run that failed a warning.
func TestSARIFDevice(t *testing.T) {
	data := sarifOf(t, device())
	validSARIF(t, data)
	rs := parseSARIF(t, data).Runs[0].Results
	require.Len(t, rs, 2)
	require.Equal(t, "error forbidden-outcome", rs[0].Level+" "+rs[0].RuleID)
	require.Contains(t, rs[0].Message.Text, "1:r0=1; hardware, forbidden")
	require.Equal(t, "warning run-failed", rs[1].Level+" "+rs[1].RuleID)
	require.Contains(t, rs[1].Message.Text, "timeout: hung")
}

// TestSARIFLimit: what does not fit is said, and the worst is kept.
func TestSARIFLimit(t *testing.T) {
	r := sample()
	c := r.Cells[2]
	for i := range maxResults {
		c.Test = "t" + strconv.Itoa(i)
		r.Cells = append(r.Cells, c)
	}
	run := parseSARIF(t, sarifOf(t, r)).Runs[0]
	require.Len(t, run.Results, maxResults)
	require.Equal(t, "fence-weakened", run.Results[0].RuleID)
	n := run.Invocations[0].ToolExecutionNotifications
	require.Contains(t, n[len(n)-1].Message.Text, "6 of 25006 results are left out")
}

// TestSARIFHostile: whatever names and texts say, the file is valid.
func TestSARIFHostile(t *testing.T) {
	for _, name := range hostile {
		r := sample()
		for i := range r.Cells {
			r.Cells[i].Test = name + r.Cells[i].Test
			r.Tests[i%4].File = name
		}
		validSARIF(t, sarifOf(t, r))
	}
	rapid.Check(t, func(t *rapid.T) { validSARIF(t, sarifOf(t, genHostile().Draw(t, "run"))) })
}

// TestSARIFNames: tests without a file have different paths, which lead nowhere
// else, and each its own text.
func TestSARIFNames(t *testing.T) {
	r := event.NewRun()
	names := append([]string{"a/b", "a\\b", "a_b", "a:b", `a\u0000`, "a\x00"}, hostile...)
	for _, name := range names {
		r.Tests = append(r.Tests, event.Test{Name: name, Hash: "h", Text: "text of " + name, Preset: "quick"})
		r.Cells = append(r.Cells, event.Cell{Test: name, Hash: "h", Result: event.Result{Class: event.Unknown, Reason: "r"}})
	}
	data := sarifOf(t, r)
	validSARIF(t, data)
	run := parseSARIF(t, data).Runs[0]
	require.Len(t, run.Artifacts, len(names))
	for _, a := range run.Artifacts {
		u, err := url.Parse(a.Location.URI)
		require.NoError(t, err)
		require.Empty(t, u.Scheme+u.Host)
		require.Equal(t, "quick", path.Dir(path.Clean(u.Path)), a.Location.URI)
	}
}

// TestSARIFSchemaBites: the schema refuses what is wrong.
func TestSARIFSchemaBites(t *testing.T) {
	schema, err := sarifSchema()
	require.NoError(t, err)
	good := string(sarifOf(t, sample()))
	for _, change := range [][2]string{{`"level": "error"`, `"level": "fatal"`}, {`"startLine": 9`, `"startLine": 0`},
		{`"version": "2.1.0"`, `"version": "2.0"`},
		{`"uri": "lib/sb.litmus"`, `"uri": "lib/%zz.litmus"`}, {`"kind": "external"`, `"kind": "mine"`}} {
		bad := strings.Replace(good, change[0], change[1], 1)
		require.NotEqual(t, good, bad, change[0])
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(bad))
		require.NoError(t, err)
		require.Error(t, schema.Validate(doc), change[1])
	}
}

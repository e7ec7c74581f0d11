package campaign

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExample(t *testing.T) {
	s, err := Parse("campaign.yaml", []byte(Example))
	require.NoError(t, err)
	require.Equal(t, []Tests{{Name: "corpus"}, {Preset: "quick", Limit: 100}}, s.Tests)
	require.Equal(t, 8, s.Shards)
	require.Equal(t, 2, *s.Retries)
	// What is commented out is a campaign, too, with every key in use.
	all := regexp.MustCompile(`(?m)^( *)# (( *|- *)[a-z-]+:|  args|- \.\./)`).ReplaceAllString(Example, "$1$2")
	all = strings.ReplaceAll(all, "engine: local", "engine: slurm")
	all = strings.ReplaceAll(all, "vendors: [nvidia]", "vendors: [nvidia, amd]")
	s, err = Parse("campaign.yaml", []byte(all))
	require.NoError(t, err)
	require.Equal(t, Tests{Gen: "mine.gen.yaml"}, s.Tests[2])
	require.Equal(t, Slurm{Partition: "batch", Account: "compilers", QOS: "normal", Time: "2:00:00", Memory: "8G", CPUs: 4,
		Args: []string{"--constraint=avx2"}}, *s.Slurm)
	require.Equal(t, "gpu:1", s.GPU.Slurm.Gres)
	require.Equal(t, []string{"none", "stress+random"}, s.GPU.Incantations)
	require.True(t, s.NoVerdict)
	for _, key := range regexp.MustCompile(`yaml:"([a-z][a-z-]*)`).FindAllStringSubmatch(source(t, "spec.go"), -1) {
		require.Regexp(t, `(?m)^ *`+key[1]+`:`, all, "the example shows no %s", key[1])
	}
}

func TestDefaults(t *testing.T) {
	s, err := Parse("c.yaml", []byte("name: x\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"nvidia"}, s.Vendors)
	require.Equal(t, "x.db", s.Store)
	require.Equal(t, "x.campaign", s.Folder)
	require.Equal(t, EngineLocal, s.Engine)
	require.Equal(t, 1, s.Shards)
}

// TestRefused checks that whatever is not understood is refused with its line.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                                                   "c.yaml: empty; optcheck campaign init prints an example",
		"name: x\nshard: 2\n":                                `c.yaml:2: unknown key "shard"`,
		"name: x\nslurm:\n  tiem: 3\n":                       `c.yaml:3: unknown key "tiem"`,
		"name: x\nshards: many\n":                            "c.yaml:2: a text (many) does not belong here; optcheck campaign init prints an example",
		"hello\n":                                            "c.yaml:1: a text (hello) does not belong here; optcheck campaign init prints an example",
		"name: x\nshards: -1\n":                              "c.yaml:2: shards: -1 is out of range (1 to 100000)",
		"name: x\nretries: -1\n":                             "c.yaml:2: retries: -1 is out of range",
		"name: x\nname: y\n":                                 `c.yaml:2: mapping key "name" already defined at line 1`,
		"shards: 2\n":                                        "c.yaml:1: a campaign needs a name",
		"name: ../x\n":                                       `c.yaml:1: name: "../x" is not a name (letters, digits, dots, dashes and underscores)`,
		"name: x\n---\nname: y\n":                            "c.yaml: more than one document",
		"name: x\nvendors: [nvidia, intel]\n":                `c.yaml:2: vendors: unknown value "intel" (nvidia, amd)`,
		"name: x\nlevels:\n- O1\n- O9\n":                     `c.yaml:4: levels: unknown value "O9" (O0, O1, O2, O3)`,
		"name: x\nsource: opencl\n":                          "c.yaml:2: source: only vendor amd has the source opencl",
		"name: x\ntimeout: 1 day\n":                          `c.yaml:2: timeout: "1 day" is not a duration (60s, 2m)`,
		"name: x\nslurm: {time: ever}\n":                     `c.yaml:2: slurm.time: "ever" is not a time limit of Slurm (30, 2:00:00, 1-12:00:00)`,
		"name: x\nslurm: {partition: a b}\n":                 `c.yaml:2: slurm.partition: "a b" is not a partition`,
		"name: x\nslurm: {args: [-x]}\n":                     `c.yaml:2: slurm.args: "-x" is not an sbatch argument: write --name=value`,
		"name: x\nslurm: {args: [--array=3]}":                "c.yaml:2: slurm.args: --array is set by optcheck itself",
		"name: x\nslurm: {args: [--wra=id]}":                 "c.yaml:2: slurm.args: --wra is set by optcheck itself",
		"name: x\nslurm: {args: [--]}":                       "c.yaml:2: slurm.args: -- is set by optcheck itself",
		"name: x\ntests: corpus\n":                           "c.yaml:2: tests: expected a list of tests, files, folders and presets",
		"name: x\ntests:\n- {preset: a, x: 1}":               `c.yaml:3: tests: unknown key "x" (preset, gen, name, limit)`,
		"name: x\ntests:\n- {limit: 3}":                      "c.yaml:3: tests: expected exactly one of preset, gen and name",
		"name: x\ntests:\n- corpus\n- {preset: a, limit: 0}": "c.yaml:4: tests: limit: expected a number of tests",
		"name: x\ngpu: {device: cuda}\n":                     "c.yaml:2: gpu: the target to compile for is missing (sm_90): the machine that compiles may have no such device",
		"name: x\ngpu:\n  device: opencl:0\n":                "c.yaml:3: gpu: no decoder reads what a device of OpenCL runs: say unvalidated: true, and the results say so, too",
		"name: x\ngpu: {target: sm_90, iterations: 1.5}\n":   `c.yaml:2: gpu.iterations: "1.5" is not a number of instances (100000, 1e8)`,
		"name: x\ngpu: {target: sm_90, incantations: [no]}":  `c.yaml:2: gpu.incantations: `,
	} {
		_, err := Parse("c.yaml", []byte(text))
		require.Error(t, err, text)
		require.Contains(t, err.Error(), want, text)
	}
	_, err := Parse("c.yaml", []byte("name: x y\nshards: 0x\nfoo: 1\n"))
	require.ErrorContains(t, err, "c.yaml:2")
	require.ErrorContains(t, err, "c.yaml:3")
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(Example))
	f.Add([]byte("name: x\ntests: [{preset: a}]\nslurm: {args: [--x]}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse("c.yaml", text)
		if err == nil {
			require.Empty(t, s.check())
			require.Regexp(t, nameForm, s.Name)
		}
	})
}

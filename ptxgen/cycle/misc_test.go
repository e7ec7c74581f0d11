package cycle_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/depgen"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/ptxgen/cycle"
)

func TestBadConfigurations(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{"", "c.yaml: empty"},
		{"name: x", "c.yaml: parts: a configuration needs at least one part"},
		{"nome: x", "unknown key \"nome\""},
		{"limit: -1\nparts: [{edges: [Rfe]}]", "c.yaml: limit: -1 is negative"},
		{"parts: [{}]", "c.yaml: parts[0].edges: no edges"},
		{"parts: [{edges: [Rfe]}, {edges: [Rfe, Pod**, Foo]}]", `c.yaml: parts[1].edges[2]: unknown edge "Foo"`},
		{"parts: [{edges: [Rfe], threads: [2, 9]}]", "c.yaml: parts[0].threads: [2 9] is not"},
		{"parts: [{edges: [Rfe], threads: [2]}]", "c.yaml: parts[0].threads: [2] is not"},
		{"parts: [{edges: [Rfe], size: [1, 4]}]", "c.yaml: parts[0].size"},
		{"parts: [{edges: [Rfe], accesses: 7}]", "c.yaml: parts[0].accesses: 7 is not"},
		{"parts: [{edges: [Rfe], annotations: [cg, quick]}]", `c.yaml: parts[0].annotations[1]: unknown annotation "quick"`},
		{"parts: [{edges: [Rfe], annotations: [ca]}]", "c.yaml: parts[0].annotations[0]: a store cannot be ca"},
		{"parts: [{edges: [Rfe], spread: wide}]", `c.yaml: parts[0].spread: "wide" is not`},
		{"parts: [{edges: [Rfe], levels: [gpu, moon]}]", `c.yaml: parts[0].levels[1]: "moon" is not`},
		{"parts: [{edges: [Rfe], regions: [local]}]", `c.yaml: parts[0].regions[0]: "local" is not`},
		{"parts: [{edges: [Rfe], schemes: [none]}]", `c.yaml: parts[0].schemes[0]: unknown dependency scheme "none"`},
		{"parts: [{edges: [Rfe], families: [MP, XX]}]", `c.yaml: parts[0].families[1]: unknown family "XX"`},
		{"parts: [{edges: [Rfe], families: [CoRR]}]", "c.yaml: parts[0].families[0]: CoRR needs coherence: true"},
		{"parts: [{edges: [Rfe], per-cycle: -2}]", "c.yaml: parts[0].per-cycle: -2 is negative"},
		{"parts: [{edges: [Rfe]}]\n---\nparts: []", "something stands behind"},
		{"parts: [{edges: 7", "c.yaml: line 1: did not find"},
	} {
		_, err := cycle.ReadConfig("c.yaml", []byte(x.text))
		require.ErrorContains(t, err, x.want, x.text)
	}
	var fe *cycle.FieldError
	_, err := (&cycle.Config{Parts: []cycle.Part{{Edges: []string{"Bad"}}}}).Generator()
	require.True(t, errors.As(err, &fe))
	require.Equal(t, "parts[0].edges[0]", fe.Field)
}

// TestPlacements compares the enumeration with counts known from elsewhere: set
// partitions (Bell numbers) for one level, and chains of partitions for two.
func TestPlacements(t *testing.T) {
	count := func(n int, l cycle.Levels) int {
		seen := map[string]bool{}
		for p := range cycle.Placements(n, l) {
			k := ""
			for i := range p {
				for j := range p {
					for s := litmus.ScopeCTA; s <= litmus.ScopeSys; s++ {
						k += map[bool]string{true: "1", false: "0"}[p[i].SameScope(p[j], s)]
					}
					k += map[bool]string{true: "1", false: "0"}[p[i].SameWarp(p[j])]
				}
			}
			require.False(t, seen[k], "%v twice", p)
			seen[k] = true
		}
		return len(seen)
	}
	for n, bell := range []int{1, 1, 2, 5, 15, 52} {
		if n > 0 {
			require.Equal(t, bell, count(n, cycle.Levels{CTA: true, GPU: true}))
			require.Equal(t, bell, count(n, cycle.Levels{GPU: true, Sys: true}))
		}
	}
	for n, chains := range []int{1, 1, 3, 12, 60} {
		if n > 0 {
			require.Equal(t, chains, count(n, cycle.Levels{CTA: true, Cluster: true, GPU: true}), "%d threads", n)
		}
	}
	require.Equal(t, 5, count(2, cycle.Levels{Warp: true, CTA: true, Cluster: true, GPU: true, Sys: true}))
	require.Zero(t, count(2, cycle.Levels{}))
}

func TestBadNames(t *testing.T) {
	for _, x := range []struct{ name, want string }{
		{"MP", "has no placement"},
		{"XP-p0::p1-xgyg", "no family"},
		{"MP-p0::p1-xgzg", "location 2 is y"},
		{"MP-p0::p1-xg", "does not name 2 locations"},
		{"MP-p0::p1-xtyg", "no state space"},
		{"MP-p0:::::p1-xgyg", "unknown separator"},
		{"MP-p0::p0-xgyg", "each of the threads"},
		{"MP-p0-xgyg", "does not name all 2 threads"},
		{"MP-p0::p1-xsyg", "location x is shared memory"},
		{"MP+foo+po-p0::p1-xgyg", `unknown tag "foo"`},
		{"MP+po-p0::p1-xgyg", "not in the plural"},
		{"MP+po+po+po-p0::p1-xgyg", "3 tags for 2 threads"},
		{"MP+bar+po-p0:p1-xgyg", "wait at 1 and 0 barriers"},
		{"MP+po+data-p0::p1-xgyg", "edge 3 (DpDatadR): it cannot lead from a read to a read"},
		{"MP-p0::p1-xgyg-magic", "unknown dependency scheme"},
		{"MP-p0::p1-xgyg~T0.0.po=nothing", "has no mutant"},
		{"MP+po-cg+po+all-ca-cg-p0::p1-xgyg", "beside all-"},
	} {
		_, err := cycle.ParseName(x.name)
		require.ErrorContains(t, err, x.want, x.name)
	}
}

func TestMutants(t *testing.T) {
	for name, want := range map[string][]string{
		"MP-p0::p1-xgyg":                      nil,
		"MP+membar.gl+addr-p0::p1-xgyg":       {"T0.0.membar.gl=membar.cta", "T0.0.membar.gl=po", "T1.0.addr=po"},
		"SB+fence.sc.syss-p0::p1-xgyg":        {"T0.0.fence.sc.sys=fence.sc.gpu", "T0.0.fence.sc.sys=fence.acq_rel.sys", "T0.0.fence.sc.sys=po", "T1.0.fence.sc.sys=fence.sc.gpu", "T1.0.fence.sc.sys=fence.acq_rel.sys", "T1.0.fence.sc.sys=po"},
		"MP+po-rel.cta+acq.cta-po-p0:p1-xgyg": {"T0.1.rel.cta=rlx.cta", "T1.0.acq.cta=rlx.cta"},
		"LB+data+ctrlmembar.cta-p0::p1-xgyg":  {"T0.0.data=po", "T1.0.ctrlmembar.cta=ctrl"},
		"MP+bars-p0:p1-xgyg":                  nil, // one barrier without the other would wait for ever
		"SB+all-rlx.cta-p0:p1-xgyg":           {"T0.0.rlx.cta=weak", "T0.1.rlx.cta=weak", "T1.0.rlx.cta=weak", "T1.1.rlx.cta=weak"},
	} {
		s, err := cycle.ParseName(name)
		require.NoError(t, err, name)
		require.Equal(t, name, s.Name())
		var got []string
		for _, m := range s.Mutants() {
			got = append(got, m.Mutation)
			x := m.Test()
			require.NoError(t, x.Check(), x.Name)
			require.Equal(t, name+"~"+m.Mutation, x.Name)
			require.Equal(t, []litmus.Meta{{Key: "Parent", Value: name}}, x.Meta)
			values := func(x *litmus.Test) (v []int64) {
				for _, a := range atoms(x) {
					v = append(v, a.Right.Value)
				}
				return v
			}
			require.Equal(t, values(s.Test()), values(x), "a mutant asks for its parent's outcome")
			require.False(t, interleaved(x), x.Name)
			back, err := cycle.ParseName(x.Name)
			require.NoError(t, err)
			require.Equal(t, m.Cycle.String(), back.Cycle.String())
			parsed, err := litmus.Parse(x.Name, x.Append(nil))
			require.NoError(t, err)
			require.Equal(t, x.String(), parsed.String())
		}
		require.Equal(t, want, got, name)
	}
}

func TestClassifyCorpus(t *testing.T) {
	for name, want := range map[string]string{
		"mp": "MP+all-cg-p0::p1-xgyg", "sb": "SB+all-cg-p0:p1-xgys", "coRR": "CoRR+all-cg-p0:p1-xg",
		"mp+membar.gl+addr": "MP+membar.gl+addr+all-cg-p0::p1-xgyg", "lb+datas": "LB+datas+all-cg-p0::p1-xgyg",
		"iriw+fence.sc.gpus":              "IRIW+fence.sc.gpus+all-rlx.gpu-p0::p1::p2::p3-xgyg",
		"isa2+release.cta+release.gpu":    "ISA2+po-rel.cta+acq.cta-po-rel.gpu+acq.gpu-po-p0:p1::p2-xgygzg",
		"ptx-cluster+mp":                  "MP+po-rel.cluster+acq.cluster-po-p0:c:p1-xgyg",
		"mp+release.sys+acquire.sys-gpus": "MP+po-rel.sys+acq.sys-po-p0:::p1-xgyg",
	} {
		x, ok := corpus.Lookup(name)
		require.True(t, ok, name)
		c, err := cycle.Classify(x)
		require.NoError(t, err, name)
		require.Equal(t, want, c.Spec.Name(), name)
		require.True(t, c.Exact, name)
	}
	for _, name := range []string{"add+add.gpus", "ptx-mp+spin", "mp+release.gpu+red+fence.acq_rel.gpu"} {
		x, ok := corpus.Lookup(name)
		require.True(t, ok, name)
		_, err := cycle.Classify(x)
		require.Error(t, err, name)
	}
	x, _ := corpus.Lookup("cas-sl") // a lock that starts taken is more than its cycle
	c, err := cycle.Classify(x)
	require.NoError(t, err)
	require.False(t, c.Exact)
}

// TestPartsOverlap makes one set of tests in two ways.
func TestPartsOverlap(t *testing.T) {
	part := func(ann ...string) cycle.Part {
		return cycle.Part{Edges: []string{"Rfe", "Fre", "Coe", "Pod**", "DpAddrd*"}, Annotations: ann, Levels: []string{"cta", "gpu"}, Regions: []string{"global", "shared"}}
	}
	names := func(parts ...cycle.Part) (out []string) {
		g, err := (&cycle.Config{Parts: parts}).Generator()
		require.NoError(t, err)
		for s := range g.Specs() {
			out = append(out, s.Name())
		}
		slices.Sort(out)
		return out
	}
	whole := names(part("weak", "cg", "vol"))
	require.Len(t, slices.Compact(slices.Clone(whole)), len(whole))
	require.Equal(t, whole, names(part("weak", "cg"), part("cg", "vol"), part("vol", "weak")))
}

func TestLimitsChooseExactly(t *testing.T) {
	c := cycle.Config{Limit: 37, Seed: 1, Parts: []cycle.Part{{Edges: []string{"Rfe", "Fre", "Coe", "Pod**", "Membar.gld**"}, Annotations: []string{"weak", "cg", "vol"}, Spread: "thread"}}}
	list := func(c cycle.Config) string {
		g, err := c.Generator()
		require.NoError(t, err)
		var out []string
		for s := range g.Specs() {
			out = append(out, s.Name())
		}
		require.Len(t, out, 37)
		return strings.Join(out, " ")
	}
	one := list(c)
	require.Equal(t, one, list(c))
	c.Seed = 2
	require.NotEqual(t, one, list(c))
}

// TestSchemes compares what each scheme computes on real values.
func TestSchemes(t *testing.T) {
	for _, s := range depgen.Schemes {
		for _, name := range []string{"LB+addrs-p0::p1-xgyg", "LB+datas-p0::p1-xgyg", "LB+ctrls-p0::p1-xgyg", "MP+membar.gl+addr-p0::p1-xgyg"} {
			if s != depgen.Default {
				name += "-" + s.Name
			}
			sp, err := cycle.ParseName(name)
			require.NoError(t, err)
			require.Equal(t, name, sp.Name())
			x := sp.Test()
			require.NoError(t, x.Check(), name)
			require.True(t, conceivable(x), name) // panics if a guard does not hold
			require.False(t, interleaved(x), name)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, x := range classics {
		f.Add(x.edges)
		f.Add(x.name + "-p0::p1-xgyg")
	}
	f.Add("Pod** Rfe Amo.Cas.acq.gpu DpCtrlFence.sc.sysdW cg Coe")
	f.Fuzz(func(t *testing.T, s string) {
		if c, err := cycle.Parse(s); err == nil {
			sp, err := cycle.NewSpec(c, nil, nil, nil)
			if err != nil {
				return // barriers need a common CTA, or none
			}
			x := sp.Test()
			if err := x.Check(); err != nil {
				t.Fatalf("%q: %v", s, err)
			}
			back, err := cycle.ParseName(x.Name)
			if err != nil || back.Test().String() != x.String() {
				t.Fatalf("%q: name %s: %v", s, x.Name, err)
			}
		}
		if sp, err := cycle.ParseName(s); err == nil {
			if again, err := cycle.ParseName(sp.Name()); err != nil || again.Name() != sp.Name() {
				t.Fatalf("%q: name %s: %v", s, sp.Name(), err)
			}
		}
	})
}

func FuzzReadConfig(f *testing.F) {
	for _, p := range cycle.Presets() {
		text, _ := cycle.PresetText(p)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := cycle.ReadConfig("fuzz", text)
		if err != nil {
			return
		}
		g, err := c.Generator()
		if err != nil {
			t.Fatal(err)
		}
		if c.Limit > 0 {
			return // counts first, which may take long
		}
		n := 0
		for s := range g.Specs() {
			if n++; n > 20 {
				break
			}
			_ = s.Name()
		}
	})
}

// TestRotations draws a cycle and begins it elsewhere.
func TestRotations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SampledFrom(classics).Draw(t, "shape")
		words := strings.Fields(x.edges)
		for i, w := range words {
			if strings.HasPrefix(w, "Pod") {
				words[i] = rapid.SampledFrom([]string{"Pod", "Membar.gld", "Fence.sc.gpud", "Fence.acq_rel.ctad"}).Draw(t, "edge") + w[3:]
			}
		}
		k := rapid.IntRange(0, len(words)-1).Draw(t, "begin")
		name := func(words []string) string {
			c, err := cycle.Parse(strings.Join(words, " "))
			require.NoError(t, err)
			s, err := cycle.NewSpec(c, nil, nil, nil)
			require.NoError(t, err)
			return s.Test().String()
		}
		require.Equal(t, name(words), name(append(slices.Clone(words[k:]), words[:k]...)))
	})
}

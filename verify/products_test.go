package verify

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ptx"
)

// TestProducts: products of warpgroups give their sums wherever the matrices lie, and of kernels with products, asynchronous stores and bulk
// copies that go to several blocks or add, what is wrong in one of each pair is found, and nothing in the other.
func TestProducts(t *testing.T) {
	m := module(t, "testdata/products.ptx")
	cases := map[string]struct {
		grid, cluster, block int
		rule                 Rule
		why                  string
	}{
		"operands": {1, 1, 128, DataRace, "no fence.proxy.async stands between it and the matrix product"},
		"onefence": {1, 1, 128, DataRace, "no fence.proxy.async stands between it and the matrix product"},
		"refilled": {1, 1, 128, DataRace, "the matrix product is not waited for"},
		"early":    {1, 1, 128, RegisterRace, "wgmma.wait_group"},
		"unfenced": {1, 1, 128, RegisterRace, "in front of the first product"},
		"computed": {1, 1, 128, RegisterRace, "no wgmma.fence stands between it and the product"},
		"sent":     {2, 2, 32, DataRace, "nothing orders the asynchronous store"},
		"summed":   {2, 2, 32, DataRace, "nothing orders the asynchronous reduction"},
		"pushed":   {2, 1, 32, DataRace, "no fence.proxy.async stands between it and the bulk copy"},
		"spread":   {2, 2, 32, DataRace, "nothing orders the bulk copy"},
		"ring":     {1, 1, 64, Stuck, "phases were completed"},
		"stored":   {2, 1, 32, DataRace, "no fence.proxy.async stands between it and the bulk copy"},
	}
	kernels := 0
	for _, f := range m.Funcs {
		if !f.Entry {
			continue
		}
		kernels++
		name, bug := strings.CutSuffix(f.Name, "_bug")
		name, _ = strings.CutSuffix(name, "_fix")
		c, pair := cases[name]
		if !pair {
			c.grid, c.cluster, c.block = 1, 1, 128
		}
		o := Options{Launch: Launch{Grid: [3]int{c.grid, 1, 1}, Cluster: [3]int{c.cluster, 1, 1}, Block: [3]int{c.block, 1, 1}}, Inputs: 1, Schedules: 3, CUDA: true,
			Unmended: true}
		r, err := Kernel(m, f.Name, &o)
		require.NoError(t, err)
		require.Empty(t, r.Unknown, r.Text())
		if !bug {
			require.Empty(t, r.Found, r.Text())
			continue
		}
		require.True(t, slices.ContainsFunc(r.Found, func(x *Finding) bool { return x.Rule == c.rule && strings.Contains(x.Why, c.why) }), r.Text())
	}
	require.Equal(t, 2*len(cases)+8, kernels)
}

// TestProxyMended: what is missing between the proxies is put in front of the barrier that makes the writes known.
func TestProxyMended(t *testing.T) {
	r, err := Kernel(module(t, "testdata/products.ptx"), "operands_bug", &Options{Launch: Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{128, 1, 1}}, Inputs: 1, Schedules: 2})
	require.NoError(t, err)
	require.Len(t, r.Found, 2)
	for _, f := range r.Found {
		require.Len(t, f.Mend, 1, r.Text())
		require.Contains(t, f.Mend[0], "fence.proxy.async in front of")
		require.Contains(t, f.Mend[0], "bar")
	}
}

// TestClusterOfLaunch: clusters that the kernel does not ask for are those of the launch, which must have whole ones.
func TestClusterOfLaunch(t *testing.T) {
	m := module(t, "testdata/products.ptx")
	_, err := Kernel(m, "sent_fix", &Options{Launch: Launch{Grid: [3]int{3, 1, 1}, Cluster: [3]int{2, 1, 1}, Block: [3]int{32, 1, 1}}})
	require.ErrorContains(t, err, "a grid of 3,1,1 blocks has no whole clusters of 2,1,1")
	l := Comments("//--gridDim=4 --blockDim=32 --clusterDim=2\n")
	require.Equal(t, Launch{Grid: [3]int{4, 1, 1}, Block: [3]int{32, 1, 1}, Cluster: [3]int{2, 1, 1}}, *l)
}

// TestBoxes: sizes of boxes of tensors follow from the bytes that barrier objects expect; one that is given and contradicts them is found.
func TestBoxes(t *testing.T) {
	m := module(t, "testdata/products.ptx")
	o := Options{Launch: Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{64, 1, 1}}, Inputs: 1, Schedules: 2, Unmended: true}
	r, err := Kernel(m, "ring_fix", &o)
	require.NoError(t, err)
	require.Empty(t, r.Found, r.Text())
	require.Contains(t, r.Chose, "boxes of the tensor 1 (256 bytes)")
	require.Contains(t, r.Chose, "boxes of the tensor 2 (128 bytes)")
	o.Launch.Args = []Arg{{Name: "1", Tensor: 256}, {Name: "2", Tensor: 256}}
	r, err = Kernel(m, "ring_fix", &o)
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(r.Found, func(x *Finding) bool { return x.Rule == Stuck || x.Rule == BarrierCount }), r.Text())
}

// TestCommitUsesNoRegister: a commit and a wait have no operands, whichever register a product in flight uses.
func TestCommitUsesNoRegister(t *testing.T) {
	m, err := ptx.Parse("commit.ptx", []byte(`.version 8.0
.target sm_90a
.address_size 64
.visible .entry commit()
{
	.reg .f32 %f<4>;
	.reg .b64 %rd<2>;
	.shared .align 128 .b8 s[4096];
	mov.u64 %rd1, s;
	mov.f32 %f0, 0f00000000;
	wgmma.fence.sync.aligned;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, 0, 0, 0, 1, 1, 0, 0;
	wgmma.commit_group.sync.aligned;
	cp.async.commit_group;
	wgmma.wait_group.sync.aligned 0;
	ret;
}
`))
	require.NoError(t, err)
	r, err := Kernel(m, "commit", &Options{Launch: Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{128, 1, 1}}, Inputs: 1, Schedules: 1, Unmended: true})
	require.NoError(t, err)
	require.Empty(t, r.Unknown, r.Text())
	require.False(t, slices.ContainsFunc(r.Found, func(x *Finding) bool { return x.Rule == RegisterRace }), r.Text())
}

package realcode

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/refine"
)

func TestContracts(t *testing.T) {
	for in, want := range map[string]bool{
		"mul.f32 f, f, f;": true, "mul.f64 g, g, g;": true, "mul.ftz.f32 f, f, f;": true, "mul.rn.f32 f, f, f;": false, "mul.rz.f32 f, f, f;": false, "mul.rm.f32 f, f, f;": false, "mul.rp.f32 f, f, f;": false,
		"mul.lo.u32 r, r, r;": false, "add.f32 f, f, f;": false, "fma.rn.f32 f, f, f, f;": false,
	} {
		const head = ".version 8.0\n.target sm_90\n.address_size 64\n"
		body := "() {\n.reg .b32 r; .reg .f32 f; .reg .f64 g;\nL: " + in + "\nret;\n}\n"
		for text, is := range map[string]bool{".visible .entry k" + body: want, ".func h" + body + ".visible .entry k() { ret; }\n": want, ".visible .entry other" + body + ".visible .entry k() { ret; }\n": false} {
			m, err := ptx.Parse("k.ptx", []byte(head+text))
			require.NoError(t, err)
			require.Equal(t, is, contracts(m, "k"), text)
		}
	}
}

func TestPerformedHazards(t *testing.T) {
	in := &refine.Input{Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1}, Seed: 7}
	for _, x := range []struct {
		r    *refine.Result
		err  error
		want string
	}{
		{nil, errors.New("no\nway"), "; not executed: no way"},
		{&refine.Result{Cannot: map[string]int{"b": 1, "a": 2}}, nil, "; not executed: a; b"},
		{&refine.Result{Runs: 2}, nil, "; in 2 runs no register had another content there"},
		{&refine.Result{Cut: 1}, nil, "; in 1 run no register had another content there"},
		{&refine.Result{Runs: 1, Cut: 2, Early: 1}, nil, "; in 3 runs the other content changed nothing"},
		{&refine.Result{Findings: []refine.Finding{{Why: "it stores 1", Input: in, Both: true}}}, nil, "; executed with that content: it stores 1; thread 0 of block 0, grid [1 1 1], block [32 1 1], input of seed 7$"},
		{&refine.Result{Findings: []refine.Finding{{Why: "it stores 1", Input: in, Block: 2, Warp: 1, Lane: 3}}}, nil, "thread 35 of block 2, grid [1 1 1], block [32 1 1], input of seed 7; it shows with one order of diverged lanes"},
	} {
		f := Finding{Detail: "early"}
		f.performed(x.r, x.err)
		require.True(t, strings.HasPrefix(f.Detail, "early; "))
		require.Contains(t, f.Detail+"$", x.want)
		require.Equal(t, x.r != nil && len(x.r.Findings) > 0, f.Execution != nil)
	}
}

func TestConfirmed(t *testing.T) {
	a, b := &Place{Func: "k", Text: "a"}, &Place{Func: "k", Text: "b"}
	for _, x := range []struct {
		list []Finding
		of   *Place
		want bool
	}{
		{[]Finding{{First: a, computed: true}}, a, true}, {[]Finding{{First: b, computed: true}}, a, false}, {[]Finding{{computed: true}}, a, false}, {[]Finding{{First: a, computed: true}}, nil, false},
		{[]Finding{{computed: true}}, nil, false}, {nil, a, false}, {[]Finding{{First: b, computed: true}, {First: a, computed: true}}, a, true},
	} {
		require.Equal(t, x.want, confirmed(x.list, &Finding{First: x.of}))
		for _, f := range x.list {
			require.Equal(t, x.want && f.First == a, !f.computed)
		}
	}
}

func TestNotExecuted(t *testing.T) {
	const head = ".version 7.8\n.target sm_80\n.address_size 64\n"
	kernel := func(name, body string) string {
		return ".visible .entry " + name + "(.param .u64 out)\n{\n.reg .b32 n; .reg .b64 at; .reg .f32 f, g, h;\nld.param.u64 at, [out];\n" + body + "\nret;\n}\n"
	}
	const loads = "ld.global.f32 g, [at+128]; ld.global.f32 f, [at+256];"
	parse := func(text string) *ptx.Module {
		m, err := ptx.Parse("t.ptx", []byte(head+text))
		require.NoError(t, err)
		return m
	}
	tc := releases(t, "12.4")[0]
	code := func(m *ptx.Module) *pipeline.Code {
		code, err := Build(t.Context(), tc, m, "sm_80", "O3")
		require.NoError(t, err)
		return code
	}
	said := func(m *ptx.Module, code *pipeline.Code) string {
		r, err := Execute(t.Context(), m, code, options(Runs))
		require.NoError(t, err)
		require.Empty(t, r.Findings)
		require.NotEmpty(t, r.Unknown)
		return r.Unknown[0].Detail
	}
	product := parse(kernel("k", loads+"mul.f32 h, g, g; add.f32 f, h, f; mul.f32 g, f, 0f3F9D70A4; sub.f32 f, g, h; st.global.f32 [at], f;"))
	require.Contains(t, said(product, code(product)), "not executed: a product and a sum may be one operation")
	two := parse(kernel("k", "st.global.u32 [at], 1;") + kernel("l", "st.global.u32 [at], 2;"))
	require.Contains(t, said(two, code(parse(kernel("k", "st.global.u32 [at], 1;")))), "not executed: ")
	approximate := parse(kernel("k", loads+"add.f32 g, g, 0f3E99999A; ex2.approx.ftz.f32 f, g; st.global.f32 [at], f;"))
	other := code(parse(kernel("k", loads+"ex2.approx.ftz.f32 f, g; mul.f32 f, f, 0f3F9D9624; st.global.f32 [at], f;")))
	r, err := Execute(t.Context(), approximate, other, options(Runs))
	require.NoError(t, err)
	require.Empty(t, r.Findings)
	require.Len(t, r.Unknown, 1, "%+v", r.Executed[0])
	require.Contains(t, r.Unknown[0].Detail, "; approximate functions may explain it")
	require.Nil(t, r.Unknown[0].Execution)
	require.Len(t, r.Kernels[0].Unknown, 1)
	_, err = Execute(t.Context(), two, &pipeline.Code{Program: other.Program}, options(Runs))
	require.ErrorContains(t, err, "compile the module again")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Execute(ctx, approximate, other, options(Runs))
	require.ErrorIs(t, err, context.Canceled)
	elsewhere := parse(".extern .func far(.param .b32 x);\n" + kernel("k", "{ .param .b32 x; mov.u32 n, 1; st.param.b32 [x], n; call.uni far, (x); }"))
	_, err = Build(t.Context(), tc, elsewhere, "sm_80", "O3")
	require.NoError(t, err, "a relocatable object")
	require.ErrorContains(t, equal(must(compileModule(t.Context(), tc, parse(kernel("k", "")), "sm_80", "O3", false, nil)),
		must(compileModule(t.Context(), tc, parse(kernel("l", "")), "sm_80", "O3", false, nil))), "function ")
}

func must(data []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return data
}

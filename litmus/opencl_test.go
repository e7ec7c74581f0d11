package litmus_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
)

const clHead = "GPU_OPENCL t\n{ x=0; y=0;\n0:int r0; 0:int r1; 0:bool p; 0:long l; 0:int *q = x;}\nT0 ;\n"

func TestOpenCLErrors(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"r0 = ;", `f:5:6: expected a register or a constant, found ";"`},
		{"r0 = frob(x) ;", "f:5:6: unknown function frob"},
		{"atomic_frob(x, 1) ;", "f:5:1: unknown function atomic_frob"},
		{"atomic_load_explicit(x, memory_order_relaxed, memory_scope_device) ;", "f:5:1: the result of atomic_load_explicit must be kept"},
		{"r0 = atomic_load_explicit(x, memory_order_relaxed) ;", `f:5:50: expected , and a memory scope, found ")"`},
		{"r0 = atomic_load_explicit(x, acquire, memory_scope_device) ;", `f:5:30: expected a memory order, found "acquire"`},
		{"r0 = mem_fence(CLK_GLOBAL_MEM_FENCE) ;", "f:5:6: this function has no result"},
		{"mem_fence(0) ;", `f:5:11: expected CLK_LOCAL_MEM_FENCE or CLK_GLOBAL_MEM_FENCE, found "0"`},
		{"r0 = *(volatile float *)x ;", `f:5:17: expected volatile, global, local, int, uint, long or ulong, found "float"`},
		{"if (r0 == 1) r1 = *x ;", `f:5:14: expected goto behind a comparison, found "r1"; other statements are guarded by a bool`},
		{"r0 = *x r1 ;", `f:5:9: expected | or ; behind the statement, found "r1"`},
		{"r0 = atomic_compare_exchange_strong_explicit(x, 0, 1, memory_order_acq_rel, memory_order_relaxed, memory_scope_device) ;",
			"f:5:75: the failure order must be the strongest possible, memory_order_acquire"},
		{"ld.cg.s32 r0,[x] ;", `f:5:1: expected a register, found "ld.cg.s32"`},
	} {
		_, err := litmus.Parse("f", []byte(clHead+c.src+"\nexists (x=0)"))
		require.EqualError(t, err, c.want, c.src)
	}
}

// TestOpenCLStatements: every form reads, prints as itself and is what it says.
func TestOpenCLStatements(t *testing.T) {
	for src, want := range map[string]string{
		"r0 = *x":                        "ld.s32 r0,[x]",
		"*x = r0":                        "st.s32 [x],r0",
		"*(volatile global long *)q = l": "st.volatile.global.s64 [q],l",
		"r0 = atomic_add(x, 1)":          "atom.add.s32 r0,[x],1",
		"atomic_inc(x)":                  "red.inc1.s32 [x]",
		"r0 = atomic_cmpxchg((local int *)x, 0, 1)":                                                                                       "atom.shared.cas.b32 r0,[x],0,1",
		"r0 = atomic_fetch_max_explicit((uint *)x, 3, memory_order_acq_rel, memory_scope_work_group)":                                     "atom.acq_rel.cta.max.u32 r0,[x],3",
		"r0 = atomic_compare_exchange_strong_explicit(x, 0, 1, memory_order_acq_rel, memory_order_acquire, memory_scope_all_svm_devices)": "atom.acq_rel.sys.cas.b32 r0,[x],0,1",
		"read_mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)":                                                                      "fence.acquire",
		"atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device)":                                         "fence.sc.gpu",
		"barrier(CLK_LOCAL_MEM_FENCE)": "bar.sync 0",
		"p = r0 <= 1":                  "setp.le.s32 p,r0,1",
		"r1 = p ? r0 : 3":              "selp.s32 r1,r0,3,p",
		"if (!p) r1 = *y":              "@!p ld.s32 r1,[y]",
		"r1 = (r0 | 0x80000000)":       "or.b32 r1,r0,0x80000000",
		"r1 = r0 << 2":                 "shl.b32 r1,r0,2",
		"r1 = r0 >> 2":                 "shr.s32 r1,r0,2",
		"l = (ulong)(uint)r0":          "cvt.u64.u32 l,r0",
		"if (r0 != 1) goto L":          "bne r0,1,L",
		"r1 = x":                       "mov.s32 r1,x",
	} {
		u, err := litmus.Parse("f", []byte(clHead+src+" ;\nexists (x=0)"))
		require.NoError(t, err, src)
		require.Equal(t, want, u.Threads[0].Body[0].String(), src)
		require.Contains(t, u.String(), " "+src+" ;\n")
	}
}

// TestOpenCLCorpus: the tests make sense and print as they were read.
func TestOpenCLCorpus(t *testing.T) {
	require.NotEmpty(t, corpus.OpenCL())
	for _, x := range corpus.OpenCL() {
		require.NoError(t, x.Check(), x.Name)
		again, err := litmus.Parse("again", []byte(x.String()))
		require.NoError(t, err, x.Name)
		require.Equal(t, x.Hash(), again.Hash(), x.Name)
		require.Equal(t, x.String(), again.String())
	}
}

// TestToOpenCL: what the table translates is a sane test of the dialect, which
// prints and reads back; what it does not is refused with a reason.
func TestToOpenCL(t *testing.T) {
	refused := map[string]string{}
	for _, x := range corpus.Tests() {
		u, err := litmus.ToOpenCL(x)
		if err != nil {
			refused[x.Name] = err.Error()
			continue
		}
		require.NoError(t, u.Check(), x.Name)
		again, err := litmus.Parse(x.Name, []byte(u.String()))
		require.NoError(t, err, u.String())
		require.Equal(t, u.String(), again.String())
		require.Equal(t, u.Hash(), again.Hash(), u.String())
	}
	require.Len(t, refused, 10, "%v", refused)
	require.Contains(t, refused["mp+relaxed.clusters"], "no scope between work-group and device")
	require.Contains(t, refused["ptx-alias+fence.proxy.alias"], "alias")
	x, _ := corpus.Lookup("cas-sl+membar.gls")
	u, err := litmus.ToOpenCL(x)
	require.NoError(t, err)
	require.Contains(t, u.String(), "atomic_cmpxchg(rd0, 0, 1)")
	require.Contains(t, u.String(), "if (p2) atomic_work_item_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device)")
}

func FuzzOpenCL(f *testing.F) {
	for _, x := range corpus.OpenCL() {
		f.Add([]byte(x.String()))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		x, err := litmus.Parse("fuzz", append([]byte("GPU_OPENCL "), src...))
		if err != nil {
			require.Nil(t, x)
			return
		}
		if x.Check() != nil {
			return
		}
		again, err := litmus.Parse("again", []byte(x.String()))
		require.NoError(t, err, x.String())
		require.Equal(t, x.String(), again.String())
		_, err = litmus.ToOpenCL(x)
		require.NoError(t, err)
	})
}

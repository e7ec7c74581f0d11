package litmus

import "fmt"

// MappingRow is one row of the table by which ToOpenCL translates. OpenCL is empty if there is
// no counterpart.
type MappingRow struct{ PTX, OpenCL, Why string }

// OpenCLMapping is the table by which ToOpenCL translates.
var OpenCLMapping = []MappingRow{
	{"ld, st (also .weak, .ca, .cg, .cs, .lu, .wb)", "*x",
		"plain accesses; PTX calls its cache operators hints, and the 2015 study writes plain accesses in OpenCL where it writes .cg in PTX"},
	{"ld.volatile, st.volatile, ld.cv, st.wt", "*(volatile int *)x", ".cv and .wt ask to go to memory each time"},
	{"ld.relaxed, ld.acquire, st.relaxed, st.release", "atomic_load_explicit, atomic_store_explicit", "orders have the same names"},
	{"atom, red without order and scope: add, exch, cas, and, or, xor, min, max",
		"atomic_add, atomic_xchg, atomic_cmpxchg, …", "OpenCL 1.2; relaxed, as in PTX"},
	{"atom, red with order or scope", "atomic_fetch_add_explicit, atomic_exchange_explicit, …",
		"an order left out is relaxed, a scope left out is .gpu, as in PTX"},
	{"atom.inc, atom.dec", "", "they wrap at a bound; atomic_inc and atomic_dec do not"},
	{"fence.acquire, .release, .acq_rel, .sc", "atomic_work_item_fence", "for local and global memory; fence without an order is .acq_rel"},
	{"membar.cta, .gl, .sys", "atomic_work_item_fence, memory_order_seq_cst", "PTX defines membar as fence.sc"},
	{"bar.sync 0", "barrier", "for local and global memory"},
	{"bar.sync N, bar.arrive, thread counts", "", "OpenCL has one barrier, for the whole work-group"},
	{".cta, .gpu, .sys", "memory_scope_work_group, _device, _all_svm_devices", ""},
	{".cluster", "", "OpenCL has no scope between work-group and device"},
	{".mmio, fence.proxy, other proxies, aliases", "", "OpenCL has nothing like them"},
	{"8- and 16-bit accesses", "", "kernels in audit form have words only"},
}

// NoMeaning is the error of ToOpenCL for an instruction without a counterpart.
type NoMeaning struct {
	Pos    Pos
	Reason string
}

// Error implements error.
func (e *NoMeaning) Error() string {
	if e.Pos.Line == 0 {
		return e.Reason
	}
	return fmt.Sprintf("%v: %s", e.Pos, e.Reason)
}

// ToOpenCL translates a test into dialect GPU_OPENCL by the table OpenCLMapping, under the same
// name. A test in that dialect is returned unchanged. The error is a *NoMeaning that says what
// cannot be translated.
func ToOpenCL(t *Test) (*Test, error) {
	if t.Dialect == OpenCL {
		return t, nil
	}
	if t.Extended() || t.Distributed() {
		return nil, &NoMeaning{Reason: "OpenCL has no asynchronous operations, mbarriers or clusters"}
	}
	u := t.Clone()
	u.Dialect = OpenCL
	for i := range u.Locations {
		if u.Locations[i].Alias != "" || u.Locations[i].Of != "" || u.Locations[i].Proxy != ProxyNone {
			return nil, &NoMeaning{u.Locations[i].Pos, "location " + u.Locations[i].Name + " is an alias, which OpenCL has not"}
		}
	}
	for i := range u.Threads {
		th := &u.Threads[i]
		for j := range th.Body {
			if why := clInstr(&th.Body[j]); why != "" {
				return nil, &NoMeaning{th.Body[j].Pos, t.Threads[i].Body[j].String() + " has no OpenCL meaning: " + why}
			}
		}
		if err := clRegisters(u, th); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// clRegisters declares every register of the thread with a C type.
func clRegisters(t *Test, th *Thread) error {
	used := map[string]Type{}
	for i := range th.Body {
		in := &th.Body[i]
		if in.Guard != nil {
			used[in.Guard.Reg] = Pred
		}
		if in.Addr.Reg != "" {
			used[in.Addr.Reg] = B64
		}
		if in.Dst != "" && used[in.Dst] == TypeNone {
			used[in.Dst] = in.Type
			if in.Op == OpSetp {
				used[in.Dst] = Pred
			}
		}
	}
	for i := range th.Regs {
		d := &th.Regs[i]
		if d.Type == TypeNone {
			d.Type = used[d.Name]
		}
		switch {
		case d.Init.Kind == OperandLoc:
			d.Type = B64
		case d.Type.Bits() == 8 || d.Type.Bits() == 16:
			return &NoMeaning{d.Pos, "register " + d.Name + " of " + d.Type.String() + ": words only"}
		case d.Type == B32 || d.Type == TypeNone:
			d.Type = S32
		}
	}
	add := func(name string) {
		if name == "" || th.Decl(name) != nil || t.Location(name) != nil {
			return
		}
		typ := used[name]
		if typ == TypeNone || typ == B32 {
			typ = S32
		}
		th.Regs = append(th.Regs, RegDecl{Name: name, Type: typ})
	}
	for i := range th.Body {
		for _, r := range th.Body[i].Reads() {
			add(r)
		}
		add(th.Body[i].Dst)
	}
	return nil
}

// clInstr rewrites one instruction, or says why it has no counterpart.
func clInstr(in *Instr) string {
	if in.Type.Bits() == 8 || in.Type.Bits() == 16 || in.FromType.Bits() == 8 || in.FromType.Bits() == 16 {
		return "words only"
	}
	if in.Proxy != ProxyNone && in.Op != OpFenceProxy {
		return "no proxies"
	}
	if in.Call || in.Prefetch > 0 {
		return "no calls and prefetches"
	}
	if in.Scope == ScopeCluster {
		return "no scope between work-group and device"
	}
	switch in.Op {
	case OpLd, OpSt:
		switch {
		case in.Sem == SemMMIO:
			return "nothing like .mmio"
		case in.Sem == SemWeak:
			in.Sem = SemNone
		case in.Cache == CacheCV || in.Cache == CacheWT:
			in.Sem = SemVolatile
		}
		in.Cache = CacheNone
		in.Type = cAccess(in.Type, false)
	case OpAtom, OpRed:
		return clAtomic(in)
	case OpFence:
		in.Space, in.Sem = Generic, in.Order()
		if in.Scope == ScopeNone || in.Sem < SemAcquire {
			return "a fence needs an order and a scope"
		}
	case OpMembar:
		in.Op, in.Sem = OpFence, SemSC
	case OpFenceProxy:
		return "no proxies"
	case OpBar:
		b := &in.Barrier
		if b.Arrive || b.ID != Const(0) || b.Resource.Kind != OperandNone || b.Quorum.Kind != OperandNone {
			return "one barrier for the whole work-group only"
		}
	case OpMov, OpSelp, OpSetp, OpShr, OpAdd, OpSub, OpDiv, OpMul:
		if in.Op == OpMul {
			in.Cmp = CmpNone
		}
		if in.Type != Pred {
			in.Type = cAccess(in.Type, false)
		}
	case OpAnd, OpOr, OpXor, OpNot, OpShl:
		if in.Type != Pred {
			in.Type = cAccess(in.Type, true)
		}
	}
	return ""
}

func clAtomic(in *Instr) string {
	switch in.Atom {
	case AtomInc, AtomDec:
		return "it wraps at a bound"
	case AtomExch, AtomCAS, AtomAnd, AtomOr, AtomXor:
		in.Type = cAccess(in.Type, true)
	default:
		in.Type = cAccess(in.Type, false)
		if in.Atom == AtomAdd && in.Type == S64 {
			in.Type = U64
		}
	}
	if in.Sem == SemNone && in.Scope == ScopeNone {
		return ""
	}
	if in.Sem == SemNone {
		in.Sem = SemRelaxed
	}
	if in.Scope == ScopeNone {
		in.Scope = ScopeGPU
	}
	return ""
}

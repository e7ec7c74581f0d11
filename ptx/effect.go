package ptx

import (
	"slices"
	"strconv"
	"strings"
)

// Kind says what an instruction is to memory and to other threads.
type Kind uint8

// The kinds.
const (
	None         Kind = iota
	Load              // ld, ldu, ldmatrix
	Store             // st, stmatrix
	Atomic            // atom
	Reduction         // red
	Fence             // fence, membar
	ProxyFence        // fence.proxy, membar.proxy
	Barrier           // bar.sync, barrier.red …: arrives and waits
	Arrive            // bar.arrive, barrier.cluster.arrive: arrives only
	Await             // barrier.cluster.wait
	WarpSync          // bar.warp.sync
	Mbarrier          // mbarrier.init, .inval, .expect_tx, .complete_tx
	MbarArrive        // mbarrier.arrive …
	MbarWait          // mbarrier.test_wait, .try_wait
	Copy              // cp.async: a thread's copy into shared memory
	CopyCommit        // cp.async.commit_group
	CopyWait          // cp.async.wait_group, .wait_all
	CopyArrive        // cp.async.mbarrier.arrive
	Bulk              // cp.async.bulk, cp.reduce.async.bulk, red.async, st.async
	BulkCommit        // cp.async.bulk.commit_group
	BulkWait          // cp.async.bulk.wait_group
	Matrix            // wgmma.mma_async
	MatrixFence       // wgmma.fence
	MatrixCommit      // wgmma.commit_group
	MatrixWait        // wgmma.wait_group
	Convergent        // vote, shfl, match, redux, elect, activemask: warp operations without memory
	GridWait          // griddepcontrol.wait
	GridLaunch        // griddepcontrol.launch_dependents
	Call              // call
	Other             // touches memory in a way of which nothing is said: textures, surfaces, tcgen05
)

var kindNames = [...]string{"none", "load", "store", "atomic", "reduction", "fence", "proxy-fence", "barrier", "arrive", "await",
	"warp-sync", "mbarrier",
	"mbarrier-arrive", "mbarrier-wait", "copy", "copy-commit", "copy-wait", "copy-arrive", "bulk-copy", "bulk-commit", "bulk-wait",
	"matrix", "matrix-fence",
	"matrix-commit", "matrix-wait", "convergent", "grid-wait", "grid-launch", "call", "other"}

// String gives the kind in lower case: load, copy-commit.
func (k Kind) String() string { return kindNames[k] }

// IsAccess reports whether the kind reads or writes memory in program order.
func (k Kind) IsAccess() bool { return k == Load || k == Store || k == Atomic || k == Reduction }

// Effect is what an instruction is to memory and to other threads. PTX ISA 9.0,
// sections 8 (memory consistency model) and 9.7.
type Effect struct {
	Kind Kind
	// Sem is weak, relaxed, acquire, release, acq_rel, sc, volatile or mmio; of
	// accesses and fences. Scope is cta, cluster, gpu or sys, "" where there is none.
	Sem, Scope string
	// Space is the state space of what is accessed: global, shared, local, param,
	// const, or generic.
	Space string
	// Width is in bytes, of all words of a vector.
	Width int
	// Type is the type as written: u32. Atom is the operation of an atomic.
	Type, Atom string
	Cache      string // cache operator, "" if there is none
	// Objects is the state space of the objects whose accesses alone a fence orders (.sync_restrict), "" for all.
	Objects string
	// Constant tells that nobody writes what is read: ld.global.nc, ld.const,
	// ld.param.
	Constant bool
}

// Weak reports whether an access is one that other threads may not race with.
func (e *Effect) Weak() bool { return e.Sem == "weak" }

// Acquires and Releases report whether an instruction orders later, or earlier,
// accesses.
func (e *Effect) Acquires() bool {
	switch e.Kind {
	case Fence, Barrier, WarpSync, Await, CopyWait, BulkWait, GridWait:
		return e.Kind != Fence || e.Sem != "release"
	case MbarWait:
		return e.Sem != "relaxed"
	case Load, Atomic, Reduction:
		return e.Sem == "acquire" || e.Sem == "acq_rel"
	}
	return false
}

// Releases: see Acquires.
func (e *Effect) Releases() bool {
	switch e.Kind {
	case Fence, Barrier, WarpSync, Arrive, CopyArrive:
		return e.Kind != Fence || e.Sem != "acquire"
	case MbarArrive:
		return e.Sem != "relaxed"
	case Store, Atomic, Reduction:
		return e.Sem == "release" || e.Sem == "acq_rel"
	}
	return false
}

// plain are the instructions that touch neither memory nor other threads.
var plain = map[string]bool{}

func init() {
	for _, w := range strings.Fields(`abs add addc and bfe bfi bfind bmsk bra brev brkpt brx clz cnot copysign cos cvt cvta createpolicy div dp2a dp4a ex2 exit fma fns
		getctarank isspacep istypep lg2 lop3 mad mad24 madc mapa max min mov mul mul24 nanosleep neg not or pmevent popc prmt rcp rem ret rsqrt sad selp set
		setmaxnreg setp shf shl shr sin slct sqrt stacksave stackrestore alloca sub subc szext tanh testp trap vabsdiff vabsdiff2 vabsdiff4 vadd vadd2 vadd4 vavrg2
		vavrg4 vmad vmax vmax2 vmax4 vmin vmin2 vmin4 vset vset2 vset4 vshl vshr vsub vsub2 vsub4 xor mma wmma`) {
		plain[w] = true
	}
}

// others are known, and something is said of them by Effect.
var others = []string{"ld", "ldu", "st", "atom", "red", "fence", "membar", "bar", "barrier", "mbarrier", "cp", "wgmma", "ldmatrix",
	"stmatrix", "vote", "shfl", "match",
	"redux", "elect", "activemask", "griddepcontrol", "call", "tex", "tld4", "txq", "suld", "sust", "sured", "suq", "prefetch",
	"prefetchu", "applypriority",
	"discard", "multimem", "tcgen05", "movmatrix", "tensormap", "clusterlaunchcontrol"}

func known(name string) bool { return plain[name] || slices.Contains(others, name) }

// Effect says what an instruction does.
func (in *Inst) Effect() Effect {
	switch in.Name {
	case "ld", "ldu":
		return in.access(Load)
	case "st":
		if in.Has("async") {
			return Effect{Kind: Bulk, Space: "shared"}
		}
		return in.access(Store)
	case "atom":
		return in.access(Atomic)
	case "red":
		if in.Has("async") {
			return Effect{Kind: Bulk, Space: "shared"}
		}
		return in.access(Reduction)
	case "ldmatrix":
		e := in.access(Load)
		e.Width = 4 * in.count()
		return e
	case "stmatrix":
		e := in.access(Store)
		e.Width = 4 * in.count()
		return e
	case "multimem":
		return in.multimem()
	case "wmma":
		if in.Has("load") {
			return Effect{Kind: Load, Sem: "weak", Space: in.space()}
		} else if in.Has("store") {
			return Effect{Kind: Store, Sem: "weak", Space: in.space()}
		}
		return Effect{Kind: Convergent}
	case "fence", "membar":
		return in.fence()
	case "bar", "barrier":
		return in.barrier()
	case "mbarrier":
		return in.mbarrier()
	case "cp":
		return in.copy()
	case "wgmma":
		return in.matrix()
	case "vote", "shfl", "match", "redux", "elect", "activemask", "mma", "movmatrix":
		return Effect{Kind: Convergent}
	case "griddepcontrol":
		if in.Has("wait") {
			return Effect{Kind: GridWait}
		}
		return Effect{Kind: GridLaunch}
	case "call":
		return Effect{Kind: Call}
	case "tex", "tld4", "suld", "sust", "sured", "tcgen05", "tensormap", "clusterlaunchcontrol", "discard":
		return Effect{Kind: Other}
	}
	return Effect{}
}

func (in *Inst) space() string {
	for _, m := range in.Mods {
		switch base, _, _ := strings.Cut(m, "::"); base {
		case "global", "shared", "local", "param", "const":
			return base
		}
	}
	return "generic"
}

func (in *Inst) scope() string {
	for _, m := range in.Mods {
		switch m {
		case "cta", "cluster", "gpu", "sys":
			return m
		case "gl":
			return "gpu"
		}
	}
	return ""
}

func (in *Inst) count() int {
	for _, m := range in.Mods {
		switch m {
		case "x2":
			return 2
		case "x4":
			return 4
		}
	}
	return 1
}

// types gives the type as written and its width in bytes.
func (in *Inst) types() (string, int) {
	n := 1
	for _, m := range in.Mods {
		switch m {
		case "v2":
			n = 2
		case "v4":
			n = 4
		case "v8":
			n = 8
		}
	}
	for _, m := range slices.Backward(in.Mods) {
		if t := strings.TrimLeft(m, "bsufe"); len(m) > 1 && strings.IndexByte("bsuf", m[0]) >= 0 {
			if m == "f16x2" || m == "bf16x2" {
				return m, 4 * n
			} else if m == "bf16" {
				return m, 2 * n
			} else if bits, err := strconv.Atoi(t); err == nil && bits >= 8 {
				return m, bits / 8 * n
			}
		}
	}
	return "", 0
}

var (
	sems    = []string{"weak", "relaxed", "acquire", "release", "acq_rel", "sc", "volatile", "mmio"}
	caches  = []string{"ca", "cg", "cs", "lu", "cv", "wb", "wt"}
	atomics = []string{"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"}
)

func (in *Inst) oneOf(list []string) string {
	for _, m := range in.Mods {
		if slices.Contains(list, m) {
			return m
		}
	}
	return ""
}

func (in *Inst) access(k Kind) Effect {
	e := Effect{Kind: k, Space: in.space(), Sem: in.oneOf(sems), Scope: in.scope(), Cache: in.oneOf(caches)}
	e.Type, e.Width = in.types()
	switch {
	case in.Has("mmio"):
		e.Sem = "mmio"
	case e.Sem == "volatile":
		e.Scope = "sys" // relaxed, of system scope: PTX ISA 8.4
	case k == Atomic || k == Reduction:
		e.Atom = in.oneOf(atomics)
		if e.Sem == "" {
			e.Sem = "relaxed"
		}
		if e.Scope == "" {
			e.Scope = "gpu"
		}
	case e.Sem == "":
		e.Sem = "weak"
	}
	if in.Name == "ldu" {
		e.Constant = true
	}
	for _, m := range in.Mods {
		if m == "nc" {
			e.Constant = true
		}
	}
	if e.Space == "const" || e.Space == "param" && k == Load {
		e.Constant = true
	}
	return e
}

func (in *Inst) multimem() Effect {
	k := Reduction
	switch {
	case in.Has("ld_reduce"):
		k = Load
	case in.Has("st"):
		k = Store
	}
	e := in.access(k)
	e.Atom = ""
	return e
}

func (in *Inst) fence() Effect {
	for _, m := range in.Mods {
		if strings.HasPrefix(m, "proxy") || m == "mbarrier_init" {
			return Effect{Kind: ProxyFence, Scope: in.scope(), Sem: in.oneOf(sems)}
		}
	}
	e := Effect{Kind: Fence, Sem: in.oneOf(sems), Scope: in.scope()}
	for _, m := range in.Mods {
		if space, ok := strings.CutPrefix(m, "sync_restrict::"); ok {
			e.Objects = space
		}
	}
	if in.Name == "membar" {
		e.Sem = "sc"
	} else if e.Sem == "" {
		e.Sem = "acq_rel"
	}
	return e
}

func (in *Inst) barrier() Effect {
	switch {
	case in.Has("warp"):
		return Effect{Kind: WarpSync}
	case in.Has("cluster") && in.Has("wait"):
		return Effect{Kind: Await, Scope: "cluster"}
	case in.Has("cluster"):
		return Effect{Kind: Arrive, Scope: "cluster", Sem: in.oneOf(sems)}
	case in.Has("arrive"):
		return Effect{Kind: Arrive, Scope: "cta"}
	}
	return Effect{Kind: Barrier, Scope: "cta"}
}

func (in *Inst) mbarrier() Effect {
	e := Effect{Kind: Mbarrier, Space: in.space(), Scope: in.scope(), Sem: in.oneOf(sems)}
	if e.Scope == "" {
		e.Scope = "cta"
	}
	switch {
	case in.Has("arrive", "arrive_drop"):
		e.Kind = MbarArrive
	case in.Has("test_wait", "try_wait"):
		e.Kind = MbarWait
	case in.Has("pending_count"):
		e.Kind = None
	}
	return e
}

func (in *Inst) copy() Effect {
	switch {
	case in.Has("prefetch"):
		return Effect{}
	case in.Has("bulk") && in.Has("commit_group"):
		return Effect{Kind: BulkCommit}
	case in.Has("bulk") && in.Has("wait_group"):
		return Effect{Kind: BulkWait}
	case in.Has("bulk"):
		return Effect{Kind: Bulk, Space: in.space()}
	case in.Has("commit_group"):
		return Effect{Kind: CopyCommit}
	case in.Has("wait_group", "wait_all"):
		return Effect{Kind: CopyWait}
	case in.Has("mbarrier"):
		return Effect{Kind: CopyArrive, Space: "shared"}
	}
	return Effect{Kind: Copy, Space: "shared"}
}

func (in *Inst) matrix() Effect {
	switch {
	case in.Has("fence"):
		return Effect{Kind: MatrixFence}
	case in.Has("commit_group"):
		return Effect{Kind: MatrixCommit}
	case in.Has("wait_group"):
		return Effect{Kind: MatrixWait}
	}
	return Effect{Kind: Matrix}
}

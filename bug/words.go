package bug

import (
	"optcheck/litmus"
	"optcheck/optcheck"
)

// checkWords describes in plain words what a check of a built-in model requires. The texts are
// this project's reading of the PTX ISA's chapter on memory consistency, and of ASPLOS 2015,
// Sec. 5, for the model of 2015.
var checkWords = map[string]map[string]string{
	"ptx": {
		"coherence":                  "Coherence: if one write to a location comes causally before another, every thread must see them in that order.",
		"coherence-of-strong-writes": "Coherence: two strong writes to one location whose scopes include each other are seen in one order by all threads.",
		"fence-sc":                   "Fence-SC: sequentially consistent fences whose scopes include each other are ordered, and that order cannot contradict causality.",
		"atomicity":                  "Atomicity: no other strong write to the location can come between the read and the write of one atomic operation.",
		"no-thin-air":                "No-thin-air: a value cannot depend on itself; reads-from and dependencies form no cycle.",
		"sc-per-location":            "SC-per-location: the accesses to one location that are strong towards each other, and those of one thread in program order, can be put in one sequence.",
		"causality":                  "Causality: a read that comes causally after a write to its location sees that write or a newer one. A fence or release pattern on the writing side and one on the reading side make the chain.",
	},
	"ptx-2015": {
		"sc-per-loc-llh": "Coherence: the accesses to one location behave as if in one sequence, except that two loads of one location may be swapped.",
		"no-thin-air":    "No-thin-air: reads-from and dependencies form no cycle.",
		"cta-constraint": "Fences within a CTA: among threads of one CTA, accesses separated by a fence of any level, dependencies and communication form no cycle.",
		"gl-constraint":  "Fences on the GPU: among threads of one grid, accesses separated by membar.gl or membar.sys, dependencies and communication form no cycle.",
		"sys-constraint": "Fences in the system: accesses separated by membar.sys, dependencies and communication form no cycle.",
		"atomicity":      "Atomicity: no other write to the location comes between the read and the write of one atomic operation.",
	},
	"sc": {
		"sc":        "Sequential consistency: all accesses can be put in one sequence that keeps the program order of each thread.",
		"atomicity": "Atomicity: no other write to the location comes between the read and the write of one atomic operation.",
	},
}

// modelWords names the built-in models for people who do not know this tool; modelNotes says
// what they should know about them.
var (
	modelWords = map[string]string{
		"ptx":      "the memory consistency model of the PTX ISA (8.6)",
		"ptx-7.5":  "the memory consistency model of the PTX ISA (7.5)",
		"ptx-6.0":  "the memory consistency model of the PTX ISA (6.0)",
		"ptx-2015": "the model of “GPU Concurrency” (ASPLOS 2015)",
		"sc":       "sequential consistency",
		"opencl":   "the memory model of OpenCL 2.0",
	}
	modelNotes = map[string]string{
		"ptx-2015": "NVIDIA has published no formal memory model for targets before sm_70. The model of “GPU Concurrency: Weak Behaviours and Programming " +
			"Assumptions” (ASPLOS 2015) was validated on Fermi, Kepler and Maxwell with accesses that have .cg.",
	}
)

// plainCheck returns the description of a model's check, or the check's name.
func plainCheck(model, check string) string {
	switch model {
	case "ptx-6.0", "ptx-7.5":
		model = "ptx"
	case "ptx-2015-rmw":
		model = "ptx-2015"
	}
	if s := checkWords[model][check]; s != "" {
		return s
	}
	return "The check " + check + " of the model " + model + " is violated."
}

func plainModel(name string) string {
	if s := modelWords[name]; s != "" {
		return s
	}
	return "the memory model " + name
}

// expectation says what the machine code should do, by the broken rule.
var expectation = map[string]string{
	"wrong-value":        "The value is stored that the PTX computes.",
	"wrong-address":      "The access goes where the PTX says.",
	"not-performed":      "The operation is performed.",
	"does-not-end":       "The kernel ends.",
	"missing":            "Every access of the source is performed by the machine code.",
	"merged":             "Each access of the source is an access of its own in the machine code.",
	"duplicated":         "Each access of the source is performed once.",
	"extra-access":       "The machine code performs no access that the source does not have.",
	"retargeted":         "Each access goes to the location that the source names.",
	"kind-changed":       "Each access stays what it is: a load, a store, an atomic of that operation.",
	"value-changed":      "Each access stores or combines the value that the source gives it.",
	"width-changed":      "Each access moves as many bytes as in the source.",
	"weakened":           "Each access is at least as strong, and its scope at least as wide, as in the source.",
	"reordered":          "The accesses stand in the machine code in the order of the source.",
	"fence-removed":      "A fence stands in the machine code wherever the source has one.",
	"fence-weakened":     "Each fence is at least as strong, and its scope at least as wide, as in the source.",
	"dependency-broken":  "What the source computes from a loaded value depends on that load in the machine code too.",
	"control-changed":    "Each access runs under the condition of the source.",
	"witnesses-disagree": "Line information and data flow name the same instruction for each access.",
	"hazard-raw":         "Each instruction waits until the registers that it reads are written.",
	"hazard-waw":         "Each instruction waits until earlier results in the registers that it writes are there.",
	"hazard-war":         "Each instruction waits until earlier ones have read the registers that it writes.",
}

// headline says in a few words what happened, by the broken rule.
var headline = map[string]string{
	"wrong-value":        "another value is stored",
	"wrong-address":      "an access goes elsewhere",
	"not-performed":      "an operation is not performed",
	"does-not-end":       "the machine code does not end",
	"missing":            "an access is not in the machine code",
	"merged":             "two accesses become one",
	"duplicated":         "an access is performed twice",
	"extra-access":       "the machine code has an access that the source lacks",
	"retargeted":         "an access goes to another location",
	"kind-changed":       "an access becomes one of another kind",
	"value-changed":      "an access stores another value",
	"width-changed":      "an access has another width",
	"weakened":           "an access is weaker than written",
	"reordered":          "accesses change places",
	"fence-removed":      "a fence is not in the machine code",
	"fence-weakened":     "a fence is weaker than written",
	"dependency-broken":  "a dependency is lost",
	"control-changed":    "an access runs under another condition",
	"witnesses-disagree": "line information contradicts the data flow",
	"hazard-raw":         "a register is read before it is written",
	"hazard-waw":         "a register is written before an earlier write, which then wins",
	"hazard-war":         "a register is written before an earlier instruction has read it",
}

// orderLost reports whether the rule is about an access that orders others, not about a fence.
func (b *bundler) orderLost() bool {
	in := b.instr(b.find.Access)
	return b.find.Order || in != nil && in.IsAccess() && (b.find.Rule == "fence-removed" || b.find.Rule == "fence-weakened")
}

// What is said of an access whose order is lost, not the access itself.
const (
	orderHeadline    = "the order of an access is lost"
	orderExpectation = "Each access orders what stands in front of it or behind it as the source says, by itself or by a fence beside it."
)

// headline says in a few words what happened.
func (b *bundler) headline() string {
	if b.orderLost() {
		return orderHeadline
	}
	return headlineOf(b.find.Rule)
}

// expectation says what the code should do.
func (b *bundler) expectation() string {
	if b.orderLost() {
		return orderExpectation
	}
	return expectationOf(b.find.Rule)
}

// irNote says how programs in LLVM IR are judged.
const irNote = "The source is LLVM IR and is judged as the PTX that says the same: the order of an atomic operation as the qualifier of that name (`monotonic` as " +
	"`.relaxed`), `syncscope(\"device\")` as `.gpu`, `\"block\"` as `.cta`, no scope as `.sys`; other loads and stores as weak ones."

// headlineOf and expectationOf fall back on the rule's own title for rules without words here.
func headlineOf(rule string) string {
	if s := headline[rule]; s != "" {
		return s
	}
	if r, ok := optcheck.LookupRule(rule); ok {
		return r.Title
	}
	return rule
}

func expectationOf(rule string) string {
	if s := expectation[rule]; s != "" {
		return s
	}
	return "It does not happen that " + headlineOf(rule) + "."
}

// scopeWords names the threads of a scope.
var scopeWords = map[litmus.Scope]string{
	litmus.ScopeCTA:     "the threads of its CTA",
	litmus.ScopeCluster: "the threads of its cluster",
	litmus.ScopeGPU:     "all threads of the GPU",
	litmus.ScopeSys:     "all threads of the system, those of the host and of other GPUs too",
}

// promise describes in plain words what an access or fence requires (PTX ISA, membar and fence,
// ld, st, atom, and its chapter on memory consistency); "" if there is nothing to say.
func promise(in *litmus.Instr) string {
	who := scopeWords[in.Scope]
	switch {
	case in.Op == litmus.OpMembar, in.Op == litmus.OpFence && in.Sem == litmus.SemSC:
		return "It orders the thread's accesses before it and those behind it for " + who + "; a narrower one does so for fewer threads. " +
			"From sm_70 on it is a sequentially consistent fence."
	case in.Op == litmus.OpFence:
		return "Together with a strong access it makes a release or acquire pattern for " + who + "; a narrower one does so for fewer threads."
	case !in.IsAccess():
		return ""
	case in.Sem == litmus.SemVolatile:
		return "A volatile access is a relaxed one whose scope is the system; it may not be left out."
	case in.Sem >= litmus.SemRelaxed:
		return "It is a strong access for " + who + "; an acquire or release also orders the accesses behind or before it."
	case in.Op == litmus.OpAtom || in.Op == litmus.OpRed:
		return "An atomic is a strong access; without a scope it is one for all threads of the GPU."
	}
	return "It is a weak access, with or without a cache operator: the compiler may drop, merge and move it as long as the program gains no outcome."
}

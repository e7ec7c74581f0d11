package fakeptxas

// Pass is an optimisation that is wrong: one that forgets an order, a strength or
// a condition, and is right in everything else.
type Pass struct {
	Name string
	Doc  string
	// Rules are the checker's rules of which one names what the pass does.
	Rules []string
	// Legal is set if the model allows what the pass does: it must not be called
	// miscompiled.
	Legal bool
	// step does one thing in a body, and reports whether there was one to do.
	step func(*body) bool
}

var (
	elimination = []string{"missing", "merged"}
	order       = []string{"reordered", "fence-removed", "fence-weakened"}
	lostOrder   = []string{"weakened", "fence-removed", "fence-weakened"}
	lostDead    = append([]string{"missing"}, lostOrder...) // what has no order any more is dropped by the real compiler
	lostFence   = []string{"fence-removed", "fence-weakened"}
	invented    = []string{"control-changed", "extra-access", "duplicated"}
	twice       = []string{"duplicated", "extra-access"}
	width       = []string{"merged", "weakened", "width-changed", "reordered", "missing"}
)

// Passes lists all passes.
var Passes = []Pass{
	{Name: "load-across-acquire", Doc: "one load for two with an acquire load in between", Rules: elimination,
		step: redundantLoad(weakLoad, acquires)},
	{Name: "load-across-fence.acq_rel", Doc: "one load for two with an acquire-release fence in between",
		Rules: elimination, step: redundantLoad(weakLoad, acqRel)},
	{Name: "load-across-fence.sc", Doc: "one load for two with a sequentially consistent fence in between",
		Rules: elimination, step: redundantLoad(weakLoad, seqCst)},
	{Name: "load-across-barrier", Doc: "one load for two with a barrier in between", Rules: elimination,
		step: redundantLoad(weakLoad, barriers)},
	{Name: "load-across-atomic", Doc: "one load for two with an atomic in between", Rules: elimination,
		step: redundantLoad(weakLoad, atomics)},
	{Name: "strong-load-across-any", Doc: "one relaxed load for two with any order in between", Rules: elimination,
		step: redundantLoad(strongLoad, anything)},
	{Name: "store-across-release", Doc: "an overwritten store dropped across a release store", Rules: elimination,
		step: deadStore(weakStore, releases)},
	{Name: "store-across-fence.acq_rel", Doc: "an overwritten store dropped across an acquire-release fence",
		Rules: elimination, step: deadStore(weakStore, acqRel)},
	{Name: "store-across-fence.sc", Doc: "an overwritten store dropped across a sequentially consistent fence",
		Rules: elimination, step: deadStore(weakStore, seqCst)},
	{Name: "store-across-barrier", Doc: "an overwritten store dropped across a barrier", Rules: elimination,
		step: deadStore(weakStore, barriers)},
	{Name: "store-across-atomic", Doc: "an overwritten store dropped across an atomic", Rules: elimination,
		step: deadStore(weakStore, atomics)},
	{Name: "strong-store-across-any", Doc: "an overwritten relaxed store dropped across any order", Rules: elimination,
		step: deadStore(strongStore, anything)},
	{Name: "forward-across-acquire", Doc: "a load takes what was stored in front of an acquire load", Rules: elimination,
		step: forward(weakStore, weakLoad, acquires)},
	{Name: "forward-across-fence.acq_rel", Doc: "a load takes what was stored in front of an acquire-release fence",
		Rules: elimination, step: forward(weakStore, weakLoad, acqRel)},
	{Name: "forward-across-fence.sc", Doc: "a load takes what was stored in front of a sequentially consistent fence",
		Rules: elimination, step: forward(weakStore, weakLoad, seqCst)},
	{Name: "forward-across-barrier", Doc: "a load takes what was stored in front of a barrier", Rules: elimination,
		step: forward(weakStore, weakLoad, barriers)},
	{Name: "forward-across-atomic", Doc: "a load takes what was stored in front of an atomic", Rules: elimination,
		step: forward(weakStore, weakLoad, atomics)},
	{Name: "strong-forward-across-any", Doc: "a relaxed load takes what a relaxed store left, across any order",
		Rules: elimination, step: forward(strongStore, strongLoad, anything)},
	{Name: "silent-store", Doc: "a store of what was loaded in front of some order is dropped", Rules: elimination,
		step: silentStore(looseLoad)},
	{Name: "repeated-store", Doc: "a store of what was stored in front of some order is dropped", Rules: elimination,
		step: silentStore(looseStore)},
	{Name: "branch-value", Doc: "a load behind some order takes the constant that an earlier one compared equal with",
		Rules: elimination, step: branchValue},
	{Name: "combine-atomics", Doc: "two additions without results become one across any order",
		Rules: append([]string{"value-changed"}, elimination...), step: combineAtomics},

	{Name: "dead-acquire", Doc: "an acquire load without use is dropped, and its order",
		Rules: append([]string{"missing"}, lostFence...), step: deadAcquire(func(*inst) []*inst { return gone })},
	{Name: "dead-acquire-relaxed", Doc: "an acquire load without use becomes relaxed", Rules: lostDead,
		step: deadAcquire(func(in *inst) []*inst { return in.respelled(relaxed) })},
	{Name: "dead-acquire-weak", Doc: "an acquire load without use becomes weak", Rules: lostDead,
		step: deadAcquire(func(in *inst) []*inst { return in.respelled(plain) })},
	{Name: "dead-acquire-scope", Doc: "an acquire load without use gets the scope of the CTA", Rules: lostDead,
		step: deadAcquire(func(in *inst) []*inst {
			return in.respelled(func(m *mnemonic) { m.scope = "cta" })
		})},
	{Name: "dead-atomic", Doc: "an atomic without use is dropped, and its write",
		Rules: append([]string{"missing"}, lostFence...), step: deadAtomic(func(*inst, mnemonic) []*inst { return gone })},
	{Name: "dead-atomic-relaxed", Doc: "an ordered atomic without use becomes a relaxed reduction",
		Rules: append([]string{"kind-changed"}, lostOrder...), step: deadAtomic(relaxedReduction)},
	{Name: "dead-exchange", Doc: "an exchange without use becomes a relaxed store",
		Rules: append([]string{"kind-changed", "missing"}, lostOrder...), step: deadAtomic(exchangeToStore)},
	{Name: "dead-atomic-scope", Doc: "an atomic without use gets the scope of the CTA", Rules: lostOrder, step: deadAtomic(narrowDead)},

	{Name: "hoist-load-acquire", Doc: "a load moves in front of an acquire load", Rules: order, step: hoist(weakLoad, acquires)},
	{Name: "hoist-load-fence", Doc: "a load moves in front of a fence", Rules: order, step: hoist(weakLoad, fences)},
	{Name: "hoist-load-barrier", Doc: "a load moves in front of a barrier", Rules: order, step: hoist(weakLoad, barriers)},
	{Name: "hoist-load-atomic", Doc: "a load moves in front of an atomic", Rules: order, step: hoist(weakLoad, atomics)},
	{Name: "hoist-strong-load", Doc: "a relaxed load moves in front of any order", Rules: order, step: hoist(strongLoad, anything)},
	{Name: "hoist-store-acquire", Doc: "a store moves in front of an acquire load", Rules: order, step: hoist(looseStore, acquires)},
	{Name: "sink-store-release", Doc: "a store moves behind a release store", Rules: order, step: sink(weakStore, releases)},
	{Name: "sink-store-fence", Doc: "a store moves behind a fence", Rules: order, step: sink(weakStore, fences)},
	{Name: "sink-store-barrier", Doc: "a store moves behind a barrier", Rules: order, step: sink(weakStore, barriers)},
	{Name: "sink-store-atomic", Doc: "a store moves behind an atomic", Rules: order, step: sink(weakStore, atomics)},
	{Name: "sink-strong-store", Doc: "a relaxed store moves behind any order", Rules: order, step: sink(strongStore, anything)},
	{Name: "sink-load-release", Doc: "a load moves behind a release store", Rules: order, step: sinkLoadBelowRelease},
	{Name: "move-over-call", Doc: "a load moves in front of a call", Rules: order, step: hoist(looseLoad, calls)},

	{Name: "invariant-load", Doc: "a load moves out of a loop", Rules: append([]string{"missing", "merged"}, order...), step: invariantLoad},
	{Name: "sink-store-from-loop", Doc: "a store moves behind a loop",
		Rules: append([]string{"missing", "merged"}, order...), step: sinkFromLoop},
	{Name: "unroll", Doc: "the second copy of a loop's body has no fence", Rules: lostFence, step: unroll},

	{Name: "if-convert-store", Doc: "a conditional store becomes an unconditional one of the old value",
		Rules: append([]string{"value-changed"}, invented...), step: ifConvertStore},
	{Name: "speculate-store", Doc: "a conditional store loses its condition", Rules: invented,
		step: speculate(func(x *ref) bool { return x.name == "st" })},
	{Name: "speculate-atomic", Doc: "a conditional atomic loses its condition", Rules: invented,
		step: speculate(func(x *ref) bool { return x.name == "atom" || x.name == "red" })},
	{Name: "speculate-load", Doc: "a conditional load is made in front of the order before the condition",
		Rules: append([]string{"control-changed"}, order...), step: speculateLoad},
	{Name: "tail-merge", Doc: "accesses or fences of different strength in two arms become one, the weaker",
		Rules: append([]string{"merged", "control-changed", "missing"}, lostOrder...), step: tailMerge},

	{Name: "load-again", Doc: "a load is made once more in front of its last use",
		Rules: append([]string{"dependency-broken", "value-changed"}, twice...), step: loadAgain},
	{Name: "store-twice", Doc: "a store is made once more behind what follows it", Rules: twice, step: storeTwice},

	{Name: "vector-loads", Doc: "loads of neighbouring words become one across any order", Rules: width,
		step: vectorLoads(looseLoad, anything)},
	{Name: "vector-stores", Doc: "stores of neighbouring words become one across any order", Rules: width,
		step: vectorStores(looseStore, anything)},
	{Name: "vector-strong-loads", Doc: "relaxed loads of neighbouring words become one weak load", Rules: width,
		step: vectorLoads(strongLoad, none)},
	{Name: "vector-strong-stores", Doc: "relaxed stores of neighbouring words become one weak store", Rules: width,
		step: vectorStores(strongStore, none)},
	{Name: "split-load", Doc: "a load of 64 bits becomes two of 32", Rules: width, step: split("ld")},
	{Name: "split-store", Doc: "a store of 64 bits becomes two of 32", Rules: width, step: split("st")},

	{Name: "fence-of-one-location", Doc: "a fence between two accesses of one location is dropped", Rules: lostFence,
		step: rewrite(fenceOfOneLocation)},
	{Name: "merge-fences", Doc: "two fences become one, the weaker", Rules: lostFence, step: mergeFences},
	{Name: "fence-for-stores", Doc: "a sequentially consistent fence in front of a store becomes one of acquire and release",
		Rules: lostFence, step: rewrite(fenceForStores)},
	{Name: "fence-of-neighbour", Doc: "a fence gets the narrow scope of the access beside it", Rules: lostFence,
		step: rewrite(fenceOfNeighbour)},
	{Name: "fence-without-store", Doc: "a fence that no store precedes gets the scope of the CTA", Rules: lostFence,
		step: rewrite(fenceWithoutStore)},
	{Name: "redundant-barrier", Doc: "the second of two barriers with one access in between is dropped",
		Rules: lostFence, step: redundantBarrier},
	{Name: "last-barrier", Doc: "a barrier that no access follows is dropped", Rules: lostFence, step: rewrite(lastBarrier)},
	{Name: "acquire-without-load", Doc: "an acquire that no load follows becomes relaxed", Rules: lostOrder,
		step: rewrite(acquireWithoutLoad)},
	{Name: "acquire-by-control", Doc: "an acquire whose result is branched on becomes relaxed", Rules: lostOrder,
		step: rewrite(acquireByControl)},
	{Name: "release-without-store", Doc: "a release that no store precedes becomes relaxed", Rules: lostOrder,
		step: rewrite(releaseWithoutStore)},
	{Name: "cache-volatile", Doc: "a volatile access becomes a plain one", Rules: lostOrder, step: rewrite(cacheVolatile)},
	{Name: "non-negative", Doc: "the sign of what was loaded is taken for 0", Rules: []string{"dependency-broken"},
		step: rewrite(nonNegative)},

	{Name: "legal-load", Doc: "one weak load for two with nothing in between", Rules: elimination, Legal: true,
		step: redundantLoad(weakLoad, none)},
	{Name: "legal-load-across-release", Doc: "one weak load for two with a release in between", Rules: elimination,
		Legal: true, step: redundantLoad(weakLoad, releases)},
	{Name: "legal-store", Doc: "an overwritten store dropped with nothing in between", Rules: elimination, Legal: true,
		step: deadStore(weakStore, none)},
	{Name: "legal-store-across-acquire", Doc: "an overwritten store dropped across an acquire", Rules: elimination,
		Legal: true, step: deadStore(weakStore, acquires)},
	{Name: "legal-forward", Doc: "a load takes what was just stored", Rules: elimination, Legal: true,
		step: forward(weakStore, weakLoad, none)},
	{Name: "legal-sink-store-acquire", Doc: "a store moves behind an acquire", Rules: order, Legal: true, step: sink(weakStore, acquires)},
	{Name: "legal-hoist-load-release", Doc: "a load moves in front of a release", Rules: order, Legal: true, step: hoist(weakLoad, releases)},
}

package machine

// Rules of Asynchronous, by number in its list.
const (
	asyncThin = iota
	asyncProgram
	asyncIssue
	asyncRelease
	asyncReleaseLoc
	asyncReleaseFence
	asyncAcquire
	asyncAcquireLoc
	asyncAcquireFence
	asyncRed
	asyncChain
	asyncStrong
	asyncRange
	asyncFence
	asyncRestricted
	asyncPhase
	asyncArrival
	asyncArrivalFence
	asyncWaitFence
	asyncCluster
	asyncBarrier
	asyncOwnProxy
	asyncLeave
	asyncEnter
	asyncHalves
	asyncAlias
	asyncObserved
	asyncFuture
	asyncIssued
	asyncStale
	asyncCoherence
	asyncRivals
	asyncExclusive
	asyncWhole
	asyncOnce
	asyncAtomic
)

var asyncRules = []Rule{
	asyncThin: {"values-from-values",
		"an access gets its value when those are known that its address, data and condition need",
		"no-thin-air"},
	asyncProgram: {"program-order",
		"what is settled before an access in its thread is in its past; parts of one access have no order",
		"base-causality: po"},
	asyncIssue: {"issue-and-completion",
		"a copy is performed behind its issue, and what waits for it behind the copy",
		"base-causality: async"},
	asyncRelease: {"release",
		"a release store hands its past on",
		"release pattern"},
	asyncReleaseLoc: {"release-and-store",
		"so does a strong store behind it to the same bytes",
		"release pattern"},
	asyncReleaseFence: {"release-fence",
		"a strong store behind a releasing fence hands on what the fence has",
		"release pattern"},
	asyncAcquire: {"acquire",
		"an acquire load gets what the store that it observes hands on",
		"acquire pattern"},
	asyncAcquireLoc: {"load-and-acquire",
		"so does one behind a strong load of the same bytes, of that load",
		"acquire pattern"},
	asyncAcquireFence: {"acquire-fence",
		"what is behind an acquiring fence gets what the strong loads before the fence observe",
		"acquire pattern"},
	asyncRed: {"red-observes-nothing",
		"the load of a red gets nothing",
		"acquire pattern"},
	asyncChain: {"through-atomics",
		"who observes an atomic's store observes what the atomic read",
		"observation"},
	asyncStrong: {"morally-strong",
		"only strong accesses, or a thread's own, through one proxy and with scopes that contain each other, observe and hand on",
		"morally strong"},
	asyncRange: {"same-bytes",
		"accesses are strong for each other only if they are to the same bytes",
		"same-range"},
	asyncFence: {"sc-fences",
		"a fence.sc gets the past of those settled before it, if their scopes contain each other",
		"fence-sc, sync_fence"},
	asyncRestricted: {"restricted-fences",
		"a fence of some objects hands on, and gets, what is about those alone",
		"covers"},
	asyncPhase: {"phases",
		"an mbarrier counts arrivals and bytes: a wait happens when a phase with its token or parity is complete, the last that is",
		"mbarrier"},
	asyncArrival: {"arrivals",
		"an acquiring wait gets what the releasing arrivals of its phase hand on",
		"arrival; syncmb; wait"},
	asyncArrivalFence: {"arrival-fence",
		"an arrival behind a releasing fence hands on what the fence has",
		"arrival; syncmb; wait"},
	asyncWaitFence: {"wait-fence",
		"what is behind an acquiring fence gets what the waits before the fence see",
		"arrival; syncmb; wait"},
	asyncCluster: {"cluster-barrier",
		"the k-th wait at the barrier of a cluster happens behind the k-th arrivals of all its threads",
		"barrier.cluster"},
	asyncBarrier: {"barrier",
		"who waits at a barrier has the past of those who arrive",
		"syncbar"},
	asyncOwnProxy: {"own-proxy",
		"what goes through one proxy in one CTA needs no fence between",
		"preserved"},
	asyncLeave: {"leave",
		"an access through another proxy than the generic one is known behind a fence of its proxy in its CTA",
		"leave"},
	asyncEnter: {"enter",
		"what is known is known to an access through such a proxy behind a fence of it in its CTA",
		"enter"},
	asyncHalves: {"two-halves",
		"so it is if a thread performs one half of a fence, and the other CTA the other, behind it",
		"handed"},
	asyncAlias: {"alias",
		"by another address of the same memory it is known behind a fence between",
		"ALIAS"},
	asyncObserved: {"observed-stores",
		"a store is known to whoever knows an access that observes it",
		"causality: observation"},
	asyncFuture: {"no-future",
		"a store that settles keeps no promise to a load that it knows",
		"causality: rf"},
	asyncIssued: {"no-future-of-copies",
		"nor to a load in its past, whatever the proxies, if one of the two is an asynchronous copy's",
		"issued"},
	asyncStale: {"no-stale-value",
		"a load does not read what a store that it knows has overwritten",
		"causality: fr"},
	asyncCoherence: {"known-stores-first",
		"a store arrives behind those that it knows",
		"coherence"},
	asyncRivals: {"rivals-in-order",
		"of two stores that are strong for each other the later one to arrive overwrites the other",
		"coherence of strong writes"},
	asyncExclusive: {"atomics-exclude",
		"so it is of atomics of any sizes whose scopes contain each other",
		"exclusive"},
	asyncWhole: {"stores-arrive-whole",
		"all parts of a store arrive at once",
		"coherence-order"},
	asyncOnce: {"loads-see-whole",
		"a load that is strong for a store to the same bytes sees all of it, or nothing",
		"sc-per-location"},
	asyncAtomic: {"atomicity",
		"no store that excludes both halves of an atomic arrives between them",
		"atomicity"},
}

package verify

import "optcheck/ir"

// level is how far apart two threads are: what the narrowest scope is that has both.
type level uint8

const (
	sameBlock level = iota
	sameCluster
	sameGPU
	levels
)

// levelOf is the level up to which a scope reaches.
func levelOf(s ir.Scope) level {
	switch s {
	case ir.CTA:
		return sameBlock
	case ir.Cluster:
		return sameCluster
	}
	return sameGPU
}

// release is a thread's clock at a release, for readers at each level: what a release of narrow scope says reaches only
// readers that are near.
type release struct {
	block int32
	by    id
	at    [levels]*clock // nil: nothing was released so far
}

// message is what the value of a word carries for those who acquire it: the releases of the store that wrote it and of the
// read-modify-writes since. Messages are immutable.
type message struct {
	releases []release
	// said is what fences knew that precede one of these writes: see clock.fenced.
	said *clock
}

// maxReleases is how many releases a message has before those of a block become one.
const maxReleases = 4

// add is the message with a further release; an earlier one of the same thread is part of it.
func (m *message) add(r release, s shape) *message {
	out := &message{}
	if m != nil {
		out.said = m.said
		for _, x := range m.releases {
			if x.by != r.by {
				out.releases = append(out.releases, x)
			}
		}
	}
	if out.releases = append(out.releases, r); len(out.releases) > maxReleases {
		out.compact(s)
	}
	return out
}

// compact makes the releases of each block one.
func (m *message) compact(s shape) {
	of := map[int32]int{}
	var out []release
	for _, r := range m.releases {
		i, ok := of[r.block]
		if !ok {
			of[r.block] = len(out)
			out = append(out, r)
			continue
		}
		for l := range r.at {
			out[i].at[l] = join(out[i].at[l], r.at[l], s)
		}
		out[i].by = id{block: -1} // several threads'
	}
	m.releases = out
}

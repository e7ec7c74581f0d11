package emu

import (
	"fmt"
	"math"

	"optcheck/ir"
)

// An address of shared memory of a cluster has the rank of the block in its top byte, and the place in that block's memory below.
const rankShift = 24

// maxCluster is how many blocks a cluster has at most.
const maxCluster = 16

// cluster is what the threads of a cluster share: its barrier.
type cluster struct {
	blocks  []*Block
	arrived int
	phase   uint64
	waiting map[*Warp]uint32
}

// cluster is the size of clusters: one block where the launch has none.
func (l *Launch) cluster() [3]int {
	if l.Cluster == [3]int{} {
		return [3]int{1, 1, 1}
	}
	return l.Cluster
}

func (l *Launch) clusterBlocks() int { c := l.cluster(); return c[0] * c[1] * c[2] }

// clustered reports whether blocks can address each other's shared memory.
func (l *Launch) clustered() bool { return l.Cluster[0]*l.Cluster[1]*l.Cluster[2] > 1 }

func (l *Launch) checkCluster() error {
	for i, n := range l.cluster() {
		if n < 1 || n > maxCluster || l.Grid[i]%n != 0 {
			return fmt.Errorf("a launch of grid %v in clusters of %v: whole clusters of at most %d blocks are possible", l.Grid, l.Cluster, maxCluster)
		}
	}
	if l.clusterBlocks() > maxCluster {
		return fmt.Errorf("a launch in clusters of %v: at most %d blocks are possible", l.Cluster, maxCluster)
	}
	return nil
}

// ctaid is the place of a block in the grid.
func (l *Launch) ctaid(block int) [3]int {
	return [3]int{block % l.Grid[0], block / l.Grid[0] % l.Grid[1], block / l.Grid[0] / l.Grid[1]}
}

// rank is the number of a block in its cluster.
func (l *Launch) rank(block int) int {
	c, at := l.cluster(), l.ctaid(block)
	return at[0]%c[0] + c[0]*(at[1]%c[1]+c[1]*(at[2]%c[2]))
}

// member is the block of a rank in the cluster of a block.
func (l *Launch) member(block, rank int) int {
	c, at := l.cluster(), l.ctaid(block)
	x, y, z := at[0]-at[0]%c[0]+rank%c[0], at[1]-at[1]%c[1]+rank/c[0]%c[1], at[2]-at[2]%c[2]+rank/c[0]/c[1]
	return x + l.Grid[0]*(y+l.Grid[1]*z)
}

// clusterOf finds the cluster of a block, or makes it.
func (l *Launch) clusterOf(all map[int]*cluster, block int) *cluster {
	first := l.member(block, 0)
	if all[first] == nil {
		all[first] = &cluster{waiting: map[*Warp]uint32{}}
	}
	return all[first]
}

// shared is the place of an address of the cluster's shared memory, for a thread of a block: in its own memory as it is, in that of
// another block with the block's number above. What is no rank of the cluster stays as it is: nothing lies there.
func (l *Launch) shared(addr uint64, block int) uint64 {
	rank, off := int(addr>>rankShift), addr&(1<<rankShift-1)
	if !l.clustered() || rank >= l.clusterBlocks() {
		return addr
	}
	if m := l.member(block, rank); m != block {
		return uint64(m+1)<<32 | off
	}
	return off
}

// own is what the address of a variable of shared memory has above its place: the rank of the block.
func (w *Warp) own(symbol string) uint64 {
	if !w.Launch.clustered() {
		return 0
	}
	for i := range w.Code.P.Vars {
		if v := &w.Code.P.Vars[i]; v.Name == symbol && v.Space == ir.Shared {
			return uint64(w.Launch.rank(w.block)) << rankShift
		}
	}
	return 0
}

// inverse is 1/n as f32, rounded up: code that divides a number of a block by it gets the quotient.
func inverse(n int) uint64 {
	f := float32(1) / float32(n)
	if float64(f)*float64(n) < 1 {
		f = math.Nextafter32(f, 2)
	}
	return uint64(math.Float32bits(f))
}

// The numbers that events of barriers of clusters have.
const (
	clusterArrived = 16
	clusterWaited  = 17
)

// ClusterEvent is the number of the barrier in the event of an operation on a cluster's.
func ClusterEvent(k ir.BarrierKind) uint64 {
	if k == ir.BarrierClusterArrive {
		return clusterArrived
	}
	return clusterWaited
}

// clusterBarrier is barrier.cluster of a launch with clusters. It reports whether lanes wait.
func (g *Grid) clusterBarrier(w *Warp, pc int32, b *ir.Barrier, act uint32) (wait bool) {
	c := w.Data.(*Block).cluster
	ready := uint32(0)
	g.lanesOf(act, func(l int) {
		r, t := g.record(w, l), w.Threads[l]
		e := Event{Kind: EventBarrier, Inst: pc, Scope: ir.Cluster, ID: ClusterEvent(b.Kind), Barrier: b.Kind}
		switch {
		case b.Kind == ir.BarrierClusterArrive:
			if b.Sem == ir.Release && !w.Code.P.Machine { // machine code has a fence of its own
				g.sync(r, Event{Kind: EventFence, Inst: pc, Sem: ir.Release, Scope: ir.Cluster})
			}
			g.sync(r, e)
			t.phase = c.phase + 1
			c.arrived++
		case t.phase <= c.phase:
			g.sync(r, e)
			ready |= 1 << l
		default:
			r.pending = &e
			c.waiting[w] |= 1 << l
		}
	})
	if b.Kind == ir.BarrierClusterArrive {
		g.openCluster(c)
		return false
	}
	if wait = ready != act; wait {
		w.Wake(ready)
	}
	return wait
}

// openCluster ends the phase of a cluster's barrier if all its threads have arrived.
func (g *Grid) openCluster(c *cluster) {
	n := 0
	for _, b := range c.blocks {
		n += b.needs(0)
	}
	if c.arrived == 0 || c.arrived < n {
		return
	}
	c.arrived = 0
	c.phase++
	for _, b := range c.blocks {
		for _, w := range b.warps {
			mask := c.waiting[w]
			delete(c.waiting, w)
			for x := mask; x != 0; x &= x - 1 {
				g.went(g.record(w, lowest(x)))
			}
			w.Wake(mask)
		}
	}
}

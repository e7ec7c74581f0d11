package refine

import (
	"encoding/binary"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

// Input is a launch with all that it reads: everything follows from the seed.
type Input struct {
	Seed  uint64 `json:"seed"`
	Grid  [3]int `json:"grid"`
	Block [3]int `json:"block"`
	// Cluster is the size of clusters in blocks; zero if the launch has none.
	Cluster [3]int `json:"cluster,omitzero"`
	// Started, if not 0, is how many blocks run: the first ones of a grid that is larger.
	Started int `json:"started,omitempty"`
	// Params are the kernel's parameters. Behind them may be what constant variables hold that a host writes: see hosted.
	Params []byte `json:"params"`
	// Dynamic is the size of dynamic shared memory in bytes.
	Dynamic int64      `json:"dynamic,omitempty"`
	Memory  []Contents `json:"memory,omitempty"`
	// Vars are the addresses of the program's variables.
	Vars map[string]uint64 `json:"vars,omitempty"`
	// World is how numbers are chosen of which nothing is known: see the constants.
	World World `json:"world,omitempty"`
	// Shared tells that shared memory has a content before the first thread runs: that of a litmus test has.
	Shared bool `json:"shared,omitempty"`
	// Floats are floating-point numbers that the program compares with, as f64, of a world that asks for them.
	Floats []uint64 `json:"floats,omitempty"`
	// Functions are the addresses of functions that memory holds where the program calls what it holds.
	Functions []uint64 `json:"functions,omitempty"`
	// Flag, if not 0, is what half of the words hold through which threads synchronise; others hold 0 and small numbers.
	Flag uint32 `json:"flag,omitempty"`
	// Swaps are words that memory holds in the place of others before the first thread runs.
	Swaps []Swap `json:"swaps,omitempty"`
}

// Swap is a word in the place of another one.
type Swap struct{ From, To uint32 }

// World is a way to choose numbers of which nothing is known.
type World int

// The worlds, in the order in which they are tried: a program that faults in one may not in the next.
const (
	Small    World = iota // any small ones
	Aligned               // multiples of 16: as indices they keep the alignment of vectors
	Pointing              // those, and eight bytes are a pointer
	Binary                // pointers, and numbers are 0 or 1
	Worlds                // how many there are
)

// Worlds in which numbers fit each other: they are not tried for a program that faults, but to see what rests on the numbers.
const (
	Alike   World = Worlds + iota // all numbers are that of the threads of a block
	Rising                        // each number is twice the one before
	Equal                         // of each kind memory holds the same word everywhere: lanes agree on what they load
	Extreme                       // floating-point numbers of any size, and those that the program compares with
	Zero                          // those in memory are 0
	Sorted                        // those in memory grow, or shrink: see sorted
)

// points reports whether eight bytes of which nothing is known are a pointer.
func (w World) points() bool { return w == Pointing || w == Binary }

// Contents is what a buffer holds.
type Contents struct {
	Addr uint64 `json:"addr"`
	Data []byte `json:"data"`
}

// heap is where made-up pointers point to: pages of 4 KiB; global is where variables begin, buffers where the
// buffers of parameters do, shared where those in shared memory do.
const (
	heap    = 0x7f10_0000_0000
	pages   = 61
	buffers = 0x7f00_0000_0000
	buffer  = 1 << 24
	global  = 0x7f20_0000_0000
	shared  = 0x4000
)

// random is SplitMix64.
type random uint64

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	return hash(uint64(*r))
}

func (r *random) below(n int) int { return int(r.next() % uint64(n)) }

func hash(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// edges are numbers at which arithmetic changes.
var edges = [...]uint32{0x80000000, 0x7fffffff, 0xffffffff, 0x80000001, 0xfffffffe, 0x8000, 0x7fff, 0x80008000, 0x7fff7fff, 0x10000, 0x80, 1}

// first makes the first content of words.
func (in *Input) first(fill uint64) func(emu.Word, emu.Kind) uint32 {
	made := in.made(fill)
	if len(in.Swaps) == 0 {
		return made
	}
	return func(w emu.Word, k emu.Kind) uint32 {
		v := made(w, k)
		for _, s := range in.Swaps {
			if v == s.From && k != emu.Pointer && k != emu.Shared && k != emu.Function {
				v = s.To
			}
		}
		return v
	}
}

// made is first without swaps.
func (in *Input) made(fill uint64) func(emu.Word, emu.Kind) uint32 {
	return func(w emu.Word, k emu.Kind) uint32 {
		switch {
		case w.Shared() && !in.Shared:
			return uint32(fill) // nobody wrote it: undefined
		case w.Addr()>>32 == emu.Workspace>>32:
			return 0
		case k == emu.Integer64 && in.World.points():
			k = emu.Pointer
		}
		if in.World == Equal {
			w &= 1
		}
		low := w&1 == 0
		pair := hash(hash(uint64(w&^1)) ^ in.Seed)
		x := hash(hash(uint64(w)) ^ in.Seed)
		if in.World == Sorted && k <= emu.Float64 {
			return in.sorted(w, k)
		}
		switch k {
		case emu.Float32, emu.Float64, emu.Float16:
			switch in.World {
			case Extreme:
				return in.extreme(k, low, pair, x)
			case Zero:
				return 0
			}
			return float(k, low, pair, x)
		case emu.Function:
			a := in.function(pair)
			return uint32(a >> (uint64(w&1) * 32))
		case emu.Pointer, emu.Shared, emu.Index, emu.Index64, emu.Offset:
			return in.addressing(k, low, pair, x)
		case emu.Flag: // free locks, flags that are not set, counters at their beginning
			switch {
			case in.Flag != 0 && x>>33&1 == 0:
				return in.Flag
			case x>>40&7 != 0:
				return 0
			}
			return uint32(x>>20) & 3
		}
		return in.integer(k, low, x)
	}
}

// function is the address of one of the functions that the program calls through registers; nobody's if there is none.
func (in *Input) function(x uint64) uint64 {
	if len(in.Functions) == 0 {
		return heap
	}
	return in.Functions[x%uint64(len(in.Functions))]
}

// callable are the addresses of the functions that a program may call through registers.
func callable(p *ir.Program) (out []uint64) {
	for i := range p.Insts {
		f, ok := p.Insts[i].Do.(*ir.Flow)
		if !ok || f.Kind != ir.CallAt {
			continue
		}
		for k := range p.Funcs {
			if to := &p.Funcs[k]; k > 0 && to.Signature == f.Signature {
				out = append(out, p.Functions[to.Name])
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// addressing is a word of an address, or of a part of one.
func (in *Input) addressing(k emu.Kind, low bool, pair, x uint64) uint32 {
	a := uint64(heap) + pair%pages*4096
	switch {
	case k == emu.Pointer && low:
		return uint32(a)
	case k == emu.Pointer:
		return uint32(a >> 32)
	case k == emu.Shared && low:
		return shared + uint32(pair%pages)*16
	case k == emu.Shared:
		return 0
	case k == emu.Offset:
		return uint32(x%61) * 16
	case k == emu.Index64 && !low:
		return 0
	}
	switch in.World {
	case Binary:
		return uint32(x % 2 * 16)
	case Aligned, Pointing:
		return uint32(x % 16 * 64)
	case Equal:
		return uint32(x % 16 * 4)
	}
	return uint32(x % 61 * 4)
}

// integer is a word of a number of which nothing is known.
func (in *Input) integer(k emu.Kind, low bool, x uint64) uint32 {
	if wild := in.Seed%3 == 2 && in.World == Small; wild {
		switch {
		case k == emu.Bytes8 || k == emu.Bytes16 || k == emu.Integer64:
			return uint32(x)
		case x>>53&3 == 0:
			return edges[x>>20%uint64(len(edges))]
		case x>>50&1 == 1:
			return uint32(x)
		}
		return uint32(x % 300)
	}
	switch {
	case k == emu.Bytes8:
		return uint32(x) & 0x0f3f0f3f
	case k == emu.Bytes16:
		return uint32(x) & 0x000f003f
	case k == emu.Integer64 && !low:
		return 0
	case x>>40&7 == 0:
		return uint32(x >> 20 & 1)
	case in.World == Binary:
		return uint32(x & 1)
	case in.World == Aligned || in.World == Pointing:
		return uint32(x % 5 * 16)
	}
	return uint32(x % 47)
}

// most is the greatest constant of a program that is tried as a number without a reason.
const most = 4096

// choose makes the input of a seed for a program, of which machine is the code: constants that they compare with, and their
// neighbours, are likely values.
func choose(p *ir.Program, kind map[int32]emu.Kind, shape [2][3]int, seed uint64, world World) *Input {
	r := random(seed)
	in := &Input{Seed: seed, Grid: shape[0], Block: shape[1], Cluster: p.Cluster, World: world}
	if in.Block == ([3]int{}) {
		in.Grid, in.Block = [3]int{2, 1, 1}, [3]int{64, 1, 1}
		switch {
		case p.Block != [3]int{}:
			in.Block = p.Block
		case seed%4 == 3:
			in.Block = [3]int{128, 1, 1}
		}
		if in.Cluster == [3]int{} && seed%4 != 3 && clusters(p) {
			in.Cluster = [3]int{2, 1, 1}
		}
		for i, n := range in.Cluster { // whole clusters
			in.Grid[i] *= max(n, 1)
		}
	}
	if world == Extreme {
		in.Floats = floats(p)
	}
	in.Functions = callable(p)
	vars := slices.Clone(p.Params)
	if seed%4 != 1 { // else the host has written none
		vars = append(vars, hosted(p)...)
	}
	in.Params = make([]byte, size(vars))
	used, number := paramKinds(p, kind), 0
	likely := slices.DeleteFunc(constants(p), func(v uint64) bool { return v > most }) // greater ones make loops without an end
	for i, v := range vars {
		b := in.Params[v.Offset : v.Offset+v.Size]
		for at := 0; at < len(b); at += 4 {
			u, known := used[v.Offset+int64(at)]
			if world.points() && at%8 == 0 && (!known || u.kind == emu.Integer64) {
				u.kind = emu.Pointer
			}
			switch {
			case u.kind == emu.Pointer && at+8 <= len(b):
				binary.LittleEndian.PutUint64(b[at:], buffers+uint64(i)*buffer+uint64(at)*4096)
				at += 4
			case u.kind == emu.Function && at+8 <= len(b):
				binary.LittleEndian.PutUint64(b[at:], in.function(r.next()))
				at += 4
			case u.kind == emu.Shared:
				put(b[at:], SharedParam(i))
				at += max(u.bytes-4, 0)
			case u.kind == emu.Float64 && at+8 <= len(b):
				binary.LittleEndian.PutUint64(b[at:], 0x3ff0000000000000+r.next()>>20)
				at += 4
			default:
				put(b[at:], scalar(&r, u.kind, likely, in, number))
				number++
				if u.bytes == 8 || !known && at%8 == 0 && len(b) > 8 && seed%2 == 0 {
					at += 4 // the high word stays 0, which may be one
				}
			}
		}
	}
	return in
}

// SharedParam is the address in shared memory that is chosen for parameter number i.
func SharedParam(i int) uint32 { return shared + uint32(i)*256 }

// clusters reports whether a program has something to do with other blocks of its cluster.
func clusters(p *ir.Program) bool {
	return slices.ContainsFunc(p.Insts, func(in ir.Inst) bool {
		switch do := in.Do.(type) {
		case *ir.Barrier:
			return do.Kind >= ir.BarrierCluster
		case *ir.Special:
			return do.Reg == ir.ClusterCtarank || do.Reg == ir.ClusterNctarank
		}
		return false
	})
}

func put(b []byte, v uint32) {
	var w [4]byte
	binary.LittleEndian.PutUint32(w[:], v)
	copy(b, w[:])
}

// rising is how often numbers double in the world Rising.
const rising = 8

// scalar is the value of a parameter that is no address: number so many of them come before it.
func scalar(r *random, k emu.Kind, likely []uint64, in *Input, number int) uint32 {
	switch k {
	case emu.Float32:
		if in.World == Extreme && r.below(2) == 0 {
			return edges32[r.below(len(edges32))]
		} else if in.World == Extreme {
			return in.extreme(k, true, 0, r.next())
		}
		return 0x3f800000 + uint32(r.next()>>44)
	case emu.Offset:
		return uint32(r.below(61)) * 16
	}
	switch in.World {
	case Binary:
		return uint32(r.below(2))
	case Aligned, Pointing:
		return uint32(1+r.below(8)) * 16
	case Alike:
		return uint32(in.Block[0] * in.Block[1] * in.Block[2])
	case Rising:
		return 16 << (number % rising)
	}
	n := in.Grid[0] * in.Block[0]
	switch r.below(8) {
	case 0:
		return uint32(n)
	case 1:
		return uint32(n - 5)
	case 2:
		return uint32(in.Block[0])
	case 3, 4:
		if len(likely) > 0 {
			return uint32(likely[r.below(len(likely))]) + uint32(r.below(3)) - 1
		}
		return uint32(r.below(64))
	case 5:
		return uint32(r.below(5))
	case 6:
		return uint32(r.below(200))
	}
	return 32
}

type paramUse struct {
	kind  emu.Kind
	bytes int
}

// ParamReads are the bytes that a program reads of its parameters at once, by place, as far as places are known.
func ParamReads(p *ir.Program) map[int64]int64 {
	out := map[int64]int64{}
	for at, u := range paramKinds(p, nil) {
		out[at] = int64(u.bytes)
	}
	return out
}

// paramKinds says what parameters are used for, by offset.
func paramKinds(p *ir.Program, kind map[int32]emu.Kind) map[int64]paramUse {
	out, value := map[int64]paramUse{}, settled(p)
	for i := range p.Insts {
		a, ok := p.Insts[i].Do.(*ir.Access)
		if !ok || a.Space != ir.Param {
			continue
		}
		base, fixed := value[a.Addr]
		if a.Addr >= 0 && !fixed {
			continue
		}
		k, ok := kind[int32(i)]
		if !ok {
			k = emu.KindOf(a)
		}
		for e := range a.Elems {
			at := int64(base) + a.Offset + int64(e*a.Bytes)
			if u, ok := out[at]; !ok || u.kind != emu.Pointer {
				out[at] = paramUse{k, a.Bytes}
			}
		}
	}
	hostedKinds(p, kind, out)
	return out
}

func size(params []ir.Var) (n int64) {
	for _, v := range params {
		n = max(n, v.Offset+v.Size)
	}
	return min((n+7)&^7, mostParams)
}

// mostParams bounds the bytes of parameters, with what stands behind them.
const mostParams = 1 << 15

// constants are what comparisons compare with.
func constants(p *ir.Program) []uint64 {
	value := values(p)
	var out []uint64
	for i := range p.Insts {
		for k := range p.Insts[i].Pre {
			o := &p.Insts[i].Pre[k]
			if o.Code != ir.Cmp || o.Type.Float() {
				continue
			}
			for _, s := range o.Src[:2] {
				if v, ok := value[s]; ok && v < 1<<31 && !slices.Contains(out, v) {
					out = append(out, v)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// settled are the registers that hold a number wherever the program reads them: those that hold it for ever, and copies and sums of them that
// are made in one place.
func settled(p *ir.Program) map[ir.Reg]uint64 {
	out, writes := values(p), map[ir.Reg]int{}
	for i := range p.Insts {
		in := &p.Insts[i]
		for _, r := range in.Written() {
			writes[r]++
		}
		for k := range in.Pre {
			if in.Do != nil {
				writes[in.Pre[k].Dst]++
			}
		}
	}
	for i := range p.Insts {
		operations(p, int32(i), func(_ site, o *ir.Op) {
			var of [4]uint64
			known := p.Insts[i].Guard < 0 && writes[o.Dst] == 1 && !o.Type.Float() && (o.Code == ir.Mov || o.Code == ir.Add || o.Code == ir.Sub)
			for n, r := range o.Src {
				if r >= 0 && known {
					of[n], known = out[r]
				}
			}
			if known {
				out[o.Dst] = ir.Eval(o, &of, 0)
			}
		})
	}
	return out
}

// values are the registers that hold numbers for ever.
func values(p *ir.Program) map[ir.Reg]uint64 {
	out := map[ir.Reg]uint64{}
	for _, c := range p.Consts {
		if c.Symbol == "" && c.Bytes == 0 && c.Window == ir.Generic && c.Mbarrier == 0 {
			out[c.Reg] = c.Value
		}
	}
	return out
}

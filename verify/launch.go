package verify

import (
	"encoding/binary"
	"fmt"
	"time"

	"optcheck/emu"
	"optcheck/ir"
	"optcheck/ptx"
	"optcheck/refine"
)

// Launch is how a kernel is to be started. What it leaves open is chosen.
type Launch struct {
	Grid, Block [3]int
	// Cluster is the size of clusters in blocks; zero: what the kernel asks for.
	Cluster [3]int
	// Dynamic is the size of dynamic shared memory in bytes.
	Dynamic int64
	Args    []Arg
}

// Arg is a parameter of the kernel: a number, or the address of a buffer.
type Arg struct {
	// Name is that of the parameter, or its number.
	Name string
	// Value is the number; Number, if not "", is it as text: an integer, or a number with a point or exponent.
	Value  uint64
	Number string
	// Buffer tells that it is the address of a buffer that begins with Data and has Bytes bytes; the same number of two
	// parameters that it is the same one.
	Buffer bool
	// Tensor is, of the map of a tensor, how many bytes its boxes have.
	Tensor int64
	Bytes  int64
	Data   []byte
	Same   string
}

// Options say how much is tried.
type Options struct {
	Launch Launch
	Seed   uint64
	// Inputs and Schedules are how many of each are run; 0: 2 inputs, 4 schedules.
	Inputs, Schedules int
	// Steps bounds the instructions of threads of a run; 0: 1<<24, or 1<<26 if no value is chosen.
	Steps int64
	// Until is when all must be at its end: what is not done by then is unknown. Zero: whenever it is.
	Until time.Time
	// CUDA tells that the program was written in CUDA C++, whose __syncthreads() all threads of a block must reach alike.
	CUDA bool
	// Params are the names that the source gives the parameters; they may be used in Args. Without them those of the PTX are.
	Params []string
	// Unmended leaves out the search for what would mend a race.
	Unmended bool
	// Executions runs again what showed a race, and keeps what its threads did.
	Executions bool

	// Progress, if not nil, is told how many of the runs are done.
	Progress func(done, total int)

	watch func(*monitor)
}

// Line is where an instruction stands: the line of the PTX, and of the source that it was made of.
type Line struct {
	Line   int
	File   string
	Source int
	Col    int
}

// String is the line that an author knows: that of the source, else that of the PTX; "" if there is neither.
func (l Line) String() string {
	switch {
	case l.Source > 0:
		return fmt.Sprintf("%s:%d", l.File, l.Source)
	case l.Line > 0:
		return fmt.Sprintf("PTX line %d", l.Line)
	}
	return ""
}

// Lines are those of a module, by number of the instruction.
type Lines map[int]Line

func (l Lines) at(n int) Line { return l[n] }

// LinesOf takes the lines from a module.
func LinesOf(m *ptx.Module) Lines {
	out := Lines{}
	for _, f := range m.Funcs {
		for i := range f.Body {
			if in := f.Body[i].Inst; in != nil {
				out[in.N] = Line{in.Pos.Line, in.Loc.File, in.Loc.Line, in.Loc.Col}
			}
		}
	}
	return out
}

// bufferBase is where buffers that were given lie, so far apart that none is near another.
const (
	bufferBase = 0x7f40_0000_0000
	bufferStep = 1 << 32
	// tensorBase is where maps of tensors lie.
	tensorBase = 0x7f38_0000_0000
	// pointed is where parameters point to that turned out to be pointers.
	pointed = 0x7f30_0000_0000
)

// choice is how what was not given is chosen: numbers and contents in a world, and parameters that are pointers, by offset.
type choice struct {
	world    refine.World
	pointers []int64
	// number, if not nil, is what an input is directed to.
	number *number
	// shape is the launch, if another one than usual is tried.
	shape shaped
	// boxes are the sizes of boxes of tensors, by the places of their maps.
	boxes map[emu.Place]uint64
	// filled tells that buffers of zeros hold something else.
	filled bool
	// content is what words of memory hold that nobody gave.
	content content
}

// content is how the integers of memory are chosen that nobody gave.
type content uint8

const (
	anyhow content = iota
	zeros
	rising // 0, 1, 2 and so on: no two of a buffer are the same
)

// String says what memory holds.
func (c content) String() string {
	return [...]string{"", "memory that holds 0", "memory that holds 0, 1, 2, …"}[c]
}

// shaped are the grid and block of a launch.
type shaped struct{ grid, block [3]int }

// input makes the input of a seed.
func (o *Options) input(p *ir.Program, seed uint64, c choice) (in *refine.Input, buffers []region, err error) {
	l := &o.Launch
	grid, block := l.Grid, l.Block
	if c.shape != (shaped{}) {
		grid, block = c.shape.grid, c.shape.block
	}
	in = refine.ChooseIn(p, grid, block, seed, c.world)
	for _, at := range c.pointers {
		binary.LittleEndian.PutUint64(in.Params[at:], pointed+uint64(at)<<21)
	}
	if c.number != nil {
		c.number.put(in)
	}
	in.Dynamic = l.Dynamic
	apart(p, in)
	at := map[string]uint64{}
	for i := range l.Args {
		a := &l.Args[i]
		n, place, size, err := o.place(p, a)
		if err != nil {
			return nil, nil, err
		}
		value := a.Value
		if a.Tensor > 0 && p.Params[n].Size > 8 { // the map itself
			continue
		}
		if a.Buffer {
			key := a.Same
			if key == "" {
				key = a.Name
			}
			if at[key] == 0 {
				at[key] = bufferBase + uint64(len(buffers))*bufferStep
				buffers = append(buffers, region{o.bufferName(p, n, a), at[key], at[key] + uint64(a.Bytes)})
				if data := make([]byte, a.Bytes); copy(data, a.Data) > 0 || !c.filled {
					in.Memory = append(in.Memory, refine.Contents{Addr: at[key], Data: data})
				}
			}
			value = at[key]
		}
		if a.Tensor > 0 {
			value = tensorBase + uint64(n)*bufferStep
		}
		if size > 8 {
			return nil, nil, fmt.Errorf("parameter %s has %d bytes; what can be given has up to 8: give a part, %[1]s+OFFSET=…", a.Name, size)
		}
		if a.Number != "" {
			if value, err = Number(a.Number, size); err != nil {
				return nil, nil, fmt.Errorf("parameter %s: %w", a.Name, err)
			}
		}
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], value)
		copy(in.Params[place:place+size], word[:])
	}
	return in, buffers, nil
}

// sharedStep is how far apart parameters that are addresses of shared memory lie.
const sharedStep = 1 << 20

// apart gives parameters that are addresses of shared memory, as dynamic arrays of OpenCL C are, room for themselves.
func apart(p *ir.Program, in *refine.Input) {
	for i, v := range p.Params {
		b := in.Params[v.Offset:min(v.Offset+v.Size, int64(len(in.Params)))]
		if len(b) < 4 || binary.LittleEndian.Uint32(b) != refine.SharedParam(i) || len(b) == 8 && binary.LittleEndian.Uint32(b[4:]) != 0 {
			continue
		}
		binary.LittleEndian.PutUint32(b, sharedStep*uint32(i+1))
	}
}

// given reports whether all parameters were given.
func (o *Options) given(p *ir.Program) bool {
	for i := range p.Params {
		if !o.isGiven(p, i) {
			return false
		}
	}
	return true
}

// numbers reports whether a number was chosen for a parameter: what follows from it, the program may exclude.
func (o *Options) numbers(p *ir.Program, in *refine.Input) bool {
	for i, v := range p.Params {
		b := in.Params[v.Offset:min(v.Offset+v.Size, int64(len(in.Params)))]
		if !o.isGiven(p, i) && (len(b) != 8 || binary.LittleEndian.Uint64(b) < 1<<32) {
			return true
		}
	}
	return false
}

// pointed are where the parameters that were chosen point to.
func (o *Options) pointed(p *ir.Program, in *refine.Input) (out []region) {
	for i, v := range p.Params {
		for at := v.Offset; at+slotBytes <= min(v.Offset+v.Size, int64(len(in.Params))); at += slotBytes {
			name := parameter(o.param(p, i))
			if at > v.Offset {
				name = fmt.Sprintf("%s (byte %d)", name, at-v.Offset)
			}
			if a := binary.LittleEndian.Uint64(in.Params[at:]); !o.isGiven(p, i) && a >= 1<<32 {
				out = append(out, region{name, a, a})
			}
		}
	}
	return out
}

// chosen names what of a launch was chosen.
func (o *Options) chosen(p *ir.Program) (out []string) {
	if o.Launch.Block == ([3]int{}) {
		out = append(out, "grid and block")
	}
	for i := range p.Params {
		if !o.isGiven(p, i) {
			out = append(out, parameter(o.param(p, i)))
		}
	}
	return out
}

// first makes the content of memory that was not given: flags are not set, and locks are free. What else is made up is a
// choice.
func (f *findings) first(was func(emu.Word, emu.Kind) uint32) func(emu.Word, emu.Kind) uint32 {
	return func(w emu.Word, k emu.Kind) uint32 {
		if k == emu.Flag {
			return 0
		}
		f.chosen = f.chosen || !w.Shared()
		return was(w, k)
	}
}

// countedBytes is from where on words of memory that counts up are numbered anew.
const countedBytes = 1 << 21

// first makes the integers of memory that was not given zero, or count up: as indices they lead to different places, as bounds to ranges
// that do not overlap.
func (c content) first(was func(emu.Word, emu.Kind) uint32) func(emu.Word, emu.Kind) uint32 {
	return func(w emu.Word, k emu.Kind) uint32 {
		n := uint32(w.Addr()%countedBytes) / 4
		switch integer := k == emu.Integer || k == emu.Index; {
		case w.Shared() || !integer:
		case c == zeros:
			return 0
		case c == rising && k == emu.Index:
			return 4 * n
		case c == rising:
			return n
		}
		return was(w, k)
	}
}

// After runs a kernel once, and gives what its buffers hold then, by their names: what a launch that follows begins with.
func After(m *ptx.Module, kernel string, o *Options) (map[string][]byte, error) {
	p, err := lowered(m, kernel, &o.Launch)
	if err != nil {
		return nil, err
	}
	in, buffers, err := o.input(p, o.Seed, choice{})
	if err != nil {
		return nil, err
	}
	g, err := refine.Grid(p, in, emu.Policy{MaxSteps: o.Steps, Products: true}, false)
	if err != nil {
		return nil, err
	}
	g.Memory.Forget = true
	if err := g.Run(); err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for _, b := range buffers {
		out[b.name] = g.Memory.Bytes(b.from, int(b.to-b.from))
	}
	return out, nil
}

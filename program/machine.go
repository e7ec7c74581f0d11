package program

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"optcheck/runner"
)

// Machine runs variants of a program on a device.
type Machine struct {
	P    *Program
	S    runner.Session
	Road Road

	epoch    int
	buffers  map[string]memory
	scratch  runner.Buffer
	room     uint32 // of scratch, in bytes
	log      runner.Buffer
	logBytes uint64
	checks   *Variant
	alone    time.Duration   // of a run without stress, measured once
	memory   []runner.Buffer // all of it
}

// memory is a buffer of the program and what it is set back to, both with guard words
// behind.
type memory struct {
	of        *Buffer
	now, from runner.Buffer
}

// guardBytes are behind each buffer; a run that changes them is wrong.
const guardBytes = 256

const guardWord = 0xa5c35a3c

func (m memory) bytes() uint64 { return m.of.Bytes() + guardBytes }

// Variant is a program with fences, loaded.
type Variant struct {
	Build  *Build
	Stress bool

	module  runner.Module
	kernels map[string]runner.Kernel
}

// Sizes of memory beside the program's.
const (
	minScratch = 1 << 20
	maxScratch = 128 << 20
	maxLog     = 16 << 20
	lanesRoom  = 1 << 16 // lanes go beyond the last line
	maxRuns    = 512     // of a batch
)

// NewMachine takes memory on a device, loads what checks, and makes sure that the
// post-condition can fail.
func NewMachine(ctx context.Context, p *Program, s runner.Session, road Road) (*Machine, error) {
	m := &Machine{P: p, S: s, Road: road, epoch: -1, buffers: map[string]memory{}, room: minScratch}
	for m.room < maxScratch && uint64(m.room) < s.Device().L2 {
		m.room *= 2
	}
	if err := m.prepare(ctx); err != nil {
		return nil, errors.Join(err, m.Close(ctx))
	}
	return m, nil
}

func (m *Machine) prepare(ctx context.Context) (err error) {
	for i := range m.P.Buffers {
		b := memory{of: &m.P.Buffers[i]}
		if b.now, err = m.alloc(ctx, b.bytes()); err != nil {
			return err
		}
		if b.from, err = m.alloc(ctx, b.bytes()); err != nil {
			return err
		}
		m.buffers[b.of.Name] = b
	}
	m.logBytes = max(min(maxLog, maxRuns*m.slot()), m.slot())
	if m.log, err = m.alloc(ctx, m.logBytes); err != nil {
		return err
	}
	if m.checks, err = m.Load(ctx, nil, false); err != nil {
		return err
	}
	return m.control(ctx)
}

// Close gives back what the machine has on its device.
func (m *Machine) Close(ctx context.Context) (err error) {
	for _, b := range m.memory {
		err = errors.Join(err, m.S.Free(ctx, b))
	}
	m.memory = nil
	if m.checks != nil {
		err = errors.Join(err, m.Unload(ctx, m.checks))
	}
	return err
}

// alloc takes memory.
func (m *Machine) alloc(ctx context.Context, bytes uint64) (runner.Buffer, error) {
	b, err := m.S.Alloc(ctx, 0, bytes)
	if err == nil {
		m.memory = append(m.memory, b)
	}
	return b, err
}

// Load builds and loads a variant.
func (m *Machine) Load(ctx context.Context, fences Fences, stress bool) (*Variant, error) {
	b, err := m.Road.Build(ctx, fences, stress)
	if err == nil && stress && m.scratch == 0 {
		m.scratch, err = m.alloc(ctx, uint64(m.room)+lanesRoom)
	}
	if err != nil {
		return nil, err
	}
	v := &Variant{Build: b, Stress: stress, kernels: map[string]runner.Kernel{}}
	if v.module, err = m.S.Load(ctx, b.Image); err != nil {
		return nil, err
	}
	launches := m.P.Launches
	if !stress && len(fences) == 0 {
		for i := range m.P.Check {
			if l := m.P.Check[i].Launch; l != nil {
				launches = append(launches[:len(launches):len(launches)], *l)
			}
		}
	}
	for i := range launches {
		name := launches[i].Kernel
		if _, ok := v.kernels[name]; ok {
			continue
		}
		k, info, err := m.S.Kernel(ctx, v.module, name)
		if err != nil {
			return nil, fmt.Errorf("kernel %s: %w", name, err)
		}
		if n := len(launches[i].Args); info.Params >= 0 && info.Params != n+b.Extra {
			return nil, fmt.Errorf("kernel %s takes %d arguments, its launch has %d", name, info.Params-b.Extra, n)
		}
		v.kernels[name] = k
	}
	return v, nil
}

// Unload forgets a variant.
func (m *Machine) Unload(ctx context.Context, v *Variant) error { return m.S.Unload(ctx, v.module) }

// control makes sure that the post-condition can fail: it must not hold on buffers
// that no launch has touched.
func (m *Machine) control(ctx context.Context) error {
	out, err := m.batch(ctx, nil, nil, 1)
	switch {
	case err != nil && !runner.Lost(err):
		return err
	case err != nil:
		return fmt.Errorf("the post-condition, before the program has run: %w", err)
	case out[0].Kind == Right:
		return errors.New("the post-condition holds before the program has run: it would say nothing")
	case out[0].Kind == Overrun:
		return fmt.Errorf("the post-condition writes beyond a buffer: %s", out[0].Detail)
	}
	return nil
}

// Kind is what became of a run.
type Kind uint8

// The kinds.
const (
	Right   Kind = iota
	Wrong        // a check does not hold
	Overrun      // something behind a buffer was written
	Timeout      // it did not end in time
	Fault        // the device refused an access, or failed
)

// Outcome is what became of a run, in words.
type Outcome struct {
	Kind   Kind
	Detail string
}

// start fills what runs begin with; after a device's process was lost, again.
func (m *Machine) start(ctx context.Context) error {
	if e := m.S.Epoch(); e == m.epoch {
		return nil
	}
	var setup []runner.Command
	send := func() error {
		_, err := m.S.Run(ctx, &runner.Batch{Body: setup})
		setup = nil
		return err
	}
	for i := range m.P.Buffers {
		b := m.buffers[m.P.Buffers[i].Name]
		setup = append(setup, runner.Fill(b.from, 0, b.bytes(), guardWord), runner.Write(b.from, 0, b.of.Data()))
		if err := send(); err != nil {
			return err
		}
	}
	m.epoch = m.S.Epoch()
	return nil
}

// piece is a part of a buffer that a run's result is read of.
type piece struct {
	of       memory
	at, size uint64
}

// pieces are what the checks look at, then the guards.
func (m *Machine) pieces() (list []piece) {
	for i := range m.P.Check {
		c := &m.P.Check[i]
		add := func(name string, at int) {
			b := m.buffers[name]
			p := piece{b, 0, b.of.Bytes()}
			if at >= 0 {
				p.at, p.size = uint64(at*b.of.Type.Size()), uint64(b.of.Type.Size())
			}
			list = append(list, p)
		}
		switch {
		case c.Launch != nil:
			add(c.Errors, 0)
		case c.Other != "":
			add(c.Buffer, -1)
			add(c.Other, -1)
		default:
			add(c.Buffer, c.At)
		}
	}
	for i := range m.P.Buffers {
		b := m.buffers[m.P.Buffers[i].Name]
		end := b.bytes() - guardBytes
		list = append(list, piece{b, end, guardBytes})
	}
	return list
}

// slot is the room that the result of a run takes in the log.
func (m *Machine) slot() (n uint64) {
	for _, p := range m.pieces() {
		n += p.size
	}
	return n
}

// commands are those of one run of a variant, whose result goes to a place of the log.
// draw chooses a launch's blocks and arguments beside the program's; nil for a variant
// that has none. Without a variant nothing is launched but what checks. marks stand
// around the launches.
func (m *Machine) commands(v *Variant, draw func(*Launch) (uint32, []uint32), at uint64, marks ...runner.Command) []runner.Command {
	list := append(m.setBack(), marks...)
	if v != nil {
		list = append(list, m.launches(v, draw)...)
	}
	list = append(list, marks...)
	for i := range m.P.Check {
		if l := m.P.Check[i].Launch; l != nil {
			list = append(list, m.launch(m.checks, l))
		}
	}
	for _, p := range m.pieces() {
		list = append(list, runner.Copy(m.log, at, p.of.now, p.at, p.size))
		at += p.size
	}
	return list
}

// setBack gives buffers what a run begins with.
func (m *Machine) setBack() (list []runner.Command) {
	for i := range m.P.Buffers {
		b := m.buffers[m.P.Buffers[i].Name]
		list = append(list, runner.Copy(b.now, 0, b.from, 0, b.bytes()))
	}
	return list
}

// launches are those of the program.
func (m *Machine) launches(v *Variant, draw func(*Launch) (uint32, []uint32)) (list []runner.Command) {
	for i := range m.P.Launches {
		l := &m.P.Launches[i]
		c := m.launch(v, l)
		if v.Stress {
			blocks, words := draw(l)
			c.Dims.Grid = [3]uint32{blocks, 1, 1}
			c.Args = append(c.Args, runner.BufArg(m.scratch))
			for _, w := range words {
				c.Args = append(c.Args, runner.U32(w))
			}
		}
		list = append(list, c)
	}
	return list
}

func (m *Machine) launch(v *Variant, l *Launch) runner.Command {
	var args []runner.Arg
	for _, a := range l.Args {
		switch {
		case a.Buffer != "":
			args = append(args, runner.BufArg(m.buffers[a.Buffer].now))
		case a.Type.Size() == 8:
			args = append(args, runner.U64(a.Word))
		default:
			args = append(args, runner.U32(uint32(a.Word)))
		}
	}
	return runner.Launch(v.kernels[l.Kernel], runner.Dims{Grid: l.Grid, Block: l.Block, Shared: l.Shared}, args...)
}

// batch runs a variant some times. A lost batch is an error that runner.Lost knows.
func (m *Machine) batch(ctx context.Context, v *Variant, draw func(run int, l *Launch) (uint32, []uint32), n int) ([]Outcome, error) {
	if err := m.start(ctx); err != nil {
		return nil, err
	}
	b := &runner.Batch{Timeout: m.P.Timeout + 4*batchTime}
	slot := m.slot()
	for i := range n {
		b.Body = append(b.Body, m.commands(v, func(l *Launch) (uint32, []uint32) { return draw(i, l) }, uint64(i)*slot)...)
	}
	b.Final = []runner.Command{runner.Read(m.log, 0, uint64(n)*slot)}
	r, err := m.S.Run(ctx, b)
	if err != nil {
		return nil, err
	}
	return m.judged(r.Reads[0], n), nil
}

// judged looks at the results of runs.
func (m *Machine) judged(data []byte, n int) (out []Outcome) {
	slot := m.slot()
	for i := range n {
		out = append(out, m.judge(data[uint64(i)*slot:uint64(i+1)*slot]))
	}
	return out
}

// judge looks at the result of a run.
func (m *Machine) judge(data []byte) Outcome {
	parts := [][]byte{}
	for _, p := range m.pieces() {
		parts = append(parts, data[:p.size])
		data = data[p.size:]
	}
	bad := Outcome{}
	for i := range m.P.Check {
		c := &m.P.Check[i]
		one := parts[0]
		parts = parts[1:]
		detail := ""
		switch {
		case c.Launch != nil:
			if n := m.P.Buffer(c.Errors).at(one, 0); n != 0 {
				detail = fmt.Sprintf("kernel %s counts %d errors", c.Launch.Kernel, n)
			}
		case c.Other != "":
			detail = differ(m.P.Buffer(c.Buffer), c, one, parts[0])
			parts = parts[1:]
		default:
			detail = unequal(m.P.Buffer(c.Buffer), c, one)
		}
		if detail != "" && bad.Kind == Right {
			bad = Outcome{Wrong, detail}
		}
	}
	for i, guard := range parts {
		for k := 0; k < len(guard); k += 4 {
			if w := binary.LittleEndian.Uint32(guard[k:]); w != guardWord {
				b := &m.P.Buffers[i]
				return Outcome{Overrun, fmt.Sprintf("%s: %#x is written %d bytes behind its end", b.Name, w, k)}
			}
		}
	}
	return bad
}

func unequal(b *Buffer, c *Check, data []byte) string {
	want, _ := b.Type.Word(c.Value)
	for i := range len(data) / b.Type.Size() {
		if got := b.at(data, i); got != want {
			return fmt.Sprintf("%s[%d] is %s, not %d", b.Name, max(i, c.At), b.Type.text(got), c.Value)
		}
	}
	return ""
}

func differ(b *Buffer, c *Check, x, y []byte) string {
	if bytes.Equal(x, y) {
		return ""
	}
	for i := range b.Count {
		if got, want := b.at(x, i), b.at(y, i); got != want {
			return fmt.Sprintf("%s[%d] is %s, %s[%[2]d] is %[5]s", b.Name, i, b.Type.text(got), c.Other, b.Type.text(want))
		}
	}
	return ""
}

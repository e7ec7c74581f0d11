package runner

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"time"
)

// Lists and descriptions travel as JSON: they are small, and fields may be
// added. Batches and results are packed.
const maxJSON = 1 << 20

func (e *encoder) json(v any) {
	b, err := json.Marshal(v)
	if err != nil { // no type used here can fail
		b = []byte("null")
	}
	e.bytes(b)
}

func (d *decoder) json(v any) {
	b := d.bytes(maxJSON)
	if d.err == nil && json.Unmarshal(b, v) != nil {
		d.fail()
	}
}

func encodeHello() []byte {
	var e encoder
	e.text(protocolMagic)
	e.u(protocolVersion)
	return e.b
}

// checkHello tells whether the other side speaks this protocol.
func checkHello(f frame) error {
	d := decoder{b: f.body}
	magic, version := d.text(len(protocolMagic)), d.u()
	if f.kind != frameHello || d.end() != nil || magic != protocolMagic {
		return errors.New("the other process does not speak the device protocol")
	}
	if version != protocolVersion {
		return Errorf(ErrChild, "hello", "the other process speaks version %d of the device protocol, this one %d", version,
			protocolVersion)
	}
	return nil
}

func (e *encoder) image(i Image) {
	e.u(uint64(i.Kind))
	e.bytes(i.Data)
	e.text(i.Options)
}

func (d *decoder) image() Image {
	return Image{Kind: ImageKind(d.byte()), Data: d.bytes(MaxImage), Options: d.text(1 << 16)}
}

func (d *decoder) byte() byte {
	v := d.u()
	if v > math.MaxUint8 {
		d.fail()
	}
	return byte(v)
}

// batch packs what the other process needs; Timeout and Progress are the
// business of this one.
func (e *encoder) batch(b *Batch) {
	e.u(b.Repeat)
	e.u(uint64(b.Budget))
	e.bool(b.Energy)
	for _, list := range [][]Command{b.Setup, b.Body, b.Final} {
		e.u(uint64(len(list)))
		for i := range list {
			e.command(&list[i])
		}
	}
}

func (d *decoder) batch() *Batch {
	b := &Batch{Repeat: d.u(), Budget: d.duration(), Energy: d.bool()}
	for _, list := range []*[]Command{&b.Setup, &b.Body, &b.Final} {
		n := d.count(MaxCommands, 10)
		for range n {
			if d.err != nil {
				return b
			}
			*list = append(*list, d.command())
		}
	}
	return b
}

func (d *decoder) duration() time.Duration {
	v := d.u()
	if v > math.MaxInt64 {
		d.fail()
		return 0
	}
	return time.Duration(v)
}

func (e *encoder) command(c *Command) {
	e.u(uint64(c.Kind))
	e.u(uint64(c.Buffer))
	e.u(c.Offset)
	e.u(c.Bytes)
	e.u(uint64(c.Value))
	e.bytes(c.Data)
	e.u(uint64(c.From))
	e.u(c.FromAt)
	e.u(uint64(c.Kernel))
	if c.Kind != CommandLaunch {
		e.u(0)
		return
	}
	e.u(1)
	for _, dim := range [][3]uint32{c.Dims.Grid, c.Dims.Block, c.Dims.Cluster} {
		for _, n := range dim {
			e.u(uint64(n))
		}
	}
	e.u(uint64(c.Dims.Shared))
	e.u(uint64(c.Device))
	e.bool(c.Beside)
	e.u(uint64(len(c.Args)))
	for _, a := range c.Args {
		e.u(uint64(a.Kind))
		e.u(uint64(a.Buffer))
		e.u(a.Value)
		e.u(a.Step)
	}
}

func (d *decoder) command() Command {
	c := Command{
		Kind: CommandKind(d.byte()), Buffer: Buffer(d.u32()), Offset: d.u(), Bytes: d.u(), Value: d.u32(),
		Data: d.bytes(MaxTransfer), From: Buffer(d.u32()), FromAt: d.u(), Kernel: Kernel(d.u32()),
	}
	if !d.bool() {
		return c
	}
	for _, dim := range []*[3]uint32{&c.Dims.Grid, &c.Dims.Block, &c.Dims.Cluster} {
		for i := range dim {
			dim[i] = d.u32()
		}
	}
	c.Dims.Shared, c.Device, c.Beside = d.u32(), int(d.byte()), d.bool()
	for range d.count(MaxArgs, 4) {
		c.Args = append(c.Args, Arg{ArgKind(d.byte()), Buffer(d.u32()), d.u(), d.u()})
	}
	return c
}

func (e *encoder) result(r *Result) {
	e.u(r.Done)
	e.bool(r.Stopped)
	e.u(uint64(r.Elapsed))
	e.u(uint64(r.Body))
	e.json(r.Before)
	e.json(r.After)
	e.u(uint64(len(r.Reads)))
	for _, data := range r.Reads {
		e.bytes(data)
	}
	e.u(uint64(len(r.Marks)))
	for _, t := range r.Marks {
		e.u(uint64(t))
	}
	e.u(math.Float64bits(r.Watts))
}

func (d *decoder) result() *Result {
	r := &Result{Done: d.u(), Stopped: d.bool(), Elapsed: d.duration(), Body: d.duration()}
	d.json(&r.Before)
	d.json(&r.After)
	for range d.count(MaxCommands, 1) {
		r.Reads = append(r.Reads, d.bytes(MaxTransfer))
	}
	for range d.count(MaxMarks, 1) {
		r.Marks = append(r.Marks, d.duration())
	}
	r.Watts = math.Float64frombits(d.u())
	return r
}

func (e *encoder) failure(err error) {
	var x *Error
	if !errors.As(err, &x) {
		x = &Error{Kind: ErrChild, Detail: err.Error()}
	}
	e.u(uint64(slices.Index(kinds, x.Kind) + 1))
	e.text(clip(x.Op, maxDetail))
	e.text(clip(x.Code, maxDetail))
	detail := x.Detail
	if x.Err != nil {
		if detail != "" {
			detail += ": "
		}
		detail += x.Err.Error()
	}
	e.text(clip(detail, maxDetail))
	e.bool(x.Sticky)
}

func (d *decoder) failure() error {
	const room = maxDetail + 8 // clip adds an ellipsis
	kind := d.u()
	x := &Error{Kind: ErrChild, Op: d.text(room), Code: d.text(room), Detail: d.text(room), Sticky: d.bool()}
	if kind >= 1 && kind <= uint64(len(kinds)) {
		x.Kind = kinds[kind-1]
	}
	if d.end() != nil {
		return Errorf(ErrChild, "read failure", "malformed message")
	}
	return x
}

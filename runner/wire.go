package runner

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// The protocol between a program and the process that drives a device for it:
// frames over two pipes. A frame is its body's length (4 bytes, little
// endian), its kind (1 byte) and the body. Both sides begin with a hello that
// names the protocol and its version. The program sends one request at a time
// and gets progress frames and one reply or failure; during a run it may send
// stop. Numbers in bodies are unsigned varints, texts and data are preceded by
// their length.
const (
	protocolMagic   = "optcheck device"
	protocolVersion = 4
	maxFrame        = MaxTransfer + MaxImage
)

type frameKind uint8

const (
	frameHello frameKind = iota + 1
	frameDevices
	frameOpen
	frameCompile
	frameLoad
	frameUnload
	frameKernel
	frameAlloc
	frameFree
	frameRun
	frameState
	frameStop
	frameClose
	frameReply    frameKind = 32
	frameFailure  frameKind = 33
	frameProgress frameKind = 34
)

type frame struct {
	kind frameKind
	body []byte
}

// writeFrame writes a frame at once.
func writeFrame(w io.Writer, k frameKind, body []byte) error {
	if len(body) > maxFrame {
		return fmt.Errorf("frame of %d bytes, at most %d are sent", len(body), uint64(maxFrame))
	}
	head := [5]byte{4: byte(k)}
	binary.LittleEndian.PutUint32(head[:], uint32(len(body)))
	if len(body) < 1<<16 {
		_, err := w.Write(append(head[:], body...))
		return err
	}
	if _, err := w.Write(head[:]); err != nil {
		return err
	}
	_, err := w.Write(body)
	return err
}

// readFrame reads a frame. Memory is taken as data arrive, not as the length
// promises.
func readFrame(r io.Reader) (frame, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame{}, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > maxFrame {
		return frame{}, fmt.Errorf("frame of %d bytes, at most %d are taken", n, uint64(maxFrame))
	}
	var b bytes.Buffer
	b.Grow(int(min(n, 1<<20)))
	if _, err := io.CopyN(&b, r, int64(n)); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return frame{}, err
	}
	return frame{frameKind(head[4]), b.Bytes()}, nil
}

// encoder appends values to a body.
type encoder struct{ b []byte }

func (e *encoder) u(v uint64) { e.b = binary.AppendUvarint(e.b, v) }

func (e *encoder) bytes(v []byte) {
	e.u(uint64(len(v)))
	e.b = append(e.b, v...)
}

func (e *encoder) text(s string) {
	e.u(uint64(len(s)))
	e.b = append(e.b, s...)
}

func (e *encoder) bool(v bool) {
	if v {
		e.u(1)
	} else {
		e.u(0)
	}
}

// decoder takes values out of a body. After the first error everything is zero.
type decoder struct {
	b   []byte
	err error
}

var errBody = errors.New("malformed message")

func (d *decoder) u() uint64 {
	if d.err != nil {
		return 0
	}
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.err = errBody
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) u32() uint32 {
	v := d.u()
	if v > math.MaxUint32 {
		d.fail()
		return 0
	}
	return uint32(v)
}

func (d *decoder) bool() bool {
	v := d.u()
	if v > 1 {
		d.fail()
	}
	return v == 1
}

func (d *decoder) fail() {
	if d.err == nil {
		d.err = errBody
	}
}

// count takes the length of a list whose elements take at least size bytes.
func (d *decoder) count(most, size int) int {
	n := d.u()
	if n > uint64(most) || n > uint64(len(d.b)/size) {
		d.fail()
		return 0
	}
	return int(n)
}

// bytes returns a part of the body, not a copy.
func (d *decoder) bytes(most int) []byte {
	n := d.count(most, 1)
	if d.err != nil {
		return nil
	}
	v := d.b[:n:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) text(most int) string { return string(d.bytes(most)) }

// end reports the first error, or that something is left over.
func (d *decoder) end() error {
	if d.err == nil && len(d.b) > 0 {
		d.err = errBody
	}
	return d.err
}

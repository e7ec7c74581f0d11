package program

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
)

// Data are the bytes of a buffer before a run, as a device has them: little endian.
// Random elements are those of PCG (math/rand/v2) with the seed and 20.
func (b *Buffer) Data() []byte {
	out := make([]byte, 0, b.Bytes())
	var rnd *rand.Rand
	if b.Init.Random != nil {
		rnd = rand.New(rand.NewPCG(b.Init.Random.Seed, 20))
	}
	for i := range b.Count {
		var v int64
		switch {
		case b.Init.Fill != nil:
			v = *b.Init.Fill
		case b.Init.Iota != nil:
			v = *b.Init.Iota + int64(i)
		case b.Init.Values != nil:
			v = b.Init.Values[i]
		case rnd != nil:
			v = rnd.Int64N(b.Init.Random.Below)
		}
		w, _ := b.Type.Word(v)
		if b.Type.Size() == 8 {
			out = binary.LittleEndian.AppendUint64(out, w)
		} else {
			out = binary.LittleEndian.AppendUint32(out, uint32(w))
		}
	}
	return out
}

// at is an element of a buffer's bytes.
func (b *Buffer) at(data []byte, i int) uint64 {
	if b.Type.Size() == 8 {
		return binary.LittleEndian.Uint64(data[8*i:])
	}
	return uint64(binary.LittleEndian.Uint32(data[4*i:]))
}

// text gives a word as the number that it is.
func (t Type) text(w uint64) string {
	switch t {
	case S32:
		return fmt.Sprint(int32(w))
	case F32:
		return fmt.Sprint(math.Float32frombits(uint32(w)))
	}
	return fmt.Sprint(w)
}

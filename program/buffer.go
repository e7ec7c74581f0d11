package program

import (
	"encoding/binary"
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

// uniform is the word that all of a buffer begins with, if that is so without
// looking at each.
func (b *Buffer) uniform() (w uint32, ok bool) {
	i := &b.Init
	switch {
	case i.Iota != nil || i.Values != nil || i.Random != nil || i.Fill != nil && b.Type.Size() == 8 && *i.Fill != 0:
		return 0, false
	case i.Fill == nil:
		return 0, true
	}
	v, _ := b.Type.Word(*i.Fill)
	return uint32(v), true
}

// at is an element of a buffer's bytes.
func (b *Buffer) at(data []byte, i int) uint64 {
	if b.Type.Size() == 8 {
		return binary.LittleEndian.Uint64(data[8*i:])
	}
	return uint64(binary.LittleEndian.Uint32(data[4*i:]))
}

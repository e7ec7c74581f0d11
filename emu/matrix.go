package emu

import (
	"fmt"

	"optcheck/ir"
)

// matrix is one of 8 x 8 elements of 16 bits.
type matrix [8][8]uint16

// place is where the two elements of a lane's fragment stand: PTX ISA, 9.7.14.5.15 (ldmatrix).
func (m *matrix) place(l int, transposed bool) (lo, hi *uint16) {
	i, k := l/4, l%4*2
	if transposed {
		return &m[k][i], &m[k+1][i]
	}
	return &m[i][k], &m[i][k+1]
}

func (m *matrix) fragment(l int, transposed bool) uint64 {
	lo, hi := m.place(l, transposed)
	return uint64(*lo) | uint64(*hi)<<16
}

func (m *matrix) set(l int, transposed bool, v uint64) {
	lo, hi := m.place(l, transposed)
	*lo, *hi = uint16(v), uint16(v>>16)
}

// undefined is a matrix of which nobody has written anything.
func (w *Warp) undefined() *matrix {
	m := &matrix{}
	for l := range Lanes {
		m.set(l, false, w.policy.Fill)
	}
	return m
}

// matrices performs an access of matrices: by the lanes that have rows.
func (w *Warp) matrices(pc int32, a *ir.Access, act uint32) error {
	rows := act & uint32(1<<(8*len(a.Fragments))-1)
	if a.Kind == ir.Store {
		for i, r := range a.Fragments {
			m := w.undefined()
			for x := act; x != 0; x &= x - 1 {
				m.set(lowest(x), a.Transposed, w.regs[r][lowest(x)])
			}
			for k := range m {
				w.SetReg(a.Data[0], 8*i+k, four(m[k][:4]))
				w.SetReg(a.Data[1], 8*i+k, four(m[k][4:]))
			}
		}
		return w.perform(pc, a, rows)
	}
	if err := w.perform(pc, a, rows); err != nil {
		return err
	}
	var out [4]row
	for i := range a.Fragments {
		m := w.undefined()
		for k := range m {
			if l := 8*i + k; rows>>l&1 == 1 {
				for n := range 8 {
					m[k][n] = uint16(w.regs[a.Data[n/4]][l] >> (n % 4 * 16))
				}
			}
		}
		for l := range Lanes {
			out[i][l] = m.fragment(l, a.Transposed)
		}
	}
	for i, r := range a.Fragments { // last, because one may be the address
		for x := act; x != 0; x &= x - 1 {
			w.SetReg(r, lowest(x), out[i][lowest(x)])
		}
	}
	return nil
}

// four are four elements of a row.
func four(e []uint16) uint64 {
	return uint64(e[0]) | uint64(e[1])<<16 | uint64(e[2])<<32 | uint64(e[3])<<48
}

// transpose transposes a matrix that the lanes hold.
func (w *Warp) transpose(o *ir.Warp, act uint32) {
	m := w.undefined()
	for x := act; x != 0; x &= x - 1 {
		m.set(lowest(x), false, w.regs[o.Src][lowest(x)])
	}
	for x := act; x != 0; x &= x - 1 {
		w.SetReg(o.Dst, lowest(x), m.fragment(lowest(x), true))
	}
}

// tileAlign is how matrices of wmma are aligned, and their rows apart, in bytes: PTX ISA, 9.7.14.4.1.
const tileAlign = 16

// tile performs an access of a matrix element by element: in turn those of each register, of all lanes at once.
func (w *Warp) tile(pc int32, a *ir.Access, act uint32) error {
	one, size := *a, a.Bytes
	one.Addr, one.Offset, one.Fragments, one.Tile = a.Tile.Addr, 0, nil, nil
	n := max(1, 4/size)
	var base [Lanes]uint64
	for x := act; x != 0; x &= x - 1 {
		l := lowest(x)
		if base[l] = uint64(a.Offset); a.Addr >= 0 {
			base[l] += w.regs[a.Addr][l]
		}
		if pitch := uint64(size) * w.regs[a.Tile.Pitch][l]; base[l]%tileAlign != 0 || pitch%tileAlign != 0 {
			return &Fault{int(pc), w.Threads[l].Index, fmt.Sprintf("a matrix at %#x whose rows are %d bytes apart: it is misaligned", base[l], pitch)}
		}
	}
	out := make([][Lanes]uint64, len(a.Fragments))
	for r, reg := range a.Fragments {
		for i := range n {
			for x := act; x != 0; x &= x - 1 {
				l := lowest(x)
				row, col := a.Tile.Part.Place(l, r, i, n)
				if a.Tile.Columns {
					row, col = col, row
				}
				w.SetReg(one.Addr, l, base[l]+uint64(size)*(uint64(row)*w.regs[a.Tile.Pitch][l]+uint64(col)))
				if a.Kind == ir.Store {
					w.SetReg(one.Data[0], l, w.regs[reg][l]>>(i*size*8)&(1<<(size*8)-1))
				}
			}
			if err := w.perform(pc, &one, act); err != nil {
				return err
			}
			for x := act; x != 0 && a.Kind == ir.Load; x &= x - 1 {
				l := lowest(x)
				out[r][l] |= w.regs[one.Data[0]][l] << (i * size * 8)
			}
		}
	}
	for r := 0; r < len(out) && a.Kind == ir.Load; r++ { // last, because one may be the address
		for x := act; x != 0; x &= x - 1 {
			w.SetReg(a.Fragments[r], lowest(x), out[r][lowest(x)])
		}
	}
	return nil
}

package litmus

// asyncOperands reads the operands of an asynchronous operation.
func (p *parser) asyncOperands(th *Thread, in *Instr) bool {
	optional, n := false, 0
	for _, c := range in.Async.Operands {
		if c == '?' {
			optional = true
			continue
		}
		if n > 0 {
			if optional && p.tok.kind != ',' {
				return true
			}
			if !p.expect(',', ", and another operand") {
				return false
			}
		}
		n++
		ok := true
		switch c {
		case 'd':
			ok = p.name(&in.Dst, "a register")
		case 's', 'v', 'p':
			in.Src = append(in.Src, Operand{})
			list := c == 'v' && in.Async.Vector > 1
			if ok = !list || p.expect('{', "{"); !ok {
				return false
			}
			ok = p.source(th, &in.Src[len(in.Src)-1])
			for k := 1; ok && list && k < in.Async.Vector; k++ {
				in.Src = append(in.Src, Operand{})
				ok = p.expect(',', ", and another source") && p.source(th, &in.Src[k])
			}
			ok = ok && (!list || p.expect('}', "}"))
		case 'a':
			a := &in.Addr
			if a.Loc != "" || a.Reg != "" {
				in.More = append(in.More, Addr{})
				a = &in.More[len(in.More)-1]
			}
			ok = p.address(th, a)
		}
		if !ok {
			return false
		}
	}
	return true
}

// appendAsync prints the operands of an asynchronous operation.
func appendAsync(b []byte, in *Instr, d Dialect) []byte {
	sep, src, addr := " ", in.Src, append([]Addr{in.Addr}, in.More...)
	for _, c := range in.Async.Operands {
		switch {
		case c == '?', (c == 's' || c == 'p') && len(src) == 0, c == 'a' && len(addr) == 0:
			continue
		}
		b = append(b, sep...)
		if sep = ","; d == PTX {
			sep = ", "
		}
		switch c {
		case 'd':
			b = append(b, in.Dst...)
		case 's', 'p':
			b, src = appendOperand(b, src[0]), src[1:]
		case 'v':
			if in.Async.Vector < 2 {
				b, src = appendOperand(b, src[0]), src[1:]
				continue
			}
			for k := range src {
				b = appendOperand(append(b, "{,"[min(k, 1)]), src[k])
			}
			b, src = append(b, '}'), nil
		case 'a':
			b, addr = appendAddr(b, addr[0], d), addr[1:]
		}
	}
	return b
}

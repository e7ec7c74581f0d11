package ptx

// Defines lists the registers that an instruction writes.
func (in *Inst) Defines() []int {
	if len(in.Args) == 0 {
		return nil
	}
	switch in.Name {
	case "st", "red", "bra", "brx", "stmatrix", "cp", "prefetch", "bar", "barrier", "nanosleep":
		if (in.Name == "bar" || in.Name == "barrier") && in.Has("red") {
			break
		}
		return nil
	case "call":
		if in.Args[0].Kind == List {
			return in.Args[0].Registers(nil)
		}
		return nil
	}
	if in.Args[0].Kind == Mem {
		return nil
	}
	return in.Args[0].Registers(nil)
}

// Uses lists the registers that an instruction reads.
func (in *Inst) Uses() (out []int) {
	if in.Guard >= 0 {
		out = append(out, in.Guard)
	}
	from := 0
	if len(in.Defines()) > 0 || len(in.Args) > 0 && in.Args[0].Kind == Sink {
		from = 1
	}
	for i := from; i < len(in.Args); i++ {
		out = in.Args[i].Registers(out)
	}
	return out
}

package amdisa

import (
	"path"
	"strings"

	"optcheck/isa"
)

// abi says what the scalar registers hold at the entry of a kernel.
type abi struct {
	known                             bool
	buffer, dispatch, queue, kernarg  bool
	dispatchID, flatInit, privateSize bool
	preload                           int // words of arguments in registers
	preloadAt                         int // first word preloaded
	wave                              int
	elems                             []element
}

// element is a user SGPR of AMD's own compilers.
type element struct {
	kind string
	slot int
	reg  uint16
}

// pointers returns the first scalar registers of the scratch descriptor and of the pointers to
// the dispatch packet, the queue and the arguments, -1 where there is none, and the first
// register after them. The order is that of the HSA ABI.
func (a *abi) pointers() (scratch, dispatch, queue, kernarg, end int) {
	n := 0
	take := func(has bool, words int) int {
		if !has {
			return -1
		}
		n += words
		return n - words
	}
	scratch = take(a.buffer, 4)
	dispatch = take(a.dispatch, 2)
	queue = take(a.queue, 2)
	kernarg = take(a.kernarg, 2)
	take(a.dispatchID, 2)
	take(a.flatInit, 2)
	take(a.privateSize, 1)
	return scratch, dispatch, queue, kernarg, n
}

// directive handles a line that starts with a dot.
func (p *gcn) directive(t string) {
	name, rest := cutWord(t)
	switch name {
	case ".text":
		p.data = false
	case ".section":
		p.data = !strings.HasPrefix(rest, ".text")
	case ".rodata", ".data", ".bss":
		p.data = true
	case ".type":
		if sym, what, ok := strings.Cut(rest, ","); ok && strings.Contains(what, "function") {
			p.types[trim(sym)] = true
		}
	case ".amdgpu_hsa_kernel":
		p.kernel(rest)
	case ".kernel": // clrxdisasm
		sym, _ := cutWord(rest)
		p.kernel(sym)
		_ = p.startFunc(sym, 0)
	case ".amdhsa_kernel":
		p.abi = p.kernel(rest)
		p.block = ".end_amdhsa_kernel"
	case ".amd_kernel_code_t":
		p.block = ".end_amd_kernel_code_t"
		p.abi = &abi{}
		if p.fn != nil {
			p.abi = p.kernel(p.fn.Name)
		}
	case ".amdgpu_metadata":
		p.block = ".end_amdgpu_metadata"
	case ".amd_amdgpu_hsa_metadata":
		p.block = ".end_amd_amdgpu_hsa_metadata"
	case ".file":
		p.sourceFile(rest)
	case ".loc":
		f := strings.Fields(rest)
		p.src = isa.SrcLine{}
		if len(f) >= 2 {
			if n, ok := integer(f[1]); ok && n > 0 && n < 1<<31 {
				p.src = isa.SrcLine{File: p.files[f[0]], Line: int(n)}
			}
		}
	case ".long", ".byte", ".short", ".quad", ".int":
		p.rawData(t)
	case ".size":
		if p.fn != nil && strings.HasPrefix(rest, p.fn.Name+",") {
			p.closed = true
		}
	case ".config", ".header", ".metadata", ".args": // clrxdisasm: until .text
		p.data = true
	}
}

// rawData handles data in code: words that the disassembler could not read.
func (p *gcn) rawData(t string) {
	if p.data || p.fn == nil || p.closed || len(p.insts) == 0 {
		return
	}
	p.insts = append(p.insts, isa.Inst{Text: t, Line: p.line, Target: -1, Addr: uint64(4 * len(p.insts))})
	p.problem(t, "data in code")
	text, note := cutComment(t)
	in := &p.insts[len(p.insts)-1]
	in.Text = text
	p.note(in, note)
}

// kernel marks a name as a kernel.
func (p *gcn) kernel(name string) *abi {
	p.marked = true
	if a := p.kernels[name]; a != nil {
		return a
	}
	a := &abi{}
	if len(p.kernels) < maxFuncs {
		p.kernels[strings.Clone(name)] = a
	}
	return a
}

// sourceFile reads .file 1 "dir" "name" md5 0x….
func (p *gcn) sourceFile(rest string) {
	num, rest := cutWord(rest)
	var q []string
	for len(q) < 2 {
		i := strings.IndexByte(rest, '"')
		if i < 0 {
			break
		}
		j := strings.IndexByte(rest[i+1:], '"')
		if j < 0 {
			break
		}
		q = append(q, rest[i+1:i+1+j])
		rest = rest[i+j+2:]
	}
	if len(q) == 0 || len(p.files) > 1<<16 {
		return
	}
	name := q[len(q)-1]
	if len(q) == 2 && !path.IsAbs(name) {
		name = path.Join(q[0], name)
	}
	p.files[num] = strings.Clone(name)
}

// inBlock reads a line of a block of directives.
func (p *gcn) inBlock(t string) {
	if strings.HasPrefix(t, p.block) {
		p.block, p.abi = "", nil
		return
	}
	if p.abi == nil {
		return
	}
	t, _ = cutComment(t)
	name, val := cutWord(t)
	val = trim(strings.TrimPrefix(val, "="))
	n, _ := integer(val)
	on := n != 0
	name = strings.TrimPrefix(name, ".amdhsa_user_sgpr_")
	name = strings.TrimPrefix(name, "enable_sgpr_")
	a := p.abi
	switch name {
	case "private_segment_buffer":
		a.buffer, a.known = on, true
	case "dispatch_ptr":
		a.dispatch, a.known = on, true
	case "queue_ptr":
		a.queue = on
	case "kernarg_segment_ptr":
		a.kernarg, a.known = on, true
	case "dispatch_id":
		a.dispatchID = on
	case "flat_scratch_init":
		a.flatInit = on
	case "private_segment_size":
		a.privateSize = on
	case "kernarg_preload_length":
		a.preload = int(n)
	case "kernarg_preload_offset":
		a.preloadAt = int(n)
	case ".amdhsa_wavefront_size32", "enable_wavefront_size32":
		a.wave = 64
		if on {
			a.wave = 32
		}
	}
}

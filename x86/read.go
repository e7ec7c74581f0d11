package x86

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"optcheck/isa"
)

// maxCode bounds the machine code of a function in bytes.
const maxCode = 1 << 20

// maxKernels bounds the kernels of an archive.
const maxKernels = 256

// Kernels reads the kernels of an archive that PoCL returns as a program's binary
// (CL_PROGRAM_BINARIES), by name, as compiled for work-groups of any size. A kernel that cannot
// be read is a problem of the program, and becomes a function without instructions. A member of
// an archive is the length of its name, the name, the length of the file, and the file.
func Kernels(archive []byte) (*isa.Program, error) {
	prog := &isa.Program{File: "PoCL's archive", Dialect: "x86-64"}
	for rest := archive; ; {
		i := bytes.Index(rest, []byte(".so"))
		if i < 0 {
			break
		}
		before, behind := rest[:i+3], rest[i+3:]
		rest = behind
		kernel, ok := member(before)
		if !ok || len(behind) < 4 || uint64(binary.LittleEndian.Uint32(behind)) > uint64(len(behind)-4) {
			continue
		}
		n := binary.LittleEndian.Uint32(behind)
		if len(prog.Funcs) == maxKernels {
			return nil, isa.ErrTooBig
		}
		fn, err := kernelOf(behind[4:4+n], kernel)
		if err != nil {
			fn = &isa.Func{Name: kernel, Arch: Arch}
			prog.Misread(len(prog.Funcs)+1, kernel, err.Error())
		}
		fn.Line = len(prog.Funcs) + 1
		prog.Funcs, rest = append(prog.Funcs, fn), behind[4+n:]
	}
	if len(prog.Funcs) == 0 {
		return nil, isa.ErrNoCode
	}
	return prog, nil
}

// member returns the kernel of a member, given a text that ends with its name: a length and
// /KERNEL/0-0-0/KERNEL.so.
func member(text []byte) (kernel string, ok bool) {
	i := bytes.LastIndexByte(text, '/')
	kernel = string(bytes.TrimSuffix(text[i+1:], []byte(".so")))
	name := "/" + kernel + "/0-0-0/" + kernel + ".so"
	n := len(text) - len(name)
	if i < 0 || n < 4 || string(text[n:]) != name || binary.LittleEndian.Uint32(text[n-4:]) != uint32(len(name)) {
		return "", false
	}
	return kernel, true
}

// kernelOf reads the function that PoCL calls for each work-group of a kernel.
func kernelOf(file []byte, kernel string) (*isa.Func, error) {
	code, at, err := Code(file, WorkGroup(kernel))
	if err != nil {
		return nil, err
	}
	return Func(kernel, code, at)
}

// WorkGroup returns the name of the function that PoCL calls for each work-group of a kernel.
func WorkGroup(kernel string) string { return "_pocl_kernel_" + kernel + "_workgroup" }

// Code returns the machine code of a function of an ELF file, and its address.
func Code(file []byte, name string) (code []byte, at uint64, err error) {
	f, err := elf.NewFile(bytes.NewReader(file))
	if err != nil {
		return nil, 0, err
	}
	if f.Machine != elf.EM_X86_64 {
		return nil, 0, fmt.Errorf("machine code for %v, not for x86-64", f.Machine)
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return nil, 0, err
	}
	for _, s := range symbols {
		if s.Name != name || elf.ST_TYPE(s.Info) != elf.STT_FUNC {
			continue
		}
		for _, sec := range f.Sections {
			if sec.Type != elf.SHT_PROGBITS || s.Value < sec.Addr || s.Value-sec.Addr > sec.Size || s.Size > sec.Size-(s.Value-sec.Addr) {
				continue
			}
			if s.Size > maxCode {
				return nil, 0, isa.ErrTooBig
			}
			code = make([]byte, s.Size)
			_, err := io.ReadFull(io.NewSectionReader(sec, int64(s.Value-sec.Addr), int64(s.Size)), code)
			return code, s.Value, err
		}
	}
	return nil, 0, fmt.Errorf("function %s: %w", name, isa.ErrNoCode)
}

// Func reads machine code at an address as a function. The error says where it cannot be split
// into instructions.
func Func(name string, code []byte, at uint64) (*isa.Func, error) {
	fn := &isa.Func{Name: name, Arch: Arch, Line: 1}
	first := map[uint64]int{} // address → index of the first instruction
	for pc := 0; pc < len(code); {
		in, err := x86asm.Decode(code[pc:], 64)
		if err != nil || in.Len == 0 {
			return nil, fmt.Errorf("%s+0x%x: no instruction that is known: % x", name, pc, code[pc:min(pc+15, len(code))])
		}
		l := &lowering{in: in, at: at + uint64(pc), text: strings.ToLower(x86asm.IntelSyntax(in, at+uint64(pc), nil))}
		first[l.at] = len(fn.Insts)
		l.lower()
		fn.Insts = append(fn.Insts, l.out...)
		pc += in.Len
	}
	for i := range fn.Insts {
		in := &fn.Insts[i]
		if in.Flow != isa.FlowJump {
			in.Target = -1
			continue
		}
		to, ok := first[uint64(in.Args[0].Imm)]
		if !ok { // out of the function: what happens there is unknown
			in.Role, to = isa.RoleUnknown, -1
		}
		in.Target = to
	}
	fn.BuildCFG()
	return fn, nil
}

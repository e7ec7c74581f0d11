package toolchain

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"optcheck/internal/input"
	"optcheck/internal/scratch"
	"optcheck/target"
)

// machineAMD is e_machine of AMD's code objects.
const machineAMD = 224

// amdMachs gives the target by the lowest byte of e_flags (LLVM, AMDGPUUsage,
// "AMDGPU ELF Header e_flags").
var amdMachs = map[byte]string{
	0x20: "gfx600", 0x21: "gfx601", 0x22: "gfx700", 0x23: "gfx701", 0x24: "gfx702", 0x25: "gfx703", 0x26: "gfx704", 0x28: "gfx801",
	0x29: "gfx802", 0x2a: "gfx803", 0x2b: "gfx810", 0x2c: "gfx900", 0x2d: "gfx902", 0x2e: "gfx904", 0x2f: "gfx906", 0x30: "gfx908",
	0x31: "gfx909", 0x32: "gfx90c", 0x33: "gfx1010", 0x34: "gfx1011", 0x35: "gfx1012", 0x36: "gfx1030", 0x37: "gfx1031", 0x38: "gfx1032",
	0x39: "gfx1033", 0x3a: "gfx602", 0x3b: "gfx705", 0x3c: "gfx805", 0x3d: "gfx1035", 0x3e: "gfx1034", 0x3f: "gfx90a", 0x40: "gfx940",
	0x41: "gfx1100", 0x42: "gfx1013", 0x43: "gfx1150", 0x44: "gfx1103", 0x45: "gfx1036", 0x46: "gfx1101", 0x47: "gfx1102", 0x48: "gfx1200",
	0x49: "gfx1250", 0x4a: "gfx1151", 0x4b: "gfx941", 0x4c: "gfx942", 0x4e: "gfx1201", 0x4f: "gfx950",
}

// IsAMDObject tells whether data is an ELF file with AMD's machine code.
func IsAMDObject(data []byte) bool {
	return len(data) >= 64 && strings.HasPrefix(string(data[:4]), "\x7fELF") && binary.LittleEndian.Uint16(data[18:]) == machineAMD
}

// ObjectTarget is the target that a code object names, "" if it is not known.
func ObjectTarget(object []byte) string {
	if !IsAMDObject(object) {
		return ""
	}
	return amdMachs[object[48]]
}

// Objdump disassembles a code object with llvm-objdump of this release. LLVM
// has no disassembler for gfx6 and gfx7, where objdump would abort.
func (t *Toolchain) Objdump(ctx context.Context, object []byte, name string) ([]byte, error) {
	c := command{path: "llvm-objdump", input: name}
	l, ok := t.Kind.(*LLVM)
	if !ok || l.Objdump == "" {
		return nil, c.fail(ErrInfrastructure, t.ID+" has no llvm-objdump", nil)
	}
	c.path, c.env = l.Objdump, l.Environment()
	chip := ObjectTarget(object)
	gpu, _ := target.Of(chip)
	switch {
	case chip == "":
		return nil, c.fail(ErrCompile, "no code object of a known AMD target", nil)
	case gpu.Major < 8:
		return nil, c.fail(ErrCompile, fmt.Sprintf("LLVM has no disassembler for %s: give the assembly listing of clang -S", chip), nil)
	}
	var err error
	if c.dir, err = scratch.Dir("obj"); err != nil {
		return nil, c.hopeless(err)
	}
	defer os.RemoveAll(c.dir)
	if err := input.WriteFile(filepath.Join(c.dir, "batch.o"), object); err != nil {
		return nil, c.hopeless(err)
	}
	c.args = []string{"-d", "--mcpu=" + chip, "batch.o"}
	out, err := t.Runner().run(ctx, c)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(string(out.stdout), "\n\t") {
		return nil, c.fail(ErrInfrastructure, "", errors.New("it printed no instruction"))
	}
	return out.stdout, nil
}

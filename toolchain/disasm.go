package toolchain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"optcheck/internal/input"
	"optcheck/internal/scratch"
	"optcheck/sass/cubin"
)

// DisasmOptions says what a disassembly shall contain.
type DisasmOptions struct {
	// LineInfo asks for the source lines of -lineinfo (nvdisasm only).
	LineInfo bool
	// Encoding asks for the encoding of every instruction as a comment
	// (nvdisasm; cuobjdump always prints it). It costs 5–20 % of the time.
	Encoding bool
	// LifeRanges asks for nvdisasm's register columns: for each instruction
	// which registers it reads and writes.
	LifeRanges bool
	// NoDataflow leaves out the analysis by which nvdisasm annotates indirect
	// branches with their targets; it saves up to a third of the time with
	// 11.2 and next to nothing with 12.4.
	NoDataflow bool
	// Timeout bounds the process; 0 allows the Runner's limit plus 20 s per
	// MiB of cubin (nvdisasm needs about 0.5 s per MiB).
	Timeout time.Duration
	// Input names the cubin in errors.
	Input string
}

// Disassemble prints the machine code of a cubin with the toolchain's nvdisasm.
// A cubin without functions is an error, as is an output that does not show
// each function of the cubin: an nvdisasm that is too old prints nothing and may
// still look successful.
func (t *Toolchain) Disassemble(ctx context.Context, data []byte, opt DisasmOptions) ([]byte, error) {
	args := []string{"-c"}
	for _, o := range []struct {
		on   bool
		flag string
	}{{opt.LineInfo, "-g"}, {opt.Encoding, "-hex"}, {opt.LifeRanges, "-plr"}, {opt.NoDataflow, "-ndf"}} {
		if o.on {
			args = append(args, o.flag)
		}
	}
	limit := t.Runner().timeout + time.Duration(len(data))*20*time.Second/(1<<20)
	return t.disassemble(ctx, t.Nvdisasm, "nvdisasm", args, "\t.section\t.text.", limit, data, opt)
}

// DisassembleCuobjdump prints the machine code of a cubin with cuobjdump -sass
// of the same release, as a second opinion: it takes time quadratic in the
// number of functions (three minutes for 1,000) and knows no source lines.
func (t *Toolchain) DisassembleCuobjdump(ctx context.Context, data []byte, opt DisasmOptions) ([]byte, error) {
	n, err := cubin.Functions(data)
	if err != nil {
		return nil, &Error{Kind: ErrCompile, Tool: t.Cuobjdump, Input: opt.Input, ExitCode: -1, Err: err}
	}
	limit := t.Runner().timeout + time.Duration(len(n)*len(n))*time.Millisecond
	return t.disassemble(ctx, t.Cuobjdump, "cuobjdump", []string{"-sass"}, "\t\tFunction : ", limit, data, opt)
}

func (t *Toolchain) disassemble(ctx context.Context, tool, name string, args []string, mark string,
	limit time.Duration, data []byte, opt DisasmOptions) ([]byte, error) {
	if opt.Timeout > 0 {
		limit = opt.Timeout
	}
	c := command{path: tool, input: opt.Input, timeout: limit, args: append(args, "batch.cubin")}
	if tool == "" {
		c.path = name
		return nil, c.fail(ErrInfrastructure, t.ID+" has no "+name+" of its release", nil)
	}
	functions, err := cubin.Functions(data)
	if err != nil {
		return nil, c.fail(ErrCompile, "", err)
	}
	if len(functions) == 0 {
		return nil, c.fail(ErrCompile, "the cubin has no function", nil)
	}
	out, err := t.print(ctx, c, data)
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(out.stdout, []byte("\n"+mark)); n != len(functions) {
		e := c.fail(ErrInfrastructure, fmt.Sprintf("printed %d of %d functions", n, len(functions)), nil)
		e.Stderr, e.ExitCode = string(bytes.ToValidUTF8(out.stderr, []byte("\uFFFD"))), 0
		return nil, e
	}
	return out.stdout, nil
}

// print has a disassembler print a file and returns all that it said.
func (t *Toolchain) print(ctx context.Context, c command, data []byte) (out output, err error) {
	if c.dir, err = scratch.Dir("sass"); err != nil {
		return out, c.fail(ErrInfrastructure, "", err)
	}
	defer os.RemoveAll(c.dir)
	if err := input.WriteFile(filepath.Join(c.dir, "batch.cubin"), data); err != nil {
		return out, c.fail(ErrInfrastructure, "", err)
	}
	c.memory = 2<<30 + len(data)<<10 // nvdisasm 11.2 to 12.4 takes up to 500 bytes for each
	return t.Runner().run(ctx, c)
}

// DisassembleRaw prints raw code, instructions without a file around them, as
// if it stood at address 0. Labels, symbols and source lines are not known then.
func (t *Toolchain) DisassembleRaw(ctx context.Context, target string, code []byte) ([]byte, error) {
	c := command{path: t.Nvdisasm, input: target + " code",
		args:    []string{"-ndf", "-b", strings.Replace(target, "sm_", "SM", 1), "batch.cubin"},
		timeout: t.Runner().timeout + time.Duration(len(code))*20*time.Second/(1<<20)}
	if t.Nvdisasm == "" {
		c.path = "nvdisasm"
		return nil, c.fail(ErrInfrastructure, t.ID+" has no nvdisasm of its release", nil)
	}
	out, err := t.print(ctx, c, code)
	return out.stdout, err
}

// refusedAt is how nvdisasm names an instruction that it does not know.
var refusedAt = regexp.MustCompile(`at address (0x[0-9a-f]+)\n`)

// DisassembleKnown is DisassembleRaw for code of which some instructions may be
// none: then there is no listing, and refused has the addresses of those that
// nvdisasm named.
func (t *Toolchain) DisassembleKnown(ctx context.Context, target string, code []byte) (listing []byte, refused []uint64, err error) {
	listing, err = t.DisassembleRaw(ctx, target, code)
	var failed *Error
	if !errors.As(err, &failed) || !errors.Is(err, ErrCompile) {
		return listing, nil, err
	}
	for _, m := range refusedAt.FindAllStringSubmatch(failed.Stderr, -1) {
		if addr, bad := strconv.ParseUint(m[1], 0, 64); bad == nil {
			refused = append(refused, addr)
		}
	}
	if len(refused) == 0 {
		return nil, nil, err
	}
	return nil, refused, nil
}

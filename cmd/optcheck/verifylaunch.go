package main

import (
	"context"
	little "encoding/binary"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"optcheck/internal/input"
	"optcheck/internal/plain"
	"optcheck/program"
	"optcheck/ptx"
	"optcheck/realcode"
	"optcheck/verify"
)

// toVerify is a kernel with a launch.
type toVerify struct {
	module *ptx.Module
	kernel string
	o      verify.Options
}

// launches are the kernels of a file that are meant, each with its launch.
func (v *verification) launches(ctx context.Context, env *environment, file string) ([]toVerify, error) {
	if ext := filepath.Ext(file); ext == ".yaml" || ext == ".yml" || ext == "" && slices.Contains(program.Names(), file) {
		return v.program(file)
	}
	text, err := input.ReadFile(file, ptx.MaxInput)
	if err != nil {
		return nil, err
	}
	o := v.o
	ms, err := v.modules(ctx, env, file, text, &o)
	if err != nil {
		return nil, err
	}
	l, err := v.launch(string(text))
	if err != nil {
		return nil, err
	}
	o.Launch = *l
	var out []toVerify
	var names []string
	for _, m := range ms {
		for _, f := range m.Funcs {
			if !f.Entry || f.Body == nil {
				continue
			}
			names = append(names, verify.Plain(f.Name))
			if len(v.kernels) > 0 && !slices.ContainsFunc(v.kernels, func(k string) bool { return verify.Called(f.Name, k) }) {
				continue
			}
			x := toVerify{m, f.Name, o}
			if isCUDA(file) {
				x.o.Params = verify.ParamNames(string(text), f.Name, len(f.Params))
			}
			out = append(out, x)
		}
	}
	for _, k := range v.kernels {
		if !slices.ContainsFunc(out, func(x toVerify) bool { return verify.Called(x.kernel, k) }) {
			return nil, fmt.Errorf("%s: no kernel %s, but %s", plain.Line(file), plain.Line(k), plain.Line(strings.Join(names, ", ")))
		}
	}
	return out, nil
}

// launch is that of the flags, or of a comment of the source.
func (v *verification) launch(text string) (l *verify.Launch, err error) {
	l = verify.Comments(text)
	grid, err := shape("grid", v.grid)
	if err != nil {
		return nil, err
	}
	block, err := shape("block", v.block)
	if err != nil {
		return nil, err
	}
	if len(v.cluster) > 0 {
		if l.Cluster, err = shape("cluster", v.cluster); err != nil {
			return nil, err
		}
	}
	if len(v.grid) > 0 {
		l.Grid = grid
	}
	if len(v.block) > 0 {
		l.Block = block
	}
	if l.Grid == ([3]int{}) != (l.Block == [3]int{}) {
		l.Grid, l.Block = orOne(l.Grid), orOne(l.Block)
	}
	l.Dynamic = v.shared
	for _, a := range v.args {
		name, value, ok := strings.Cut(a, "=")
		if !ok {
			return nil, fmt.Errorf("--arg %s: NAME=VALUE is expected", plain.Line(a))
		}
		arg := verify.Arg{Name: name}
		if size, ok := strings.CutPrefix(value, "buffer:"); ok {
			arg.Buffer = true
			if arg.Bytes, err = strconv.ParseInt(size, 0, 64); err != nil || arg.Bytes < 1 || arg.Bytes > maxBuffer {
				return nil, fmt.Errorf("--arg %s: a buffer has from 1 to %d bytes", plain.Line(a), maxBuffer)
			}
		} else if size, ok := strings.CutPrefix(value, "tensor:"); ok {
			if arg.Tensor, err = strconv.ParseInt(size, 0, 64); err != nil || arg.Tensor < 16 || arg.Tensor%16 != 0 || arg.Tensor > maxBox {
				return nil, fmt.Errorf("--arg %s: a box of a tensor has from 16 to %d bytes, a multiple of 16", plain.Line(a), maxBox)
			}
		} else if kind, list, ok := strings.Cut(value, ":"); ok {
			arg.Buffer = true
			if arg.Data, err = numbers(kind, list); err != nil {
				return nil, fmt.Errorf("--arg %s: %w", plain.Line(a), err)
			}
			arg.Bytes = int64(len(arg.Data))
		} else {
			arg.Number = value
		}
		l.Args = append(l.Args, arg)
	}
	return l, nil
}

// numbers is what a buffer holds whose numbers are listed, each with so many bits: "i32", "1,2,3".
func numbers(kind, list string) (data []byte, err error) {
	bits, err := strconv.Atoi(strings.TrimLeft(kind, "iuf"))
	if err != nil || !slices.Contains([]int{8, 16, 32, 64}, bits) || len(kind) != len(strings.TrimLeft(kind, "iuf"))+1 {
		return nil, fmt.Errorf("%s: numbers are i8, i16, i32, i64, u8 to u64, f32 or f64, and a buffer of zeros is buffer:BYTES", plain.Line(kind))
	}
	for _, s := range strings.Split(list, ",") {
		if kind[0] == 'f' && !strings.ContainsAny(s, ".eE") {
			s += ".0"
		}
		v, err := verify.Number(strings.TrimSpace(s), int64(bits/8))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", plain.Line(s), err)
		}
		data = append(data, little.LittleEndian.AppendUint64(nil, v)[:bits/8]...)
	}
	return data, nil
}

// maxBox bounds a box of a tensor, in bytes: shared memory is not larger.
const maxBox = 227 << 10

// maxBuffer bounds a buffer that --arg asks for, in bytes.
const maxBuffer = 256 << 20

// modules are those of PTX, or what a compiler makes of CUDA C++.
func (v *verification) modules(ctx context.Context, env *environment, file string, text []byte, o *verify.Options) ([]*ptx.Module, error) {
	if !isCUDA(file) {
		return ptx.ParseAll(file, text)
	}
	o.CUDA, v.cuda = true, true
	sub := *env
	if targets := env.settings.targets; len(targets) > 0 {
		sub.settings.targets = targets[:1]
	} else {
		sub.settings.targets = []string{"sm_80"}
	}
	r := newFrontRun(&sub, append([]string{"-lineinfo"}, v.front...), "")
	r.asWritten = true // an optimiser moves accesses behind barriers, where they race no more
	ms, err := r.read(ctx, file)
	for i, m := range slices.Backward(ms) { // the newest compiler's
		if slices.ContainsFunc(m.Funcs, func(f *ptx.Func) bool { return f.Entry && f.Body != nil }) {
			return ms[i : i+1], nil
		}
	}
	return nil, errors.Join(err, fmt.Errorf("%s: no PTX with a kernel was made of it", plain.Line(file)))
}

// program has the launches of a program of optcheck app.
func (v *verification) program(file string) ([]toVerify, error) {
	p, err := program.Load(file)
	if err != nil {
		return nil, err
	}
	if p.PTX.Text == nil {
		return nil, fmt.Errorf("%s: it has no PTX", plain.Line(file))
	}
	m, err := ptx.Parse(p.PTX.Name, p.PTX.Text)
	if err != nil {
		return nil, err
	}
	var out []toVerify
	content := map[string][]byte{} // what the launches before have left
	for i := range p.Launches {
		l := &p.Launches[i]
		o := v.o
		for k := range 3 {
			o.Launch.Grid[k], o.Launch.Block[k] = int(l.Grid[k]), int(l.Block[k])
		}
		if len(v.grid) > 0 && l.Blocks() > 1 {
			if o.Launch.Grid, err = shape("grid", v.grid); err != nil {
				return nil, err
			}
		}
		o.Launch.Dynamic = int64(l.Shared)
		for k, a := range l.Args {
			arg := verify.Arg{Name: strconv.Itoa(k), Value: a.Word}
			if b := p.Buffer(a.Buffer); a.Buffer != "" && b != nil {
				arg = verify.Arg{Name: strconv.Itoa(k), Buffer: true, Bytes: int64(b.Bytes()), Data: b.Data(), Same: b.Name}
				if have, ok := content[b.Name]; ok {
					arg.Data = have
				}
			}
			o.Launch.Args = append(o.Launch.Args, arg)
		}
		if len(v.kernels) == 0 || slices.Contains(v.kernels, l.Kernel) {
			out = append(out, toVerify{m, l.Kernel, o})
		}
		if i == len(p.Launches)-1 {
			break
		}
		left, err := verify.After(m, l.Kernel, &o)
		if err != nil {
			return out, fmt.Errorf("%s: kernel %s, before the others: %w", plain.Line(file), plain.Line(l.Kernel), err)
		}
		maps.Copy(content, left)
	}
	return out, nil
}

// verify looks at a program of an audit itself: that one is preserved says little if it is wrong itself.
func (r *programRun) verify(m *ptx.Module, p *realcode.Program) {
	for i := range p.Tests {
		t := &p.Tests[i]
		x, err := verify.Kernel(m, strings.TrimPrefix(t.Name, m.Name()+":"),
			&verify.Options{CUDA: isCUDA(t.File), Unmended: true, Until: time.Now().Add(longest)})
		if err != nil {
			t.Itself = "unknown: " + err.Error()
		} else {
			t.Itself = x.Brief()
		}
	}
}

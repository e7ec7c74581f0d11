package main

import (
	"context"
	little "encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"optcheck/bug"
	"optcheck/internal/plain"
	"optcheck/internal/scratch"
	"optcheck/verify"
)

// onDevice writes the first finding that counts as a program for a device, and runs it there under stress, as flags ask for.
func (v *verification) onDevice(ctx context.Context, env *environment, l *toVerify, f *verify.Finding) error {
	s, err := l.o.Setup(l.module, l.kernel, f)
	if err == nil && checked(s) == 0 {
		err = fmt.Errorf("what its buffers hold at the end depends on the order of the threads, or is what they held before: a run on a device could not be judged")
	}
	if err != nil {
		env.tell("kernel %s: not run on a device: %v", plain.Line(l.kernel), err)
		return nil
	}
	dir := v.folder
	if dir == "" {
		if dir, err = scratch.Dir("verify"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		dir = filepath.Join(dir, "program")
	}
	b := &bug.Bundle{Title: "a program for optcheck app", Files: []bug.File{
		{Name: "kernel.ptx", Data: l.module.Apply()},
		{Name: "program.yaml", Data: []byte(programFile(l.kernel, s))},
	}}
	if err := b.WriteDir(dir); err != nil {
		return err
	}
	if v.folder != "" {
		env.tell("%s: optcheck app test %s runs it under stress", v.folder, filepath.Join(v.folder, "program.yaml"))
	}
	if v.device == "" {
		return nil
	}
	test := appFlags{length: paperLength, each: v.each, stress: true}
	test.device, test.level, test.seed, test.asJSON, test.quiet = v.device, "O3", 1, v.asJSON, true
	a, err := test.open(ctx, env, filepath.Join(dir, "program.yaml"))
	if err != nil {
		return err
	}
	_, err = a.test(ctx, filepath.Join(dir, "program.yaml"))
	return a.done(err)
}

// checked is how many buffers hold the same at the end of all emulated schedules, and not what they held before.
func checked(s *verify.Setup) (n int) {
	for _, b := range s.Buffers {
		if b.End != nil && string(b.End) != string(b.Data) {
			n++
		}
	}
	return n
}

// programFile is a launch as a file of optcheck app: its post-condition is that buffers hold what all emulated schedules leave there.
func programFile(kernel string, s *verify.Setup) string {
	var b, checks strings.Builder
	b.WriteString("name: verify\nabout: a launch in which optcheck verify has found something; right is what all emulated schedules leave\nsource: kernel.ptx\nbuffers:\n")
	for _, x := range s.Buffers {
		fmt.Fprintf(&b, "  %s: {type: u32, count: %d, init: {values: %s}}\n", x.Name, len(x.Data)/4, numbersOf(x.Data))
		if x.End != nil {
			fmt.Fprintf(&b, "  %s-right: {type: u32, count: %d, init: {values: %s}}\n", x.Name, len(x.End)/4, numbersOf(x.End))
			fmt.Fprintf(&checks, "  - {buffer: %s, equals: %s-right}\n", x.Name, x.Name)
		}
	}
	fmt.Fprintf(&b, "launches:\n  - {kernel: %q, grid: [%d, %d, %d], block: [%d, %d, %d], shared: %d, args: [", kernel, s.Grid[0], s.Grid[1], s.Grid[2],
		s.Block[0], s.Block[1], s.Block[2], s.Dynamic)
	for i, a := range s.Args {
		if i > 0 {
			b.WriteString(", ")
		}
		switch {
		case a.Buffer >= 0:
			b.WriteString(s.Buffers[a.Buffer].Name)
		case a.Bytes == 8:
			fmt.Fprintf(&b, "{u64: %d}", a.Value)
		default:
			fmt.Fprintf(&b, "{u32: %d}", a.Value)
		}
	}
	b.WriteString("]}\ncheck:\n" + checks.String())
	return b.String()
}

func numbersOf(data []byte) string {
	out := make([]string, 0, len(data)/4)
	for i := 0; i+4 <= len(data); i += 4 {
		out = append(out, fmt.Sprint(little.LittleEndian.Uint32(data[i:])))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

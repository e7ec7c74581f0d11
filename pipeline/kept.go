package pipeline

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"optcheck/internal/input"
	"optcheck/internal/whole"
	"optcheck/sass/cubin"
	"optcheck/toolchain"
)

// keptJob is the output of a compiler for a job whose units all compiled.
type keptJob struct {
	Batches []keptBatch
}

type keptBatch struct {
	Units []int
	Code  []byte // the compact form of the cubin
}

const keptMagic = "optcheck-kept-2\n"

// keptName returns the name of a compiler's output for a job, a hash of everything that
// determines it.
func keptName(tc *toolchain.Toolchain, job *toolchain.Job) string {
	info, err := os.Stat(tc.Ptxas)
	if err != nil {
		return "" // running it will report the error
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %d %d %q %q %q %v %q %d %d %d\n", tc.ID, tc.Build, info.Size(), info.ModTime().UnixNano(),
		job.Target, job.Level, job.Header, job.LineInfo, job.Flags,
		job.BatchUnits, job.BatchBytes, len(job.Units))
	for i := range job.Units {
		fmt.Fprintf(h, "%d %s %d %s\n", len(job.Units[i].Name), job.Units[i].Name, len(job.Units[i].Text), job.Units[i].Text)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// compileKept compiles a job with ptxas, or takes the output kept in a folder, "" for none.
func compileKept(ctx context.Context, tc *toolchain.Toolchain, folder string, job toolchain.Job) (*Result, error) {
	name := ""
	if folder != "" && !tc.Listings() {
		name = keptName(tc, &job)
	}
	ptx := func(unit int) string { return job.Header + job.Units[unit].Text }
	path := filepath.Join(folder, name)
	if name != "" {
		if res := readKept(path, len(job.Units)); res != nil {
			return &Result{Result: *res, PTX: ptx}, nil
		}
	}
	res, err := tc.Compile(ctx, job)
	if err != nil {
		return nil, err
	}
	out := &Result{Result: *res, PTX: ptx}
	if name != "" && len(res.Failed) == 0 {
		out.Keep = func() error { return keep(path, res.Batches) }
	}
	return out, nil
}

// maxKept bounds a file of kept output, in bytes.
const maxKept = 1 << 30

// readKept reads the output that was kept of a job; nil if it cannot be read or is damaged.
func readKept(path string, units int) *toolchain.Result {
	data, err := input.ReadFile(path, maxKept)
	if err != nil || len(data) < len(keptMagic)+sha256.Size || string(data[:len(keptMagic)]) != keptMagic {
		return nil
	}
	sum, body := data[len(keptMagic):len(keptMagic)+sha256.Size], data[len(keptMagic)+sha256.Size:]
	if sha256.Sum256(body) != [sha256.Size]byte(sum) {
		return nil
	}
	var k keptJob
	if gob.NewDecoder(bytes.NewReader(body)).Decode(&k) != nil {
		return nil
	}
	res := &toolchain.Result{Failed: map[int]error{}}
	n := 0
	for _, b := range k.Batches {
		for _, u := range b.Units {
			if u < 0 || u >= units {
				return nil
			}
		}
		n += len(b.Units)
		res.Batches = append(res.Batches, toolchain.Batch{Cubin: b.Code, Units: b.Units})
	}
	if n != units {
		return nil
	}
	return res
}

// keep stores a compiler's output, if all of it can be read again without a disassembler.
func keep(path string, batches []toolchain.Batch) error {
	var k keptJob
	for _, b := range batches {
		f, err := cubin.Parse(b.Cubin)
		if err != nil {
			return nil
		}
		code, err := cubin.Compact(f)
		if err != nil {
			return nil
		}
		k.Batches = append(k.Batches, keptBatch{Units: b.Units, Code: code})
	}
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(&k); err != nil {
		return err
	}
	sum := sha256.Sum256(body.Bytes())
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return whole.Write(path, append(append([]byte(keptMagic), sum[:]...), body.Bytes()...), 0o644)
}

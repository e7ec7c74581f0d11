package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"optcheck/internal/whole"
	"optcheck/sass/cubin"
	"optcheck/toolchain"
)

// keptJob is what a compiler made of a job, all of whose units it took.
type keptJob struct {
	Batches []keptBatch
}

type keptBatch struct {
	Units []int
	Code  []byte // the compact form of the cubin
}

const keptMagic = "optcheck-kept-1\n"

// keptName names what a compiler makes of a job, by all that decides it.
func keptName(tc *toolchain.Toolchain, job *toolchain.Job) string {
	info, err := os.Stat(tc.Ptxas)
	if err != nil {
		return "" // it will be told when it is run
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %d %d %q %q %q %v %q %d %d %d\n", tc.ID, tc.Build, info.Size(), info.ModTime().UnixNano(), job.Target, job.Level, job.Header, job.LineInfo, job.Flags,
		job.BatchUnits, job.BatchBytes, len(job.Units))
	for i := range job.Units {
		fmt.Fprintf(h, "%d %s %d %s\n", len(job.Units[i].Name), job.Units[i].Name, len(job.Units[i].Text), job.Units[i].Text)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// compiled compiles a job, or takes what was kept of it in the folder of
// Options.Code.
func (w *worker) compiled(ctx context.Context, job toolchain.Job) (*toolchain.Result, error) {
	w.keep = ""
	if w.a.o.Code == "" || w.j.tc.Listings() {
		return w.j.tc.Compile(ctx, job)
	}
	name := keptName(w.j.tc, &job)
	if name == "" {
		return w.j.tc.Compile(ctx, job)
	}
	path := filepath.Join(w.a.o.Code, name)
	if res := readKept(path, len(job.Units)); res != nil {
		return res, nil
	}
	res, err := w.j.tc.Compile(ctx, job)
	if err == nil && len(res.Failed) == 0 {
		w.keep = path
	}
	return res, err
}

// readKept reads what was kept of a job; nil if that cannot be, or is not what
// was written.
func readKept(path string, units int) *toolchain.Result {
	data, err := os.ReadFile(path)
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

// kept writes down what a compiler made, if it is to be kept and all of it can be
// read again without a disassembler.
func (w *worker) kept(batches []toolchain.Batch) {
	if w.keep == "" {
		return
	}
	var k keptJob
	for _, b := range batches {
		f, err := cubin.Parse(b.Cubin)
		if err != nil {
			return
		}
		code, err := cubin.Compact(f)
		if err != nil {
			return
		}
		k.Batches = append(k.Batches, keptBatch{Units: b.Units, Code: code})
	}
	var body bytes.Buffer
	if gob.NewEncoder(&body).Encode(&k) != nil {
		return
	}
	sum := sha256.Sum256(body.Bytes())
	err := os.MkdirAll(filepath.Dir(w.keep), 0o755)
	if err == nil {
		err = whole.Write(w.keep, append(append([]byte(keptMagic), sum[:]...), body.Bytes()...), 0o644)
	}
	if err != nil {
		w.problem("infrastructure", "code is not kept: "+err.Error())
	}
}

package bug

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/tools/txtar"

	"optcheck/internal/input"
	"optcheck/pipeline"
	"optcheck/reduce"
	"optcheck/toolchain"
)

// manifest is the content of manifest.json.
type manifest struct {
	Title     string            `json:"title"`
	Form      string            `json:"form"`
	Stamp     string            `json:"stamp,omitempty"`
	Optcheck  string            `json:"optcheck"`
	Finding   string            `json:"finding"` // the original one
	Smallest  string            `json:"smallest"`
	Signature any               `json:"signature"` // reduce.Signature or reduce.KernelSignature
	Model     string            `json:"model,omitempty"`
	New       []string          `json:"new_outcomes,omitempty"`
	Flags     []string          `json:"flags"`
	Command   string            `json:"command"`
	Seed      *int64            `json:"seed"` // null: nothing here is chosen at random
	Tests     map[string]string `json:"tests,omitempty"`
	Tools     []tool            `json:"tools"`
	Host      Host              `json:"host"`
	Run       *HardwareRun      `json:"run,omitempty"`
	Steps     []string          `json:"reduction"`
	Range     *reduce.Range     `json:"range,omitempty"`
	Ways      []Workaround      `json:"workarounds,omitempty"`
	Files     map[string]string `json:"sha256"`
}

// tool is one of the programs that were used.
type tool struct {
	ID       string `json:"id"`
	Build    string `json:"build"`
	Ptxas    string `json:"ptxas_sha256,omitempty"`
	Nvdisasm string `json:"nvdisasm_sha256,omitempty"`
	Clang    string `json:"clang_sha256,omitempty"`
	LLC      string `json:"llc_sha256,omitempty"`
	Front    string `json:"front_sha256,omitempty"` // the compiler of CUDA C++
	Role     string `json:"role"`
}

// hash returns where to store the hash of a compiler's file.
func (t *tool) hash(compiler string) *string {
	return map[string]*string{"ptxas": &t.Ptxas, "clang": &t.Clang, "llc": &t.LLC, "nvcc": &t.Front, "clang-cuda": &t.Front}[compiler]
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// sumFile hashes a file; a file that cannot be read has no hash.
func sumFile(path string) string {
	f, err := input.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// origin is the manifest of where a finding is from.
func (b *bundler) origin() *manifest {
	m := &manifest{Form: b.in.Form, Stamp: b.in.Stamp, Optcheck: b.in.Tool,
		Finding: b.in.Start.Address(), Smallest: b.f.Address(),
		Signature: b.f.Signature, Flags: append([]string{}, b.f.Flags...), Host: b.in.Host, Run: b.in.Run,
		Steps: append([]string{}, b.in.Steps...),
		Tests: map[string]string{"test.litmus": b.f.Test.Hash(), "original.litmus": b.in.Start.Test.Hash()}}
	if len(b.in.Steps) == 0 {
		delete(m.Tests, "original.litmus")
	}
	return m
}

func (b *bundler) manifest() *manifest {
	m := b.origin()
	m.Title, m.Command, m.Ways = b.title(), b.road.command(), b.ways
	if v := b.in.Cell.Verdict; v != nil {
		m.Model, m.New = v.Model, v.Shown()
	}
	if b.in.Where != nil {
		m.Range = &b.in.Where.Range
	}
	m.tools(b.f.Toolchain, b.good, b.in.Audit.Source)
	return m
}

// tools adds the tools of a finding, and those of good code.
func (m *manifest) tools(tc *toolchain.Toolchain, good *code, source string) {
	add := func(tc *toolchain.Toolchain, role string) {
		x := tool{ID: tc.ID, Build: tc.Build, Nvdisasm: sumFile(tc.Nvdisasm), Role: role}
		if pipe, err := pipeline.Of(tc, source); err == nil {
			for _, c := range pipe.Compilers() {
				*x.hash(c.Tool) = sumFile(c.Path)
			}
		}
		m.Tools = append(m.Tools, x)
	}
	add(tc, "finding")
	if good != nil && good.tc != tc {
		add(good.tc, "comparison")
	}
}

// of prints the manifest of the files of a bundle.
func (m *manifest) of(b *Bundle) []byte {
	m.Files = map[string]string{}
	for _, f := range b.Files {
		m.Files[f.Name] = sum(f.Data)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(m); err != nil {
		panic(err) // a struct of strings
	}
	return out.Bytes()
}

// WriteDir writes the bundle into a folder, which it creates. A folder that is not empty must
// hold a bundle and nothing else; WriteDir replaces that bundle.
func (b *Bundle) WriteDir(dir string) error {
	if err := b.clear(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range b.Files {
		mode := os.FileMode(0o666)
		if f.Exec {
			mode = 0o777
		}
		if err := input.WriteFileIn(root, f.Name, f.Data, mode); err != nil {
			return err
		}
	}
	return nil
}

// manifestName is the file of a bundle that lists the others, and maxManifest bounds it, in bytes.
const (
	manifestName = "manifest.json"
	maxManifest  = 16 << 20
)

// clear removes an older bundle from a folder that contains nothing else: files that are as the
// manifest says, since somebody else may have written that.
func (b *Bundle) clear(dir string) error {
	entries, err := input.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		return nil // MkdirAll will report what is wrong
	}
	text, err := input.ReadFile(filepath.Join(dir, manifestName), maxManifest)
	var old manifest
	if err != nil || json.Unmarshal(text, &old) != nil || old.Optcheck == "" {
		return fmt.Errorf("%s is neither empty nor a bundle", dir)
	}
	for _, e := range entries {
		hash, mine := old.Files[e.Name()]
		switch {
		case !mine && e.Name() != manifestName || !e.Type().IsRegular():
			return fmt.Errorf("%s: holds %q, which is no part of the bundle there", dir, e.Name())
		case mine && sumFile(filepath.Join(dir, e.Name())) != hash:
			return fmt.Errorf("%s: %q is not as the bundle there had it: move it, or name another folder", dir, e.Name())
		}
	}
	for _, e := range entries {
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Txtar returns the bundle as one text, a txtar archive. It is an error if a file has a line
// that looks like the archive's own marks.
func (b *Bundle) Txtar() ([]byte, error) {
	a := &txtar.Archive{Comment: []byte(b.Title + "\n")}
	for _, f := range b.Files {
		a.Files = append(a.Files, txtar.File{Name: f.Name, Data: f.Data})
	}
	text := txtar.Format(a)
	back := txtar.Parse(text)
	same := len(back.Files) == len(a.Files)
	for i := 0; same && i < len(a.Files); i++ {
		same = back.Files[i].Name == a.Files[i].Name && bytes.Equal(back.Files[i].Data, a.Files[i].Data)
	}
	if !same {
		return nil, errors.New("a file of the bundle has lines like the marks of txtar; use a folder or zip")
	}
	return text, nil
}

// WriteZip writes the bundle as a zip archive without dates.
func (b *Bundle) WriteZip(w io.Writer) error {
	z := zip.NewWriter(w)
	for _, f := range b.Files {
		h := &zip.FileHeader{Name: f.Name, Method: zip.Deflate}
		h.SetMode(0o644)
		if f.Exec {
			h.SetMode(0o755)
		}
		out, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := out.Write(f.Data); err != nil {
			return err
		}
	}
	return z.Close()
}

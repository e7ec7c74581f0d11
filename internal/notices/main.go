// Command notices writes the licences of everything that is linked into the program: of each
// module and of Go itself, as their authors wrote them. With -sbom VERSION it writes a bill of
// materials instead (CycloneDX 1.5, JSON). make dist ships both.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"optcheck/internal/input"
)

func main() {
	sbom := flag.String("sbom", "", "write a bill of materials of this version of the program instead")
	flag.Parse()
	w := bufio.NewWriter(os.Stdout)
	err := error(nil)
	if *sbom != "" {
		err = writeSBOM(w, *sbom)
	} else {
		err = write(w)
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

// module is a linked module.
type module struct{ path, version, dir string }

// linked lists the modules whose packages are linked into the program, and Go.
func linked() ([]module, error) {
	list, err := output("list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}",
		"optcheck/cmd/optcheck")
	if err != nil {
		return nil, err
	}
	env, err := output("env", "GOROOT", "GOVERSION")
	if err != nil {
		return nil, err
	}
	goes := strings.Fields(env)
	if len(goes) != 2 {
		return nil, fmt.Errorf("go env says %q", env)
	}
	lines := strings.FieldsFunc(list, func(r rune) bool { return r == '\n' })
	slices.Sort(lines)
	out := []module{{"The Go standard library and runtime", goes[1], goes[0]}}
	for _, line := range slices.Compact(lines) {
		f := strings.Split(line, "\t")
		if len(f) != 3 || f[2] == "" {
			return nil, fmt.Errorf("no source of module %q; go mod download gets it", line)
		}
		out = append(out, module{f[0], f[1], f[2]})
	}
	return out, nil
}

func output(args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=readonly")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w: %s", args[0], err, errs.String())
	}
	return string(out), nil
}

// notice matches the names of files with licences and attributions.
var notice = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|notice|patents|authors|copyright)s?([-.].*)?$`)

// texts returns the notices of a module by their names below its folder.
func (m module) texts() (map[string][]byte, error) {
	out := map[string][]byte{}
	err := input.Walk(m.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(m.dir, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && !strings.EqualFold(name, "licenses") {
				return fs.SkipDir
			}
			return nil
		}
		if notice.MatchString(d.Name()) || filepath.Dir(name) != "." {
			out[filepath.ToSlash(name)], err = input.ReadFile(path, 16<<20)
		}
		return err
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("%s %s has no licence", m.path, m.version)
	}
	return out, err
}

func write(w io.Writer) error {
	modules, err := linked()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "optcheck is linked with what follows, each under its own licence.\n\n")
	for _, m := range modules {
		fmt.Fprintf(w, "  %s %s\n", m.path, m.version)
	}
	for _, m := range modules {
		texts, err := m.texts()
		if err != nil {
			return err
		}
		var names []string
		for name := range texts {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			fmt.Fprintf(w, "\n%s\n%s %s, %s\n\n%s\n", strings.Repeat("=", 80), m.path, m.version, name, bytes.TrimSpace(texts[name]))
		}
	}
	return writeEditor(w)
}

// writeEditor adds the licences of the editor of the pages, which its build gathers.
func writeEditor(w io.Writer) error {
	dir, err := output("list", "-f", "{{.Dir}}", "optcheck/report/html")
	if err != nil {
		return err
	}
	text, err := input.ReadFile(filepath.Join(strings.TrimSpace(dir), "editor", "LICENSES"), 1<<20)
	if err == nil {
		fmt.Fprintf(w, "\nThe editor of the page to try things is a bundle of these packages:\n\n%s\n", bytes.TrimSpace(text))
	}
	return err
}

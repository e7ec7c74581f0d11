//input:allow a compiler for tests reads what tests have written

package fakeptxas

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxSteps bounds what a pass does in one kernel.
const maxSteps = 200

// Optimised is what passes did to a kernel.
type Optimised struct {
	Kernel string `json:"kernel"`
	Target string `json:"target,omitempty"`
	// Passes are those that changed it.
	Passes []string `json:"passes"`
}

var targetLine = regexp.MustCompile(`(?m)^\.target\s+sm_(\d+)`)

// Optimise runs passes, one after the other, over the kernels of a module, and
// says which kernels were changed by which. The passes are named by kernel; those
// of "" are for kernels that are not named.
func Optimise(ptx string, names map[string][]string) (string, []Optimised, error) {
	passes := map[string][]*Pass{}
	for kernel, list := range names {
		passes[kernel] = []*Pass{}
		for _, n := range list {
			i := slices.IndexFunc(Passes, func(p Pass) bool { return p.Name == n })
			if i < 0 {
				return "", nil, fmt.Errorf("no pass %q", n)
			}
			passes[kernel] = append(passes[kernel], &Passes[i])
		}
	}
	sm := 0
	if m := targetLine.FindStringSubmatch(ptx); m != nil {
		sm, _ = strconv.Atoi(m[1])
	}
	var did []Optimised
	var w strings.Builder
	last := 0
	for _, m := range entryStart.FindAllStringSubmatchIndex(ptx, -1) {
		from, to, err := braces(ptx, m[1])
		name := ptx[m[2]:m[3]]
		if err != nil {
			return "", nil, fmt.Errorf("kernel %s: %w", name, err)
		}
		todo, ok := passes[name]
		if !ok {
			todo = passes[""]
		}
		if len(todo) == 0 {
			continue
		}
		text, changed, err := optimiseBody(ptx[from:to], sm, todo)
		if err != nil {
			return "", nil, fmt.Errorf("kernel %s: %w", name, err)
		}
		if len(changed) > 0 {
			w.WriteString(ptx[last:from] + "\n" + text)
			last = to
			did = append(did, Optimised{Kernel: name, Passes: changed})
		}
	}
	w.WriteString(ptx[last:])
	return w.String(), did, nil
}

// optimiseBody runs passes over one body.
func optimiseBody(text string, sm int, passes []*Pass) (string, []string, error) {
	b, err := parseBody(text)
	if err != nil {
		return "", nil, err
	}
	b.sm = sm
	var changed []string
	for _, p := range passes {
		if did, err := b.run(p); err != nil {
			return "", nil, err
		} else if did {
			changed = append(changed, p.Name)
		}
	}
	return b.String(), changed, nil
}

// run runs a pass until it has nothing more to do.
func (b *body) run(p *Pass) (bool, error) {
	n := 0
	for ; p.step(b); n++ {
		if n == maxSteps {
			return false, fmt.Errorf("pass %s does not end", p.Name)
		}
	}
	for i, in := range b.code { // the next pass may do more
		if in.moved {
			fresh := *in
			fresh.moved = false
			b.code[i] = &fresh
		}
	}
	return n > 0, nil
}

// Applicable lists the passes that change the kernel of an entry's text, which is
// parsed once for all.
func Applicable(kernel string, sm int) ([]string, error) {
	m := entryStart.FindStringIndex(kernel)
	if m == nil {
		return nil, errors.New("no entry")
	}
	from, to, err := braces(kernel, m[1])
	if err != nil {
		return nil, err
	}
	b, err := parseBody(kernel[from:to])
	if err != nil {
		return nil, err
	}
	b.sm = sm
	b.flow()
	var out []string
	for i := range Passes {
		if Passes[i].step(b.clone()) {
			out = append(out, Passes[i].Name)
		}
	}
	return out, nil
}

// braces finds what stands between the braces that follow position at.
func braces(s string, at int) (from, to int, err error) {
	depth := 0
	for i := at; i < len(s); i++ {
		switch s[i] {
		case '{':
			if depth++; depth == 1 {
				from = i + 1
			}
		case '}':
			if depth--; depth == 0 {
				return from, i, nil
			}
		}
	}
	return 0, 0, errors.New("no body")
}

// optimisedName is the file beside the fake that says what passes did: one line
// for each process.
const optimisedName = "optimised.jsonl"

// note says beside the fake what passes did.
func note(dir, target string, did []Optimised) error {
	for i := range did {
		did[i].Target = target
	}
	data, err := json.Marshal(did)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, optimisedName), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n')) // one write, so that processes do not mix
	return errors.Join(err, f.Close())
}

// Notes reads what passes did since the fake in a folder was configured.
func Notes(dir string) ([]Optimised, error) {
	f, err := os.Open(filepath.Join(dir, optimisedName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []Optimised
	for d := json.NewDecoder(bufio.NewReader(f)); d.More(); {
		var did []Optimised
		if err := d.Decode(&did); err != nil {
			return nil, err
		}
		out = append(out, did...)
	}
	return out, nil
}

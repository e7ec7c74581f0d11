package known

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"iter"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"optcheck/event"
	"optcheck/internal/plain"
)

// entry is a filter as a file has it.
type entry struct {
	ID      string   `yaml:"id"`
	Rule    string   `yaml:"rule"`
	Classes []string `yaml:"classes,flow"`
	Tests   []string `yaml:"tests,flow"`
	Detail  string   `yaml:"detail"`
	Note    string   `yaml:"note"`
	Reason  string   `yaml:"reason"`
}

const baselineHead = "# Findings of an audit, written by --write-known. Examine each, and say why it is accepted.\n"

// maxNote bounds a note, in bytes.
const maxNote = 160

// WriteBaseline writes a list that knows each finding of the cells that no filter knows yet: by its rule, its class, its test
// and its detail, in which any number may stand for any other, so that it stays known when lines and registers change.
// A cell that could not be decided is not made known.
func WriteBaseline(w io.Writer, cells iter.Seq2[int, *event.Cell]) error {
	var list []entry
	seen := map[string]bool{}
	for _, c := range cells {
		if len(c.Known) > 0 || !c.HasFindings() {
			continue
		}
		for i := range c.Findings {
			e := baseline(c, &c.Findings[i])
			if !seen[e.ID] {
				seen[e.ID] = true
				list = append(list, e)
			}
		}
	}
	slices.SortFunc(list, func(x, y entry) int {
		return strings.Compare(x.Tests[0]+"\x00"+x.Rule+x.Detail+x.ID, y.Tests[0]+"\x00"+y.Rule+y.Detail+y.ID)
	})
	text, err := yaml.Marshal(map[string][]entry{"known": list})
	if err != nil {
		return err
	}
	if len(text) > maxFile {
		return errors.New("too many findings for a list of known ones")
	}
	_, err = io.WriteString(w, baselineHead+string(text))
	return err
}

var (
	anyNumber = regexp.MustCompile(`0x[0-9a-f]+|[0-9]+`)
	globMeta  = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)
)

func baseline(c *event.Cell, f *event.Finding) entry {
	e := entry{Rule: f.Rule, Classes: []string{c.Class}, Tests: []string{globMeta.Replace(c.Test)},
		Detail: "^" + anyNumber.ReplaceAllString(regexp.QuoteMeta(f.Detail), "(0x[0-9a-f]+|[0-9]+)") + "$",
		Reason: "it was there when the list was written; nobody has examined it"}
	if e.Note = plain.Line(f.Detail); len(e.Note) > maxNote {
		e.Note = strings.ToValidUTF8(e.Note[:maxNote], "") + "…"
	}
	hash := sha256.Sum256([]byte(strings.Join([]string{e.Rule, c.Class, c.Test, e.Detail}, "\x00")))
	e.ID = "found-" + hex.EncodeToString(hash[:6])
	return e
}

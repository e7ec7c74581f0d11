package ptx

import (
	"bytes"
	"errors"
	"regexp"
)

// maxParts bounds the modules of one file.
const maxParts = 10_000

// partHead is how cuobjdump begins a part of a fat binary. Under its line of = come lines such as "arch = sm_80" and
// "compressed", then an empty one.
var partHead = regexp.MustCompile(`(?m)^Fatbin (\w+) code:[ \t]*\r?\n=+[ \t]*\r?\n`)

// ParseAll reads the modules of a file: the one that it is, or, of what cuobjdump prints of a fat binary (-ptx, with or
// without -sass), one for each part that is PTX. Places are those of the file. A part that cannot be read costs no other; the
// error has all of them.
func ParseAll(file string, src []byte) (modules []*Module, err error) {
	if len(src) > MaxInput {
		return nil, tooLarge(file, src)
	}
	parts, isDump := dumped(src)
	if !isDump {
		m, err := Parse(file, src)
		if err != nil {
			return nil, err
		}
		return []*Module{m}, nil
	}
	if len(parts) == 0 {
		return nil, errorAt(file, Pos{1, 1}, "a dump of cuobjdump in which no PTX is shown: cuobjdump -ptx shows it, if the file has some")
	}
	if len(parts) > maxParts {
		return nil, errorAt(file, Pos{1, 1}, "%d parts of PTX: more than the %d that a file may have", len(parts), maxParts)
	}
	var errs []error
	lines, at := 0, 0
	for i, p := range parts {
		lines, at = lines+bytes.Count(src[at:p.from], []byte("\n")), p.from
		part := i + 1
		if len(parts) == 1 {
			part = 0
		}
		m, err := parsePart(file, src[p.from:p.to:p.to], lines, part)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		modules = append(modules, m)
	}
	return modules, errors.Join(errs...)
}

// dumped lists where the PTX of a dump stands; ok is false if the text is none.
func dumped(src []byte) (parts []span, ok bool) {
	if !bytes.Contains(src, []byte("Fatbin ")) {
		return nil, false
	}
	heads := partHead.FindAllSubmatchIndex(src, -1)
	if len(heads) == 0 || versionLine.Match(src[:heads[0][0]]) {
		return nil, false
	}
	for i, h := range heads {
		to := len(src)
		if i+1 < len(heads) {
			to = heads[i+1][0]
		}
		if m := memberLine.FindIndex(src[h[1]:to]); m != nil {
			to = h[1] + m[0]
		}
		text := src[h[1]:to]
		if string(src[h[2]:h[3]]) != "ptx" {
			continue
		}
		if v := firstLineOfPTX.FindIndex(text); v != nil && versionLine.Match(text) {
			parts = append(parts, span{h[1] + v[0], to})
		}
	}
	return parts, true
}

var (
	// memberLine is how cuobjdump begins what an object in an archive holds, if that is nothing as well.
	memberLine  = regexp.MustCompile(`(?m)^member [^\n]*:[ \t]*\r?$`)
	versionLine = regexp.MustCompile(`(?m)^[ \t]*\.version\b`)
	// firstLineOfPTX is a directive or a comment: no line of a head is one.
	firstLineOfPTX = regexp.MustCompile(`(?m)^[ \t]*[./]`)
)

package toolchain

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"optcheck/internal/input"
)

// within lists the folders whose files may be included.
func (f *front) within(dir string) []string {
	within := append([]string{f.job.Folder, dir, "/usr/include", "/usr/lib", "/usr/local/include"}, slices.Concat(f.job.includes,
		f.kind.driver.headers())...)
	for i, dir := range within {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			within[i] = real
		}
	}
	return within
}

// inclusion is a file that another one includes.
type inclusion struct {
	file, from string
	line       int
	why        string // what is said of it, if nothing is known of the file
}

// marker is a line of a preprocessed text: # LINE "FILE" FLAGS, where the flag 1 is that
// of a file that begins.
var marker = regexp.MustCompile(`(?m)^# (\d+) "((?:[^"\\]|\\.)*)"((?: \d)*)$`)

// outside finds the first file of a preprocessed text that lies in none of the folders.
func outside(text []byte, dir string, within []string) *inclusion {
	from, line, end := "", 0, 0
	for _, m := range marker.FindAllSubmatchIndex(text, -1) {
		line += bytes.Count(text[end:m[0]], []byte("\n"))
		end = min(m[1]+1, len(text))
		file, err := strconv.Unquote(`"` + string(text[m[4]:m[5]]) + `"`)
		if err != nil {
			file = string(text[m[4]:m[5]])
		}
		if begins := bytes.Contains(text[m[6]:m[7]], []byte(" 1")); begins && !isWithin(file, dir, within) {
			return &inclusion{file: file, from: filepath.Base(from), line: line}
		}
		from = file
		line, _ = strconv.Atoi(string(text[m[2]:m[3]])) // digits
	}
	return nil
}

// madeInclude is a directive that is still there when all directives have been followed: macros have made it. The
// compiler that gets the text follows it, whatever lines and comments lie in between.
var madeInclude = func() *regexp.Regexp {
	const splice = `(?:(?:\\|\?\?/)[ \t\f\v]*[\r\n]+)*`
	const comment = `/` + splice + `\*(?s:.*?)\*` + splice + `/`
	const gap = `(?:[ \t\f\v]|(?:\\|\?\?/)[ \t\f\v]*[\r\n]+|` + comment + `)*`
	spliced := func(word string) string { return strings.Join(strings.Split(word, ""), splice) }
	return regexp.MustCompile(`(?:^|[\r\n]|\*` + splice + `/)` + gap + `(?:#|` + spliced("%:") + `|\?\?=)` + gap +
		`(?:` + spliced("include") + `|` + spliced("import") + `|` + spliced("embed") + `)`)
}()

// onlyMarked reports whether all directives of a preprocessed text are those that preprocessors leave there. It takes a
// hundredth of the time that madeInclude takes.
func onlyMarked(text []byte) bool {
	for _, other := range []string{"%:", "%\\", "%??", "??="} {
		if bytes.Contains(text, []byte(other)) {
			return false
		}
	}
	for at := 0; ; at++ {
		next := bytes.IndexByte(text[at:], '#')
		if next < 0 {
			return true
		}
		at += next
		left := text[at+1 : min(at+3, len(text))]
		marks := len(left) == 2 && (left[0] == ' ' && left[1] >= '0' && left[1] <= '9' || string(left) == "pr")
		if at > 0 && text[at-1] != '\n' || !marks {
			return false
		}
	}
}

// made finds the first inclusion of a preprocessed text that macros have made.
func made(text []byte) *inclusion {
	if onlyMarked(text) { // as nearly always
		return nil
	}
	at := madeInclude.FindIndex(text)
	if at == nil {
		return nil
	}
	inc := &inclusion{from: cudaSource, line: 1,
		why: "a macro, or a text of several lines, makes an #include here, which cannot be looked at beforehand"}
	before := text[:at[1]]
	if m := marker.FindAllSubmatchIndex(before, -1); len(m) > 0 {
		last := m[len(m)-1]
		inc.line, _ = strconv.Atoi(string(before[last[2]:last[3]])) // digits
		inc.from = filepath.Base(string(before[last[4]:last[5]]))
		before = before[min(last[1]+1, len(before)):]
	}
	inc.line += bytes.Count(before, []byte("\n"))
	return inc
}

// dependencies is the file to which a front end that preprocesses writes what it reads, as a
// rule of make.
const dependencies = "batch.d"

var (
	prerequisite = regexp.MustCompile(`(?:\\.|[^\s\\])+`)
	escaped      = regexp.MustCompile(`\\([\s#\\:])|\$(\$)`)
	embedding    = regexp.MustCompile(`(?:#|%:|\?\?=)\s*embed\b`)
)

// embedded finds the first file that is read, lies in none of the folders, and has no
// marker: its content was made numbers by #embed. Its name is not known if the front end
// does not tell what it reads, which clang does not where a file to embed is missing.
func embedded(dir string, within []string) *inclusion {
	rule, err := input.ReadFile(filepath.Join(dir, dependencies), maxCubin)
	_, list, _ := strings.Cut(strings.ReplaceAll(string(rule), "\\\n", " "), ": ")
	files := prerequisite.FindAllString(list, -1)
	for i := range files {
		files[i] = escaped.ReplaceAllString(files[i], "$1$2")
	}
	i := slices.IndexFunc(files, func(file string) bool { return !isWithin(file, dir, within) })
	if err == nil && i < 0 {
		return nil
	}
	source, _ := input.ReadFile(filepath.Join(dir, cudaSource), maxCubin) // it was read a moment ago
	inc := &inclusion{from: cudaSource, line: 1}
	if at := embedding.FindIndex(source); at != nil {
		inc.line += bytes.Count(source[:at[0]], []byte("\n"))
	}
	if i >= 0 {
		inc.file = files[i]
	}
	return inc
}

func isWithin(file, dir string, within []string) bool {
	if strings.HasPrefix(file, "<") { // <built-in>
		return true
	}
	if own, ok := strings.CutPrefix(file, here); ok || !filepath.IsAbs(file) {
		file = filepath.Join(dir, own)
	}
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return false
	}
	for _, d := range within {
		if rel, err := filepath.Rel(d, real); d != "" && err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			return true
		}
	}
	return false
}

package toolchain

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Bounds of what is kept of a compiler's last words.
const (
	maxGistLines = 8
	maxGist      = 600 // bytes
	maxFrames    = 3   // of a stack
)

// varying are the words that differ from run to run, or from unit to unit.
var varying = regexp.MustCompile(`0x[0-9a-fA-F]+|\b[0-9a-f]{8,}\b|/[^\s:'"]*/|\b\d+\b`)

// What LLVM prints when it dies: sentences that it always prints, what it was at (which depends on the input, but for
// the pass), and the stack.
var (
	always = regexp.MustCompile(`^PLEASE submit a bug report|^Stack dump|frontend command failed `)
	doing  = regexp.MustCompile(`^\d+\.\t(?:(Running pass '[^']*')|.*)`)
	frame  = regexp.MustCompile(`^ *#\d+ 0x[0-9a-f]+ (.*)|^(\S+)\((\w*)\+0x[0-9a-f]+\)\[0x[0-9a-f]+\]$|^ *\d+ +(\S+) +0x[0-9a-f]+(?: (.*) \+ \d+)?$`)
)

// gist is what the messages of a compiler have in common with those of the same crash elsewhere:
// their first lines without addresses, numbers, folders and names of units, and the functions in which it died.
func gist(stderr string) string {
	var lines, stack []string
	for line := range strings.Lines(stderr) {
		line = strings.TrimRight(line, "\r\n")
		if m := frame.FindStringSubmatch(line); m != nil {
			stack = append(stack, m[1]+m[3]+m[5]+" "+m[2]+"("+m[4])
			continue
		}
		if m := doing.FindStringSubmatch(line); m != nil {
			line = m[1]
		}
		line = strings.Join(strings.Fields(varying.ReplaceAllString(line, "…")), " ")
		if line != "" && !always.MatchString(line) && !slices.Contains(lines, line) && len(lines) < maxGistLines {
			lines = append(lines, line)
		}
	}
	if names := died(stack); len(names) > 0 {
		lines = append(lines, "in "+strings.Join(names, " < "))
	}
	text := strings.Join(lines, " | ")
	if len(text) > maxGist {
		text = strings.ToValidUTF8(text[:maxGist], "") + "…"
	}
	return text
}

// died lists the functions in which a process died, the innermost first: those behind the ones that print the stack,
// and those of the system by which it ended itself.
func died(stack []string) (names []string) {
	first := 0
	for i, f := range stack[:min(len(stack), 12)] {
		if strings.Contains(f, "libc.so") || strings.Contains(f, "/sysdeps/") || strings.Contains(f, " ./") {
			first = i + 1
		}
	}
	if first == len(stack) {
		first = 0
	}
	for _, f := range stack[first:] {
		name, _, _ := strings.Cut(f, "(")
		if name = strings.TrimSpace(name); name != "" && !filepath.IsAbs(name) && len(names) < maxFrames {
			names = append(names, strings.Fields(name)[0])
		}
	}
	return names
}

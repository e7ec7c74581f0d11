package pipeline

import (
	"cmp"
	"errors"
	"regexp"
	"strings"

	"optcheck/ptxgen"
	"optcheck/toolchain"
)

// References to LLVM's own objects in its messages: addresses of nodes with the number of a
// result, names of values, and lines of the pseudo source.
var (
	pointers = regexp.MustCompile(`,? ?\b0x[0-9a-f]{6,}(:\d+)?:? ?`)
	operands = regexp.MustCompile("(?: dereferenceable\\b| (?:into|from) (?:%ir[^,)]*|@[^,)]*|`[^`]*`))")
	load     = regexp.MustCompile(`\(dereferenceable `)
	places   = regexp.MustCompile(`, ` + regexp.QuoteMeta(ptxgen.SourceName) + `:\d+(:\d+)?`)
	fenceIDs = regexp.MustCompile(`(AtomicFence), TargetConstant:i64<(\d+)>, TargetConstant:i64<(\d+)>`)
)

// fenceOrders maps LLVM's numbers of memory orderings to their names.
var fenceOrders = map[string]string{"4": "acquire", "5": "release", "6": "acq_rel", "7": "seq_cst"}

// plainReason makes the back end's message independent of the file: LLVM numbers named scopes
// in the order in which it meets them.
func plainReason(msg string) string {
	msg = places.ReplaceAllString(pointers.ReplaceAllString(msg, ""), "")
	msg = load.ReplaceAllString(operands.ReplaceAllString(msg, ""), "(")
	msg = strings.Replace(msg, "Cannot select:", toolchain.CannotSelect, 1)
	if m := fenceIDs.FindStringSubmatch(msg); m != nil {
		scope := "with a named scope"
		if m[3] == "1" {
			scope = "of the whole system"
		}
		msg = strings.Replace(msg, m[0], m[1]+" "+cmp.Or(fenceOrders[m[2]], m[2])+" "+scope, 1)
	}
	return strings.ReplaceAll(strings.TrimSpace(msg), "  ", " ")
}

// Lacks says what the release lacks for a kernel, "" if the failure is of another kind. If the
// back end refuses a kernel, the release lacks something; if the front end does, the kernel is
// at fault.
func Lacks(err error) string {
	var e *toolchain.Error
	if !errors.As(err, &e) {
		return ""
	}
	if errors.Is(err, toolchain.ErrNoLibrary) {
		return e.Detail
	}
	// llc aborts where clang has a message.
	if i := strings.Index(e.Error(), toolchain.CannotSelect); i >= 0 && e.ExitCode != 0 && len(e.Diagnostics) == 0 {
		msg, _, _ := strings.Cut(firstLine(e.Error()[i:]), " # D:")
		return "the compiler cannot: " + pointers.ReplaceAllString(msg, "")
	}
	if !errors.Is(err, toolchain.ErrCompile) {
		return ""
	}
	if e.ExitCode == 0 {
		return e.Detail // an unresolved call
	}
	for _, d := range e.Diagnostics {
		if d.Unit != "" {
			// LLVM prints addresses of its own objects, which differ each time.
			msg, _, _ := strings.Cut(d.Message, " # D:")
			return "the compiler cannot: " + plainReason(msg)
		}
	}
	// r600 refuses calls, and its library lacks some functions (mem_fence).
	if i := strings.Index(e.Error(), "unsupported call to function"); i >= 0 {
		return "the compiler cannot: " + firstLine(e.Error()[i:])
	}
	return ""
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

package mapping

import (
	"errors"
	"slices"
	"strings"

	"optcheck/pipeline"
	"optcheck/realcode"
	"optcheck/toolchain"
)

// failure is why an operation has no code.
type failure struct{ status, reason string }

// failed says what the error of an operation is: a compiler breaks down at it, or lacks or refuses it, or
// something failed that says nothing of the operation.
func failed(err error, tc *toolchain.Toolchain) failure {
	if f := pipeline.Crash(err, 0, tc.Compilers()); f != nil {
		return failure{Crashed, f.Rule + ": " + f.Full()}
	}
	if reason := pipeline.Lacks(err); reason != "" {
		return failure{Refused, reason}
	}
	if reason, ok := strings.CutPrefix(firstLine(err.Error()), realcode.ErrUnsupported.Error()+": "); ok {
		return failure{Refused, "ptxas: " + reason}
	}
	if errors.Is(err, toolchain.ErrCompile) {
		return failure{Refused, refusalWords(err)}
	}
	return failure{Unknown, pipeline.Kind(err) + ": " + firstLine(err.Error())}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// refusalWords returns the messages of a refusal, each once.
func refusalWords(err error) string {
	var e *toolchain.Error
	var words []string
	if errors.As(err, &e) {
		for _, d := range e.Diagnostics {
			if (d.Severity == "error" || d.Severity == "fatal") && !slices.Contains(words, d.Message) {
				words = append(words, d.Message)
			}
		}
	}
	if len(words) == 0 {
		return firstLine(err.Error())
	}
	return strings.Join(words, "; ")
}

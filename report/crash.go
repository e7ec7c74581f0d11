package report

import (
	"fmt"
	"io"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
)

// writeCrashes lists the crashes of a run.
func writeCrashes(w io.Writer, r *event.Run) {
	list := r.Crashes()
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%d distinct %s of compilers:\n", len(list), plain.Form(len(list), "crash or hang", "crashes and hangs"))
	for _, x := range list {
		fmt.Fprintf(w, "  %s: %s: %s of %s, first %s in %s\n", x.Rule, x.Full(), plain.Count(len(x.Cells), "cell"),
			plain.Count(len(x.Tests), "test"), plain.Label(x.Tests[0]), strings.Join(whereShort(x.Cells[:1]), ""))
	}
}

package realcode

import (
	"fmt"

	"optcheck/internal/plain"
)

// Statement says what a comparison claims, and what it does not, if kernels are executed on so many inputs.
func Statement(runs int) string {
	if runs == 0 {
		return fmt.Sprintf(statement, "", "", "")
	}
	return fmt.Sprintf(statement, ";\nand each operation that writes memory was performed by a run of both that was compared",
		"; or both were executed on an\ninput, and do different things",
		fmt.Sprintf(", but\non %s or more, as far as kernels could be executed", plain.Count(runs, "input")))
}

const statement = `What is claimed: a finding is an operation of the PTX without its counterpart, one that is less than its
instruction, or a path through the machine code's control flow on which two operations stand in an order, or one stands as
often, as on no path through the PTX. Of what is preserved, every synchronising operation was found, or a note says why it
needs no instruction; and for each pair whose order the model may require every path through the machine code is one of the PTX%s.
What is miscompiled: the model forbids an outcome of a litmus test of the finding's operations and a partner made for them, and
allows it with what the machine code has in their place%s.
What is not claimed: a finding without such a test is no verdict, and with one none of the whole program: whether it has such a
partner nobody has said. Not compared: which iteration of a loop an access belongs to; what is read and written%s; paths that exist only
if conditions have nothing to do with each other; calls that are elsewhere; pairs of which an operation has no image.`

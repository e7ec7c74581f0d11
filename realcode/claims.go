package realcode

import (
	"fmt"

	"optcheck/internal/plain"
)

// Statement says what a comparison claims, and what it does not, if kernels are executed on so many inputs.
func Statement(runs int) string {
	if runs == 0 {
		return fmt.Sprintf(statement, "", "", "", "")
	}
	return fmt.Sprintf(statement, `;
and a run of both that was compared performed each operation that writes memory, or the kernel is proved`, `
What is proved for all inputs: the machine code computes and stores what the PTX does, whatever the parameters, the memory and the
launch; no run is needed. Approximate functions, and quotients by zero, are taken to be the machine's. A proof says nothing of strengths
and orders: they are compared as in every kernel.
What is executed with a forced condition: no input that was tried shows one of the condition's outcomes, so both codes were changed to have
it, and did the same. Which comparison of the machine code is the counterpart is guessed: a wrong guess shows as a difference, which accuses
nobody and leaves the operation uncompared.`, `; or both were executed on an
input, and do different things`, fmt.Sprintf(`, but
on %s or more, as far as a kernel could be executed, and in kernels that are proved`, plain.Count(runs, "input")))
}

const statement = `What is claimed: a finding is an operation of the PTX without its counterpart, one that is less than its
instruction, or a path through the machine code's control flow on which two operations stand in an order, or one stands as
often, as on no path through the PTX. Of what is preserved, every synchronising operation was found, or a note says why it
needs no instruction; and for each pair whose order the model may require every path through the machine code is one of the PTX%s.%s
What is miscompiled: the model forbids an outcome of a litmus test of the finding's operations and a partner made for them, and
allows it with what the machine code has in their place%s.
What is not claimed: a finding without such a test is no verdict. With one, nothing is said of the whole program: it may have no such
partner. Not compared: which iteration of a loop an access belongs to; what is read and written%s; paths that exist only
if conditions have nothing to do with each other; calls that are elsewhere; pairs of which an operation has no counterpart.`

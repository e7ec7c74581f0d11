package ir

// System says what a function of the CUDA system does for its caller, as far as a program's own memory shows it.
type System uint8

// The effects of system functions.
const (
	NoSystem   System = iota
	GivesZero         // it returns 0
	EndsThread        // it does not return
)

// SystemOf is the effect of a function that CUDA provides (PTX Writer's Guide to Interoperability, System Calls). What vprintf
// prints is in no memory of the program, and malloc may always find none.
func SystemOf(name string) System {
	switch name {
	case "vprintf", "malloc", "free":
		return GivesZero
	case "__assertfail":
		return EndsThread
	}
	return NoSystem
}

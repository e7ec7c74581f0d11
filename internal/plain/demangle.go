package plain

import "github.com/ianlancetaylor/demangle"

// Demangled is the name of a function as its author wrote it, with the types of its parameters: _Z4waitPi is wait(int*).
// A name that is not mangled stays as it is.
func Demangled(name string) string {
	return demangle.Filter(name, demangle.LLVMStyle, demangle.MaxLength(10))
}

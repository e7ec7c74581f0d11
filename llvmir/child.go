package llvmir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"optcheck/internal/input"
)

// ChildCommand is the hidden command of the program under which Main runs.
const ChildCommand = "llvm-ir-accesses"

// output is what a child prints.
type output struct {
	Functions []Func `json:"functions"`
}

// Run is Main for a file: the arguments of ChildCommand are the library's path
// and the file's.
func Run(args []string, out io.Writer) error {
	if len(args) != 2 {
		return fmt.Errorf("%s needs a library and a file", ChildCommand)
	}
	f, err := input.Open(args[1])
	if err != nil {
		return err
	}
	defer f.Close()
	return Main(args[0], args[1], f, out)
}

// Main reads LLVM IR from in with the library at path and prints the accesses as JSON. It is
// the child's side of reading with a library, which needs a process of its own: libLLVM aborts
// the process on invalid input.
func Main(path, file string, in io.Reader, out io.Writer) error {
	text, err := io.ReadAll(io.LimitReader(in, MaxInput+1))
	if err != nil {
		return err
	}
	funcs, err := ReadLibrary(path, file, text)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(output{funcs})
}

// Decode reads what a child printed.
func Decode(data []byte) ([]Func, error) {
	var o output
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, fmt.Errorf("output of the reader of LLVM IR: %w", err)
	}
	if o.Functions == nil {
		return nil, errors.New("the reader of LLVM IR found no function")
	}
	return o.Functions, nil
}

// Typed reports whether a release of LLVM prints typed pointers, which ReadTyped reads: up to
// 14, and 15 on request.
func Typed(major int) bool { return major <= 15 }

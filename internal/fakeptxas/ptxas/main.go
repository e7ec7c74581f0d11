// Command ptxas is a compiler for tests that does what it is told wrongly; see
// package fakeptxas.
package main

import (
	"os"

	"optcheck/internal/fakeptxas"
)

func main() { os.Exit(fakeptxas.Main(os.Args[1:])) }

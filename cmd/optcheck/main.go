// Command optcheck tells whether a GPU compiler kept a concurrent program as it
// was written.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(Main(context.Background(), os.Getenv, os.Stdin, os.Stdout, os.Stderr, os.Args[1:]))
}

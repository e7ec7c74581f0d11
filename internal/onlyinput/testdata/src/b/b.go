// Package b serves tests.
//
//input:allow it reads what it has written itself
package b

import "os"

func f() { os.Open("x") }

func g() { os.ReadFile("x") }

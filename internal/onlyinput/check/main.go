// Command check applies the analysis of package onlyinput to packages.
package main

import (
	"golang.org/x/tools/go/analysis/singlechecker"

	"optcheck/internal/onlyinput"
)

func main() { singlechecker.Main(onlyinput.Analyzer) }

package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"optcheck/bug"
	"optcheck/internal/plain"
	"optcheck/verify"
)

// writeBundle writes the folder of --bundle: what is wrong with a program, for those who maintain it.
func (v *verification) writeBundle(env *environment, s *smallest) error {
	data, err := json.MarshalIndent(s.found, "", "  ")
	if err != nil {
		return err
	}
	svg, err := picture(s.found)
	if err != nil {
		return err
	}
	flags := v.again()
	b := &bug.Bundle{Title: fmt.Sprintf("%s in kernel %s", s.found.Rule, plain.Line(s.of.Name)), Files: []bug.File{
		{Name: "min.ptx", Data: s.text},
		{Name: "finding.json", Data: append(data, '\n')},
		{Name: "interesting.sh", Exec: true, Data: []byte("#!/bin/sh\n# interesting.sh [FILE.ptx]: exit status 0 if optcheck finds this in it, for people and reducers.\n" +
			`"${OPTCHECK:-optcheck}" verify "${1:-$(dirname "$0")/min.ptx}" --no-mend --json --fail-on never` + flags + " |\n" +
			fmt.Sprintf("\tgrep -q '\"rule\": *\"%s\"'\n", s.found.Rule))},
	}}
	if svg != nil {
		b.Files = append(b.Files, bug.File{Name: "execution.svg", Data: svg})
	}
	b.Files = append(b.Files, bug.File{Name: "report.md", Data: []byte(s.report(b.Title, flags, svg != nil))})
	if err := b.WriteDir(v.bundle); err != nil {
		return err
	}
	env.tell("%s: %s", v.bundle, b.Title)
	return nil
}

// again are the flags with which the small kernel shows its finding again, quoted for a shell.
func (v *verification) again() string {
	var b strings.Builder
	for _, a := range v.args {
		fmt.Fprintf(&b, " --arg '%s'", strings.ReplaceAll(a, "'", `'\''`))
	}
	if v.shared > 0 {
		fmt.Fprintf(&b, " --shared %d", v.shared)
	}
	if v.o.CUDA || v.cuda {
		b.WriteString(" --uniform")
	}
	if v.o.Seed > 0 {
		fmt.Fprintf(&b, " --seed %d", v.o.Seed)
	}
	return b.String()
}

// report is what the bundle says to people.
func (s *smallest) report(title, flags string, pictured bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", title)
	for _, r := range verify.Rules() {
		if r.Rule == s.found.Rule {
			fmt.Fprintf(&b, "The kernel of `%s` is wrong as it is written, whatever compiles it: %s.\n\n", plain.Line(s.of.File), r.Says)
		}
	}
	launch := fmt.Sprintf("grid %d,%d,%d, block %d,%d,%d", s.of.Grid[0], s.of.Grid[1], s.of.Grid[2], s.of.Block[0], s.of.Block[1], s.of.Block[2])
	fmt.Fprintf(&b, "## What happens\nWith %s:\n\n```text\n%s```\n\n", launch, s.found.Text())
	if len(s.of.Chose) > 0 {
		fmt.Fprintf(&b, "Chosen, because nobody gave them: %s.\n\n", plain.Line(strings.Join(s.of.Chose, ", ")))
	}
	if pictured {
		b.WriteString("![what the two threads did](execution.svg)\n\n")
	}
	fmt.Fprintf(&b, "## How to see it again\n`min.ptx` is the kernel without what the finding does not need: %s. Its first lines name the launch.\n\n```console\n$ optcheck verify min.ptx%s\n```\n\n",
		plain.Count(s.insts, "instruction"), flags)
	b.WriteString("No GPU is needed. The finding says what the PTX memory model allows: a device need not show it in each run, or at all.\n\n")
	fmt.Fprintf(&b, "Found by optcheck %s.\n", version())
	return b.String()
}

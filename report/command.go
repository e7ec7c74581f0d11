package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
	"optcheck/internal/toolflags"
)

// Command is a command line that a reader can copy into a shell.
type Command struct {
	What string // what it does
	Line string // quoted for a POSIX shell
}

// Commands returns the command lines that show a cell's finding again: the audit of
// this cell alone, and a report or a reduction for the compiler's makers. Flags come from a file:
// those that no file may tell a compiler are not among what people copy.
func Commands(config *event.Config, t *event.Test, c *event.Cell) []Command {
	name := t.File
	save := ""
	switch {
	case name != "":
	case t.Preset != "" || t.Text == "":
		name = t.Name
	default:
		// Where the test came from is not known: from its text it can be audited
		// in any case, by its name only if it is in the corpus or generated.
		name = t.Name
		save = "If the test is neither in the corpus nor generated, save its text to a file and name that instead of it"
	}
	if strings.ContainsRune(name, 0) {
		return nil // no command line can say it
	}
	if t.Dialect == event.Program {
		return programCommands(name, t, c)
	}
	compiler, _, _ := strings.Cut(c.Toolchain, " ")
	ptxas, pair := compiler == "ptxas", compiler == "llc" // llc 22.1.8 + ptxas 12.4.131
	version := versionOf(c.Toolchain)
	args := []string{"optcheck", "audit", operand(name), "--toolchains", csv(version), "--targets", csv(c.Target), "--levels", csv(c.Level),
		"--layouts", csv(c.Layout)}
	if pair {
		args = append(args, "--source", "llvm-ir")
	} else if !ptxas {
		args = append(args, "--vendor", "amd")
		if config.Source != "" && config.Source != "opencl" {
			args = append(args, "--source", config.Source)
		}
	}
	left := ""
	if err := toolflags.Check(flagsOf(ptxas || pair, config.Source), config.Flags); err != nil {
		left = fmt.Sprintf(". The run had other flags for the compiler, too, which are not repeated here: %v", err)
	} else if len(config.Flags) > 0 {
		var flags []string
		for _, f := range config.Flags {
			flags = append(flags, csv(f))
		}
		args = append(args, "--ptxas-flags", strings.Join(flags, ","))
	}
	what := "Audit this cell again"
	if save != "" {
		what += ". " + save
	}
	what += left
	out := []Command{{what + ":", ShellLine(args...)}}
	finding := Address(t, c)
	if finding == "" {
		return out
	}
	reduce := []string{"optcheck", "reduce", finding}
	if !ptxas {
		of := []string{"--vendor", "amd"}
		if pair {
			of = nil
		}
		if pair || config.Source == "llvm-ir" {
			of = append(of, "--source", "llvm-ir")
		}
		return append(out, Command{"Find the smallest test that shows it:", ShellLine(append(reduce, of...)...)})
	}
	return append(out, Command{"Find the smallest test that shows it:", ShellLine(reduce...)},
		Command{"Write a report for the compiler's makers that reproduces itself:", ShellLine("optcheck", "bug", finding, "--output", "bundle")})
}

// Next is the command line with which a reader goes on from a cell: what is miscompiled becomes
// a report, what else is found small, and what is not decided is audited again. "" if it is
// known, or nothing can be said.
func Next(config *event.Config, t *event.Test, c *event.Cell) string {
	list := Commands(config, t, c)
	if len(list) == 0 || len(c.Known) > 0 {
		return ""
	}
	last := len(list) - 1
	switch c.Class {
	case event.Miscompiled:
	case event.Changed, event.Optimised:
		last = min(last, 1)
	default:
		last = 0
	}
	if line := list[last].Line; plain.Line(line) == line {
		return line
	}
	return "" // a name cannot be shown as it is
}

// flagsOf is the compiler that gets the flags of a run.
func flagsOf(nvidia bool, source string) string {
	switch {
	case nvidia:
		return "ptxas"
	case source == "llvm-ir":
		return "llc"
	}
	return "clang"
}

// Address names a cell's first finding as optcheck reduce and optcheck bug read it, "" if they
// can do nothing with it.
func Address(t *event.Test, c *event.Cell) string {
	name := cmp.Or(t.File, t.Name)
	if len(c.Findings) == 0 || strings.ContainsRune(name, 0) {
		return ""
	}
	version, what := versionOf(c.Toolchain), c.Layout+":"+c.Findings[0].Rule
	place := version + "/" + c.Target + "/" + c.Level
	if t.Dialect == event.Program {
		name, what = programFinding(t, c, name)
		if what == "" {
			return ""
		}
		return addressOf(name, place+":"+what, version+c.Target+c.Level)
	}
	return addressOf(name, place+"/"+what, version+c.Target+c.Level+c.Layout)
}

// programFinding is the file of a program's first finding and what names the finding in it: the line, else the rule. It is ""
// if no command could do anything with it.
func programFinding(t *event.Test, c *event.Cell, name string) (file, what string) {
	f, line := &c.Findings[0], t.LineOf(&c.Findings[0])
	crash, made := f.Rule == event.RuleCrash || f.Rule == event.RuleHang, source(name, c) != t.File
	switch {
	case crash && !made && t.File != "":
		return name, f.Rule
	case made && !crash && t.Origin != "" && line == 0:
		return t.Origin, f.Rule
	case made && !crash && t.Origin != "":
		return t.Origin, strconv.Itoa(line)
	case !made && line > 0 && filepath.Ext(name) == ".ptx":
		return name, strconv.Itoa(line)
	}
	return name, ""
}

// addressOf is an address whose parts can be told apart.
func addressOf(name, rest, parts string) string {
	if strings.ContainsAny(parts, "/@:") {
		return ""
	}
	return operand(name) + "@" + rest
}

// versionOf is a toolchain as flags name it: "ptxas 12.4.131" is 12.4.131, "llc 22.1.8 + ptxas
// 12.4.131" 22.1.8+12.4.131, and "nvcc 12.4.131 + ptxas 12.4.131" nvcc-12.4.131+12.4.131.
func versionOf(id string) string {
	front, ptxas, pair := strings.Cut(id, " + ptxas ")
	tool, version, ok := strings.Cut(front, " ")
	switch {
	case !ok:
		version = front
	case pair && tool != "llc":
		version = tool + "-" + version
	}
	if pair {
		version += "+" + ptxas
	}
	return version
}

// source is the file that a program is of: "k.cu@nvcc-12.4.131.ptx" was made of k.cu by the first
// of two compilers.
func source(name string, c *event.Cell) string {
	if file, _, ok := strings.Cut(name, ".cu@"); ok && strings.Contains(c.Toolchain, " + ptxas ") {
		return file + ".cu"
	}
	return name
}

// programCommands are those of a program.
func programCommands(name string, t *event.Test, c *event.Cell) []Command {
	out := []Command{{"Audit this cell again:", ShellLine("optcheck", "audit", operand(source(name, c)), "--toolchains",
		csv(versionOf(c.Toolchain)), "--targets", csv(c.Target), "--levels", csv(c.Level))}}
	finding := Address(t, c)
	if finding == "" {
		return out
	}
	if c.Findings[0].Executed {
		out = append(out, Command{"Execute it again, and show what differs:", ShellLine("optcheck", "replay", finding)})
	}
	return append(out, Command{"Find the smallest program that shows it:", ShellLine("optcheck", "reduce", finding)},
		Command{"Write a report for the compiler's makers that reproduces itself:", ShellLine("optcheck", "bug", finding, "--output", "bundle")})
}

// operand keeps a name that begins like a flag from being taken for one.
func operand(name string) string {
	if strings.HasPrefix(name, "-") {
		return "." + string(filepath.Separator) + name
	}
	return name
}

// csv quotes a value for a flag that takes a list.
func csv(s string) string {
	if strings.ContainsAny(s, ",\"\n\r") {
		return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}

// ShellLine joins words to a command line for a POSIX shell: whatever the words
// hold, the shell passes on exactly them.
func ShellLine(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = shellQuote(w)
	}
	return strings.Join(quoted, " ")
}

// shellSafe are the characters that mean themselves anywhere in a word.
const shellSafe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:@%,="

func shellQuote(s string) string {
	if s != "" && strings.Trim(s, shellSafe) == "" && !strings.Contains(s, "=") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

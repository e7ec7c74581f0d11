package html

import (
	"fmt"
	"path/filepath"
	"strings"

	"optcheck/report"
)

// Command is a command line that a reader can copy into a shell.
type Command struct {
	What string // what it does
	Line string // quoted for a POSIX shell
}

// Commands returns the command lines that show a cell's finding again: the audit of
// this cell alone, and a report or a reduction for the compiler's makers.
func Commands(config *report.Config, t *report.Test, c *report.Cell) []Command {
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
	if t.Dialect == report.Program {
		return programCommands(name, t, c)
	}
	compiler, version, ok := strings.Cut(c.Toolchain, " ")
	if !ok {
		version = c.Toolchain
	}
	ptxas, pair := compiler == "ptxas", compiler == "llc" // llc 22.1.8 + ptxas 12.4.131
	if pair {
		version = strings.Replace(version, " + ptxas ", "+", 1)
	}
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
	if len(config.Flags) > 0 {
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
	out := []Command{{what + ":", ShellLine(args...)}}
	if len(c.Findings) == 0 || strings.ContainsAny(version+c.Target+c.Level+c.Layout, "/@:") {
		return out
	}
	finding := operand(name) + "@" + version + "/" + c.Target + "/" + c.Level + "/" + c.Layout + ":" + c.Findings[0].Rule
	reduce := []string{"optcheck", "reduce", finding}
	if !ptxas {
		of := []string{"--vendor", "amd"}
		if pair {
			of = []string{"--source", "llvm-ir"}
		}
		return append(out, Command{"Find the smallest test that shows it:", ShellLine(append(reduce, of...)...)})
	}
	return append(out, Command{"Find the smallest test that shows it:", ShellLine(reduce...)},
		Command{"Write a report for the compiler's makers that reproduces itself:", ShellLine("optcheck", "bug", finding, "--out", "bundle")})
}

// programCommands are those of a program: "k.cu@nvcc-12.4.131.ptx" was made of k.cu by the first
// of two compilers.
func programCommands(name string, t *report.Test, c *report.Cell) []Command {
	toolchain := strings.TrimPrefix(c.Toolchain, "ptxas ")
	if front, ptxas, ok := strings.Cut(c.Toolchain, " + ptxas "); ok {
		toolchain = strings.ReplaceAll(front, " ", "-") + "+" + ptxas
		if file, _, ok := strings.Cut(name, ".cu@"); ok {
			name = file + ".cu"
		}
	}
	out := []Command{{"Audit this cell again:", ShellLine("optcheck", "audit", operand(name), "--toolchains", csv(toolchain),
		"--targets", csv(c.Target), "--levels", csv(c.Level))}}
	line := 0
	if len(c.Findings) > 0 && len(t.Lines) > 0 {
		if at := c.Findings[0].Access; at >= 0 && at < len(t.Lines[0]) {
			line = t.Lines[0][at]
		}
	}
	if line == 0 || name != t.File || strings.ContainsAny(toolchain+c.Target+c.Level, "/@:") {
		return out
	}
	finding := fmt.Sprintf("%s@%s/%s/%s:%d", operand(name), toolchain, c.Target, c.Level, line)
	return append(out, Command{"Find the smallest kernel that shows it:", ShellLine("optcheck", "reduce", finding)},
		Command{"Write a report for the compiler's makers that reproduces itself:", ShellLine("optcheck", "bug", finding, "--out", "bundle")})
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

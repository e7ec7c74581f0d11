package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"optcheck/internal/plain"
	"optcheck/pipeline"
	"optcheck/target"
)

// helpful makes a command and those below it say, of a mistake on the command
// line, what may have been meant and where to read on.
func helpful(cmd *cobra.Command) {
	cmd.SetFlagErrorFunc(flagMistake)
	cmd.SuggestionsMinimumDistance = 2
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if err == nil {
				return nil
			}
			if cmd.ValidArgs != nil && cobra.OnlyValidArgs(cmd, args) != nil {
				return err // it names the argument, and cobra what may stand there
			}
			return argumentMistake(cmd, args)
		}
	}
	for _, c := range cmd.Commands() {
		helpful(c)
	}
}

// flagMistake adds to the error of a flag.
func flagMistake(cmd *cobra.Command, err error) error {
	hint := ""
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if n := nearest(unknown.GetSpecifiedName(), names); n != "" {
			hint = fmt.Sprintf("; did you mean --%s?", n)
		}
	}
	return fmt.Errorf("%w%s (see %s --help)", err, hint, cmd.CommandPath())
}

var exclusive = regexp.MustCompile(`^if any flags in the group \[[^\]]*\] are set none of the others can be; \[([^\]]*)\] were all set$`)

// groupMistake says in few words that flags exclude each other.
func groupMistake(err error) error {
	if err == nil {
		return nil
	}
	m := exclusive.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	return fmt.Errorf("--%s exclude each other", strings.Join(strings.Fields(m[1]), " and --"))
}

// vendorMistake names the flag that chooses the vendor of a target, if the command has it.
func vendorMistake(cmd *cobra.Command, err error) error {
	var foreign *pipeline.ForeignTargetError
	if !errors.As(err, &foreign) || cmd.Flags().Lookup("vendor") == nil {
		return err
	}
	if foreign.Beside {
		return fmt.Errorf("%w: one run has targets of one vendor", err)
	}
	return fmt.Errorf("%w: add --vendor %s", err, foreign.Vendor)
}

// foreignToPTX says of a target of another vendor that PTX is not compiled for it: no flag changes that.
func foreignToPTX(err error) error {
	var foreign *pipeline.ForeignTargetError
	if !errors.As(err, &foreign) {
		return err
	}
	return fmt.Errorf("%v; PTX and CUDA C++ are compiled for targets of vendor %s alone", err, target.NVIDIA)
}

// argumentMistake says what is wrong with a command's arguments.
func argumentMistake(cmd *cobra.Command, args []string) error {
	if cmd.HasAvailableSubCommands() && len(args) > 0 {
		hint := ""
		if s := cmd.SuggestionsFor(args[0]); len(s) > 0 {
			hint = fmt.Sprintf("; did you mean %s?", strings.Join(s, " or "))
		}
		return fmt.Errorf("unknown command %q for %q%s (see %s --help)", args[0], cmd.CommandPath(), hint, cmd.CommandPath())
	}
	got := plain.Count(len(args), "argument")
	if len(args) == 0 {
		got = "no arguments"
	}
	return fmt.Errorf("%s; usage: %s (see %s --help)", got, cmd.UseLine(), cmd.CommandPath())
}

// nearest is the word that is most like another one; "" if none is much like it.
func nearest(word string, words []string) string {
	if len(word) > 100 {
		return ""
	}
	best, least := "", 3
	if len(word) >= 8 {
		least = 4
	}
	for _, w := range words {
		if strings.EqualFold(w, word) {
			return w
		}
		d := distance(strings.ToLower(word), strings.ToLower(w))
		if len(word) > 3 && strings.HasPrefix(strings.ToLower(w), strings.ToLower(word)) {
			d = min(d, 2)
		}
		if d < least && d < len(word)/2+1 {
			best, least = w, d
		}
	}
	return best
}

// distance is the number of letters to insert, remove or change that make one
// word of the other (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := corner
			if a[i] != b[j] {
				d++
			}
			corner = row[j+1]
			row[j+1] = min(d, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

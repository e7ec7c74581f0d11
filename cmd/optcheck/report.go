package main

import (
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"optcheck/report"
)

func newReportCmd(env *environment) *cobra.Command {
	var format, dir string
	var files []string
	var text report.TextOptions
	cmd := &cobra.Command{
		Use:   "report FILE.jsonl",
		Short: "Render a saved run again",
		Long: `Render a saved run again: of an audit (optcheck audit --output) or on a device
(optcheck run --output). FILE may be - for standard input.

` + formatsHelp + `
Of runs on devices also log (of litmus and herd), svg and png.

With --html, the run is written as a folder of pages for a browser: a matrix of
releases and targets, filters, a page for each finding, and what changed between
releases. It needs no server and no network: open index.html. A folder that holds
an older report is made the new one's.`,
		Example: `  optcheck report run.jsonl --notes
  optcheck report run.jsonl --format sarif > optcheck.sarif
  optcheck report run.jsonl --html report/
  optcheck report run.jsonl --new-only --report sarif=optcheck.sarif,junit=junit.xml`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if dir != "" {
				if cmd.Flags().Changed("format") || len(files) > 0 {
					return errors.New("--html goes without --format and --report")
				}
				return writeHTML(cmd.Context(), env, args[0], dir)
			}
			text.NewOnly = newOnly(env)
			return runReport(env, args[0], format, files, text)
		},
	}
	formatFlags(cmd, &format, &files, reportFormats)
	cmd.Flags().StringVar(&dir, "html", "", "write pages for a browser into this folder")
	cmd.Flags().String("fail-on", "never", "exit with 1 if there are cells of this kind or worse: changed, miscompiled, unknown, never")
	textFlags(cmd, &text)
	knownFlags(cmd)
	return cmd
}

func runReport(env *environment, file, format string, files []string, text report.TextOptions) error {
	fail, err := failOn(env.config.v.GetString("fail-on"))
	if err != nil {
		return err
	}
	if err := checkFormat(format, reportFormats); err != nil {
		return err
	}
	out, err := reportFiles(files, reportFormats)
	if err != nil {
		return err
	}
	defer func() { discard(out) }()
	run, err := readRun(env, file)
	if err != nil {
		return err
	}
	list, own, err := knownList(env)
	if err != nil {
		return err
	}
	for i := range run.Cells {
		saved := run.Cells[i].Known
		if list.Mark(&run.Cells[i]); run.Cells[i].Known == nil {
			run.Cells[i].Known = saved // by a list that is not at hand now
		}
	}
	reportUnused(env, list, own, run)
	o := &rendering{env: env, text: text, list: list}
	if err := renderers[format](o, env.stdout, run); err != nil {
		return err
	}
	if err := writeReports(o, out, run); err != nil {
		return err
	}
	return verdict(counted(env, run), fail)
}

// readRun reads an event stream from a file, or from standard input for "-".
func readRun(env *environment, file string) (*report.Run, error) {
	run := report.NewRun()
	if err := readEvents(env, file, run); err != nil {
		return nil, err
	}
	return run, nil
}

// readEvents passes the events of a file, or of standard input for "-", to a
// handler.
func readEvents(env *environment, file string, h report.Handler) error {
	var in io.Reader = env.stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	return report.Read(file, in, h.Handle)
}

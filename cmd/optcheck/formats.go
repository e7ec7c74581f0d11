package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/audit/device"
	"optcheck/event"
	"optcheck/internal/input"
	"optcheck/internal/whole"
	"optcheck/known"
	"optcheck/report"
)

// rendering is what renderers of a run need besides the run.
type rendering struct {
	env  *environment
	text report.TextOptions
	list *known.List // the reasons of known findings
}

// A renderer writes a run in one form.
type renderer func(o *rendering, w io.Writer, r *event.Run) error

// renderers are the forms of a run by name. All but json, which is the run
// itself, text, which counts them, and junit, which skips them, leave known
// findings out with --new-only.
var renderers = map[string]renderer{
	"text": func(o *rendering, w io.Writer, r *event.Run) error {
		return onScreen(o.env, w, func(w io.Writer) error { return report.WriteText(w, r, o.text) })
	},
	"json": func(_ *rendering, w io.Writer, r *event.Run) error { return r.Replay(event.NewJSONLines(w)) },
	"sarif": func(o *rendering, w io.Writer, r *event.Run) error {
		return report.WriteSARIF(w, counted(o.env, r), o.reason)
	},
	"junit": func(o *rendering, w io.Writer, r *event.Run) error { return report.WriteJUnit(w, r, o.text.NewOnly) },
	"markdown": func(o *rendering, w io.Writer, r *event.Run) error {
		return report.WriteMarkdown(w, counted(o.env, r), 0)
	},
	"github": func(o *rendering, w io.Writer, r *event.Run) error {
		r = counted(o.env, r)
		return errors.Join(report.WriteAnnotations(w, r), o.summary(r))
	},
	"log":        func(_ *rendering, w io.Writer, r *event.Run) error { return writeLogs(w, r) },
	"placements": func(_ *rendering, w io.Writer, r *event.Run) error { return report.WritePlacements(w, r) },
	"svg":        func(_ *rendering, w io.Writer, r *event.Run) error { return report.WritePlot(w, "svg", r.Histograms) },
	"png":        func(_ *rendering, w io.Writer, r *event.Run) error { return report.WritePlot(w, "png", r.Histograms) },
}

// onScreen writes a text report: it breaks lines at the width of the screen, and gives the colours
// of a terminal whose user wants some. NO_COLOR (no-color.org) is a wish for none.
func onScreen(env *environment, w io.Writer, write func(io.Writer) error) error {
	c := report.Screen(w, screenWidth(env, w), isTerminal(w) && env.getenv("NO_COLOR") == "" && env.getenv("TERM") != "dumb")
	return errors.Join(write(c), c.Close())
}

// pipedWidth is how wide a text report is for what is no terminal.
const pipedWidth = 100

// screenWidth is the width of a text report in columns: that of COLUMNS, of the terminal, or pipedWidth.
func screenWidth(env *environment, w io.Writer) int {
	if n, err := strconv.Atoi(env.getenv("COLUMNS")); err == nil {
		return n
	}
	return cmp.Or(terminalWidth(w), pipedWidth)
}

// auditFormats are the forms of an audit, reportFormats those of any saved run.
var (
	auditFormats  = []string{"text", "json", "sarif", "junit", "github", "markdown"}
	reportFormats = append(slices.Clone(auditFormats), "log", "svg", "png", "placements")
)

// formatsHelp explains the forms.
const formatsHelp = `Forms: text for people; json, the event stream; sarif, SARIF 2.1.0 for code
scanning; junit, JUnit XML; github, annotations of GitHub Actions and the summary
of the step ($GITHUB_STEP_SUMMARY); markdown. --report FORM=FILE writes further
forms to files, besides what --format prints (see docs/ci.md).`

// formatFlags adds the flags that choose the forms.
func formatFlags(cmd *cobra.Command, format *string, files *[]string, formats []string) {
	cmd.Flags().StringVar(format, "format", "text", "what to print: "+strings.Join(formats, ", "))
	cmd.Flags().StringSliceVar(files, "report", nil, "also write these forms to files: FORM=FILE,…")
}

func checkFormat(format string, formats []string) error {
	if !slices.Contains(formats, format) {
		return fmt.Errorf("unknown format %q (%s)", format, strings.Join(formats, ", "))
	}
	return nil
}

// reason is why a finding is known.
func (o *rendering) reason(id string) string {
	for _, f := range o.list.Filters {
		if f.ID == id {
			return f.Note
		}
	}
	return ""
}

// summary adds the report to the summary of a step of GitHub Actions.
func (o *rendering) summary(r *event.Run) (err error) {
	file := o.env.getenv("GITHUB_STEP_SUMMARY")
	if file == "" {
		o.env.tell("GITHUB_STEP_SUMMARY is not set: no summary is written")
		return nil
	}
	out, err := input.Append(file)
	if err != nil {
		return fmt.Errorf("summary: %w", err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	st, err := out.Stat()
	if err != nil {
		return fmt.Errorf("summary: %w", err)
	}
	var b bytes.Buffer
	limit := report.SummaryLimit(st.Size())
	if limit == 0 {
		limit = 1 // none is no limit
	}
	if err := report.WriteMarkdown(&b, r, limit); err != nil {
		return fmt.Errorf("summary %s: %w", file, err)
	}
	if _, err := out.Write(b.Bytes()); err != nil {
		return fmt.Errorf("summary: %w", err)
	}
	return nil
}

// reportFile is a file of --report.
type reportFile struct {
	format, path string
	out          *whole.File
}

// reportFiles opens the files of --report, so that one that cannot be written
// is known before a long run and not behind it.
func reportFiles(args, formats []string) (files []*reportFile, err error) {
	defer func() {
		if err != nil {
			discard(files)
		}
	}()
	for _, a := range args {
		format, path, ok := strings.Cut(a, "=")
		if !ok || path == "" {
			return files, fmt.Errorf("--report %q: must be FORM=FILE", a)
		}
		if err := checkFormat(format, formats); err != nil {
			return files, fmt.Errorf("--report %q: %w", a, err)
		}
		if format == "github" {
			return files, fmt.Errorf("--report %q: annotations are printed, with --format github; the summary's text is markdown", a)
		}
		f := &reportFile{format: format, path: path}
		if slices.ContainsFunc(files, func(o *reportFile) bool { return filepath.Clean(o.path) == filepath.Clean(path) }) {
			return files, fmt.Errorf("--report: two forms for one file %s", path)
		}
		var err error
		if f.out, err = whole.Create(path, 0o666); err != nil {
			return files, fmt.Errorf("--report: %w", err)
		}
		files = append(files, f)
	}
	return files, nil
}

// writeReports writes all files; the first error ends it.
func writeReports(o *rendering, files []*reportFile, r *event.Run) error {
	for _, f := range files {
		if err := renderers[f.format](o, f.out.File, r); err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
		if err := f.out.Place(); err != nil {
			return err
		}
	}
	return nil
}

// discard removes what was not completed.
func discard(files []*reportFile) {
	for _, f := range files {
		f.out.Discard()
	}
}

// writeLogs prints the histograms of a run as a log.
func writeLogs(w io.Writer, run *event.Run) error {
	if len(run.Histograms) == 0 {
		return errors.New("no histogram in this stream: it is of no run on a device")
	}
	for i := range run.Histograms {
		if run.Histograms[i].Instances == 0 {
			continue // not run: a log would say that it was never observed
		}
		if _, err := w.Write(device.LogBlock(&run.Histograms[i]).Append(nil)); err != nil {
			return err
		}
	}
	return nil
}

package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"optcheck/audit/store"
	"optcheck/event"
	"optcheck/internal/input"
	"optcheck/internal/plain"
	"optcheck/known"
	"optcheck/report"
)

func newReportCmd(env *environment) *cobra.Command {
	var format, dir string
	var limit float64
	var tables tableFlags
	var files []string
	var text report.TextOptions
	var sel selection
	cmd := &cobra.Command{
		Use:   "report FILE…",
		Short: "Render a saved run again",
		Long: `Render a saved run again: of an audit (optcheck audit --output) or on a device (optcheck
run --output). FILE may be - for standard input, and compressed by gzip. Several ones
(or several in a row in one) are shown as one whole: shards of an audit, audits of
different releases. What any of them set out to do and none did is told, and so is what
they do not have in common: builds of optcheck, models, options. Two results for one
cell are an error; the same file twice does no harm. FILE may also be a store (optcheck
audit --store), of which the cells with the setting of the latest run are shown.

` + selectionHelp + `

` + formatsHelp + `
Of runs on devices also log (of litmus and herd), svg and png.

With --html, the run is written as a folder of pages for a browser: a matrix of
releases and targets, filters, a page for each finding, and what changed between
releases. It needs no server and no network: open index.html. A folder that holds
an older report is made the new one's.`,
		Example: `  optcheck report run.jsonl --notes
  optcheck report run.jsonl --format sarif > optcheck.sarif
  optcheck report shard-1.jsonl shard-2.jsonl
  optcheck report run.jsonl --html report/
  optcheck report run.jsonl --html report/ --deps deps.jsonl --mapping mapping.jsonl
  optcheck report --html report/ --programs tests.jsonl,hardened.jsonl,costs.jsonl
  optcheck report run.jsonl --new-only --report sarif=optcheck.sarif,junit=junit.xml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && dir != "" && len(tables.programs) > 0 {
				return nil // pages of programs alone
			}
			return cobra.MinimumNArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if dir != "" {
				if cmd.Flags().Changed("format") || len(files) > 0 {
					return errors.New("--html goes without --format and --report")
				}
				return writeHTML(cmd.Context(), env, args, &sel, dir, limit, &tables)
			}
			if tables.given() {
				return errors.New("--deps, --mapping and --programs go with --html")
			}
			text.NewOnly = env.settings.newOnly
			return runReport(env, args, &sel, format, files, text)
		},
	}
	formatFlags(cmd, &format, &files, reportFormats)
	htmlFlag(cmd, &dir)
	quietFlag(cmd, &env.quiet)
	cmd.Flags().StringVar(&tables.deps, "deps", "",
		"with --html, also a page of the dependencies that survive, from this file (optcheck deps --json)")
	cmd.Flags().StringVar(&tables.mapping, "mapping", "",
		"with --html, also a page of mapping tables, from this file (optcheck mapping --json)")
	cmd.Flags().StringSliceVar(&tables.programs, "programs", nil,
		"with --html, also a page of programs under stress, from these files (optcheck app … --output)")
	cmd.Flags().Float64Var(&limit, "html-limit", defaultHTMLLimit,
		"megabytes that the pages of findings may take; beyond, those of the least severe are short ones (0: no limit)")
	failOnFlag(cmd)
	allowUnknownFlag(cmd)
	textFlags(cmd, &text)
	selectFlags(cmd, &sel)
	knownFlags(cmd)
	return cmd
}

func runReport(env *environment, in []string, sel *selection, format string, files []string, text report.TextOptions) error {
	return renderRun(env, func() (*event.Set, error) { return readSet(env, in, sel, nil) }, format, files, text, "", gate.shown)
}

// renderRun writes the reports of a run, which is read when all else is known to
// be in order, and says what verdict makes of it.
func renderRun(env *environment, read func() (*event.Set, error), format string, files []string, text report.TextOptions,
	pages string, verdict func(gate, *event.Run) error) error {
	gate, err := env.settings.gate()
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
	set, err := read()
	if err != nil {
		return err
	}
	list, own, err := knownList(env)
	if err != nil {
		return err
	}
	run := list.MarkSet(set).Lean()
	gate.choose(run)
	reportUnused(env, list, own, run)
	o := &rendering{env: env, text: text, list: list}
	if err := renderers[format](o, env.stdout, run); err != nil {
		return err
	}
	if err := errors.Join(writeReports(o, out, run), pagesOf(env.ctx, env, run, list, pages)); err != nil {
		return err
	}
	return verdict(gate, counted(env, run))
}

// readSet reads what is wanted of event streams, as one whole, or of a store. Known
// findings are marked if list is not nil.
func readSet(env *environment, files []string, sel *selection, list *known.List) (*event.Set, error) {
	set, err := readAll(env, files, sel.setting, list)
	if err != nil {
		return nil, err
	}
	n := len(set.Cells)
	if set, err = sel.apply(set); err == nil && !sel.all() {
		fmt.Fprintf(env.stderr, "optcheck: %d of %s chosen\n", len(set.Cells), plain.Count(n, "cell"))
	}
	return set, err
}

// readAll reads event streams into memory, or what a store has of a setting (0: that
// of the latest run).
func readAll(env *environment, files []string, setting int64, list *known.List) (*event.Set, error) {
	set := event.NewSet() // keeps what repeats once
	if file, err := storeAmong(files); err != nil || file != "" {
		if err == nil {
			err = storeEvents(env.ctx, file, setting, set)
		}
		if list != nil {
			set = list.MarkSet(set)
		}
		return set, err
	}
	if setting != 0 {
		return nil, fmt.Errorf("--setting %d: only a store has settings, and %s is none", setting, files[0])
	}
	for _, file := range files {
		if err := readEvents(env, file, set); err != nil {
			if errors.Is(err, event.ErrConflict) {
				err = fmt.Errorf("%s: %w", file, err)
			}
			return nil, err
		}
	}
	err := set.Close()
	if list != nil {
		set = list.MarkSet(set)
	}
	return set, err
}

// storeAmong returns the file that is a store, "" if none is. A store goes alone.
func storeAmong(files []string) (string, error) {
	for _, file := range files {
		if file != "-" && store.Is(file) {
			if len(files) > 1 {
				return "", fmt.Errorf("%s is a store and goes alone; optcheck merge takes files into a store", file)
			}
			return file, nil
		}
	}
	return "", nil
}

// Bounds of what a compressed stream may unpack to: in bytes, and in bytes for
// each one of it beyond a beginning. Streams of audits have a tenth of that.
const (
	maxUnpacked = 8 << 30
	maxRatio    = 100
	anyRatio    = 16 << 20
)

// readEvents passes the events of a file, or of standard input for "-", to a
// handler. The file may be compressed by gzip, or be a store.
func readEvents(env *environment, file string, h event.Handler) error {
	if file != "-" && store.Is(file) {
		return storeEvents(env.ctx, file, 0, h)
	}
	b, done, err := openStream(env, file)
	if err != nil {
		return err
	}
	defer done()
	return event.Read(file, b, h.Handle)
}

// openStream opens a file, or standard input for "-", for reading, unpacked if it
// is compressed by gzip.
func openStream(env *environment, file string) (b *bufio.Reader, done func(), err error) {
	in, done := env.stdin, func() {}
	if file != "-" {
		if err := expect(file, wantStream); err != nil {
			return nil, nil, err
		}
		fh, err := input.Open(file)
		if err != nil {
			return nil, nil, err
		}
		in, done = fh, func() { fh.Close() }
	}
	b = bufio.NewReaderSize(input.Until(env.ctx, in), 1<<16)
	if magic, _ := b.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := unpack(b)
		if err != nil {
			done()
			return nil, nil, fmt.Errorf("%s: %w", file, err)
		}
		b = bufio.NewReaderSize(z, 1<<16)
	}
	if err := input.SkipMark(b); err != nil {
		done()
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	return b, done, nil
}

// unpacked is a compressed stream. It fails when it grows beyond its bounds: a
// limit that just ended it would pass for the end of the run.
type unpacked struct {
	*gzip.Reader
	packed meter
	n      int64
}

// meter counts what is read.
type meter struct {
	io.Reader
	n int64
}

func (c *meter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

func unpack(r io.Reader) (*unpacked, error) {
	u := &unpacked{packed: meter{Reader: r}}
	var err error
	u.Reader, err = gzip.NewReader(bufio.NewReader(&u.packed))
	return u, err
}

func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	u.n += int64(n)
	if limit := min(maxUnpacked, anyRatio+maxRatio*u.packed.n); u.n > limit {
		return 0, fmt.Errorf("%d bytes unpack to more than %d; unpack it yourself if that is right", u.packed.n, limit)
	}
	return n, err
}

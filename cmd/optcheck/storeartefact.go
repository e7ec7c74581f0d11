package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"optcheck/audit/store"
	"optcheck/event"
	"optcheck/internal/input"
)

func newStoreArtefactCmd(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "artefact",
		Example: "  optcheck store artefact list run.store",
		Short:   "List and extract kernels and machine code that a store keeps",
		Long: `List and extract what a store keeps beside results. Of cells with findings it keeps what
each thread was compiled from (PTX, OpenCL C or LLVM IR) and its machine code (optcheck
audit --store FILE --artefacts findings, the default; all; none). It also keeps files
that were put there under a name. Equal contents are stored once.

CELL is the number of a cell: the column id of optcheck store export --format csv.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var asJSON bool
	list := &cobra.Command{
		Use: "list STORE", Short: "List the artefacts", Example: "  optcheck store artefact list all.store", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return listArtefacts(cmd.Context(), env, args[0], asJSON)
		},
	}
	jsonFlag(list, &asJSON, oneObject)
	get := &cobra.Command{
		Use: "get STORE NAME|HASH", Short: "Write an artefact to standard output", Args: cobra.ExactArgs(2),
		Example: "  optcheck store artefact get all.store 0744bfb093b42e540800caabaa79e2af",
		RunE: func(cmd *cobra.Command, args []string) error {
			return withStore(cmd.Context(), args[0], store.Read, func(s *store.Store) error {
				data, err := s.Artefact(cmd.Context(), args[1])
				if err == nil {
					_, err = env.stdout.Write(data)
				}
				return err
			})
		},
	}
	put := &cobra.Command{
		Use: "put STORE NAME FILE", Short: "Store a file under a name", Args: cobra.ExactArgs(3),
		Example: "  optcheck store artefact put all.store driver.txt nvidia-smi.txt",
		RunE:    func(cmd *cobra.Command, args []string) error { return putArtefact(cmd.Context(), args) },
	}
	extract := &cobra.Command{
		Use: "extract STORE CELL DIR", Short: "Write the kernels and the machine code of a cell into a folder", Args: cobra.ExactArgs(3),
		Example: "  optcheck store artefact extract all.store 17 cell17/",
		RunE:    func(cmd *cobra.Command, args []string) error { return extractCell(cmd.Context(), env, args) },
	}
	cmd.AddCommand(list, get, put, extract)
	return cmd
}

// withStore opens a store for a function.
func withStore(ctx context.Context, path string, mode store.Mode, f func(*store.Store) error) (err error) {
	s, err := storeAt(ctx, path, mode)
	if err != nil {
		return err
	}
	defer func() { err = s.End(err) }()
	return f(s)
}

func listArtefacts(ctx context.Context, env *environment, path string, asJSON bool) error {
	return withStore(ctx, path, store.Read, func(s *store.Store) error {
		list, err := s.Artefacts(ctx)
		if err != nil {
			return err
		}
		if asJSON {
			return env.printJSON(list)
		}
		tw := tabwriter.NewWriter(env.stdout, 0, 8, 2, ' ', 0)
		fmt.Fprintf(tw, "HASH\tKIND\tBYTES\tNAME\n")
		for _, a := range list {
			fmt.Fprintf(tw, "%s\t%s\t%d\t%s\n", a.Hash, bare(a.Kind), a.Size, dash(bare(a.Name)))
		}
		return tw.Flush()
	})
}

// bare is a word as it is if a terminal shows nothing else than what it is, and
// quoted if not.
func bare(word string) string {
	if q := strconv.Quote(word); len(word) > 200 || strings.Contains(word, " ") || q != `"`+word+`"` {
		return fmt.Sprintf("%.200q", word)
	}
	return word
}

func putArtefact(ctx context.Context, args []string) error {
	f, err := input.Open(args[2])
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, store.MaxArtefact+1))
	if err != nil {
		return err
	}
	return withStore(ctx, args[0], store.Create, func(s *store.Store) error {
		return s.Put(ctx, args[1], "file", data)
	})
}

// endings are the endings of the files that extract writes.
var endings = map[string]string{event.ArtefactPTX: "ptx", event.ArtefactOpenCL: "cl", event.ArtefactLLVMIR: "ll",
	event.ArtefactMachine: "asm"}

// extractCell writes files whose names do not come from the store.
func extractCell(ctx context.Context, env *environment, args []string) error {
	number, err := strconv.ParseInt(strings.TrimPrefix(args[1], "#"), 10, 64)
	if err != nil {
		return fmt.Errorf("%q is no number of a cell", args[1])
	}
	return withStore(ctx, args[0], store.Read, func(s *store.Store) error {
		c, err := s.Cell(ctx, number)
		if err != nil {
			return err
		}
		list, err := s.CellArtefacts(ctx, &c)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return fmt.Errorf("cell %d (%s, %s) has no artefacts; optcheck audit --artefacts all keeps those of all cells", number, c.Test, c.Class)
		}
		if err := os.MkdirAll(args[2], 0o777); err != nil {
			return err
		}
		for _, a := range list {
			ending, ok := endings[a.Kind]
			if !ok || a.Thread < 0 {
				return fmt.Errorf("cell %d: artefact of unknown kind %.40q", number, a.Kind)
			}
			name := fmt.Sprintf("T%d.%s", a.Thread, ending)
			if err := writeInto(args[2], name, []byte(a.Text)); err != nil {
				return err
			}
			fmt.Fprintln(env.stdout, name)
		}
		return nil
	})
}

// writeInto writes a file in a folder, and nowhere else if that has links in it.
func writeInto(dir, name string, data []byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return input.WriteFileIn(root, name, data, 0o666)
}

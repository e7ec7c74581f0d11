package main

import (
	"strings"

	"github.com/spf13/cobra"

	"optcheck/depgen"
	"optcheck/ptxgen/cycle"
)

func newGenCycleCmd(env *environment) *cobra.Command {
	var place, memory, scheme string
	var mutants bool
	cmd := &cobra.Command{
		Use:   "cycle EDGES",
		Short: "Make one test from a list of edges",
		Long: `Make one test from a list of edges with annotations of the accesses between them,
or say why the edges form no cycle:

  Rfe Rfi Fre Fri Coe Coi   communication, between threads (e) or within one (i)
  PodWR PosRR Pod**         program order, to another (d) or the same (s) location
  Membar.gldWW              membar.{cta,gl,sys} between the accesses
  Fence.sc.gpudWR           fence.{sc,acq_rel,acquire,release}.{cta,cluster,gpu,sys}
  BardWR                    bar.sync between the accesses
  DpAddrdR DpDatadW DpCtrldW, DpCtrlMembar.gldR   dependencies
  Amo.Exch Amo.Cas.acq.gpu  from the read to the write of one atomic

  annotations: weak vol ca cg cs lu cv wb wt rlx.gpu acq.sys rel.cta
               atom.add atom.exch atom.cas atom.cas.acq.gpu`,
		Example: `  optcheck gen cycle "PodWW rel.gpu Rfe acq.gpu PodRR Fre" --place p0::p1
  optcheck gen cycle "Pod** Rfe DpDatad* Rfe"`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			sp, err := specOf(strings.Join(args, " "), place, memory, scheme)
			if err != nil {
				return err
			}
			if err := printTest(env.stdout, sp.Test()); err != nil {
				return err
			}
			if !mutants {
				return nil
			}
			for _, m := range sp.Mutants() {
				if err := printTest(env.stdout, m.Test()); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&place, "place", "", "placement of the threads, as names have it (default: different CTAs, p0::p1)")
	cmd.Flags().StringVar(&memory, "map", "", "memory map, as names have it (default: global, xgyg)")
	cmd.Flags().StringVar(&scheme, "scheme", "", "how false dependencies are made (default: and-high-bit)")
	cmd.Flags().BoolVar(&mutants, "mutants", false, "also print the neighbours with one edge weakened")
	return cmd
}

func specOf(list, place, memory, scheme string) (*cycle.Spec, error) {
	c, err := cycle.Parse(list)
	if err != nil {
		return nil, err
	}
	var sch *depgen.Scheme
	if scheme != "" {
		if sch, err = depgen.Lookup(scheme); err != nil {
			return nil, err
		}
	}
	return cycle.PlacedSpec(c, place, memory, sch)
}

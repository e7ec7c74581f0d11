package mapping

import (
	"context"
	"errors"
	"fmt"

	"optcheck/pipeline"
	"optcheck/ptxgen"
	"optcheck/toolchain"
)

// ptxProber maps the operations of PTX.
type ptxProber struct{}

func (ptxProber) ops() []Op { return PTXOps() }

// levels returns O0 and O3: O1 and O2 yield the sequences of O3.
func (ptxProber) levels() []string { return []string{"O0", "O3"} }

func (ptxProber) job(ctx context.Context, ops []Op, p pipeline.Place, refused map[int]string) ([]Cell, map[int]string, error) {
	cells := make([]Cell, len(ops))
	newest, err := ptxgen.ParseVersion(p.Toolchain.MaxPTX)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", p.Toolchain.ID, err)
	}
	now := map[int]string{}
	var units []toolchain.Unit
	var of []int
	for i := range ops {
		op := &ops[i]
		cells[i] = newCell(op, p)
		why, known := refused[i]
		if op.Version > newest {
			why, known = fmt.Sprintf("needs PTX %v, %s has %v", op.Version, p.Toolchain.ID, newest), true
		}
		if known {
			cells[i].Status, cells[i].Reason, now[i] = Refused, why, why
			continue
		}
		name := fmt.Sprintf("m%d", i)
		units = append(units, toolchain.Unit{Name: name, Text: op.kernel(name)})
		of = append(of, i)
	}
	res, err := p.Toolchain.Compile(ctx, toolchain.Job{Target: p.Target, Level: p.Level, Version: p.Toolchain.MaxPTX,
		Units: units, TrustMessages: true})
	if err != nil {
		return nil, nil, err
	}
	for u, e := range res.Failed {
		c := &cells[of[u]]
		if c.fail(failed(e, p.Toolchain)); c.Status == Refused {
			now[of[u]] = c.Reason
		}
	}
	for i := range res.Batches {
		code, err := decode(ctx, p, &res.Batches[i])
		if errors.Is(err, toolchain.ErrCancelled) {
			return nil, nil, err
		}
		for _, u := range res.Batches[i].Units {
			cells[of[u]].read(code, err, units[u].Name, &ops[of[u]], mapSequence)
		}
	}
	return cells, now, compare(ctx, ops, cells, p)
}

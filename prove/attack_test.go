package prove_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ir"
	"optcheck/prove"
	"optcheck/ptxgen/values"
	"optcheck/refine"
	"optcheck/toolchain/tested"
)

// mutated is a program with one thing changed; what says which.
func mutated(r *rand.Rand, p *ir.Program) (out *ir.Program, what string) {
	q := *p
	q.Insts, q.Consts = slices.Clone(p.Insts), slices.Clone(p.Consts)
	for {
		if r.IntN(8) == 0 && len(q.Consts) > 0 {
			i := r.IntN(len(q.Consts))
			if c := &q.Consts[i]; c.Symbol == "" && c.Mbarrier == 0 && c.Window == ir.Generic {
				if c.Bytes > 0 {
					c.Value ^= 4
				} else {
					c.Value ^= 1 << r.IntN(32)
				}
				return &q, fmt.Sprintf("constant %d", i)
			}
			continue
		}
		i := r.IntN(len(q.Insts))
		in := &q.Insts[i]
		in.Pre, in.Post = slices.Clone(in.Pre), slices.Clone(in.Post)
		if what := change(r, in, len(q.Insts)); what != "" {
			return &q, fmt.Sprintf("%s of %d: %s", what, i, in.Text)
		}
	}
}

// others are operations in the place of some.
var others = map[ir.Code]ir.Code{ir.Add: ir.Sub, ir.Sub: ir.Add, ir.Shl: ir.Shr, ir.Shr: ir.Shl, ir.Min: ir.Max, ir.Max: ir.Min,
	ir.And: ir.Or, ir.Or: ir.And}

func change(r *rand.Rand, in *ir.Inst, insts int) string {
	list := in.Pre
	if r.IntN(3) == 0 {
		list = in.Post
	}
	switch k := r.IntN(10); {
	case k == 0 && in.Guard != ir.None:
		in.Not = !in.Not
		return "guard"
	case k == 1 && in.Guard != ir.None:
		in.Guard = ir.None
		return "no guard"
	case k == 2:
		*in = ir.Inst{Guard: ir.None, Text: in.Text}
		return "nothing"
	case k == 3:
		switch do := in.Do.(type) {
		case *ir.Access:
			c := *do
			c.Offset += int64(c.Bytes)
			in.Do = &c
			return "offset"
		case *ir.Flow:
			c := *do
			if c.Cond != ir.None {
				c.Not = !c.Not
			} else {
				c.Target = int32(r.IntN(insts))
			}
			in.Do = &c
			return "flow"
		case *ir.Special:
			c := *do
			c.Reg++
			in.Do = &c
			return "special"
		}
	case len(list) > 0:
		o := &list[r.IntN(len(list))]
		switch r.IntN(6) {
		case 0:
			o.Src[0], o.Src[1] = o.Src[1], o.Src[0]
			return "operands"
		case 1:
			o.Imm ^= 1 << r.IntN(8)
			return "number"
		case 2:
			o.Cond ^= 1
			return "condition"
		case 3:
			if o.Type == ir.U32 || o.Type == ir.S32 {
				o.Type ^= ir.U32 ^ ir.S32
				return "sign"
			}
		case 4:
			if m := others[o.Code]; m != 0 {
				o.Code = m
				return "operation"
			}
		case 5:
			o.Src[r.IntN(2)] = o.Src[r.IntN(2)]
			return "operand"
		}
	}
	return ""
}

// TestAttack: of machine code that is changed nothing is proved that the emulator tells apart. (OPTCHECK_KERNELS=60: of random kernels, too.)
func TestAttack(t *testing.T) {
	texts, changes := map[string]string{}, 12
	for name, body := range bodies {
		texts[name] = kernel(name, body)
	}
	if n, _ := strconv.Atoi(os.Getenv("OPTCHECK_KERNELS")); n > 0 {
		changes = 200
		o := values.Options{PTX: 80, SM: 80, Only: strings.Fields(
			"int32 logic shift minmax compare select words branch int64 address permute loop load")}
		for i := range n {
			if k := values.Generate(33, i, o); k.Count() <= 60 {
				name := fmt.Sprintf("k%04d", i)
				texts[name] = k.Text(name)
			}
		}
	}
	r := rand.New(rand.NewPCG(3, 3))
	honest, wrong, same, refused := 0, 0, 0, 0
	list := lowered(t, tested.Release(t, "12.4"), texts)
	for _, name := range slices.Sorted(maps.Keys(list)) {
		p := list[name]
		if !prove.Prove(p.program, p.machine, prove.Thorough).Proved {
			continue
		}
		honest++
		for range changes {
			m, what := mutated(r, p.machine)
			got := prove.Prove(p.program, m, prove.Thorough)
			if !got.Proved {
				refused++
				continue
			}
			res, err := refine.Compare(t.Context(), p.program, m, refine.Options{Runs: 4, Search: 1 << 16})
			require.NoError(t, err)
			if len(res.Findings) > 0 {
				wrong++
				t.Errorf("%s: %s: proved, but %s", name, what, res.Findings[0].Why)
			} else {
				same++
				t.Logf("%s: %s: proved, and not told apart (%d runs)", name, what, res.Runs)
			}
		}
	}
	t.Logf("%d kernels; of their changes %d were not proved, %d proved and not told apart, %d proved wrongly", honest, refused, same, wrong)
	require.Positive(t, honest)
	require.Positive(t, refused)
}

package ptxgen

import (
	"fmt"
	"slices"

	"optcheck/litmus"
	"optcheck/spec"
)

// instr translates an instruction with its operands to a C statement.
func (c *clEmitter) instr(th *litmus.Thread, in *litmus.Instr, ops []string) (string, error) {
	switch in.Op {
	case litmus.OpNop:
		return "", nil
	case litmus.OpLd, litmus.OpSt, litmus.OpAtom, litmus.OpRed:
		return c.access(th, in, ops)
	case litmus.OpMembar, litmus.OpFence:
		order := map[litmus.Sem]string{litmus.SemAcqRel: "acq_rel", litmus.SemAcquire: "acquire", litmus.SemRelease: "release"}[in.Sem]
		if order == "" {
			order = "seq_cst"
		}
		return fmt.Sprintf("atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_%s, %s);", order, clScope(in.Scope)), nil
	case litmus.OpMov:
		if in.Src[0].Kind == litmus.OperandLoc {
			return "", nil // addresses are resolved statically
		}
		return fmt.Sprintf("%s = %s;", hclReg(in.Dst), ops[0]), nil
	case litmus.OpCvt:
		return fmt.Sprintf("%s = %s;", hclReg(in.Dst), ops[0]), nil
	case litmus.OpNot:
		return fmt.Sprintf("%s = ~%s;", hclReg(in.Dst), ops[0]), nil
	case litmus.OpSetp:
		return fmt.Sprintf("%s = (int)%s %s (int)%s;", hclReg(in.Dst), ops[0], clCompare[in.Cmp], ops[1]), nil
	case litmus.OpSelp:
		return fmt.Sprintf("%s = %s ? %s : %s;", hclReg(in.Dst), ops[2], ops[0], ops[1]), nil
	}
	if sign, ok := clArith[in.Op]; ok && in.Type.Bits() <= 32 {
		return fmt.Sprintf("%s = %s %s %s;", hclReg(in.Dst), ops[0], sign, ops[1]), nil
	}
	return "", unsupported("%v in OpenCL C", in.Op)
}

var clCompare = map[litmus.Cmp]string{litmus.CmpEq: "==", litmus.CmpNe: "!=", litmus.CmpLt: "<", litmus.CmpLe: "<=",
	litmus.CmpGt: ">", litmus.CmpGe: ">="}

var clArith = map[litmus.Op]string{litmus.OpAdd: "+", litmus.OpSub: "-", litmus.OpAnd: "&", litmus.OpOr: "|",
	litmus.OpXor: "^", litmus.OpMul: "*"}

func clScope(s litmus.Scope) string {
	switch s {
	case litmus.ScopeCTA:
		return "memory_scope_work_group"
	case litmus.ScopeSys:
		return "memory_scope_all_svm_devices"
	}
	return "memory_scope_device"
}

var clOrder = map[litmus.Sem]string{litmus.SemNone: "relaxed", litmus.SemRelaxed: "relaxed",
	litmus.SemAcquire: "acquire", litmus.SemRelease: "release", litmus.SemAcqRel: "acq_rel"}

var clAtomic = map[litmus.AtomOp]string{litmus.AtomAdd: "add", litmus.AtomAnd: "and", litmus.AtomOr: "or",
	litmus.AtomXor: "xor", litmus.AtomMin: "min", litmus.AtomMax: "max"}

// access translates a memory access.
func (c *clEmitter) access(th *litmus.Thread, in *litmus.Instr, ops []string) (string, error) {
	name := th.AddrLoc(in)
	l := slices.IndexFunc(c.t.Locations, func(x litmus.Location) bool { return x.Name == name })
	if l < 0 || in.Type.Bits() != 32 || in.Addr.Offset != 0 {
		return "", unsupported("%s in OpenCL C", in.String())
	}
	if r := in.Addr.Reg; r != "" {
		for i := range th.Body {
			if b := &th.Body[i]; b.Dst == r && !(b.Op == litmus.OpMov && b.Src[0].Kind == litmus.OperandLoc) {
				return "", unsupported("an address dependency in OpenCL C")
			}
		}
	}
	plain := fmt.Sprintf("*(volatile global uint *)l%d", l)
	atomic := fmt.Sprintf("(volatile global atomic_uint *)l%d", l)
	order := "memory_order_" + clOrder[in.Sem] + ", " + clScope(in.Scope)
	switch in.Op {
	case litmus.OpLd:
		if in.Sem == litmus.SemRelaxed || in.Sem == litmus.SemAcquire {
			return fmt.Sprintf("%s = atomic_load_explicit(%s, %s);", hclReg(in.Dst), atomic, order), nil
		}
		return fmt.Sprintf("%s = %s;", hclReg(in.Dst), plain), nil
	case litmus.OpSt:
		if in.Sem == litmus.SemRelaxed || in.Sem == litmus.SemRelease {
			return fmt.Sprintf("atomic_store_explicit(%s, %s, %s);", atomic, ops[0], order), nil
		}
		return fmt.Sprintf("%s = %s;", plain, ops[0]), nil
	}
	value := ""
	switch in.Atom {
	case litmus.AtomExch:
		value = fmt.Sprintf("atomic_exchange_explicit(%s, %s, %s)", atomic, ops[0], order)
	case litmus.AtomCAS:
		fail := "acquire"
		if o := clOrder[in.Sem]; o == "relaxed" || o == "release" {
			fail = "relaxed"
		}
		// The old value is in expected, whether or not the exchange happened.
		s := fmt.Sprintf("{ uint expected = %s; "+
			"atomic_compare_exchange_strong_explicit(%s, &expected, %s, memory_order_%s, memory_order_%s, %s); ",
			ops[0], atomic, ops[1], clOrder[in.Sem], fail, clScope(in.Scope))
		return s + fmt.Sprintf("%s = expected; }", hclReg(in.Dst)), nil
	default:
		f, ok := clAtomic[in.Atom]
		if !ok {
			return "", unsupported("atom.%v in OpenCL C", in.Atom)
		}
		value = fmt.Sprintf("atomic_fetch_%s_explicit(%s, %s, %s)", f, atomic, ops[0], order)
	}
	if in.Dst == "" {
		return value + ";", nil
	}
	return hclReg(in.Dst) + " = " + value + ";", nil
}

// EmitCollectOpenCL returns the collector in OpenCL C; its last parameter is
// local memory for the bins.
func EmitCollectOpenCL() string {
	s := "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\nkernel void " + CollectName + "("
	for l := 0; l < spec.MaxLocations; l++ {
		s += fmt.Sprintf("global uchar *p%d, ", l)
	}
	s += "global uint *results, volatile global ulong *hist, volatile global uint *samples, global const uint *table, " +
		"global uchar *counters"
	for _, p := range CollectSettings {
		s += ", uint " + p
	}
	for _, p := range CollectLocation {
		for l := 0; l < spec.MaxLocations; l++ {
			s += fmt.Sprintf(", uint %s%d", p, l)
		}
	}
	s += fmt.Sprintf(`, local uint *bins)
{
  uint thr = get_local_id(0), step = result_step >> 2;
  for (uint i = thr; i <= other; i += get_local_size(0)) bins[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < sync_words; i += get_global_size(0)) *(global uint *)(counters + %d + i * %du) = 0;
  for (uint inst = get_global_id(0); inst < inst_count; inst += get_global_size(0)) {
`, CounterSync, SyncStride)
	for l := 0; l < spec.MaxLocations; l++ {
		s += fmt.Sprintf(`    if (locations > %[1]du) {
      global uint *at = (global uint *)(p%[1]d + ((inst * mul%[1]d) & inst_mask) * stride%[1]d + offset%[1]d);
      if (slot%[1]d != 0x%[2]xu) results[step * slot%[1]d + inst] = *at;
      *at = initial%[1]d;
    }
`, l, uint32(NoSlot))
	}
	return s + fmt.Sprintf(`    uint bin = 0, unknown = 0;
    for (uint t = 0; t < terms; t++) {
      global const uint *row = table + t * %[1]du;
      uint v = results[step * row[0] + inst], j = 0;
      while (j < row[1] && row[3 + j] != v) j++;
      if (j == row[1]) unknown = 1;
      bin += j * row[2];
    }
    if (unknown) {
      bin = other;
      uint k = atomic_inc(samples);
      if (k < %[2]du)
        for (uint t = 0; t < terms; t++) samples[(k + 1) * %[3]du + t] = results[step * table[t * %[1]du] + inst];
    }
    atomic_inc(bins + bin);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = thr; i <= other; i += get_local_size(0))
    if (bins[i]) atom_add(hist + i, (ulong)bins[i]);
}
`, TermWords, MaxSamples, SampleWords)
}

package ptxgen

import (
	"fmt"

	"optcheck/litmus"
	"optcheck/spec"
)

func (k *irBody) fresh(prefix string) string {
	k.n++
	return fmt.Sprintf("%%%s%d", prefix, k.n)
}

// pointer returns the type of a pointer into a memory whose objects have type elem.
func (k *irBody) pointer(space litmus.Space, elem string) string {
	n := 1
	if space == litmus.Shared {
		n = 3
	}
	if k.typed {
		return fmt.Sprintf("%s addrspace(%d)*", elem, n)
	}
	return fmt.Sprintf("ptr addrspace(%d)", n)
}

func ptrType(s litmus.Space) string {
	if s == litmus.Shared {
		return "p3"
	}
	return "p1"
}

func spaceOfType(t string) litmus.Space {
	if t == "p3" {
		return litmus.Shared
	}
	return litmus.Global
}

// spell returns a value's type in IR; pointers in registers point to bytes.
func (k *irBody) spell(t string) string {
	if t[0] == 'p' {
		return k.pointer(spaceOfType(t), "i8")
	}
	return t
}

func irType(t litmus.Type) string {
	switch {
	case t == litmus.Pred:
		return "i1"
	case t.Bits() == 64:
		return "i64"
	}
	return "i32"
}

// irOpaque returns a parameter that stands for the constant c.
func (k *irBody) irOpaque(t litmus.Type, c int64) irValue {
	return irValue{irType(k.valueType(t)), "%" + k.value0(t, c)}
}

// valueType returns the type with which value0 creates the parameter.
func (k *irBody) valueType(t litmus.Type) litmus.Type {
	if t == litmus.Pred {
		return litmus.U32
	}
	return t
}

// location returns the address of a location.
func (k *irBody) location(loc int) irValue {
	s := k.spaceOf(loc)
	k.usedLoc[loc] = true
	v := irValue{typ: ptrType(s)}
	switch k.e.o.Layout {
	case spec.Symbols, spec.Adjacent:
		w := k.variable(k.name, loc, s)
		v.name = "@" + w.name
		if k.typed {
			v.name = k.fresh("a")
			k.ir("%s = bitcast %s @%s to %s", v.name, k.pointer(s, fmt.Sprintf("[%d x i32]", w.bytes/4)), w.name, k.pointer(s, "i8"))
		}
		if off := k.spec.Offset(loc); off > 0 {
			v.name = k.gep(s, v.name, fmt.Sprintf("i64 %d", off))
		}
	case spec.Offsets:
		base := "%gbase"
		if s == litmus.Shared {
			base = "%sbase"
		}
		v.name = k.gep(s, base, fmt.Sprintf("i64 %d", k.spec.Offset(loc)))
	default:
		v.name = fmt.Sprintf("%%p%d", loc)
	}
	return v
}

// gep adds bytes to an address.
func (k *irBody) gep(s litmus.Space, base, index string) string {
	name := k.fresh("a")
	k.ir("%s = getelementptr i8, %s %s, %s", name, k.pointer(s, "i8"), base, index)
	return name
}

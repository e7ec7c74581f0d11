package fp

import (
	"fmt"
	"strings"
)

// form is an instruction of the PTX ISA and what this package says of it.
type form struct {
	op   string // opcode with all modifiers
	dst  string // type of the destination: a register's (b8, b16, b32, b64) or pred
	src  []string
	eval func(a, b, c uint64) uint64
	// deviates, if it is set, says for which operands ptxas 12.4 makes code that computes something else than the PTX ISA says.
	deviates func(a uint64) bool
}

// name returns a name for a kernel.
func (f form) name() string { return strings.NewReplacer(".", "_", "::", "_").Replace(f.op) }

var ptxName = map[Format]string{F16: "f16", BF16: "bf16", TF32: "tf32", F32: "f32", F64: "f64", E4M3: "e4m3x2", E5M2: "e5m2x2"}

func (f Format) reg() string { return fmt.Sprintf("b%d", f.Width()) }

var roundNames = [...]string{RN: "rn", RZ: "rz", RM: "rm", RP: "rp", RNA: "rna"}

// modes returns every combination of roundings and flags, with its spelling: the rounding, then the flags.
func modes(rounds []Round, flags ...Flags) (ms []Mode, names []string) {
	spelling := map[Flags]string{FTZ: ".ftz", Sat: ".sat", Relu: ".relu", Finite: ".satfinite", NaN: ".NaN", XorSign: ".xorsign.abs"}
	for _, r := range rounds {
		for set := range 1 << len(flags) {
			m, name := Mode{Round: r}, ""
			for i, f := range flags {
				if set>>i&1 != 0 {
					m.Flags |= f
					name += spelling[f]
				}
			}
			ms, names = append(ms, m), append(names, name)
		}
	}
	return ms, names
}

var ieee = []Round{RN, RZ, RM, RP}

type forms []form

// add appends a form and returns it.
func (fs *forms) add(op, dst string, src []string, eval func(a, b, c uint64) uint64) *form {
	*fs = append(*fs, form{op: op, dst: dst, src: src, eval: eval})
	return &(*fs)[len(*fs)-1]
}

// allForms lists the forms that the chip has judged.
func allForms() []form {
	var fs forms
	arithForms(&fs)
	orderForms(&fs)
	floatForms(&fs)
	intForms(&fs)
	return fs
}

func arithForms(fs *forms) {
	type spec struct {
		f      Format
		ops    []string
		rounds []Round
		flags  []Flags
	}
	for _, s := range []spec{
		{F16, []string{"add", "sub", "mul", "fma"}, []Round{RN}, []Flags{FTZ, Sat}},
		{F16, []string{"fma"}, []Round{RN}, []Flags{FTZ, Relu}},
		{BF16, []string{"add", "sub", "mul"}, []Round{RN}, nil},
		{BF16, []string{"fma"}, []Round{RN}, []Flags{Relu}},
		{F32, []string{"add", "sub", "mul", "fma"}, ieee, []Flags{FTZ, Sat}},
		{F32, []string{"div", "rcp", "sqrt"}, ieee, []Flags{FTZ}},
		{F64, []string{"add", "sub", "mul", "fma", "div", "rcp", "sqrt"}, ieee, nil},
	} {
		ms, names := modes(s.rounds, s.flags...)
		for _, op := range s.ops {
			for i, m := range ms {
				if s.f == F16 && s.flags[1] == Relu && m.Flags&Relu == 0 {
					continue // listed with .sat
				}
				arithForm(fs, op, s.f, m, names[i])
			}
		}
	}
}

func arithForm(fs *forms, op string, f Format, m Mode, flags string) {
	evals := map[string]func(a, b, c uint64) uint64{
		"add":  func(a, b, c uint64) uint64 { return Add(f, m, a, b) },
		"sub":  func(a, b, c uint64) uint64 { return Add(f, m, a, Neg(f, 0, b)) },
		"mul":  func(a, b, c uint64) uint64 { return Mul(f, m, a, b) },
		"fma":  func(a, b, c uint64) uint64 { return FMA(f, m, a, b, c) },
		"div":  func(a, b, c uint64) uint64 { return Div(f, m, a, b) },
		"rcp":  func(a, b, c uint64) uint64 { return Rcp(f, m, a) },
		"sqrt": func(a, b, c uint64) uint64 { return Sqrt(f, m, a) },
	}
	n := map[string]int{"rcp": 1, "sqrt": 1, "fma": 3}[op]
	if n == 0 {
		n = 2
	}
	fs.add(op+"."+roundNames[m.Round]+flags+"."+ptxName[f], f.reg(), same(f, n), evals[op])
}

// same returns n times the type of f.
func same(f Format, n int) []string {
	src := make([]string, n)
	for i := range src {
		src[i] = ptxName[f]
	}
	return src
}

var relations = []struct {
	name string
	r    Relation
}{
	{"eq", EQ}, {"ne", NE}, {"lt", LT}, {"le", LE}, {"gt", GT}, {"ge", GE}, {"equ", EQU}, {"neu", NEU}, {"ltu", LTU}, {"leu", LEU},
	{"gtu", GTU}, {"geu", GEU}, {"num", NUM}, {"nan", NAN},
}

var classes = []struct {
	name string
	c    Class
}{
	{"finite", FiniteNumber}, {"infinite", Infinite}, {"number", Number}, {"notanumber", NotANumber}, {"normal", Normal},
	{"subnormal", Subnormal},
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func orderForms(fs *forms) {
	ftz := map[Format][]Flags{F16: {FTZ}, BF16: nil, F32: {FTZ}, F64: nil}
	for _, f := range []Format{F16, BF16, F32, F64} {
		minmax := append([]Flags{}, ftz[f]...)
		if f != F64 {
			minmax = append(minmax, NaN, XorSign)
		}
		ms, names := modes([]Round{RN}, minmax...)
		for i, m := range ms {
			fs.add("min"+names[i]+"."+ptxName[f], f.reg(), same(f, 2), func(a, b, _ uint64) uint64 { return Min(f, m.Flags, a, b) })
			fs.add("max"+names[i]+"."+ptxName[f], f.reg(), same(f, 2), func(a, b, _ uint64) uint64 { return Max(f, m.Flags, a, b) })
		}
		ms, names = modes([]Round{RN}, ftz[f]...)
		for i, m := range ms {
			fs.add("neg"+names[i]+"."+ptxName[f], f.reg(), same(f, 1), func(a, _, _ uint64) uint64 { return Neg(f, m.Flags, a) })
			fs.add("abs"+names[i]+"."+ptxName[f], f.reg(), same(f, 1), func(a, _, _ uint64) uint64 { return Abs(f, m.Flags, a) })
			for _, r := range relations {
				fs.add("setp."+r.name+names[i]+"."+ptxName[f], "pred", same(f, 2),
					func(a, b, _ uint64) uint64 { return truth(Compare(f, m.Flags, r.r, a, b)) })
			}
		}
		if f.Width() < 32 {
			continue
		}
		fs.add("copysign."+ptxName[f], f.reg(), same(f, 2), func(a, b, _ uint64) uint64 { return CopySign(f, a, b) })
		for _, c := range classes {
			fs.add("testp."+c.name+"."+ptxName[f], "pred", same(f, 1),
				func(a, _, _ uint64) uint64 { return truth(Test(f, c.c, a)) })
		}
	}
}

func floatForms(fs *forms) {
	type spec struct {
		to, from Format
		rounds   []Round
		flags    []Flags
	}
	for _, s := range []spec{
		{F16, F32, ieee, []Flags{FTZ, Sat}},
		{F32, F64, ieee, []Flags{FTZ, Sat}},
		{F16, F64, ieee, []Flags{Sat}},
		{F16, F32, []Round{RN, RZ}, []Flags{Relu, Finite}},
		{BF16, F32, []Round{RN, RZ}, []Flags{Relu, Finite}},
		{BF16, F32, []Round{RM, RP}, nil},
		{BF16, F16, ieee, nil},
		{F16, BF16, ieee, nil},
		{BF16, F64, ieee, nil},
		{TF32, F32, []Round{RNA}, []Flags{Finite}},
		{TF32, F32, []Round{RN, RZ}, []Flags{Relu}},
		{F32, F16, nil, []Flags{FTZ, Sat}},
		{F64, F32, nil, []Flags{FTZ, Sat}},
		{F64, F16, nil, []Flags{Sat}},
		{F32, BF16, nil, []Flags{FTZ}},
		{F64, BF16, nil, nil},
		{F32, F32, nil, []Flags{FTZ, Sat}},
		{F64, F64, nil, []Flags{Sat}},
	} {
		rounds := s.rounds
		if rounds == nil {
			rounds = []Round{RN}
		}
		ms, names := modes(rounds, s.flags...)
		for i, m := range ms {
			op := "cvt"
			if s.rounds != nil {
				op += "." + roundNames[m.Round]
			}
			if s.to == F16 && s.from == F32 && s.flags[0] == Relu && m.Flags == 0 {
				continue // listed with .ftz
			}
			f := fs.add(op+names[i]+"."+ptxName[s.to]+"."+ptxName[s.from], s.to.reg(), same(s.from, 1),
				func(a, _, _ uint64) uint64 { return Convert(s.to, s.from, m, a) })
			switch {
			case s.to == F16 && s.from == F32 && m.Flags&FTZ != 0: // it drops .ftz, which shows where subnormals are not rounded to zero
				f.deviates = func(a uint64) bool { return Test(F32, Subnormal, a) }
			case s.to == TF32 && m.Flags&Finite != 0: // some NaNs become the largest finite number
				f.deviates = func(a uint64) bool { return F32.IsNaN(a) }
			}
		}
	}
	for _, f := range []Format{F16, BF16, F32, F64} {
		flags := map[Format][]Flags{F16: {Sat}, F32: {FTZ, Sat}, F64: {Sat}}[f]
		ms, names := modes(ieee, flags...)
		for i, m := range ms {
			fs.add("cvt."+roundNames[m.Round]+"i"+names[i]+"."+ptxName[f]+"."+ptxName[f], f.reg(), same(f, 1),
				func(a, _, _ uint64) uint64 { return Integral(f, m, a) })
		}
	}
	for _, f := range []Format{E4M3, E5M2} {
		smallForms(fs, f)
	}
}

// smallForms lists the conversions of the 8-bit formats, which come in pairs.
func smallForms(fs *forms, f Format) {
	for _, relu := range []Flags{0, Relu} {
		m, name := Mode{Flags: Finite | relu}, ""
		if relu != 0 {
			name = ".relu"
		}
		fs.add("cvt.rn.satfinite"+name+"."+ptxName[f]+".f32", "b16", []string{"f32", "f32"}, func(a, b, _ uint64) uint64 {
			return Convert(f, F32, m, a)<<8 | Convert(f, F32, m, b)
		})
		fs.add("cvt.rn.satfinite"+name+"."+ptxName[f]+".f16x2", "b16", []string{"f16x2"}, func(a, _, _ uint64) uint64 {
			return Convert(f, F16, m, a>>16)<<8 | Convert(f, F16, m, a)
		})
		fs.add("cvt.rn"+name+".f16x2."+ptxName[f], "b32", []string{"f8x2"}, func(a, _, _ uint64) uint64 {
			m := Mode{Flags: relu}
			return Convert(F16, f, m, a>>8)<<16 | Convert(F16, f, m, a)
		})
	}
}

func intForms(fs *forms) {
	for _, bits := range []uint{8, 16, 32, 64} {
		for _, signed := range []bool{false, true} {
			t, name := Int{bits, signed}, fmt.Sprintf("u%d", bits)
			if signed {
				name = fmt.Sprintf("s%d", bits)
			}
			for _, f := range []Format{F16, BF16, F32, F64} {
				var flags []Flags
				if f == F32 {
					flags = []Flags{FTZ}
				}
				ms, names := modes(ieee, flags...)
				for i, m := range ms {
					fs.add("cvt."+roundNames[m.Round]+"i"+names[i]+"."+name+"."+ptxName[f], fmt.Sprintf("b%d", bits), same(f, 1),
						func(a, _, _ uint64) uint64 { return ToInt(t, f, m, a, NaNOf(t, f)) })
				}
				flags = []Flags{Sat}
				if f == BF16 {
					flags = nil
				}
				ms, names = modes(ieee, flags...)
				for i, m := range ms {
					fs.add("cvt."+roundNames[m.Round]+names[i]+"."+ptxName[f]+"."+name, f.reg(), []string{name},
						func(a, _, _ uint64) uint64 { return FromInt(f, m, t, a) })
				}
			}
		}
	}
}

package report

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"reflect"
	"strings"
	"time"

	"optcheck/event"
	"optcheck/litmus/corpus"
)

// fields are what the text fields of events are made of, by name; others have one of the texts of "".
var fields = map[string][]string{
	"":      {"", "a", "two words", "a\nsecond line", "<b>&\"'|`", "é", "x y; $(z)", strings.Repeat("long ", 30)},
	"Class": {event.Miscompiled, event.Changed, event.Crashed, event.Unknown, event.Optimised, event.Invalid, event.Unsupported, event.Preserved}, "Rule": {"merged", "reordered", "missing", "weakened", "fence-removed", "crash", "hang", "line-lost", "wrong-value"}, "Race": {"", event.RaceFree, event.DataRace, event.FenceScope, event.MixedSize, event.RaceUnknown}, "Stage": {"", "front end", "library", "IR passes", "back end", "llc", "ptxas"},
	"Dialect": {"GPU_PTX", "PTX", event.Program}, "Status": {"", event.StatusDone, event.StatusInterrupted, event.StatusTimeout, event.StatusFault, event.StatusRefused, event.StatusUnsupported},
	"Effect": {"", "sequentially consistent", "hardware, allowed", "hardware, forbidden", "hardware, undecided by the model", "compiler, forbidden", "compiler, allowed"}, "Test": {"mp", "coRR", "k.ptx:kernel", "mp+membar.gls", "sl-future"}, "Name": {"mp", "coRR", "k.ptx:kernel", "NVIDIA X"},
	"Hash": {"aa", "bb"}, "Toolchain": {"ptxas 11.8.89", "ptxas 12.4.131", "llc 19.1.7 + ptxas 12.4.131", "clang 19.1.7"},
	"Target": {"sm_70", "sm_90", "gfx900"},
	"Level":  {"O0", "O3"}, "Layout": {"pointers", "offsets"}, "Model": {"ptx", "ptx-2015", "sc"}, "File": {"", "k.ptx", "dir/k.cu"},
	"Preset": {"", "corpus", "quick"}, "Code": {"c1", "c2", "c3"}, "Look": {"", "c4", "c5"}, "Source": {"", "llvm-ir", "opencl"}, "Shard": {"", "1/2", "2/2"},
	"ID": {"ptxas 11.8.89", "ptxas 12.4.131", "cuda:0"}, "Setting": {"none", "stress+random", "dense"}, "CodeSays": {"", "allowed", "forbidden"},
	"OneDevice": {"", "allowed", "forbidden"}, "At": {"", "ptxas+0x28"}, "Kind": {event.ProblemInput, event.ProblemInfrastructure, event.ProblemCompile, event.ProblemCrash, event.ProblemTimeout, event.ProblemParse, event.KindIncomplete, event.KindMixed}, "Kind in Histogram": {"Allowed", "Forbidden", "Required"},
	"Reason":                {"", "timeout: ptxas", "infrastructure: nvdisasm", "not reached", "sm_70 has none: x", "more than 8192 blocks"},
	"Class in OtherVerdict": {event.Optimised, event.Miscompiled}, "Says": {"allowed", "forbidden", "undecided"}, "Unjudged": {"", "", "", "a loop", "x: cannot lift y"},
	"Unvalidated": {"", "changed: merged"}, "Terms": {"1:r0"}, "New": {"1:r1=1; 1:r2=0;", "1:r1=0; 1:r2=0;"}, "Targets": {"sm_70", "sm_90"},
	"Levels": {"O0", "O3"}, "Layouts": {"pointers", "offsets"}, "Flags": {"-v", "-v", "-O1", "--x=y z"}, "Known": {"dead-acquire", "mine"},
	"Detail": {"", "lost", "two\nlines", "the load of x"}, "Build": {"", "b1"}, "Tool": {"v1"}, "MaxPTX": {"", "8.4"},
	"Line text": {"LDG.E.STRONG.GPU R0, [R2.64]", "STG.E [R2.64], R0", "MEMBAR.SC.GPU", "LDG.E R0, [R2.64]", "ERRBAR", "CCTL.IVALL", "ld.weak x",
		"@P0 LDG.E.64.STRONG.SYS R4, [R2.64]", "global_load_dword v0, v[1:2], off glc", "global_load_b32 v0, v1 scope:SCOPE_DEV", "buffer_gl0_inv"},
}

// filler makes events of which every field may have something. What a field has follows from its path alone, so that a new field changes
// no other.
type filler struct {
	seed, events int
	words        map[string][]string // in the place of those in fields
}

// draw chooses one of n for a place.
func (f *filler) draw(n int, place string) int {
	h := fnv.New64a()
	fmt.Fprint(h, f.seed, f.events, place)
	return int(rand.New(rand.NewPCG(h.Sum64(), 1)).Uint64N(uint64(n)))
}

func (f *filler) word(in, name, place string) string {
	if list, ok := f.words[name]; ok {
		return list[f.draw(len(list), place)]
	}
	list, ok := fields[name+" in "+in]
	if in == "Line" {
		list, ok = fields["Line text"]
	}
	if !ok {
		if list, ok = fields[name]; !ok {
			list = fields[""]
		}
	}
	return list[f.draw(len(list), place)]
}

func (f *filler) fill(v reflect.Value, in, name, place string) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
			return
		}
		for i := range v.NumField() {
			if t := v.Type(); t.Field(i).IsExported() {
				f.fill(v.Field(i), t.Name(), t.Field(i).Name, place+"."+t.Field(i).Name)
			}
		}
	case reflect.Pointer:
		if f.draw(3, place) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), in, name, place+"*")
		}
	case reflect.Slice:
		for i := range f.draw(4, place) {
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
			f.fill(v.Index(i), in, name, fmt.Sprint(place, i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for _, key := range []string{"x", "y"}[:f.draw(3, place)] {
			value := reflect.New(v.Type().Elem()).Elem()
			f.fill(value, in, name, place+key)
			v.SetMapIndex(reflect.ValueOf(key), value)
		}
	case reflect.String:
		v.SetString(f.word(in, name, place))
	case reflect.Bool:
		v.SetBool(f.draw(2, place) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(f.draw(5, place) - 1))
	case reflect.Uint64:
		v.SetUint([]uint64{0, 0, 1, 7, 1234567}[f.draw(5, place)])
	case reflect.Float64:
		v.SetFloat([]float64{0, 0.5, 0.00012, 3, 1234.5}[f.draw(5, place)])
	}
}

// event is one event of the kind, filled at random and then told what must agree.
func (f *filler) event(kind string) event.Event {
	var e event.Event
	f.events++
	field := reflect.ValueOf(&e).Elem().FieldByName(kind)
	field.Set(reflect.New(field.Type().Elem()))
	f.fill(field.Elem(), kind, kind, kind)
	switch {
	case e.Config != nil:
		e.Config.Schema, e.Config.Cells, e.Config.Tests = event.Schema, f.draw(14, "cells"), 3
		if f.draw(3, "device") > 0 {
			e.Config.OnDevice, e.Config.Shard = nil, ""
		}
	case e.Listing != nil:
		for i := range e.Listing.Threads {
			f.long(&e.Listing.Threads[i])
		}
	case e.Test != nil:
		if t, ok := corpus.Lookup(e.Test.Name); ok && f.draw(4, "corpus") > 0 {
			e.Test.Text, e.Test.Dialect = t.String(), t.Dialect.String()
		}
	case e.Cell != nil:
		if !e.Cell.HasFindings() && f.draw(5, "clean") > 0 {
			e.Cell.Findings, e.Cell.Verdict = nil, nil
		}
	case e.Histogram != nil:
		h := e.Histogram
		h.Instances, h.Weak = h.Unexpected, 0
		for i := range h.Outcomes {
			o := &h.Outcomes[i]
			o.Values = []int64{int64(i)}
			h.Instances += o.Count
			if o.Weak {
				h.Weak += o.Count
			}
			for range len(h.Terms) - 1 {
				o.Values = append(o.Values, 0)
			}
		}
		if len(h.Terms) == 0 {
			h.Terms = []string{"1:r0"}
		}
		h.Unseen = nil
		if f.draw(8, "rate") > 0 && h.Rate != nil {
			h.Rate.Low, h.Rate.Rate, h.Rate.High, h.Rate.Excluded = 0, 0.00012, 0.5, 3e-8
		}
	}
	return e
}

// long makes a thread in six longer than what is shown as a whole.
func (f *filler) long(t *event.ThreadListing) {
	if f.draw(6, "long") > 0 {
		return
	}
	t.Source, t.Machine = nil, nil
	for i := range 64 {
		line := event.Line{Pos: i, Text: fmt.Sprint("ld.weak x", i)}
		t.Source, t.Machine = append(t.Source, line), append(t.Machine, line, event.Line{Pos: -1, Text: fmt.Sprint("MOV R", i)})
	}
}

// stream is a run whose events are random, as JSON lines. Its config comes first.
func (f *filler) stream() []byte {
	var b bytes.Buffer
	j := event.NewJSONLines(&b)
	put := func(kind string, n int) {
		for range n {
			if err := j.Handle(f.event(kind)); err != nil {
				panic(err)
			}
		}
	}
	put("Config", 1)
	put("Test", f.draw(4, "n"))
	put("Problem", f.draw(4, "n"))
	put("Listing", f.draw(6, "n"))
	put("Cell", f.draw(16, "n"))
	put("Histogram", max(0, f.draw(8, "n")-3))
	put("Stats", f.draw(2, "n"))
	if err := j.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

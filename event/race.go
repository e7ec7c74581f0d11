package event

import (
	"cmp"
	"strings"
)

// The values of Verdict.Race: what the language says of the test itself.
const (
	RaceFree = "none"      // no data race
	DataRace = "data-race" // a data race; OpenCL gives such a test no meaning, PTX does
	// FenceScope is a data race as well, but one only because a fence of OpenCL
	// 1.2 (mem_fence) synchronises inside a work-group and the threads are in
	// different ones: OpenCL 2.0 replaces mem_fence by a fence of
	// memory_scope_work_group.
	FenceScope = "fence-scope"
	// MixedSize is a data race between operations that overlap in part: PTX gives
	// such a test no meaning (PTX ISA, Limitations on Mixed-size Data-races).
	MixedSize = "mixed-size"
	// NonCoherent is a data race of a load through a cache that is not coherent: PTX gives such a test no meaning (PTX ISA, ld.global.nc).
	NonCoherent = "non-coherent"
	// RaceUnknown: RaceWhy says why it could not be decided. It is never counted as
	// free of races.
	RaceUnknown = "unknown"
)

// HasRace reports whether the test is known to have a data race.
func (v *Verdict) HasRace() bool {
	return v.Race == DataRace || v.Race == FenceScope || v.senseless()
}

// senseless reports whether the race is one to which PTX gives no meaning.
func (v *Verdict) senseless() bool { return v.Race == MixedSize || v.Race == NonCoherent }

// Meaningless reports whether the test has a data race that takes its meaning, so that
// no machine code of it is wrong.
func (v *Verdict) Meaningless() bool {
	return v.HasRace() && (v.senseless() || v.raceModel() == openCL)
}

// openCL is the model of OpenCL.
const openCL = "opencl"

func (v *Verdict) raceModel() string { return cmp.Or(v.RaceModel, v.Model) }

// RaceText says in a sentence what the language makes of the test, "" if it was not
// asked.
func (v *Verdict) RaceText() string {
	switch {
	case v.Race == RaceFree:
		return "the test has no data race (model " + v.raceModel() + ")"
	case v.Race == DataRace && v.raceModel() != openCL:
		return "the test has a data race (model " + v.raceModel() + ")"
	case v.Race == DataRace:
		return "the test has a data race: OpenCL gives it no meaning, no machine code of it is wrong"
	case v.Race == FenceScope:
		return "the test has a data race between work-groups, where mem_fence does not synchronise: OpenCL gives it no meaning, no machine code of it is wrong"
	case v.Race == MixedSize:
		return "the test has a data race between accesses of different sizes: PTX gives it no meaning, no machine code of it is wrong"
	case v.Race == NonCoherent:
		return "the test loads through a cache that is not coherent what is written meanwhile: PTX gives it no meaning, no machine code of it is wrong"
	case v.Race == RaceUnknown:
		return "whether the test has a data race is not known: " + v.RaceWhy
	}
	return ""
}

// RaceSentence is RaceText as a sentence without its stop.
func (v *Verdict) RaceSentence() string {
	s := v.RaceText()
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// The words that filters choose findings by, in the order in which reports show them.
// A finding of which nothing was asked, or of whose race nothing is known, is none of
// either kind.
const (
	WordRaceFree    = "race-free"
	WordRaceUnknown = "race-unknown"
	WordDataRace    = "data-race"
)

// RaceWords lists the words in their order.
func RaceWords() []string { return []string{WordRaceFree, WordRaceUnknown, WordDataRace} }

// RaceWord is WordDataRace, WordRaceFree or WordRaceUnknown if a language was asked about
// the test of a result, else "".
func (c *Result) RaceWord() string {
	switch v := c.Verdict; {
	case v == nil:
		return ""
	case v.HasRace():
		return WordDataRace
	case v.Race == RaceFree:
		return WordRaceFree
	case v.Race == RaceUnknown:
		return WordRaceUnknown
	}
	return "" // nobody asked, or a word of another version
}

// RaceRank orders results: those of tests without a race first, since what is done
// to them matters most, those with one last.
func (c *Result) RaceRank() int {
	switch c.RaceWord() {
	case WordRaceFree:
		return 0
	case WordDataRace:
		return 2
	}
	return 1
}

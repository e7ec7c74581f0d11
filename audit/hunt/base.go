package hunt

import (
	"strings"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/ptxgen/cycle"
)

// Base is a test that opportunities are added to.
type Base struct {
	// Source is where it is from: corpus, or the name of a preset.
	Source string
	// Family is what bases of one shape have in common: MP, coRR.
	Family string
	// Test makes the test.
	Test func() *litmus.Test
}

// CorpusBases are the tests of the corpus.
func CorpusBases() (list []Base) {
	for _, t := range corpus.Tests() {
		shape, _, _ := strings.Cut(t.Name, "+")
		list = append(list, Base{Source: "corpus", Family: shape, Test: func() *litmus.Test { return t }})
	}
	return list
}

// PresetBases are the cycles of a preset, without the opportunities that it adds.
func PresetBases(g *cycle.Generator) ([]Base, error) {
	c := g.Config()
	c.Opportunities, c.PerKey, c.PerPair = nil, 0, 0
	g, err := c.Generator()
	if err != nil {
		return nil, err
	}
	var list []Base
	for s := range g.Specs() {
		list = append(list, Base{Source: c.Name, Family: s.Cycle.Family(), Test: s.Test})
	}
	return list, nil
}

package program

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Line is a line of what the commands for programs write: one of these.
type Line struct {
	Test     *Result          `json:"app_test,omitempty"`
	Hardened *HardenedProgram `json:"app_harden,omitempty"`
	Cost     *Cost            `json:"app_cost,omitempty"`
}

// HardenedProgram is what hardening a program found, and what machine code and model
// say of it.
type HardenedProgram struct {
	Program     string `json:"program"`
	Device      string `json:"device"`
	Driver      string `json:"driver,omitempty"`
	Compiler    string `json:"compiler"`
	Environment string `json:"environment"`
	Stress      string `json:"stress,omitempty"` // what it consists of
	*Hardened
	Sites    []Site         `json:"sites"`
	Verdicts map[int]string `json:"verdicts"`
	Narrower []Narrower     `json:"narrower,omitempty"`
	Verified []Verified     `json:"verified,omitempty"`
	Demands  []Demand       `json:"demands,omitempty"`
	// Open is of how many accesses the model's question does not know the memory.
	Open int `json:"open"`
	// Code is the text whose lines Sites and Demands name.
	Code string `json:"code,omitempty"`
}

// maxLines bounds a file of lines.
const maxLines = 64 << 20

// ReadLines reads what the commands wrote, also compressed by gzip.
func ReadLines(name string, r io.Reader) (list []Line, err error) {
	b := bufio.NewReader(r)
	r = b
	if head, _ := b.Peek(2); string(head) == "\x1f\x8b" {
		if r, err = gzip.NewReader(b); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	s := bufio.NewScanner(io.LimitReader(r, maxLines+1))
	s.Buffer(nil, maxLines)
	total := 0
	for n := 1; s.Scan(); n++ {
		if total += len(s.Bytes()); total > maxLines {
			return nil, fmt.Errorf("%s: more than %d bytes", name, maxLines)
		}
		var l Line
		d := json.NewDecoder(bytes.NewReader(s.Bytes()))
		d.DisallowUnknownFields()
		if err = d.Decode(&l); err == nil && l == (Line{}) {
			err = errors.New("nothing of a program")
		}
		if err == nil && l.Hardened != nil && l.Hardened.Hardened == nil {
			err = errors.New("no fences")
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w (want what optcheck app test --output writes)", name, n, err)
		}
		list = append(list, l)
	}
	return list, s.Err()
}

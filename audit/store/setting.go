package store

import (
	"bytes"
	"slices"

	"optcheck/event"
)

// Setting is what determines the result of a cell besides its test and place.
type Setting struct {
	Tool   string   `json:"tool,omitempty"`
	Build  string   `json:"build,omitempty"`
	Spec   int      `json:"spec_version"`
	Source string   `json:"source,omitempty"`
	Flags  []string `json:"flags,omitempty"`
	Model  string   `json:"model,omitempty"`
	Plain  bool     `json:"plain,omitempty"`
	// Execute is on how many inputs kernels are executed.
	Execute int `json:"execute,omitempty"`
	// Claims is what a run of programs says of them: its cells mean nothing without it.
	Claims string `json:"claims,omitempty"`
}

// SettingOf returns the setting of a run. It includes the version of optcheck, because streams
// of older versions name no build.
func SettingOf(c *event.Config) Setting {
	return Setting{Tool: c.Tool, Build: c.Build, Spec: c.Spec, Source: c.Source, Flags: slices.Clone(c.Flags), Model: c.Model, Plain: c.Plain,
		Claims: c.Claims, Execute: c.Execute}
}

// key returns the setting's JSON, and the hash that identifies it.
func (s Setting) key() ([]byte, digest, error) {
	data, err := marshal(s)
	return data, digestOf(data), err
}

// otherBuild reports whether two settings differ only in the build of optcheck.
func (s Setting) otherBuild(t Setting) bool {
	if s.Build == t.Build && s.Tool == t.Tool {
		return false
	}
	t.Build, t.Tool = s.Build, s.Tool
	a, _, err := s.key()
	if err != nil {
		return false
	}
	b, _, err := t.key()
	if err != nil {
		return false
	}
	return bytes.Equal(a, b)
}

package main

import (
	"encoding/json"
	"io"
	"strings"
)

// component is a part of a bill of materials, by CycloneDX 1.5.
type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl,omitempty"`
	Ref     string `json:"bom-ref,omitempty"`
}

// writeSBOM writes what a version of the program is linked with. The same modules yield the
// same text: it has no serial number and no time.
func writeSBOM(w io.Writer, version string) error {
	modules, err := linked()
	if err != nil {
		return err
	}
	parts := []component{}
	for _, m := range modules {
		c := component{Type: "library", Name: m.path, Version: m.version}
		if strings.HasPrefix(m.path, "The Go ") {
			c.Name, c.Version = "std", strings.TrimPrefix(m.version, "go")
		}
		c.PURL = "pkg:golang/" + c.Name + "@" + c.Version
		c.Ref = c.PURL
		parts = append(parts, c)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"metadata":   map[string]any{"component": component{Type: "application", Name: "optcheck", Version: version}},
		"components": parts})
}

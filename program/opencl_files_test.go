package program

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/runner"
)

// TestOtherFiles: a device's compiler opens no file that a program names.
func TestOtherFiles(t *testing.T) {
	for text, fine := range map[string]bool{
		"kernel void k() {}":                    true,
		"// #include \"x\"\nkernel void k() {}": true,
		"#define include 1\n":                   true,
		"#include \"/dev/zero\"\n":              false,
		"  #  include </etc/passwd>\n":          false,
		"#/* a */include \"x\"\n":               false,
		"#inc\\\nlude \"x\"\n":                  false,
		"#inc\\ \r\nlude \"x\"\n":               false,
		"%:include \"x\"\n":                     false,
		"??=include \"x\"\n":                    false,
		"#inc??/\nlude \"x\"\n":                 false,
		"#include_next \"x\"\n":                 false,
		"#embed \"x\"\n":                        false,
		"#import \"x\"\n":                       false,
		"#define F \"x\"\n#include F\n":         false,
	} {
		_, err := NewCLRoad(&Program{OpenCL: Source{"k.cl", []byte(text)}}, runner.Device{})
		if fine {
			require.NoError(t, err, text)
		} else {
			require.ErrorContains(t, err, "a program is one file", text)
		}
	}
}

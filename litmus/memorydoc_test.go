package litmus

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	exampleOf = regexp.MustCompile("`([^`]+)`(?: ([0-9.]+) (sm_[0-9]+))?")
	placeOf   = regexp.MustCompile(`\[[xyz]`)
)

// TestMemoryInstructions: the page about PTX's instructions that order memory says of each whether tests have it, and since when
// it exists, as the tables do.
func TestMemoryInstructions(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/memory-instructions.md")
	require.NoError(t, err)
	yes, no := 0, 0
	for _, line := range strings.Split(string(page), "\n") {
		cells := strings.Split(line, " | ")
		if len(cells) != 6 || strings.HasPrefix(line, "| instructions") {
			continue
		}
		examples := exampleOf.FindAllStringSubmatch(cells[1], -1)
		require.NotEmpty(t, examples, line)
		for _, x := range examples {
			shared := ""
			if strings.Contains(x[1], "mbarrier") || strings.Contains(x[1], "async") && placeOf.MatchString(x[1]) {
				shared = "x: shared, y: shared, z: shared\n"
			}
			if strings.Contains(x[1], ".global [x]") || strings.Contains(x[1], ".global.shared") {
				shared = "y: shared\n"
			}
			test, err := Parse("page", []byte("PTX t\n{ x=0; y=0; z=1; }\n P0@cta 0, gpu 0 ;\n "+x[1]+" ;\n"+shared+"exists (x=0)\n"))
			if err == nil {
				err = test.Check()
			}
			if strings.HasPrefix(cells[2], "no") {
				assert.Error(t, err, x[1])
				no++
				continue
			}
			if yes++; !assert.NoError(t, err, x[1]) {
				continue
			}
			ptx, sm := 50, 20
			for _, n := range test.Threads[0].Body[0].Needs() {
				ptx, sm = max(ptx, n.PTX), max(sm, n.SM)
			}
			assert.Equal(t, x[2]+" "+x[3], fmt.Sprintf("%d.%d sm_%d", ptx/10, ptx%10, sm), x[1])
		}
	}
	assert.Greater(t, yes, 40)
	assert.Greater(t, no, 15)
}

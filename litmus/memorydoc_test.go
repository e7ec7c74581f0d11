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
			if strings.Contains(x[1], "async") && strings.Contains(x[1], ".global [x]") || strings.Contains(x[1], ".global.shared") {
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

// memoryChapters are the instructions of the PTX ISA, release 8.6, that access memory which threads share, order it, or are performed by
// threads together: sections 9.7.9 (Data Movement), 9.7.10 and 9.7.11 (Texture, Surface), 9.7.13 (Parallel Synchronization and
// Communication), and of 9.7.14 and 9.7.15 those that read memory asynchronously.
var memoryChapters = strings.Fields(`ld ld.global.nc ldu st st.async st.bulk multimem.ld_reduce multimem.st multimem.red prefetch discard applypriority
	mapa getctarank cp.async cp.async.commit_group cp.async.wait_group cp.async.wait_all cp.async.bulk cp.reduce.async.bulk cp.async.bulk.prefetch
	cp.async.bulk.tensor cp.async.bulk.commit_group cp.async.bulk.wait_group tensormap tex tld4 suld sust sured shfl.sync
	bar.sync bar.arrive bar.red barrier bar.warp.sync barrier.cluster.arrive barrier.cluster.wait membar fence fence.proxy.alias fence.proxy.async
	fence.proxy.tensormap fence.mbarrier_init atom red red.async vote.sync match.sync activemask redux.sync griddepcontrol elect.sync
	mbarrier.init mbarrier.inval mbarrier.expect_tx mbarrier.complete_tx mbarrier.arrive mbarrier.arrive_drop cp.async.mbarrier.arrive
	mbarrier.test_wait mbarrier.try_wait mbarrier.pending_count wgmma tcgen05`)

// TestMemoryChapters: the page has each of them, in its first column or as an example.
func TestMemoryChapters(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/memory-instructions.md")
	require.NoError(t, err)
	has := map[string]bool{}
	for _, line := range strings.Split(string(page), "\n") {
		cells := strings.Split(line, " | ")
		if len(cells) != 6 || strings.HasPrefix(line, "| instructions") {
			continue
		}
		family := "" // of the row: `.st` behind `multimem.ld_reduce` is multimem.st
		for _, x := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[0], -1) {
			name := x[1]
			if name[0] == '.' {
				name = family + name
			} else if family == "" {
				family = name
				if at := strings.LastIndexByte(name, '.'); at > 0 && name != "cp.async" && name != "cp.async.bulk" {
					family = name[:at]
				}
			}
			has[name] = true
		}
		for _, x := range exampleOf.FindAllStringSubmatch(cells[1], -1) {
			word, _, _ := strings.Cut(x[1], " ")
			for at := range word + "." {
				if at == len(word) || word[at] == '.' {
					has[word[:at]] = true
				}
			}
		}
	}
	for _, name := range memoryChapters {
		assert.True(t, has[name], "%s is not in the table", name)
	}
	assert.Greater(t, len(memoryChapters), 60)
}

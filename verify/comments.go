package verify

import (
	"regexp"
	"strconv"
	"strings"
)

// dimComment is a launch in a comment, as the suite of GPUVerify has it: //--blockDim=64 --gridDim=[4,2].
var dimComment = regexp.MustCompile(`(?m)^\s*//.*?--?(blockDim|gridDim|clusterDim|local_size|num_groups)=(\[[0-9, ]*\]|[0-9]+)`)

// Comments is the launch that comments at the beginning of a source ask for; zero where they do not.
func Comments(text string) *Launch {
	l := &Launch{}
	for n, line := range strings.SplitN(text, "\n", 20) {
		if n == 19 || !strings.HasPrefix(strings.TrimSpace(line), "//") {
			break
		}
		for {
			at := dimComment.FindStringSubmatchIndex(line)
			if at == nil {
				break
			}
			d := dims(line[at[4]:at[5]])
			switch line[at[2]:at[3]] {
			case "blockDim", "local_size":
				l.Block = d
			case "clusterDim":
				l.Cluster = d
			default:
				l.Grid = d
			}
			line = "//" + line[at[5]:]
		}
	}
	return l
}

func dims(s string) [3]int {
	out := [3]int{1, 1, 1}
	for i, f := range strings.Split(strings.Trim(s, "[]"), ",") {
		if n, err := strconv.Atoi(strings.TrimSpace(f)); err == nil && i < 3 && n > 0 {
			out[i] = n
		}
	}
	return out
}

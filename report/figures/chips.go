package figures

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"optcheck/internal/plain"
)

// chipSentences say what an H200 answered when control codes were changed: each file has its runs counted by how they ended.
func chipSentences(t Tree) ([]string, error) {
	var say []string
	for _, x := range []struct {
		file, counts string // the line with the counts, of which the first are harmful
		harmful      int
		say          string
	}{
		{"hazards.txt", `(?m)^# all changes: (?:\d+) right, (\d+) wrong, (\d+) fault, (\d+) hang, (?:\d+) right`, 3, "%[1]s of %[2]s changes did harm"},
		{"hazards-matrix.txt", `(?m)changes: (\d+) gave wrong values, (\d+) faulted, (\d+) did not end, ([\d,]+) changed nothing; (\d+) are in kernels that are not stable`, 3,
			"of %[2]s changes of their kernels %[1]s did harm"},
		{"hazards-groups.txt", `(?m)changes: (\d+) gave wrong values, (\d+) faulted, (\d+) did not end, ([\d,]+) changed nothing`, 3,
			"asked in %[2]s changes of 70 random kernels (`-chip-groups`). %[1]s did harm"},
	} {
		text, err := t.text(h200 + x.file)
		if err != nil {
			return nil, err
		}
		n, err := find(text, x.counts)
		if err != nil {
			return nil, err
		}
		harm := sumOf(n[:x.harmful])
		all := sumOf(n)
		if x.file == "hazards.txt" { // those without harm are counted twice, by whether there is a finding
			fine, err := find(text, `(?m)^# all changes: (\d+) right,.* (\d+) right \(no finding\)`)
			if err != nil {
				return nil, err
			}
			all += sumOf(fine)
		}
		say = append(say, fmt.Sprintf(x.say, plain.Number(harm), plain.Number(all)))
	}
	text, err := t.text(h200 + "hazards-random.txt")
	if err != nil {
		return nil, err
	}
	ran, last := 0, []string(nil)
	for _, row := range seedRow.FindAllStringSubmatch(text, -1) {
		ran, last = ran+sumOf(row[2:3]), row
	}
	if last == nil {
		return nil, fmt.Errorf("hazards-random.txt has no rows of seeds")
	}
	return append(say, fmt.Sprintf("%s random changes were run in other kernels", plain.Number(ran)),
		fmt.Sprintf("Of the %d wrong values, %d faults and %d hangs of the last seed", sumOf(last[3:6]), sumOf(last[6:9]), sumOf(last[9:11]))), nil
}

// seedRow is a row of hazards-random.txt: seed, kernels, changes that ran, and how the harmful ones are judged.
var seedRow = regexp.MustCompile(`(?m)^(\d+) +(?:\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +[-\d]+$`)

// sumOf adds numbers that a file writes.
func sumOf(numbers []string) (sum int) {
	for _, n := range numbers {
		k, _ := strconv.Atoi(strings.ReplaceAll(n, ",", ""))
		sum += k
	}
	return sum
}

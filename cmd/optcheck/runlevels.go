package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// levels reads --levels: O3, O0,O3 or O0..O3. The flag is left with the first one.
func (f *runFlags) levels() ([]string, error) {
	all := []string{"O0", "O1", "O2", "O3"}
	var out []string
	for _, part := range strings.Split(f.level, ",") {
		low, high, isRange := strings.Cut(part, "..")
		if !isRange {
			high = low
		}
		a, b := slices.Index(all, low), slices.Index(all, high)
		if a < 0 || b < a {
			return nil, fmt.Errorf("--levels %s: want O0 to O3, several by commas, or a range (O0..O3)", f.level)
		}
		for _, l := range all[a : b+1] {
			if !slices.Contains(out, l) {
				out = append(out, l)
			}
		}
	}
	if len(out) > 1 && (f.until != "" || f.cubins != "") {
		return nil, errors.New("--until and --cubins take one level")
	}
	f.level = out[0]
	return out, nil
}

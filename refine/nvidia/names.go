package nvidia

import (
	"fmt"
	"regexp"
	"strings"

	"optcheck/ir"
)

// ownName is what ptxas calls a variable of shared memory that belongs to a function, in code that is not linked: with a number.
var ownName = regexp.MustCompile(`^\$__(.+)__\d+$`)

// name gives the symbols of machine code the names of the program's variables. The error is that the program has several of one name, or none.
func name(program, machine *ir.Program) error {
	named := map[string][]string{}
	for _, v := range program.Vars {
		if v.Func == "" {
			continue
		}
		own := v.Name
		if long, ok := strings.CutPrefix(own, v.Func+"."); ok { // another one has the name, too
			own = long[:max(strings.LastIndex(long, "."), 0)]
		}
		named[own] = append(named[own], v.Name)
	}
	for i := range machine.Consts {
		c := &machine.Consts[i]
		m := ownName.FindStringSubmatch(c.Symbol)
		if m == nil {
			continue
		}
		if list := named[m[1]]; len(list) != 1 {
			return fmt.Errorf("machine code refers to %s, and the program has %d variables called %s", c.Symbol, len(list), m[1])
		}
		c.Symbol = named[m[1]][0]
	}
	return nil
}

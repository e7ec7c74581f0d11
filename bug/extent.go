package bug

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"optcheck/isa"
	"optcheck/optcheck"
	"optcheck/pipeline"
	"optcheck/sass/hazard"
)

// extent is what of a kernel's machine code a bundle shows and compares.
type extent uint8

const (
	accesses     extent = iota // and fences
	instructions               // of findings of execution: all that do something
	controlled                 // of registers in flight: all, behind their control codes
)

// extentOf is that of findings of a rule.
func extentOf(rule string, executed bool) extent {
	switch {
	case optcheck.InFlight(rule):
		return controlled
	case executed:
		return instructions
	}
	return accesses
}

func (e extent) String() string {
	return [...]string{"accesses and fences", "instructions", "control codes and instructions"}[e]
}

var (
	machineLine = regexp.MustCompile(`^[ \t]*/\*[0-9a-f]+\*/(.*)$`)
	predicate   = regexp.MustCompile(`^@!?[UPT0-9]+[ \t]+`)
	blanks      = regexp.MustCompile(`[ \t]+`)
	// encoding is the line with the upper half of an instruction's encoding, whose first digits hold the control code.
	encoding = regexp.MustCompile(`^[ \t]*/\* 0x([0-9a-f]{6})[0-9a-f]{10} \*/$`)
)

// parseAccess reads the text of an instruction; ok is false if it does not count as an access.
// It mirrors the script check.awk.
func parseAccess(text string, ambiguous bool) (a access, ok bool) {
	text = strings.TrimSpace(strings.NewReplacer("{", " ", "}", " ", ";", " ").Replace(text))
	text = predicate.ReplaceAllString(text, "")
	a.mnemonic, _, _ = strings.Cut(text, " ")
	a.mnemonic = strings.TrimSuffix(a.mnemonic, ".S")
	op, _, _ := strings.Cut(a.mnemonic, ".")
	a.class, a.text = classes[op], blanks.ReplaceAllString(text, " ")
	if a.class == "ST" && !ambiguous && (strings.Contains(a.mnemonic, ".CS") || strings.Contains(a.mnemonic, ".EF")) {
		return a, false
	}
	return a, a.class != ""
}

// of lists what a bundle compares of a kernel in nvdisasm's output.
func (e extent) of(text []byte, kernel string, ambiguous bool) []access {
	var list []access
	inside := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, ".text."):
			inside = line == ".text."+kernel+":"
		case strings.HasPrefix(strings.TrimSpace(line), ".section"):
			inside = false
		case !inside:
		case machineLine.MatchString(line):
			line, _, _ = strings.Cut(machineLine.FindStringSubmatch(line)[1], "/*")
			if a, ok := parseAccess(line, ambiguous); ok || e.counts(&a) {
				list = append(list, a)
			}
		case e == controlled && encoding.MatchString(line):
			bits, err := strconv.ParseUint(encoding.FindStringSubmatch(line)[1], 16, 32)
			if n := len(list) - 1; err == nil && n >= 0 {
				list[n].text = isa.ControlOf(uint32(bits>>1&(1<<21-1))).String() + "  " + list[n].text
			}
		}
	}
	return list
}

// counts reports whether an instruction that is no access counts.
func (e extent) counts(a *access) bool {
	switch e {
	case instructions:
		return a.mnemonic != "" && a.mnemonic != "NOP"
	case controlled:
		return a.mnemonic != "" // what does nothing lets time pass
	}
	return false
}

// claimInFlight says what a report about a register in flight claims.
const claimInFlight = "**Claimed:** NVIDIA's chips make no instruction wait for its registers; control codes do. Those of the machine code do not, " +
	"on a path that a thread can take. **Not claimed:** that the wrong content has been seen on hardware, where the right one may be there in time.\n"

// whyInFlight shows the instructions of a finding about a register in flight.
func whyInFlight(x *hazard.Excerpt) string {
	if x == nil {
		return ""
	}
	return "The instructions in the kernel that was audited, whose registers may differ. In front of each stand its address and control code: " +
		"the scoreboards that it waits for (B), those that tell that its operands were read (R) and its result is there (W), and how many cycles later the " +
		"next instruction may issue (S).\n\n" + block("", x.String())
}

// flights are the claims about registers in flight in the machine code of a kernel.
func flights(ctx context.Context, r recipe, cubin []byte, kernel string) ([]hazard.Claim, error) {
	decoded, err := pipeline.Decode(ctx, r.tc, unit, r.target, cubin)
	if err != nil {
		return nil, err
	}
	fn, err := decoded.Func(kernel)
	if err != nil {
		return nil, err
	}
	return hazard.Judge(fn).Claims, nil
}

// flies reports whether a rule about registers in flight is broken.
func (c *code) flies(rule string) bool {
	return slices.ContainsFunc(c.flights, func(x hazard.Claim) bool { return x.Rule() == rule })
}

// Package toolflags says what a file may tell a tool. Arguments of compilers that come from a
// file of somebody else's (a campaign, a stream, a store) could load plugins, read and write
// files, or start programs; only those pass that change how code is generated and what is
// warned of. What a person writes on the command line is not asked about here.
package toolflags

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// option is a form of arguments: words with a name, and a value if there is one.
type option struct {
	name  string // alternatives, as a regular expression
	value string // "" for none
	// joined values follow the name at once (-DN=1), others after = or as the next word.
	joined bool
	// inner is the tool that gets the value, as a list with commas.
	inner string
}

// Values. None holds a character that could begin a path, an option or a file of arguments.
const (
	yes      = `true|false`
	number   = `[0-9]{1,9}`
	numbers  = `[0-9]{1,9}(?:,[0-9]{1,9})*`
	register = `[0-9]{1,9}|archmax|archmin`
	cache    = `ca|cg|cs|lu|cv|wb|wt`
	macro    = `[A-Za-z_][A-Za-z0-9_]*(?:=[A-Za-z0-9_]*)?`
	standard = `(?:c|gnu)\+\+[0-9]{2}`
	features = `[+-][a-z0-9-]+(?:,[+-][a-z0-9-]+)*`
	knob     = `--?(?:amdgpu|si|nvptx|enable|disable)-[a-z0-9-]+(?:=(?:true|false|[0-9]{1,9}))?`
)

// table is all that files may tell, by tool.
var table = map[string][]option{
	"ptxas": {
		{name: `-v|--verbose|-w|--disable-warnings|-g|--device-debug|-lineinfo|--generate-line-info|-c|--compile-only`},
		{name: `-ewp|--extensible-whole-program|-ret-end|--return-at-end|-Werror|--warning-as-error`},
		{name: `-no-bb-merge|--dont-merge-basicblocks|-disable-optimizer-consts|--disable-optimizer-constants`},
		{name: `-opt-fp-atomics|--optimize-float-atomics`},
		{name: `--?(?:suppress-debug-info|preserve-relocs|sp-bounds-check|override-directive-values|legacy-bar-warp-wide-behavior)`},
		{name: `--?(?:suppress|warn)-[a-z-]+(?:-warning|-use|-usage)|--?warn-(?:on-)?spills`},
		{name: `-O`, value: `[0-3]`, joined: true}, {name: `-O|--opt-level`, value: `[0-3]`},
		{name: `--?maxrregcount|-func-maxrregcount|--device-function-maxrregcount`, value: register},
		{name: `--?minnctapersm|-regUsageLevel|--register-usage-level`, value: number}, {name: `--?maxntid`, value: numbers},
		{name: `-dlcm|--def-load-cache|-dscm|--def-store-cache|-flcm|--force-load-cache|-fscm|--force-store-cache`, value: cache},
		{name: `--?allow-expensive-optimizations|--?fmad|-pic|--position-independent-code`, value: yes},
	},
	"clang": {
		{name: `-O`, value: `[0-3sz]`, joined: true}, {name: `-g|-g[0-3]|-gline-tables-only|-v|-w`},
		{name: `-[DU]`, value: macro, joined: true},
		{name: `-W(?:no-)?[a-z][a-z0-9-]*(?:=[0-9]+)?|-Werror|-Wall|-Wextra`},
		{name: `-cl-(?:std=CL(?:1\.[0-2]|2\.0|3\.0)|opt-disable|mad-enable|fast-relaxed-math|finite-math-only|unsafe-math-optimizations)`},
		{name: `-cl-(?:denorms-are-zero|no-signed-zeros|single-precision-constant|strict-aliasing|kernel-arg-info|uniform-work-group-size)`},
		{name: `-cl-fp32-correctly-rounded-divide-sqrt|-std=` + standard},
		{name: `-f(?:no-)?(?:fast-math|math-errno|associative-math|reciprocal-math|signed-zeros|finite-math-only|trapping-math)`},
		{name: `-f(?:no-)?(?:unsafe-math-optimizations|honor-nans|honor-infinities|strict-aliasing|strict-overflow|wrapv)`},
		{name: `-f(?:no-)?(?:unroll-loops|vectorize|slp-vectorize|inline|inline-functions|jump-tables|convergent-functions)`},
		{name: `-f(?:no-)?(?:omit-frame-pointer|delete-null-pointer-checks|gpu-rdc|cuda-flush-denormals-to-zero)|-ffp-contract=(?:off|on|fast)`},
		{name: `-m(?:no-)?(?:wavefrontsize64|cumode|tgsplit|unsafe-fp-atomics|amdgpu-ieee|sramecc|xnack)|-mcode-object-version=[0-9]`},
		{name: `-mllvm=?` + knob}, {name: `-mllvm`, value: knob}, {name: `-Xcuda-ptxas`, inner: "ptxas"},
	},
	"llc": {
		{name: `-O`, value: `[0-3]`, joined: true}, {name: knob}, {name: `--?mattr`, value: features},
		{name: `--?fp-contract=(?:off|on|fast)|--?verify-machineinstrs|--?amdhsa-code-object-version=[0-9]`},
	},
	"nvcc": {
		{name: `-G|--device-debug|-g|--debug|-lineinfo|--generate-line-info|-w|--disable-warnings|-v|--verbose`},
		{name: `--?use_fast_math|--?extended-lambda|--?expt-extended-lambda|--?expt-relaxed-constexpr|-ewp|--extensible-whole-program`},
		{name: `-O`, value: `[0-3]`, joined: true}, {name: `-O|--optimize`, value: `[0-3]`},
		{name: `-[DU]`, value: macro, joined: true}, {name: `-[DU]|--define-macro|--undefine-macro`, value: macro},
		{name: `--?std`, value: standard}, {name: `--?maxrregcount`, value: register},
		{name: `--?(?:fmad|ftz|prec-div|prec-sqrt)|-rdc|--relocatable-device-code`, value: yes},
		{name: `-Xptxas|--ptxas-options`, inner: "ptxas"},
	},
}

// writes are the words in names of knobs that write files, under the name that is their value, or to standard output.
var writes = regexp.MustCompile(`-(?:log|dump|print|dotcfg|file)(?:-|=|$)`)

// patterns are the two forms of a compiled option: one word, and a word before its value.
type patterns struct {
	one, first, next *regexp.Regexp
	inner            string
}

var compiled = func() map[string][]patterns {
	whole := func(s string) *regexp.Regexp { return regexp.MustCompile(`^(?:` + s + `)$`) }
	out := map[string][]patterns{}
	for tool, options := range table {
		for _, o := range options {
			p := patterns{inner: o.inner}
			switch {
			case o.inner != "":
				p.one, p.first, p.next = whole(`(?:`+o.name+`)=(.*)`), whole(o.name), whole(`(.*)`)
			case o.value == "":
				p.one = whole(o.name)
			case o.joined:
				p.one = whole(`(?:` + o.name + `)(?:` + o.value + `)`)
			default:
				p.one, p.first, p.next = whole(`(?:`+o.name+`)=(?:`+o.value+`)`), whole(o.name), whole(o.value)
			}
			out[tool] = append(out[tool], p)
		}
	}
	return out
}()

// Refused is a word that no file may tell a tool.
type Refused struct{ Tool, Word string }

func (e *Refused) Error() string {
	return fmt.Sprintf("%q is nothing that a file may tell %s", e.Word, e.Tool)
}

// Check returns a *Refused for the first of some words that is not on the list of the tool; of an
// unknown tool every word is refused.
func Check(tool string, words []string) error {
	for i := 0; i < len(words); {
		n := taken(tool, words[i:])
		if n == 0 || slices.ContainsFunc(words[i:i+n], writes.MatchString) {
			return &Refused{tool, words[i]}
		}
		i += n
	}
	return nil
}

// taken is the number of words, one or two, that an option of the tool takes from the first of
// some words on; 0 if there is none.
func taken(tool string, words []string) int {
	for _, p := range compiled[tool] {
		if p.one != nil {
			if m := p.one.FindStringSubmatch(words[0]); m != nil && p.passes(m) {
				return 1
			}
		}
		if p.first == nil || len(words) == 1 || !p.first.MatchString(words[0]) {
			continue
		}
		if m := p.next.FindStringSubmatch(words[1]); m != nil && p.passes(m) {
			return 2
		}
	}
	return 0
}

// passes reports whether a value may be told to the tool that it is for.
func (p *patterns) passes(match []string) bool {
	return p.inner == "" || Check(p.inner, strings.Split(match[1], ",")) == nil
}

package program

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"optcheck/ptx"
	"optcheck/runner"
)

// CLRoad gives OpenCL C to a device's own compiler. Fences stand where the source says
// fence_site(N). Ids are permuted by macros in the place of get_group_id and its like,
// which kernels may use, but not the functions that they call.
type CLRoad struct {
	file, text string
	kernels    []string
	device     string
	sites      []Site
}

var siteWord = regexp.MustCompile(`\b(?:fence_site|SITE)\s*\(\s*(\d{1,3})\s*\)`)

// NewCLRoad reads the OpenCL C of a program.
func NewCLRoad(p *Program, d runner.Device) (*CLRoad, error) {
	r := &CLRoad{file: p.OpenCL.Name, text: blankComments(string(p.OpenCL.Text)), kernels: p.kernels(), device: d.Platform}
	if at := otherFile.FindStringIndex(spliced.ReplaceAllString(r.text, "")); at != nil {
		return nil, fmt.Errorf("%s: the source names another file (#include, #embed, #import): a program is one file", r.file)
	}
	seen := map[int]bool{}
	for n, line := range strings.Split(r.text, "\n") {
		for _, at := range siteWord.FindAllStringSubmatchIndex(line, -1) {
			number, _ := strconv.Atoi(line[at[2]:at[3]]) // digits
			if number < 1 || seen[number] {
				return nil, fmt.Errorf("%s:%d:%d: fence_site(%d): want numbers from 1, each once", r.file, n+1, at[0]+1, number)
			}
			seen[number] = true
			r.sites = append(r.sites, Site{N: number, Pos: ptx.Pos{Line: n + 1, Col: at[0] + 1}, Text: line[at[0]:at[1]]})
		}
	}
	return r, nil
}

// otherFile is a directive by which a device's compiler opens a file that a program names, however #
// is written; spliced is the end of a line that the next one continues.
var (
	otherFile = regexp.MustCompile(`(?:#|%:|\?\?=)\s*(?:include|include_next|embed|import)\b`)
	spliced   = regexp.MustCompile(`(?:\\|\?\?/)[ \t]*\r?\n`)
)

var comments = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/`)

// blankComments makes comments blanks; lines stay.
func blankComments(text string) string {
	return comments.ReplaceAllStringFunc(text, func(c string) string { return strings.Repeat("\n", strings.Count(c, "\n")) + " " })
}

// Compiler names the platform, whose compiler it is.
func (r *CLRoad) Compiler() string { return r.device }

// Sites are those of the source.
func (r *CLRoad) Sites() []Site { return r.sites }

// Fence is a sequentially consistent fence of the device.
func (r *CLRoad) Fence() string {
	return "atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device)"
}

// Build writes the source of a variant.
func (r *CLRoad) Build(_ context.Context, fences Fences, stress bool) (*Build, error) {
	var b strings.Builder
	for _, s := range r.sites {
		text := fences[s.N]
		if text == "" {
			text = "(void)0"
		}
		fmt.Fprintf(&b, "#define OPTCHECK_SITE_%d %s\n", s.N, text)
	}
	b.WriteString("#define fence_site(n) OPTCHECK_SITE_##n\n")
	out := &Build{}
	text := r.text
	if stress {
		var err error
		if text, err = r.stressed(); err != nil {
			return nil, err
		}
		b.WriteString(clStress)
		out.Extra, out.Own = len(Params), true
	}
	fmt.Fprintf(&b, "#line 1 %q\n%s", r.file, text)
	out.Image = runner.Image{Kind: runner.ImageOpenCLC, Data: []byte(b.String()), Options: "-cl-std=CL3.0"}
	return out, nil
}

var clKernel = regexp.MustCompile(`\b(?:(?:__)?kernel\s+void|KERNEL)\s+(\w+)\s*\(`)

// stressed gives each kernel the parameters of Params, and the code that stresses. It is
// some of the program's own blocks that stress, before they begin: PoCL 3.1 makes
// nonsense of kernels with barriers that return early, which further blocks would.
func (r *CLRoad) stressed() (string, error) {
	var params strings.Builder
	for i, p := range Params {
		typ := "uint"
		if i == 0 {
			typ = "global volatile uint *"
		}
		fmt.Fprintf(&params, ", %s optcheck_%s", typ, p.Name)
	}
	var b strings.Builder
	at := 0
	for _, m := range clKernel.FindAllStringSubmatchIndex(r.text, -1) {
		end := closing(r.text, m[1])
		open := strings.IndexByte(r.text[end:], '{')
		if end == len(r.text) || open < 0 {
			return "", fmt.Errorf("%w: %s: kernel %s: its parameters or its body are not understood", ErrUnsupported, r.file, r.text[m[2]:m[3]])
		}
		list := params.String()
		if strings.TrimSpace(r.text[m[1]:end]) == "" {
			list = strings.TrimPrefix(list, ", ")
		}
		b.WriteString(r.text[at:end] + list + r.text[end:end+open+1] + " OPTCHECK_BEGIN ")
		at = end + open + 1
	}
	return b.String() + r.text[at:], nil
}

// closing is where the parenthesis closes that was opened before at; the end of the
// text if it does not.
func closing(text string, at int) int {
	for depth := 1; at < len(text); at++ {
		switch text[at] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return at
			}
		}
	}
	return at
}

// clStress is what stands in front of a source whose kernels are stressed: the
// functions of the ids are made macros after they were used.
const clStress = `
static uint optcheck_linear(uint a, uint b) { return (a * (uint)get_group_id(0) + b) % (uint)get_num_groups(0); }
static uint optcheck_thread(uint a, uint b)
{
  uint n = ((uint)get_local_id(2) * (uint)get_local_size(1) + (uint)get_local_id(1)) * (uint)get_local_size(0) + (uint)get_local_id(0);
  uint warps = (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2)) / 32;
  uint full = n / 32 < warps; /* without a branch, which PoCL 3.1 would take all threads through */
  return full * ((a * (n / 32) + b) % max(warps, 1u) * 32 + n % 32) + (1 - full) * n;
}
static void optcheck_stress(global volatile uint *scratch, uint unit, uint thread, uint rounds, uint loads, uint stores, uint random,
  uint step, uint lines, uint line, uint lane, uint base, uint mask, uint seed)
{
  uint x = unit * 2654435769u + seed, sum = 0;
  for (uint r = 0; r < rounds; r++, unit += step) {
    x = x * 1664525u + 1013904223u;
    if (random) {
      unit = x >> 8;
      loads = x >> 7 & 1;
      stores = !loads;
    }
    global volatile uint *at = scratch + ((unit % lines * line + base & mask) + thread % 32 * lane) / 4;
    for (uint k = 0; k < 5; k++) {
      if (loads >> k & 1) sum ^= *at;
      if (stores >> k & 1) *at = r;
    }
  }
  if (sum == 2654435769u) *scratch = sum;
}
/* A variable would do for the thread, but PoCL 3.1 takes it for the same in all threads of a
   block, and a condition on it sends them all the same way. */
#define optcheck_n optcheck_thread(optcheck_wa, optcheck_wb)
#define OPTCHECK_BEGIN \
  uint optcheck_block = optcheck_linear(optcheck_ba, optcheck_bb); \
  if (optcheck_block % 100u < optcheck_share) \
    optcheck_stress(optcheck_scratch, optcheck_block * (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2)) / 32 \
      + optcheck_n / 32, optcheck_n, optcheck_rounds, optcheck_loads, optcheck_stores, optcheck_random, optcheck_step, optcheck_lines, \
      optcheck_line, optcheck_lane, optcheck_base, optcheck_mask, optcheck_seed);
#define get_group_id(d) ((size_t)((d) == 0 ? optcheck_block % optcheck_gx : (d) == 1 ? optcheck_block / optcheck_gx % optcheck_gy \
  : (d) == 2 ? optcheck_block / optcheck_gx / optcheck_gy : 0u))
#define get_num_groups(d) ((size_t)((d) == 0 ? optcheck_gx : (d) == 1 ? optcheck_gy : (d) == 2 ? optcheck_gz : 1u))
#define get_local_id(d) ((d) == 0 ? optcheck_n % get_local_size(0) : (d) == 1 ? optcheck_n / get_local_size(0) % get_local_size(1) \
  : (d) == 2 ? optcheck_n / get_local_size(0) / get_local_size(1) : 0)
#define get_global_id(d) (get_group_id(d) * get_local_size(d) + get_local_id(d))
#define get_global_size(d) (get_num_groups(d) * get_local_size(d))
`

package program

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"optcheck/internal/input"
	"optcheck/internal/strictyaml"
)

// Limits of what a program may ask for.
const (
	maxFile     = 1 << 20  // bytes of the YAML
	maxSource   = 16 << 20 // bytes of a source
	maxElements = 1 << 26  // of a buffer
	maxBytes    = 128 << 20
	maxBuffers  = 64
	maxLaunches = 256
	maxGrid     = 1 << 20 // blocks
	maxBlock    = 1024    // threads
	maxTimeout  = time.Minute
)

// Program is a program with its post-condition.
type Program struct {
	Name, About string
	// File is what it was read from; Dir, and the sources, lie beside it.
	File string
	// PTX, CUDA and OpenCL are its sources, those that it has. The names are of their files.
	PTX, CUDA, OpenCL Source
	Buffers           []Buffer // by name
	Launches          []Launch // one run, in order
	Check             []Check  // all must hold
	// Timeout is how long one run may take.
	Timeout time.Duration
	// Params are the numbers that the file calls by name, with the values that it was read
	// with. Sizes are further sets of them, for a sweep, in the order of the file.
	Params map[string]int64
	Sizes  []map[string]int64

	text []byte // the file
}

// Source is the text of kernels.
type Source struct {
	Name string
	Text []byte
}

// Buffer is memory of the device, set before each run.
type Buffer struct {
	Name  string
	Type  Type
	Count int
	Init  Init
}

// Bytes is the buffer's size.
func (b *Buffer) Bytes() uint64 { return uint64(b.Count) * uint64(b.Type.Size()) }

// Type is the type of a buffer's elements.
type Type string

// The types. F32 is for numbers that it holds exactly.
const (
	U32 Type = "u32"
	S32 Type = "s32"
	U64 Type = "u64"
	F32 Type = "f32"
)

// Size is in bytes.
func (t Type) Size() int {
	if t == U64 {
		return 8
	}
	return 4
}

// Word is a number as an element of the type, and whether that holds it exactly.
func (t Type) Word(v int64) (w uint64, ok bool) {
	switch t {
	case U32:
		return uint64(uint32(v)), v >= 0 && v <= math.MaxUint32
	case S32:
		return uint64(uint32(v)), v >= math.MinInt32 && v <= math.MaxInt32
	case F32:
		return uint64(math.Float32bits(float32(v))), v >= -1<<24 && v <= 1<<24
	}
	return uint64(v), v >= 0
}

// Init is what a buffer holds before a run: one of these; nothing is zeros.
type Init struct {
	Fill   *int64
	Iota   *int64 // of the first element; each next one is greater by one
	Values []int64
	Random *Random
}

// Random draws elements from 0 up to, not including, Below.
type Random struct {
	Seed  uint64
	Below int64
}

// Launch is a launch of a kernel.
type Launch struct {
	Kernel      string
	Grid, Block [3]uint32
	Shared      uint32 // dynamic shared memory in bytes
	Args        []Arg
}

// Blocks is the number of blocks.
func (l *Launch) Blocks() uint64 { return uint64(l.Grid[0]) * uint64(l.Grid[1]) * uint64(l.Grid[2]) }

// Arg is an argument: the address of a buffer, or a word.
type Arg struct {
	Buffer string
	Type   Type
	Word   uint64
}

// Check is a post-condition.
type Check struct {
	// Buffer holds Value: at At, everywhere if that is -1; or what Other holds.
	Buffer string
	At     int
	Value  int64
	Other  string
	// Launch is a kernel that adds up errors in the first element of Errors.
	Launch *Launch
	Errors string
}

// Buffer finds a buffer by its name, nil if there is none.
func (p *Program) Buffer(name string) *Buffer {
	for i := range p.Buffers {
		if p.Buffers[i].Name == name {
			return &p.Buffers[i]
		}
	}
	return nil
}

//go:embed cases
var embedded embed.FS

// files are the files of the programs that the binary has, by name.
var files = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	list, _ := fs.Glob(embedded, "cases/*/*.yaml")
	for _, f := range list {
		out[strings.TrimSuffix(path.Base(f), ".yaml")] = f
	}
	return out
})

// Names lists the programs that the binary has.
func Names() []string { return slices.Sorted(maps.Keys(files())) }

// Load reads a program: a file, or one that the binary has by its name.
func Load(name string) (*Program, error) {
	if filepath.Ext(name) == ".yaml" || filepath.Ext(name) == ".yml" {
		return Read(name)
	}
	file, ok := files()[name]
	if !ok {
		return nil, fmt.Errorf("unknown program %q: a file (.yaml) or one of %s", name, strings.Join(Names(), ", "))
	}
	text, err := embedded.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return parse(file, text, nil, func(n string) ([]byte, error) { return embedded.ReadFile(path.Join(path.Dir(file), n)) })
}

// Read reads the file of a program and its sources, which lie beside it.
func Read(file string) (*Program, error) {
	text, err := strictyaml.ReadFile(file, maxFile)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return parse(file, text, nil, func(n string) ([]byte, error) {
		if _, err := root.Stat(n); err != nil { // refuses what is outside
			return nil, err
		}
		return input.ReadFile(filepath.Join(filepath.Dir(file), n), maxSource)
	})
}

// The file as it is written.
type (
	rawProgram struct {
		rawParams `yaml:",inline"`
		Name      string               `yaml:"name"`
		About     string               `yaml:"about"`
		Source    string               `yaml:"source"`
		OpenCL    string               `yaml:"opencl"`
		Buffers   map[string]rawBuffer `yaml:"buffers"`
		Launches  []rawLaunch          `yaml:"launches"`
		Check     []rawCheck           `yaml:"check"`
		Timeout   string               `yaml:"timeout"`
	}
	rawBuffer struct {
		Type  Type `yaml:"type"`
		Count int  `yaml:"count"`
		Init  struct {
			Fill   *int64  `yaml:"fill"`
			Iota   *int64  `yaml:"iota"`
			Values []int64 `yaml:"values"`
			Random *struct {
				Seed  uint64 `yaml:"seed"`
				Below int64  `yaml:"below"`
			} `yaml:"random"`
		} `yaml:"init"`
	}
	rawLaunch struct {
		Kernel string      `yaml:"kernel"`
		Grid   yaml.Node   `yaml:"grid"`
		Block  yaml.Node   `yaml:"block"`
		Shared uint32      `yaml:"shared"`
		Args   []yaml.Node `yaml:"args"`
	}
	rawCheck struct {
		Buffer    string    `yaml:"buffer"`
		At        *int      `yaml:"at"`
		Equals    yaml.Node `yaml:"equals"`
		rawLaunch `yaml:",inline"`
		Errors    string `yaml:"errors"`
	}
)

// reader turns the file into a program.
type reader struct {
	file string
	p    *Program
}

func parse(file string, text []byte, set map[string]int64, source func(string) ([]byte, error)) (*Program, error) {
	var raw rawProgram
	params, sizes, values, err := substitute(text, set)
	if err == nil {
		err = strictyaml.Decode(values, maxFile, &raw)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	r := &reader{file, &Program{Name: raw.Name, About: strings.TrimSpace(raw.About), File: file, Params: params, Sizes: sizes, text: text}}
	for _, step := range []func(*rawProgram) error{r.head, func(raw *rawProgram) error { return r.sources(raw, source) }, r.buffers,
		r.launches, r.checks} {
		if err := step(&raw); err != nil {
			return nil, located(file, text, err)
		}
	}
	return r.p, nil
}

var nameOK = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

func (r *reader) head(raw *rawProgram) (err error) {
	if !nameOK.MatchString(raw.Name) {
		return in(fmt.Errorf("name: %q: want letters, digits, - _ and ., 64 at most", raw.Name), "name")
	}
	r.p.Timeout = 5 * time.Second
	if raw.Timeout != "" {
		if r.p.Timeout, err = time.ParseDuration(raw.Timeout); err != nil || r.p.Timeout <= 0 || r.p.Timeout > maxTimeout {
			return in(fmt.Errorf("timeout: %q: want a time up to %v, such as 5s", raw.Timeout, maxTimeout), "timeout")
		}
	}
	return nil
}

func (r *reader) sources(raw *rawProgram, read func(string) ([]byte, error)) error {
	if raw.Source == "" && raw.OpenCL == "" {
		return errors.New("source: no kernels: want a .ptx or .cu file, or opencl: a .cl file")
	}
	for i, name := range []string{raw.Source, raw.OpenCL} {
		key := []string{"source", "opencl"}[i]
		if name == "" {
			continue
		}
		to, ok := map[string]*Source{".ptx": &r.p.PTX, ".cu": &r.p.CUDA, ".cl": &r.p.OpenCL}[path.Ext(name)]
		if !ok || (path.Ext(name) == ".cl") != (name == raw.OpenCL) {
			return in(fmt.Errorf("source: %q: want a .ptx or .cu file; opencl: a .cl file", name), key)
		}
		if !filepath.IsLocal(name) {
			return in(fmt.Errorf("source: %q does not lie beside the file", name), key)
		}
		text, err := read(name)
		if err != nil {
			return in(err, key)
		}
		*to = Source{name, text}
	}
	return nil
}

func (r *reader) buffers(raw *rawProgram) error {
	if len(raw.Buffers) > maxBuffers {
		return in(fmt.Errorf("%d buffers, at most %d are taken", len(raw.Buffers), maxBuffers), "buffers")
	}
	total := uint64(0)
	for _, name := range slices.Sorted(maps.Keys(raw.Buffers)) {
		b := raw.Buffers[name]
		out := Buffer{Name: name, Type: b.Type, Count: b.Count, Init: Init{Fill: b.Init.Fill, Iota: b.Init.Iota, Values: b.Init.Values}}
		fail := func(format string, args ...any) error {
			return in(fmt.Errorf("buffer "+name+": "+format, args...), "buffers", name)
		}
		if !slices.Contains([]Type{U32, S32, U64, F32}, b.Type) {
			return fail("type %q: want u32, s32, u64 or f32", b.Type)
		}
		if b.Count < 1 || b.Count > maxElements {
			return fail("count %d: want 1 to %d", b.Count, maxElements)
		}
		if total += out.Bytes(); total > maxBytes {
			return fail("more than %d bytes in all buffers", maxBytes)
		}
		if x := b.Init.Random; x != nil {
			out.Init.Random = &Random{x.Seed, x.Below}
		}
		if err := out.checkInit(); err != nil {
			return fail("init: %w", err)
		}
		r.p.Buffers = append(r.p.Buffers, out)
	}
	return nil
}

func (b *Buffer) checkInit() error {
	n, extremes := 0, []int64{}
	i := &b.Init
	if i.Fill != nil {
		n, extremes = n+1, append(extremes, *i.Fill)
	}
	if i.Iota != nil {
		n, extremes = n+1, append(extremes, *i.Iota)
		if *i.Iota > math.MaxInt64-int64(b.Count) {
			return fmt.Errorf("%d is too large", *i.Iota)
		}
		extremes = append(extremes, *i.Iota+int64(b.Count)-1)
	}
	if i.Values != nil {
		n, extremes = n+1, append(extremes, i.Values...)
		if len(i.Values) != b.Count {
			return fmt.Errorf("%d values for %d elements", len(i.Values), b.Count)
		}
	}
	if i.Random != nil {
		if n++; i.Random.Below < 1 {
			return errors.New("random needs below, 1 or more")
		}
		extremes = append(extremes, i.Random.Below-1)
	}
	if n > 1 {
		return errors.New("want one of fill, iota, values and random")
	}
	for _, v := range extremes {
		if _, ok := b.Type.Word(v); !ok {
			return fmt.Errorf("%d is no %s", v, b.Type)
		}
	}
	return nil
}

func (r *reader) launches(raw *rawProgram) error {
	if n := len(raw.Launches); n == 0 || n > maxLaunches {
		return in(fmt.Errorf("%d launches: want 1 to %d", n, maxLaunches), "launches")
	}
	for i := range raw.Launches {
		l, err := r.launch(&raw.Launches[i])
		if err != nil {
			return in(fmt.Errorf("launch %d: %w", i+1, err), "launches", i)
		}
		r.p.Launches = append(r.p.Launches, *l)
	}
	return nil
}

func (r *reader) launch(raw *rawLaunch) (*Launch, error) {
	l := &Launch{Kernel: raw.Kernel, Shared: raw.Shared}
	if l.Kernel == "" {
		return nil, in(errors.New("no kernel is named"), "kernel")
	}
	var err error
	if l.Grid, err = dims("grid", &raw.Grid, maxGrid); err != nil {
		return nil, in(err, "grid")
	}
	if l.Block, err = dims("block", &raw.Block, maxBlock); err != nil {
		return nil, in(err, "block")
	}
	if l.Shared > 1<<20 {
		return nil, in(fmt.Errorf("shared: %d bytes", l.Shared), "shared")
	}
	for i := range raw.Args {
		a, err := r.arg(&raw.Args[i])
		if err != nil {
			return nil, in(fmt.Errorf("argument %d: %w", i+1, err), "args", i)
		}
		l.Args = append(l.Args, a)
	}
	return l, nil
}

// dims reads one number, or up to three.
func dims(what string, n *yaml.Node, most uint64) (out [3]uint32, err error) {
	var list []uint32
	var one uint32
	if n.Kind == yaml.SequenceNode {
		err = n.Decode(&list)
	} else if err = n.Decode(&one); err == nil {
		list = []uint32{one}
	}
	if err != nil || len(list) == 0 || len(list) > 3 {
		return out, fmt.Errorf("%s: want a number, or [x, y, z]", what)
	}
	all := uint64(1)
	for i := range out {
		if out[i] = 1; i < len(list) {
			out[i] = list[i]
		}
		if all *= min(uint64(out[i]), most+1); all < 1 || all > most {
			return out, fmt.Errorf("%s: %v: want 1 to %d in all", what, list, most)
		}
	}
	return out, nil
}

func (r *reader) arg(n *yaml.Node) (a Arg, err error) {
	if n.Kind == yaml.ScalarNode {
		return Arg{Buffer: n.Value}, r.known(n.Value)
	}
	var m map[Type]int64
	if err := n.Decode(&m); err != nil || len(m) != 1 {
		return a, errors.New("want the name of a buffer, or a word, such as {u32: 1}")
	}
	for t, v := range m {
		w, ok := t.Word(v)
		if !slices.Contains([]Type{U32, S32, U64, F32}, t) || !ok {
			return a, fmt.Errorf("{%s: %d} is no u32, s32, u64 or f32", t, v)
		}
		a = Arg{Type: t, Word: w}
	}
	return a, nil
}

func (r *reader) known(name string) error {
	if r.p.Buffer(name) == nil {
		return fmt.Errorf("there is no buffer %q", name)
	}
	return nil
}

func (r *reader) checks(raw *rawProgram) error {
	if len(raw.Check) == 0 {
		return errors.New("check: no post-condition: nothing would tell whether a run was right")
	}
	for i := range raw.Check {
		c, err := r.check(&raw.Check[i])
		if err != nil {
			return in(fmt.Errorf("check %d: %w", i+1, err), "check", i)
		}
		r.p.Check = append(r.p.Check, *c)
	}
	return nil
}

func (r *reader) check(raw *rawCheck) (c *Check, err error) {
	c = &Check{Buffer: raw.Buffer, At: -1, Errors: raw.Errors}
	if raw.Kernel != "" {
		if raw.Buffer != "" || raw.At != nil || !raw.Equals.IsZero() || raw.Errors == "" {
			return nil, errors.New("a kernel that checks needs errors, the buffer that it counts in, and nothing of buffer, at, equals")
		}
		if c.Launch, err = r.launch(&raw.rawLaunch); err != nil {
			return nil, err
		}
		return c, in(r.known(raw.Errors), "errors")
	}
	if raw.Errors != "" || len(raw.Args) > 0 || raw.Shared != 0 || !raw.Grid.IsZero() || !raw.Block.IsZero() {
		return nil, errors.New("errors, args, grid, block and shared belong to a kernel that checks")
	}
	if err := r.known(raw.Buffer); err != nil {
		return nil, err
	}
	b := r.p.Buffer(raw.Buffer)
	if raw.At != nil {
		if c.At = *raw.At; c.At < 0 || c.At >= b.Count {
			return nil, in(fmt.Errorf("at: %d of %d elements", c.At, b.Count), "at")
		}
	}
	var v int64
	if raw.Equals.Kind == yaml.ScalarNode && raw.Equals.Decode(&v) == nil {
		if _, ok := b.Type.Word(v); !ok {
			return nil, in(fmt.Errorf("equals: %d is no %s", v, b.Type), "equals")
		}
		c.Value = v
		return c, nil
	}
	c.Other = raw.Equals.Value
	o := r.p.Buffer(c.Other)
	switch {
	case raw.Equals.Kind != yaml.ScalarNode || o == nil:
		return nil, errors.New("equals: want a number or the name of a buffer")
	case o.Type != b.Type || o.Count != b.Count:
		return nil, fmt.Errorf("equals: %s is %d of %s, %s is %d of %s", b.Name, b.Count, b.Type, o.Name, o.Count, o.Type)
	case c.At >= 0:
		return nil, errors.New("at goes with a number")
	}
	return c, nil
}

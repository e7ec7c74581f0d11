package runner

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func genCommand(t *rapid.T) Command {
	c := Command{
		Kind: CommandKind(rapid.IntRange(0, 9).Draw(t, "kind")), Buffer: Buffer(rapid.Uint32().Draw(t, "buffer")),
		Offset: rapid.Uint64().Draw(t, "offset"), Bytes: rapid.Uint64().Draw(t, "bytes"), Value: rapid.Uint32().Draw(t, "value"),
		Data: rapid.SliceOfN(rapid.Byte(), 1, 9).Draw(t, "data"), From: Buffer(rapid.Uint32().Draw(t, "from")),
		FromAt: rapid.Uint64().Draw(t, "from at"), Kernel: Kernel(rapid.Uint32().Draw(t, "kernel")),
	}
	if c.Kind == CommandLaunch {
		for i := range 3 {
			c.Dims.Grid[i], c.Dims.Block[i], c.Dims.Cluster[i] = rapid.Uint32().Draw(t, "g"), rapid.Uint32().Draw(t,
				"b"), rapid.Uint32().Draw(t, "c")
		}
		for range rapid.IntRange(0, 3).Draw(t, "args") {
			c.Args = append(c.Args, Arg{ArgKind(rapid.Byte().Draw(t, "arg")), Buffer(rapid.Uint32().Draw(t, "ab")),
				rapid.Uint64().Draw(t, "av"),
				rapid.Uint64().Draw(t, "as")})
		}
	}
	return c
}

func TestBatchTravels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := &Batch{Repeat: rapid.Uint64().Draw(t, "repeat"), Budget: time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "budget")),
			Energy: rapid.Bool().Draw(t, "energy")}
		for _, list := range []*[]Command{&b.Setup, &b.Body, &b.Final} {
			for range rapid.IntRange(0, 3).Draw(t, "n") {
				*list = append(*list, genCommand(t))
			}
		}
		var e encoder
		e.batch(b)
		d := decoder{b: e.b}
		got := d.batch()
		require.NoError(t, d.end())
		require.Equal(t, b, got)
	})
}

func TestResultTravels(t *testing.T) {
	r := &Result{Done: 7, Stopped: true, Elapsed: 3, Body: 2, Reads: [][]byte{{1}, {2, 3}}, Before: State{ClockMHz: 1980},
		After: State{Temperature: 33, Throttle: []string{"heat"}}}
	var e encoder
	e.result(r)
	d := decoder{b: e.b}
	require.Equal(t, r, d.result())
	require.NoError(t, d.end())
}

func TestFailureTravels(t *testing.T) {
	for _, kind := range kinds {
		var e encoder
		e.failure(&Error{Kind: kind, Op: "load", Code: "X", Detail: "text", Err: io.EOF, Sticky: true})
		d := decoder{b: e.b}
		require.Equal(t, &Error{Kind: kind, Op: "load", Code: "X", Detail: "text: EOF", Sticky: true}, d.failure())
	}
}

// A length that lies costs no memory and is an error.
func TestFrameLies(t *testing.T) {
	for _, n := range []uint32{5, 1 << 20, maxFrame, maxFrame + 1, math.MaxUint32} {
		b := binary.LittleEndian.AppendUint32(nil, n)
		b = append(b, byte(frameRun), 1, 2, 3)
		allocs := testing.AllocsPerRun(1, func() {
			_, err := readFrame(bytes.NewReader(b))
			require.Error(t, err)
		})
		require.Less(t, allocs, 200.0)
	}
}

func TestVersionOfProtocol(t *testing.T) {
	require.NoError(t, checkHello(frame{frameHello, encodeHello()}))
	var e encoder
	e.text(protocolMagic)
	e.u(protocolVersion + 1)
	require.ErrorContains(t, checkHello(frame{frameHello, e.b}), "version 5")
	require.Error(t, checkHello(frame{frameHello, []byte("x")}))
	require.Error(t, checkHello(frame{frameReply, encodeHello()}))
}

// nothing is a back end that must not be reached by nonsense.
type nothing struct{}

func (nothing) Name() string                                  { return "nothing" }
func (nothing) Devices(context.Context) ([]Device, error)     { return nil, nil }
func (nothing) Open(context.Context, ...int) (Session, error) { return quiet{}, nil }

// quiet is a session that accepts everything and does nothing.
type quiet struct{}

func (quiet) Device() Device                                    { return Device{} }
func (quiet) Devices() []Device                                 { return []Device{{}} }
func (quiet) Compile(context.Context, Image) (*Compiled, error) { return &Compiled{}, nil }
func (quiet) Load(context.Context, Image) (Module, error)       { return 1, nil }
func (quiet) Unload(context.Context, Module) error              { return nil }
func (quiet) Kernel(context.Context, Module, string) (Kernel, KernelInfo, error) {
	return 1, KernelInfo{}, nil
}
func (quiet) Alloc(context.Context, int, uint64) (Buffer, error) { return 1, nil }
func (quiet) Free(context.Context, Buffer) error                 { return nil }
func (quiet) State(context.Context) (State, error)               { return State{}, nil }
func (quiet) Epoch() int                                         { return 0 }
func (quiet) Close() error                                       { return nil }
func (quiet) Run(_ context.Context, b *Batch) (*Result, error) {
	if err := b.Check(); err != nil {
		return nil, &Error{Kind: ErrUsage, Err: err}
	}
	return &Result{Done: b.Repeat}, nil
}

// FuzzServe: whatever arrives in the pipe, the device process answers or ends,
// without a panic, and every request gets at most one answer.
func FuzzServe(f *testing.F) {
	var e encoder
	e.u(1)
	e.batch(&Batch{Body: []Command{Launch(1, Dim1(1, 1), BufArg(1), Counter32(1, 2))}, Final: []Command{Read(1, 0, 4)}})
	for _, seed := range [][]byte{{byte(frameOpen), 0}, append([]byte{byte(frameRun)}, e.b...), {byte(frameAlloc), 1, 16},
		{byte(frameStop), 1}, {99}} {
		f.Add(seed, []byte{byte(frameLoad), 1, 2, 0, 0})
	}
	f.Fuzz(func(t *testing.T, one, two []byte) {
		var in, out bytes.Buffer
		require.NoError(t, writeFrame(&in, frameHello, encodeHello()))
		require.NoError(t, writeFrame(&in, frameOpen, []byte{0}))
		asked := 1
		for _, b := range [][]byte{one, two} {
			if len(b) > 0 && frameKind(b[0]) != frameClose {
				require.NoError(t, writeFrame(&in, frameKind(b[0]), b[1:]))
				if frameKind(b[0]) != frameStop {
					asked++
				}
			}
		}
		in.Write(two) // whatever frames this makes
		_ = serve(context.Background(), nothing{}, &in, &out, nil)
		answered := -1 // the hello
		for {
			if _, err := readFrame(&out); err != nil {
				require.ErrorIs(t, err, io.EOF)
				break
			}
			answered++
		}
		require.LessOrEqual(t, answered, asked+len(two)/5, "a frame has at least five bytes")
	})
}

// FuzzReplies: whatever a device process sends, decoding it does not panic and
// what decodes encodes to the same again.
func FuzzReplies(f *testing.F) {
	var e encoder
	e.result(&Result{Done: 1, Reads: [][]byte{{1, 2}}})
	f.Add(e.b)
	var x encoder
	x.failure(io.EOF)
	f.Add(x.b)
	f.Fuzz(func(t *testing.T, b []byte) {
		(&decoder{b: b}).batch()
		require.Error(t, (&decoder{b: b}).failure())
		d := decoder{b: b}
		r := d.result()
		if d.end() != nil {
			return
		}
		var again encoder
		again.result(r)
		d = decoder{b: again.b}
		require.Equal(t, r, d.result())
	})
}

// Counters take a new value in each repetition, modulo their width.
func TestCounters(t *testing.T) {
	require.EqualValues(t, 5, U32(5).At(9))
	require.EqualValues(t, 23, Counter32(5, 2).At(9))
	require.EqualValues(t, 1, Counter32(math.MaxUint32, 2).At(1))
	require.EqualValues(t, uint64(1)<<32+1, Counter64(math.MaxUint32, 2).At(1))
}

func TestNextChunk(t *testing.T) {
	ms := time.Millisecond
	require.EqualValues(t, 2, nextChunk(1, ms, 0, 0))
	require.EqualValues(t, 8, nextChunk(8, 100*ms, 0, 0))
	require.EqualValues(t, 4, nextChunk(8, 400*ms, 0, 0))
	require.EqualValues(t, 1, nextChunk(1, 400*ms, 0, 0))
	require.EqualValues(t, maxChunk, nextChunk(maxChunk, ms, 0, 0))
	require.EqualValues(t, 3, nextChunk(8, 40*ms, 30*ms, 20*ms), "ten of thirty ms are left: two of eight fit")
	require.EqualValues(t, 1, nextChunk(8, 40*ms, 30*ms, 40*ms))
}

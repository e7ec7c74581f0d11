package cuda

import (
	"bytes"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"optcheck/runner"
)

// Options of the driver's compiler (CUjit_option) and kinds of its input.
const (
	jitInfoLog       = 3
	jitInfoLogSize   = 4
	jitErrorLog      = 5
	jitErrorLogSize  = 6
	jitLevel         = 7
	jitTargetContext = 8
	jitTarget        = 9
	jitLineInfo      = 13
	jitInputPTX      = 1
	jitLogBytes      = 16 << 10
	jitAccelerated   = 1 << 16 // CU_COMPUTE_ACCELERATED_TARGET_BASE: sm_90a
)

var archOption = regexp.MustCompile(`^-arch=sm_(\d{2,3})(a?)$`)

// jitOptions turns the options of an image into those of the compiler.
func jitOptions(options string) (keys []int32, values []uintptr, err error) {
	target := false
	for _, o := range strings.Fields(options) {
		switch {
		case len(o) == 3 && o[:2] == "-O" && o[2] >= '0' && o[2] <= '4':
			keys, values = append(keys, jitLevel), append(values, uintptr(o[2]-'0'))
		case o == "-lineinfo":
			keys, values = append(keys, jitLineInfo), append(values, 1)
		case archOption.MatchString(o):
			m := archOption.FindStringSubmatch(o)
			n, _ := strconv.Atoi(m[1]) // digits
			if m[2] != "" {
				n += jitAccelerated
			}
			keys, values, target = append(keys, jitTarget), append(values, uintptr(n)), true
		default:
			return nil, nil, runner.Errorf(runner.ErrUsage, "compile",
				"option %q: the driver's compiler takes -O0 to -O4, -lineinfo, -arch=sm_NN", o)
		}
	}
	if !target {
		keys, values = append(keys, jitTargetContext), append(values, 0)
	}
	return keys, values, nil
}

// jit compiles PTX to a cubin with the compiler inside the driver, by way of
// its linker, which unlike module loading gives the cubin back.
func (d *driver) jit(image runner.Image) (*runner.Compiled, error) {
	if len(image.Data) == 0 || len(image.Data) > runner.MaxImage || bytes.IndexByte(image.Data, 0) >= 0 {
		return nil, runner.Errorf(runner.ErrUsage, "compile", "PTX of %d bytes, or with zero bytes in it", len(image.Data))
	}
	keys, values, err := jitOptions(image.Options)
	if err != nil {
		return nil, err
	}
	info, fault := make([]byte, jitLogBytes), make([]byte, jitLogBytes)
	keys = append(keys, jitInfoLog, jitInfoLogSize, jitErrorLog, jitErrorLogSize)
	values = append(values, 0, jitLogBytes, 0, jitLogBytes)
	// The driver writes into these until the end, through addresses that the
	// garbage collector does not see.
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&info[0])
	pin.Pin(&fault[0])
	pin.Pin(&values[0])
	values[len(values)-4], values[len(values)-2] = uintptr(unsafe.Pointer(&info[0])), uintptr(unsafe.Pointer(&fault[0]))
	fail := func(code int32) error {
		e := &runner.Error{Kind: kindOf(code), Op: "compile PTX", Code: d.name(code), Detail: strings.TrimSpace(cstring(fault))}
		if e.Kind == runner.ErrUsage { // of options or text: there is nothing else
			e.Kind = runner.ErrCompile
		}
		return e
	}
	var state uintptr
	if code := d.linkCreate(uint32(len(keys)), &keys[0], &values[0], &state); code != 0 {
		return nil, fail(code)
	}
	defer d.linkDestroy(state)
	text := append(bytes.Clone(image.Data), 0)
	name := []byte("kernels.ptx\x00")
	if code := d.linkAddData(state, jitInputPTX, unsafe.Pointer(&text[0]), uint64(len(text)), &name[0], 0, nil, nil); code != 0 {
		return nil, fail(code)
	}
	var cubin unsafe.Pointer // belongs to the linker
	var size uint64
	if code := d.linkComplete(state, &cubin, &size); code != 0 {
		return nil, fail(code)
	}
	if cubin == nil || size == 0 || size > runner.MaxImage {
		return nil, runner.Errorf(runner.ErrFault, "compile PTX", "the driver gave a cubin of %d bytes", size)
	}
	return &runner.Compiled{Binary: bytes.Clone(unsafe.Slice((*byte)(cubin), size)), Log: strings.TrimSpace(cstring(info))}, nil
}

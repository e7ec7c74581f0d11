package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// The kinds of failure. Every error of a back end matches exactly one of them
// under errors.Is.
var (
	// ErrUnsupported: the machine or the device cannot do this at all.
	ErrUnsupported = errors.New("unsupported")
	// ErrCompile: the driver's compiler or loader refused the code.
	ErrCompile = errors.New("rejected by the driver")
	// ErrMemory: not enough memory on the device.
	ErrMemory = errors.New("out of device memory")
	// ErrUsage: the caller asked for something that makes no sense, such as a
	// handle that does not exist or a buffer overrun.
	ErrUsage = errors.New("wrong use of the device")
	// ErrFault: the device or its driver failed while it ran the batch: an
	// illegal address, a lost device. Nothing is known of the batch's outcomes.
	ErrFault = errors.New("device fault")
	// ErrTimeout: the device made no progress within the time limit and the
	// process that drove it was killed. Nothing is known of the batch's
	// outcomes; it is never evidence that something was not observed.
	ErrTimeout = errors.New("device hung: time limit exceeded")
	// ErrChild: the process that drove the device died or spoke nonsense.
	ErrChild = errors.New("device process failed")
	// ErrBusy: another run uses the device.
	ErrBusy = errors.New("device in use")
	// ErrCancelled: the caller's context ended. errors.Is matches the context's
	// own error too.
	ErrCancelled = errors.New("cancelled")
)

// kinds gives each kind its number in the protocol.
var kinds = []error{ErrUnsupported, ErrCompile, ErrMemory, ErrUsage, ErrFault, ErrTimeout, ErrChild, ErrBusy, ErrCancelled}

// Error is one failure of a back end.
type Error struct {
	// Kind is one of the sentinels of this package.
	Kind error
	// Op is what was tried: "load cubin", "launch".
	Op string
	// Code is the driver's name of the error, "CUDA_ERROR_ILLEGAL_ADDRESS", or
	// empty.
	Code string
	// Detail says more, such as a compiler's log; bounded.
	Detail string
	// Err is the underlying error, or nil.
	Err error
	// Sticky says that the driver's context does not work any more although
	// nothing was running: the device's process is to be replaced.
	Sticky bool
}

// Error gives one line, followed by the detail if that has several.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Op != "" {
		b.WriteString(e.Op + ": ")
	}
	b.WriteString(e.Kind.Error())
	if e.Code != "" {
		b.WriteString(": " + e.Code)
	}
	if e.Detail != "" {
		b.WriteString(": " + strings.TrimRight(e.Detail, "\n"))
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Unwrap lets errors.Is see the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// Errorf returns an Error of a kind.
func Errorf(kind error, op, format string, args ...any) *Error {
	return &Error{Kind: kind, Op: op, Detail: clip(fmt.Sprintf(format, args...), maxDetail)}
}

// maxDetail bounds texts that come from drivers, in bytes.
const maxDetail = 16 << 10

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// cancelled is the error of a context that ended.
func cancelled(ctx context.Context, op string) *Error {
	return &Error{Kind: ErrCancelled, Op: op, Err: context.Cause(ctx)}
}

// sticky reports whether an error leaves a process behind that is of no use.
func sticky(err error) bool {
	var e *Error
	return Lost(err) || errors.As(err, &e) && e.Sticky
}

// Lost reports whether an error means that the batch's outcomes are unknown
// because the device or its process failed, while the session goes on.
func Lost(err error) bool {
	return errors.Is(err, ErrFault) || errors.Is(err, ErrTimeout) || errors.Is(err, ErrChild)
}

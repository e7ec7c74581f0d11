// Package browsertest drives a headless Chromium in tests of pages. It is for
// tests only and no part of the program.
package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"optcheck/internal/input"
	"optcheck/internal/patient"
	"optcheck/internal/required"
)

// limit bounds one test's use of a browser: many pages.
const limit = 6 * patient.Long

// Find returns the Chromium of this machine. Without one the test is skipped,
// unless OPTCHECK_REQUIRE_TOOLS is 1.
func Find(t testing.TB) string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && !required.Quick() {
			return path
		}
	}
	required.Missing(t, "no chromium in PATH")
	return ""
}

// Tab is a tab of its own browser. It records the page's complaints and network requests.
type Tab struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	errors   []string
	requests []string
}

// New starts a browser that ends with the test. Its window has the size of a desktop.
func New(t testing.TB) *Tab {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(Find(t)), chromedp.DisableGPU,
		chromedp.WindowSize(1280,
			900), chromedp.UserDataDir(userData(t)), chromedp.WSURLReadTimeout(patient.Long), chromedp.Flag("hide-scrollbars", false))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	tab := &Tab{t: t}
	tab.ctx, stop = chromedp.NewContext(ctx, chromedp.WithListener(tab.listen))
	t.Cleanup(stop)
	tab.Desktop() // starts the browser
	call(tab, network.Enable, network.EnableParams{})
	return tab
}

// userData creates a folder for the browser's data. Processes of a browser that has ended may
// still be writing there, which does not fail the test.
func userData(t testing.TB) string {
	dir, err := os.MkdirTemp("", "browser")
	require.NoError(t, err)
	t.Cleanup(func() {
		for end := time.Now().Add(patient.Long); os.RemoveAll(dir) != nil && time.Now().Before(end); {
			time.Sleep(50 * time.Millisecond)
		}
	})
	return dir
}

// listen keeps what the browser tells.
func (b *Tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text := "exception: " + e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		b.errors = append(b.errors, text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning ||
			e.Type == runtime.ConsoleAPICalledTypeAssert {
			var args []string
			for _, a := range e.Args {
				args = append(args, string(a.Value)+a.Description)
			}
			b.errors = append(b.errors, fmt.Sprintf("console %s: %s", e.Type, strings.Join(args, " ")))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			b.errors = append(b.errors, fmt.Sprintf("log: %s %s", e.Entry.Text, e.Entry.URL))
		}
	case *page.EventJavascriptDialogOpening:
		b.errors = append(b.errors, "dialog: "+e.Message)
		go func() {
			_, _ = chromedp.Call(b.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
		}()
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	}
}

// Errors returns what pages have complained about since the browser started: exceptions, errors
// and warnings of the console, dialogs.
func (b *Tab) Errors() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.errors...)
}

// Requests returns the addresses that pages asked for, in order.
func (b *Tab) Requests() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.requests...)
}

// Do runs actions and fails the test if one fails.
func (b *Tab) Do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	require.NoError(b.t, chromedp.Do(b.ctx, actions...), "complaints of the page: %q", b.Errors())
}

// run runs an action for its value.
func run[T any](b *Tab, a chromedp.Action[T]) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, a)
	require.NoError(b.t, err, "complaints of the page: %q", b.Errors())
	return v
}

// call sends a command to the tab.
func call[P, R any](b *Tab, c cdp.Command[P, R], params P) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, c, params)
	require.NoError(b.t, err)
}

// FileURL returns the address of a file.
func FileURL(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		panic(err)
	}
	return "file://" + filepath.ToSlash(path)
}

// Open navigates to an address and waits until the page is loaded.
func (b *Tab) Open(url string) {
	b.t.Helper()
	b.Do(chromedp.Navigate(url))
}

// Eval evaluates an expression of JavaScript.
func Eval[T any](b *Tab, expression string) T {
	b.t.Helper()
	return run(b, chromedp.Evaluate[T](expression))
}

// Text returns the text of the first element that a selector finds.
func (b *Tab) Text(selector string) string {
	b.t.Helper()
	return Eval[string](b, fmt.Sprintf("document.querySelector(%q).innerText", selector))
}

// Count returns how many elements a selector finds.
func (b *Tab) Count(selector string) int {
	b.t.Helper()
	return Eval[int](b, fmt.Sprintf("document.querySelectorAll(%q).length", selector))
}

// Until waits until an expression is true.
func (b *Tab) Until(expression string) {
	b.t.Helper()
	var last error
	for end := time.Now().Add(patient.Long); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		if ok {
			return
		}
		last = err // one page may just be leaving for another
	}
	require.Fail(b.t, "never true: "+expression, "%v; complaints of the page: %q", last, b.Errors())
}

// Click clicks on the first element that a selector finds. If the page replaces the element
// between finding and clicking, Click finds it again.
func (b *Tab) Click(selector string) {
	b.t.Helper()
	var err error
	for end := time.Now().Add(patient.Long); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		_, err = chromedp.Run(b.ctx, chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
		if !gone(err) {
			break
		}
	}
	require.NoError(b.t, err, "%s; complaints of the page: %q", selector, b.Errors())
}

// gone reports whether an error is the browser's answer that it no longer has an element, or
// its page. Only the steps before a click refer to elements; the click itself is at a position.
func gone(err error) bool {
	var e *cdproto.Error
	const serverError = -32000
	return errors.As(err, &e) && e.Code == serverError
}

// Press sends keys to what has the focus.
func (b *Tab) Press(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.Do(chromedp.KeyEvent(k))
	}
}

// Phone gives the window the size of a small phone.
func (b *Tab) Phone() {
	b.t.Helper()
	b.Do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile))
	b.Until("screen.width === 360")
}

// Desktop gives the window the size of a desktop again.
func (b *Tab) Desktop() {
	b.t.Helper()
	b.Do(chromedp.EmulateViewport(1280, 900))
	b.Until("innerWidth === 1280")
}

// Width sets the width of a desktop's window in pixels.
func (b *Tab) Width(pixels int) {
	b.t.Helper()
	b.Do(chromedp.EmulateViewport(int64(pixels), 900))
	b.Until(fmt.Sprintf("innerWidth === %d", pixels))
}

// Dark sets the colour scheme that the reader's system prefers.
func (b *Tab) Dark(on bool) {
	b.t.Helper()
	value := "light"
	if on {
		value = "dark"
	}
	call(b, emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: value}}})
}

// NoScript turns JavaScript off for pages opened from now on.
func (b *Tab) NoScript() {
	b.t.Helper()
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

// Overflow returns by how many pixels the page is wider than the window.
func (b *Tab) Overflow() int {
	b.t.Helper()
	return Eval[int](b, "document.documentElement.scrollWidth - document.documentElement.clientWidth")
}

// PDF prints the page on A4 paper.
func (b *Tab) PDF() []byte {
	b.t.Helper()
	return run(b, chromedp.PrintToPDF(chromedp.PDFPaper(chromedp.PaperA4), chromedp.PDFPreferCSSPageSize(), chromedp.PDFPrintBackground()))
}

// Screenshot writes a picture of the whole page to a file of this name if
// OPTCHECK_SCREENSHOTS names a folder.
func (b *Tab) Screenshot(name string) {
	b.t.Helper()
	dir := os.Getenv("OPTCHECK_SCREENSHOTS")
	if dir == "" {
		return
	}
	png := run(b, chromedp.FullScreenshot(100))
	require.NoError(b.t, input.WriteFile(filepath.Join(dir, name+".png"), png))
}

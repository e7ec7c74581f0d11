package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"

	"optcheck/audit/store"
	"optcheck/internal/input"
)

// kind is what a file is by its first bytes, in words.
type kind string

// The kinds of files.
const (
	aFolder   kind = "a folder"
	isEmpty   kind = "empty"
	aStore    kind = "a store of results"
	aStream   kind = "an event stream"
	verdicts  kind = "the output of optcheck model or log check"
	aLog      kind = "a log"
	aTest     kind = "a litmus test"
	ptxText   kind = "PTX"
	anELF     kind = "a cubin or another ELF file"
	aZip      kind = "a zip archive"
	aGzip     kind = "a file compressed by gzip"
	binary    kind = "binary data"
	jsonText  kind = "JSON"
	otherText kind = "a text"
)

// want is what a command expects of a file: which kinds can be it, and where to
// get one. What may be of another kind is left to the reader of the file.
type want struct {
	kinds []kind
	what  string
	hint  string
}

var (
	wantStream   = want{[]kind{aStream, aGzip, jsonText}, "an event stream or a store", "optcheck audit -o FILE or --store FILE makes one"}
	wantStore    = want{[]kind{aStore}, "a store", "optcheck merge OUT IN… makes one of event streams"}
	wantNewStore = want{[]kind{aStore, isEmpty}, "a store", "name a new file, or one that optcheck made"}
	wantTest     = want{[]kind{aTest, otherText}, "a litmus test", "optcheck tests mp --print shows one"}
	wantCode     = want{[]kind{anELF, otherText}, "a cubin or a disassembly", "optcheck audit takes PTX and tests, optcheck check FILE.ptx FILE.cubin both"}
	wantLog      = want{[]kind{aLog, otherText}, "a log of herd or litmus", "optcheck run --log FILE writes one"}
	wantKnown    = want{[]kind{otherText, isEmpty}, "a list of known findings", "optcheck known --help shows one"}
	wantCampaign = want{[]kind{otherText, isEmpty}, "a description of a campaign", "optcheck campaign init prints one"}
	wantGen      = want{[]kind{otherText, isEmpty}, "a configuration of tests", "optcheck gen presets quick prints one"}
	wantSettings = want{[]kind{otherText, isEmpty}, "a configuration file", "optcheck config lists the settings"}
	wantCubins   = want{[]kind{aZip, aStore}, "a file of cubins or a store", "optcheck run --save-cubins FILE makes one"}
	wantModel    = want{[]kind{otherText}, "a model in the cat language", "optcheck models ptx --print prints one"}
)

// expect says of a file that is clearly something else what it is, what is
// expected, and where to get that. What is no regular file is none of them. Standard
// input and what cannot be opened pass: whoever reads them says more.
func expect(file string, w want) error {
	if file == "-" {
		return nil
	}
	k, err := kindOf(file)
	if errors.Is(err, input.ErrNotRegular) {
		return err
	}
	if err != nil || k == "" || slices.Contains(w.kinds, k) {
		return nil
	}
	use := ""
	switch k {
	case aStore, aStream:
		use = ", which optcheck report reads"
	case aLog:
		use = ", which optcheck log check reads"
	case ptxText:
		if slices.Contains(w.kinds, aTest) {
			use = ", which optcheck audit reads where its name ends in .ptx"
		}
	case otherText, binary, jsonText: // which says nothing
		return fmt.Errorf("%s is not %s (%s)", file, w.what, w.hint)
	}
	return fmt.Errorf("%s is %s%s, not %s (%s)", file, k, use, w.what, w.hint)
}

// storeAt opens a store after a look at what the file is.
func storeAt(ctx context.Context, file string, mode store.Mode) (*store.Store, error) {
	w := wantStore
	if mode == store.Create {
		w = wantNewStore
	}
	if err := expect(file, w); err != nil {
		return nil, err
	}
	return store.Open(ctx, file, mode)
}

// maxSniff is how much of a file is looked at, in bytes.
const maxSniff = 4096

// kindOf tells what a file is; "" if that cannot be said.
func kindOf(file string) (kind, error) {
	st, err := os.Stat(file)
	switch {
	case err != nil:
		return "", err
	case st.IsDir():
		return aFolder, nil
	case !st.Mode().IsRegular():
		return "", &fs.PathError{Op: "open", Path: file, Err: input.ErrNotRegular}
	}
	f, err := input.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, maxSniff)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return "", &fs.PathError{Op: "read", Path: file, Err: err}
	}
	text, err := input.Text(head[:n])
	if err != nil {
		return "", nil // its reader says so
	}
	return kindOfHead(text), nil
}

var (
	litmusHead  = regexp.MustCompile(`^\s*(GPU_PTX|PTX|GPU_OPENCL|LISA)[ \t]+[^\s"]+[ \t]*\r?\n(\s*"[^"\n]*"[ \t]*\r?\n)?\s*\{`)
	ptxHead     = regexp.MustCompile(`^(\s*(//[^\n]*)?\n)*\s*\.version\s`)
	logHead     = regexp.MustCompile(`^(\s*(%[^\n]*)?\n)*\s*Test \S+[^\n]*\n(States|Histogram)\b`)
	streamHead  = regexp.MustCompile(`^\s*\{\s*"(config|test|cell|listing|problem|stats|histogram|known)"\s*:`)
	verdictHead = regexp.MustCompile(`^\s*\{\s*"(verdict|difference|forbidden|summary)"\s*:`)
)

func kindOfHead(head []byte) kind {
	for magic, k := range map[string]kind{"SQLite format 3\x00": aStore, "\x1f\x8b": aGzip, "\x7fELF": anELF, "PK\x03\x04": aZip} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return k
		}
	}
	switch {
	case len(bytes.TrimSpace(head)) == 0:
		return isEmpty
	case bytes.ContainsFunc(head, func(r rune) bool { return r < '\t' || r > '\r' && r < ' ' && r != 0x1b }):
		return binary
	case litmusHead.Match(head):
		return aTest
	case ptxHead.Match(head):
		return ptxText
	case logHead.Match(head):
		return aLog
	case streamHead.Match(head):
		return aStream
	case verdictHead.Match(head):
		return verdicts
	case bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")):
		return jsonText
	}
	return otherText
}

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"optcheck/internal/input"
	"optcheck/verify"
)

// maxVerified bounds the file of verify's --resume.
const maxVerified = 256 << 20

// verified is a line of that file: a kernel that was verified to its end.
type verified struct {
	Key    string         `json:"key"`
	Result *verify.Result `json:"result"`
}

// resumed opens the file of --resume.
func (v *verification) resumed() (err error) {
	if v.resume == "" {
		return nil
	}
	v.had = map[string]*verify.Result{}
	v.kept, err = input.OpenJournal(v.resume, maxVerified, "verified kernel", func(x verified) { v.had[x.Key] = x.Result })
	return err
}

// result verifies a kernel, or takes what an earlier run has found out about the same text with the same options.
func (v *verification) result(l *toVerify) (*verify.Result, error) {
	o := v.timed(l)
	if v.kept == nil {
		return verify.Kernel(l.module, l.kernel, o)
	}
	key := v.key(l)
	if r := v.had[key]; r != nil && !slices.Contains(r.Found, nil) {
		r.Restore()
		return r, nil
	}
	r, err := verify.Kernel(l.module, l.kernel, o)
	if err == nil && time.Now().Before(o.Until) { // another run may have more time
		err = v.kept.Put(verified{key, r})
	}
	return r, err
}

// timed are the options of a kernel whose time begins now.
func (v *verification) timed(l *toVerify) *verify.Options {
	o := l.o
	o.Until = time.Now().Add(v.limit)
	return &o
}

// key is that of a kernel with all that decides what is found out about it.
func (v *verification) key(l *toVerify) string {
	o := l.o
	o.Progress = nil
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%+v\n%s", version(), l.kernel, o, l.module.Apply())
	return hex.EncodeToString(h.Sum(nil))
}

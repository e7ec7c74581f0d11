package toolchain

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"optcheck/internal/input"
	"optcheck/internal/whole"
)

// idCache remembers who a tool said it was, as long as the file is the same.
// It is a shortcut only: when it cannot be read or written, tools are asked.
type idCache struct {
	path    string
	mu      sync.Mutex
	entries map[string]cacheEntry
	hashes  map[string]cacheHash
	dirty   bool
}

// cacheEntry is one tool's answer and the state of the file it came from.
type cacheEntry struct {
	Size  int64    `json:"size"`
	MTime int64    `json:"mtime_ns"`
	ID    identity `json:"id"`
}

// cacheFormat changes when identify learns to ask more.
const cacheFormat = "optcheck-identities-1"

// maxCacheFile bounds what is read of the file, in bytes.
const maxCacheFile = 32 << 20

type cacheFile struct {
	Format  string                `json:"format"`
	Entries map[string]cacheEntry `json:"entries"`
	Hashes  map[string]cacheHash  `json:"hashes,omitempty"`
}

// cacheHash is the hash of a file in a state that no writer can bring back.
type cacheHash struct {
	State  string `json:"state"`
	SHA256 string `json:"sha256"`
}

// cache is the file of identities, "" for none.
func (o Options) cache() string {
	if o.Cache == "off" {
		return ""
	}
	if dir := cmp.Or(o.Managed, ManagedDir(o.env)); o.Cache == "" && dir != "" {
		return filepath.Join(filepath.Dir(dir), "identities.json")
	}
	return o.Cache
}

// dictionaries is the folder of dictionaries, "" for none.
func (o Options) dictionaries() string {
	if c := o.cache(); c != "" {
		return filepath.Join(filepath.Dir(c), "encodings")
	}
	return ""
}

func openCache(o Options) *idCache {
	c := &idCache{path: o.cache(), entries: map[string]cacheEntry{}, hashes: map[string]cacheHash{}}
	if c.path == "" {
		return c
	}
	f, err := input.Open(c.path)
	if err != nil {
		return c
	}
	defer f.Close()
	var file cacheFile
	data, err := io.ReadAll(io.LimitReader(f, maxCacheFile))
	if err == nil && json.Unmarshal(data, &file) == nil && file.Format == cacheFormat && file.Entries != nil {
		c.entries = file.Entries
		if file.Hashes != nil {
			c.hashes = file.Hashes
		}
	}
	return c
}

// identify answers from the cache or asks the tool. Failures are not kept.
func (c *idCache) identify(ctx context.Context, r *Runner, path, name string) (identity, error) {
	info, err := os.Stat(path)
	if err != nil {
		return identity{}, &Error{Kind: ErrInfrastructure, Tool: path, ExitCode: -1, Err: err}
	}
	if err := verifyTool(path, c.hash); err != nil {
		return identity{}, err
	}
	c.mu.Lock()
	e, ok := c.entries[path]
	c.mu.Unlock()
	if ok && e.Size == info.Size() && e.MTime == info.ModTime().UnixNano() && e.ID.complete(name) {
		return e.ID, nil
	}
	id, err := identify(ctx, r, path, name)
	if err != nil {
		return identity{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries[path] = cacheEntry{Size: info.Size(), MTime: info.ModTime().UnixNano(), ID: id}
	c.dirty = true
	return id, nil
}

// hash returns the hash of a file, from the cache if it is in the same state.
func (c *idCache) hash(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	state := fileState(info)
	c.mu.Lock()
	h, ok := c.hashes[path]
	c.mu.Unlock()
	if ok && state != "" && h.State == state {
		return h.SHA256, nil
	}
	sum, err := hashOf(path)
	if err != nil || time.Since(info.ModTime()) < clockTick {
		return sum, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hashes[path] = cacheHash{state, sum}
	c.dirty = true
	return sum, nil
}

// clockTick is longer than the clock of file systems stands still: in the state
// of a younger file there may be another content.
const clockTick = 100 * time.Millisecond

// complete tells whether a stored answer has all that a tool of this name says.
func (id identity) complete(name string) bool {
	return id.Tool == name && id.Version != "" && (name != "ptxas" && name != "nvcc" || (len(id.Targets) > 0 && id.MaxPTX != ""))
}

// save writes the cache back, without entries of tools that are gone.
func (c *idCache) save() {
	if c.path == "" || !c.dirty {
		return
	}
	for path := range c.entries {
		if _, err := os.Stat(path); err != nil {
			delete(c.entries, path)
		}
	}
	for path := range c.hashes {
		if _, err := os.Lstat(path); err != nil {
			delete(c.hashes, path)
		}
	}
	data, err := json.MarshalIndent(cacheFile{Format: cacheFormat, Entries: c.entries, Hashes: c.hashes}, "", "\t")
	if err != nil {
		return
	}
	// A missing cache costs a few processes; nothing here is worth an error.
	if os.MkdirAll(filepath.Dir(c.path), 0o755) == nil {
		_ = whole.Write(c.path, append(data, '\n'), 0o600)
	}
}

package serve

import (
	"container/list"
	"html/template"
	"sync"
)

// maxCache bounds the bytes of the bodies that are kept.
const maxCache = 32 << 20

// cache keeps the bodies that were asked for last.
type cache struct {
	mu    sync.Mutex
	bytes int
	order list.List // of entries, the newest first
	by    map[string]*list.Element
}

type entry struct {
	key  string
	body template.HTML
}

// get returns the body of a key, which make makes if it is not there.
func (c *cache) get(key string, make_ func() (template.HTML, error)) (template.HTML, error) {
	c.mu.Lock()
	if e := c.by[key]; e != nil {
		c.order.MoveToFront(e)
		defer c.mu.Unlock()
		return e.Value.(*entry).body, nil
	}
	c.mu.Unlock()
	body, err := make_()
	if err != nil || len(body)+len(key) > maxCache/8 {
		return body, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]*list.Element{}
	}
	if c.by[key] == nil {
		c.by[key] = c.order.PushFront(&entry{key, body})
		c.bytes += len(body) + len(key)
	}
	for c.bytes > maxCache {
		old := c.order.Remove(c.order.Back()).(*entry)
		c.bytes -= len(old.body) + len(old.key)
		delete(c.by, old.key)
	}
	return body, nil
}

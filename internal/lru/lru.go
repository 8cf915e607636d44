// Package lru implements a cache of the most recently used values, bounded in bytes.
package lru

import "container/list"

// Cache keeps the most recently used values, up to a limit in bytes. It always keeps the last
// value, whatever its size.
type Cache[K comparable, V any] struct {
	Limit int64 // in bytes
	held  int64
	order list.List // of *item, the most recently used at the front
	items map[K]*list.Element
}

type item[K comparable, V any] struct {
	key   K
	value V
	size  int64
}

// Get returns the value for a key, and marks it as used.
func (c *Cache[K, V]) Get(key K) (v V, ok bool) {
	e := c.items[key]
	if e == nil {
		return v, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*item[K, V]).value, true
}

// Add adds a value of size bytes for a key, which must not have one.
func (c *Cache[K, V]) Add(key K, v V, size int64) {
	if c.items == nil {
		c.items = make(map[K]*list.Element)
	}
	c.items[key] = c.order.PushFront(&item[K, V]{key, v, size})
	c.held += size
	c.shrink()
}

// Resize changes the size of the value for a key.
func (c *Cache[K, V]) Resize(key K, size int64) {
	item := c.items[key].Value.(*item[K, V])
	c.held += size - item.size
	item.size = size
	c.shrink()
}

// shrink drops the least recently used values.
func (c *Cache[K, V]) shrink() {
	for c.held > c.Limit && c.order.Len() > 1 {
		old := c.order.Remove(c.order.Back()).(*item[K, V])
		delete(c.items, old.key)
		c.held -= old.size
	}
}

// Held returns the total size of the cached values in bytes, and Len their number.
func (c *Cache[K, V]) Held() int64 { return c.held }
func (c *Cache[K, V]) Len() int    { return c.order.Len() }

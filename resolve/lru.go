package resolve

import "container/list"

// lru keeps the most recently used values, up to a limit in bytes. The last one stays, whatever
// its size.
type lru[K comparable, V any] struct {
	limit, held int64
	order       list.List // of *lruItem, the most recently used in front
	items       map[K]*list.Element
}

type lruItem[K comparable, V any] struct {
	key   K
	value V
	size  int64
}

// get returns the value for a key, and counts as a use.
func (c *lru[K, V]) get(key K) (v V, ok bool) {
	e := c.items[key]
	if e == nil {
		return v, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*lruItem[K, V]).value, true
}

// add adds a value of size bytes for a key that has none.
func (c *lru[K, V]) add(key K, v V, size int64) {
	if c.items == nil {
		c.items = make(map[K]*list.Element)
	}
	c.items[key] = c.order.PushFront(&lruItem[K, V]{key, v, size})
	c.held += size
	c.shrink()
}

// resize changes the size of the value for a key.
func (c *lru[K, V]) resize(key K, size int64) {
	item := c.items[key].Value.(*lruItem[K, V])
	c.held += size - item.size
	item.size = size
	c.shrink()
}

// shrink drops the least recently used values.
func (c *lru[K, V]) shrink() {
	for c.held > c.limit && c.order.Len() > 1 {
		old := c.order.Remove(c.order.Back()).(*lruItem[K, V])
		delete(c.items, old.key)
		c.held -= old.size
	}
}

package resolve

import "container/list"

// lru keeps what was used last, up to a limit in bytes. The last one stays, whatever its size.
type lru[K comparable, V any] struct {
	limit, held int64
	order       list.List // of *lruItem, what was used last in front
	items       map[K]*list.Element
}

type lruItem[K comparable, V any] struct {
	key   K
	value V
	size  int64
}

// get returns what is kept for a key, which counts as used.
func (c *lru[K, V]) get(key K) (v V, ok bool) {
	e := c.items[key]
	if e == nil {
		return v, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*lruItem[K, V]).value, true
}

// add keeps a value of size bytes for a key that has none.
func (c *lru[K, V]) add(key K, v V, size int64) {
	if c.items == nil {
		c.items = make(map[K]*list.Element)
	}
	c.items[key] = c.order.PushFront(&lruItem[K, V]{key, v, size})
	c.held += size
	c.shrink()
}

// resize changes the size of what is kept for a key.
func (c *lru[K, V]) resize(key K, size int64) {
	item := c.items[key].Value.(*lruItem[K, V])
	c.held += size - item.size
	item.size = size
	c.shrink()
}

// shrink drops what was not used for longest.
func (c *lru[K, V]) shrink() {
	for c.held > c.limit && c.order.Len() > 1 {
		old := c.order.Remove(c.order.Back()).(*lruItem[K, V])
		delete(c.items, old.key)
		c.held -= old.size
	}
}

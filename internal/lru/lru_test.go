package lru

import "testing"

func TestLRU(t *testing.T) {
	c := Cache[string, int]{Limit: 100}
	kept := func() (all string) {
		for _, key := range []string{"a", "b", "c", "d", "large"} {
			if c.items[key] != nil {
				all += key + " "
			}
		}
		return all
	}
	c.Add("a", 1, 40)
	c.Add("b", 2, 40)
	if v, ok := c.Get("a"); v != 1 || !ok {
		t.Errorf("a is %d, %v", v, ok)
	}
	if _, ok := c.Get("c"); ok {
		t.Error("c is there")
	}
	c.Add("c", 3, 40) // b is not the least recently used
	if got := kept(); got != "a c " || c.held != 80 {
		t.Errorf("kept %q, %d bytes", got, c.held)
	}
	c.Resize("c", 60)
	c.Add("d", 4, 1)
	if got := kept(); got != "c d " || c.held != 61 {
		t.Errorf("after a grew: kept %q, %d bytes", got, c.held)
	}
	c.Add("large", 5, 1000) // larger than the limit: it stays, but alone
	if got := kept(); got != "large " || c.held != 1000 || c.order.Len() != 1 {
		t.Errorf("kept %q, %d bytes, %d in order", got, c.held, c.order.Len())
	}
}

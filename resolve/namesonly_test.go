package resolve

import (
	"errors"
	"testing"
)

// Symbols with several users are released once, by the last, and have no users afterwards.
func TestNamesOnlyIsReleasedOnce(t *testing.T) {
	released := 0
	n := &NamesOnly{Release: func() error {
		released++
		return errors.New("released")
	}}
	if !n.Share() || !n.Shared() {
		t.Fatal("there cannot be a second user")
	}
	if err := n.Close(); err != nil || released != 0 || n.Shared() {
		t.Errorf("the first Close: %v, released %d times", err, released)
	}
	if err := n.Close(); err == nil || released != 1 {
		t.Errorf("the last Close: %v, released %d times", err, released)
	}
	if n.Share() {
		t.Error("closed symbols have a user")
	}
}

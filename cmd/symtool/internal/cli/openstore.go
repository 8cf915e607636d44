package cli

import (
	"fmt"

	"github.com/symtool/symtool/resolve/store"
)

// StoreOptions are the options of a store that is written.
func StoreOptions(noSync bool) store.Options {
	return store.Options{NoSync: noSync, Temporary: func(path string, exists bool) {
		if exists {
			Temporaries.Add(path)
		} else {
			Temporaries.Forget(path)
		}
	}}
}

// CreateStore opens a store, and makes it if it does not exist.
func CreateStore(dir string, noSync bool) (*store.Store, error) {
	s, err := store.Create(dir, StoreOptions(noSync))
	return s, OutputError(dir, err)
}

// OtherContents is the error for a file in a store whose contents differ from those to be written.
func OtherContents(path, name string) error {
	return &StatusError{StatusOutput, fmt.Errorf("%s: is there with other contents than those of %s: it is not replaced; remove it to make room", path, name)}
}

package main

import (
	"fmt"

	"github.com/symtool/symtool/resolve/store"
)

// storeOptions are the options of a store that is written.
func storeOptions(noSync bool) store.Options {
	return store.Options{NoSync: noSync, Temporary: func(path string, exists bool) {
		if exists {
			temporaries.add(path)
		} else {
			temporaries.forget(path)
		}
	}}
}

// createStore opens a store, and makes it if it does not exist.
func createStore(dir string, noSync bool) (*store.Store, error) {
	s, err := store.Create(dir, storeOptions(noSync))
	return s, outputError(dir, err)
}

// otherContents is the error for a file in a store whose contents differ from those to be written.
func otherContents(path, name string) error {
	return &statusError{statusOutput, fmt.Errorf("%s: is there with other contents than those of %s: it is not replaced; remove it to make room", path, name)}
}

package symfmt

// Binary is an opened binary, or a separate debug file: what the symbols of a Module are read from.
// Package dwarf2sym opens binaries; it, lint and symsframe take from them what they need. No other
// type may implement the interface. All methods but Close may be called concurrently.
type Binary interface {
	// ID returns the id of the MODULE record, "" if nothing in the file makes one.
	ID() string
	// BuildID returns the id that the linker gave the file, nil without one.
	BuildID() []byte
	// HasCode reports whether the file holds code. A separate debug file does not.
	HasCode() bool
	// HasDWARF reports whether the file holds debug information.
	HasDWARF() bool
	// Close closes the file and removes its temporary files.
	Close() error
}

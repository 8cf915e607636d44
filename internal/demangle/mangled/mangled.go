// Package mangled has what the decoders of mangled names share: the errors, what a name may
// cost, and, for the two of C++, the scanner.
package mangled

import "errors"

// What decoders return for names that they leave as they are.
var (
	ErrNotMangled = errors.New("not a mangled name")
	ErrCostly     = errors.New("a mangled name that takes more than its length allows")
)

// Longer names are not read, and none becomes longer than MaxDemangled: nested
// substitutions let a name of n bytes stand for 2^n, and 64 KiB are unreadable.
const (
	MaxMangled   = 16 << 10
	MaxDemangled = 64 << 10
)

// A mangled name of n bytes may stand for 2^n, as substitutions nest, and may cost the
// demangler the square of n. So each name may take as many steps as its length allows,
// which ties the work on all names of a file to their bytes.
//
// The C++ names of libLLVM, libclang-cpp, libstdc++ and Ceph take a step a byte, the worst
// of them 8, and become 3 times as long, at most 55 times.
const (
	StepsPerByte = 128
	leastSteps   = 16 << 10
	growth       = 64 // bytes of a demangled name for a byte of the mangled one
	leastGrown   = 2 << 10
)

// StepsAllowed returns how many steps a name may take.
func StepsAllowed(name string) int { return leastSteps + StepsPerByte*len(name) }

// LengthAllowed returns how long the source form of a name may be: less than MaxDemangled.
func LengthAllowed(name string) int { return min(leastGrown+growth*len(name), MaxDemangled-1) }

const (
	// MaxDepth bounds how deep types and expressions are nested in the mangled name, and
	// MaxTree how deep nodes are: by substitutions they may be far deeper. The names of
	// libLLVM, libstdc++ and Ceph are below 80.
	MaxDepth = 512
	MaxTree  = 1024

	// KeptNodes is how large a decoder remains for the next name.
	KeptNodes = 32 << 10
)

// IsDigit reports whether c is a decimal digit.
func IsDigit(c byte) bool { return '0' <= c && c <= '9' }

// IsLower reports whether c is a lower-case letter of ASCII.
func IsLower(c byte) bool { return 'a' <= c && c <= 'z' }

// IsUpper reports whether c is an upper-case letter of ASCII.
func IsUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

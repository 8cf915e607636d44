// Package mangled provides what the decoders of mangled names share: errors, limits and, for the
// two schemes of C++, the scanner.
package mangled

import "errors"

// Decoders return these errors for names that they leave as they are.
var (
	ErrNotMangled = errors.New("not a mangled name")
	ErrCostly     = errors.New("a mangled name that needs more work than its length allows")
)

// Longer mangled names are not read, and no result is longer than MaxDemangled: with nested
// substitutions, a name of n bytes can stand for 2^n bytes, and 64 KiB are unreadable.
const (
	MaxMangled   = 16 << 10
	MaxDemangled = 64 << 10
)

// A mangled name of n bytes may stand for 2^n bytes, as substitutions nest, and may cost the
// demangler the square of n. Each name may therefore take a number of steps in proportion to
// its length, so that the work on all names of a file is in proportion to their bytes.
//
// The C++ names of libLLVM, libclang-cpp, libstdc++ and Ceph take one step for each byte, at
// most 8, and become 3 times as long, at most 55 times.
const (
	StepsPerByte = 128
	leastSteps   = 16 << 10
	growth       = 64 // bytes of the source form for each byte of the mangled name
	leastGrown   = 2 << 10
)

// StepsAllowed returns how many steps a name may take.
func StepsAllowed(name string) int { return leastSteps + StepsPerByte*len(name) }

// LengthAllowed returns the maximum length of the source form of a name, less than MaxDemangled.
func LengthAllowed(name string) int { return min(leastGrown+growth*len(name), MaxDemangled-1) }

const (
	// MaxDepth bounds the nesting of types and expressions in the mangled name, and MaxTree
	// the nesting of nodes, which may be far deeper because of substitutions. The names of
	// libLLVM, libstdc++ and Ceph are below 80.
	MaxDepth = 512
	MaxTree  = 1024

	// KeptNodes is how many nodes of memory a decoder keeps for the next name.
	KeptNodes = 32 << 10
)

// IsDigit reports whether c is a decimal digit.
func IsDigit(c byte) bool { return '0' <= c && c <= '9' }

// IsLower reports whether c is a lower-case letter of ASCII.
func IsLower(c byte) bool { return 'a' <= c && c <= 'z' }

// IsUpper reports whether c is an upper-case letter of ASCII.
func IsUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

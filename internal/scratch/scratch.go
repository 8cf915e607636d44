// Package scratch makes the temporary files that hold what does not fit in memory.
package scratch

import "os"

// File returns an empty file without a name in the folder dir, or in os.TempDir if dir is "". The system
// removes it however the process ends, and nobody else can open it.
func File(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "symtool-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// fewFiles temporary files are allowed on any system; manyFiles are enough.
const (
	fewFiles  = 512
	manyFiles = 1 << 16
)

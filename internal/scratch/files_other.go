//go:build !unix

package scratch

// Files returns how many temporary files a process may have open in addition to its other
// files.
func Files() int { return fewFiles }

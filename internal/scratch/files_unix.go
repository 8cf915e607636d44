//go:build unix

package scratch

import "syscall"

// Files returns how many temporary files a process may have open in addition to its other files: half of what the
// system allows, but at most 65,536.
func Files() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fewFiles
	}
	return int(min(uint64(limit.Cur)/2, manyFiles))
}

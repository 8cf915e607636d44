package suppliers

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// defaultLibraryDirs lists the folders that dynamic linkers search by default: glibc's (ld.so(8)) and musl's.
var defaultLibraryDirs = []string{"/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib"}

// maxIncludes limits the number of files that the dynamic linker's configuration includes. They may include
// themselves.
const maxIncludes = 100

// libraryDirs returns the folders in which the dynamic linker looks for libraries: the folders in its configuration,
// the file conf, as described in ldconfig(8), and the default ones. It ignores files that cannot be read.
func libraryDirs(conf string) (dirs []string) {
	files := []string{conf}
	for i := 0; i < len(files) && i < maxIncludes; i++ {
		text, err := os.ReadFile(files[i])
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			line, _, _ = strings.Cut(line, "#")
			words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\r\n:,", r) })
			if len(words) > 0 && words[0] == "include" {
				for _, pattern := range words[1:] {
					if !filepath.IsAbs(pattern) {
						pattern = filepath.Join(filepath.Dir(files[i]), pattern)
					}
					more, _ := filepath.Glob(pattern) // a malformed pattern matches nothing
					files = append(files, more...)
				}
				continue
			}
			for _, dir := range words {
				if dir, _, _ = strings.Cut(dir, "="); filepath.IsAbs(dir) { // hwcap lines have no path
					dirs = append(dirs, filepath.Clean(dir))
				}
			}
		}
	}
	dirs = append(dirs, defaultLibraryDirs...)
	seen := map[string]bool{}
	return slices.DeleteFunc(dirs, func(dir string) bool {
		again := seen[dir]
		seen[dir] = true
		return again
	})
}

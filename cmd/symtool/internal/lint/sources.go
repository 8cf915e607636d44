package lint

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/symtool/symtool/symfmt/srcmap"
)

// sourcePaths returns a function that finds source files by the names in FILE records. First it replaces prefixes, as
// compilers may have done (-ffile-prefix-map). Paths below the current folder become relative, since services expect
// paths relative to a checkout. A name of a file in a repository or a bucket, such as git:HOST:PATH:REVISION, becomes
// its PATH if there is such a file here.
func sourcePaths(prefixes []srcmap.Prefix) func(name string) string {
	here, err := os.Getwd()
	if err != nil {
		return nil
	}
	root := strings.TrimSuffix(filepath.ToSlash(here), "/") + "/"
	return func(name string) string {
		name = strings.ReplaceAll(srcmap.ReplacePrefix(prefixes, name), `\`, "/")
		if parts := strings.Split(name, ":"); len(parts) == 4 {
			if st, err := os.Stat(filepath.FromSlash(parts[2])); err != nil || !st.Mode().IsRegular() || !filepath.IsLocal(parts[2]) {
				return ""
			}
			name = parts[2]
		}
		if name = strings.TrimPrefix(path.Clean(name), root); name == ".." || strings.HasPrefix(name, "../") {
			return "" // relative to a folder that is not this one
		}
		return name
	}
}

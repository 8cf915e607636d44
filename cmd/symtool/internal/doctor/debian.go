package doctor

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// dpkgLists is the folder in which dpkg has a list of files for each package.
const dpkgLists = "/var/lib/dpkg/info"

// debianPackage returns the package that a file on this machine belongs to, as found by dpkg -S,
// or "" if there is no such package or no dpkg.
func (d *doctor) debianPackage(file string) string {
	path, err := filepath.Abs(file)
	if err != nil {
		return ""
	}
	paths := samePaths(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		paths = append(paths, samePaths(real)...)
	}
	lists, _ := filepath.Glob(filepath.Join(d.dpkg, "*.list"))
	for _, list := range lists {
		if listHas(list, paths) {
			name, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(list), ".list"), ":")
			return name
		}
	}
	return ""
}

// samePaths returns the paths that name the same file on systems where /bin and /lib are links
// into /usr.
func samePaths(path string) []string {
	if rest, ok := strings.CutPrefix(path, "/usr"); ok {
		return []string{path, rest}
	}
	return []string{path, "/usr" + path}
}

// listHas reports whether a list, with a path on each line, contains one of the paths.
func listHas(list string, paths []string) bool {
	text, err := os.ReadFile(list)
	return err == nil && slices.ContainsFunc(paths, func(path string) bool {
		return bytes.Contains(text, []byte("\n"+path+"\n"))
	})
}

var soname = regexp.MustCompile(`^(lib[A-Za-z0-9_+.-]*?)\.so\.([0-9]+)(\.[0-9.]+)?$`)

// sonamePackage returns the name that Debian gives to a library's package, derived from the
// library's file name (Debian Policy, 8.1), or "" if the file is not a library. The actual
// package may have another name.
func sonamePackage(file string) string {
	m := soname.FindStringSubmatch(filepath.Base(file))
	if m == nil {
		return ""
	}
	name := strings.ToLower(strings.ReplaceAll(m[1], "_", "-"))
	if last := name[len(name)-1]; last >= '0' && last <= '9' {
		name += "-"
	}
	return name + m[2]
}

// debugPackage returns the name of the package that has the debug information for the package
// name.
func debugPackage(name string) string {
	switch name {
	case "libc6", "libc6-i386", "libc6-x32":
		return "libc6-dbg" // the only one in the main archive
	}
	return name + "-dbgsym"
}

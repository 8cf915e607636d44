package symcache

import "strings"

// joinPath joins a path to a directory as symbolic does (symbolic_common's
// join_path): absolute paths and those in angle brackets stand alone; the
// separator is a backslash if either part looks like a Windows path.
func joinPath(dir, path string) string {
	switch {
	case dir == "" || isAbsolute(path) || inBrackets(path):
		return path
	case path == "":
		return dir
	case path[0] == '\\':
		if hasDrive(dir) || isUNC(dir) {
			return dir[:2] + path
		}
		return path
	}
	separator := "/"
	if isWindows(dir) || isWindows(path) {
		separator = `\`
	}
	return strings.TrimRight(dir, `/\`) + separator + strings.TrimLeft(path, `/\`)
}

// splitPath is the inverse of joinPath: dir is "" unless joining gives the path back.
func splitPath(path string) (dir, name string) {
	i := strings.LastIndexAny(path, `/\`)
	if i <= 0 || i == len(path)-1 || joinPath(path[:i], path[i+1:]) != path {
		return "", path
	}
	return path[:i], path[i+1:]
}

func inBrackets(s string) bool { return strings.HasPrefix(s, "<") && strings.HasSuffix(s, ">") }
func isAbsolute(s string) bool { return strings.HasPrefix(s, "/") || isUNC(s) || hasDrive(s) }
func isUNC(s string) bool      { return strings.HasPrefix(s, `\\`) || strings.HasPrefix(s, "//") }
func isWindows(s string) bool  { return hasDrive(s) || isUNC(s) || strings.Contains(s, `\`) }

func hasDrive(s string) bool {
	return len(s) >= 2 && s[1] == ':' && (s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z') &&
		(len(s) == 2 || s[2] == '/' || s[2] == '\\')
}

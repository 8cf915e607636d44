package names

import (
	"bytes"
	"slices"
	"strings"

	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
)

var fileNameRules = []*check.Rule{
	{
		Rule: &finding.Rule{
			ID:       "SYM610",
			Title:    "relative path of a source file",
			Severity: finding.Note,
			Since:    "0.1",
			Spec:     "symbol_files: FILE records",
			Doc: `Tools that show the source cannot find it without knowing the folder that the
compiler ran in; two files of the same relative path become one. Names of files in a
repository (git:host/project:path:revision) and of generated code (<built-in>) are
not reported.`,
			PerFile: true,
			Bad:     check.Head + "FILE 0 src/a.c\n",
			Good:    check.Head + "FILE 0 /src/a.c\nFILE 1 C:\\src\\a.c\nFILE 2 <built-in>\nFILE 3 git:h/p:a.c:1\n",
			At:      2,
		},
		On:    []symfmt.Kind{symfmt.KindFile},
		Check: fileTally(isRelative, "is a relative path", "are relative paths"),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM611",
			Title:    "path with both slashes and backslashes",
			Severity: finding.Note,
			Since:    "0.1",
			Spec:     "symbol_files: FILE records",
			Doc: `Tools that compare or shorten paths take one of the two for part of a name, and the
same file appears under several names.`,
			PerFile: true,
			Bad:     check.Head + "FILE 0 C:\\src/a.c\n",
			Good:    check.Head + "FILE 0 C:\\src\\a.c\nFILE 1 /src/a.c\n",
			At:      2,
		},
		On:    []symfmt.Kind{symfmt.KindFile},
		Check: fileTally(isMixed, "has slashes and backslashes", "have slashes and backslashes"),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM612",
			Title:    "path of the build machine",
			Severity: finding.Note,
			Since:    "0.1",
			Spec:     "symbol_files: FILE records",
			Doc: `The path is below somebody's home or the folder of a build server: it reveals more
than it should, differs from build to build, and exists on no other machine. Compile
with -ffile-prefix-map or --remap-path-prefix.`,
			PerFile: true,
			Bad:     check.Head + "FILE 0 /home/joe/a.c\n",
			Good:    check.Head + "FILE 0 /usr/src/a.c\nFILE 1 /homes/a.c\n",
			At:      2,
		},
		On:    []symfmt.Kind{symfmt.KindFile},
		Check: fileTally(isMachinePath, "is below a home or the folder of a build server", "are below a home or the folder of a build server"),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM613",
			Title:    "folder twice in a path",
			Severity: finding.Note,
			Since:    "0.1",
			Spec:     "symbol_files: FILE records",
			Doc: `The folders of a path occur twice in a row (nptl/nptl/a.c). Unless the source tree is
like that, the writer joined the compiler's folder and a name that already has it,
and the source will not be found.`,
			PerFile: true,
			Bad:     check.Head + "FILE 0 /src/glibc/nptl/nptl/a.c\n",
			Good:    check.Head + "FILE 0 /src/a/b/a/c/a.c\nFILE 1 /src/a/a\n",
			At:      2,
		},
		On:    []symfmt.Kind{symfmt.KindFile},
		Check: fileTally(isDoubled, "has a folder twice in a row", "have a folder twice in a row"),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM614",
			Title:    "MODULE name that is not a file name",
			Severity: finding.Error,
			Since:    "0.1",
			Spec:     "symbol_files: MODULE records: \"the base name (the final component of the file name)\"",
			Doc: `Stores keep the file at NAME/ID/NAME.sym, and readers ask for it by the base name of
the module: one that was stored under a name with a folder is not found, and one with
.. in it may be written outside of the store.`,
			Cites: []string{"symbolicator#7"},
			Bad:   "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 lib/a.so\n",
			Good:  "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a b.so\n",
			At:    1,
		},
		On:    []symfmt.Kind{symfmt.KindModule},
		Check: moduleName,
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM615",
			Title:    "lines of a placeholder for a source file",
			Severity: finding.Warning,
			Since:    "0.1",
			Spec:     "symbol_files: FILE records",
			Doc: `The writer did not know the file: frames with lines of it show a line of nothing. The
line table has a file number that does not exist, or refers to a section or a
supplementary file (dwz) that was missing when the symbols were dumped. Such lines are
better left out. An INLINE that is called from an unknown file is not reported:
compilers leave the file of calls out (-gstrict-dwarf -gdwarf-2).`,
			PerFile: true,
			Bad:     check.Head + "FILE 0 ??\nFILE 1 /src/??\nFUNC 1000 8 0 f\n1000 4 1 0\n1004 4 1 1\n",
			Good:    check.Head + "FILE 0 /src/a??.c\nFILE 1 ??\nINLINE_ORIGIN 0 g\nFUNC 1000 8 0 f\nINLINE 0 1 1 0 1000 4\n1000 8 1 0\n",
			At:      5,
		},
		On:    []symfmt.Kind{symfmt.KindFile, symfmt.KindLine},
		Check: placeholderFiles,
	},
}

// placeholderFiles counts the lines that belong to placeholder files.
func placeholderFiles(p *check.Pass) (func(*symfmt.Record), func()) {
	t := tally{}
	names := map[symfmt.FileID]string{}
	return func(r *symfmt.Record) {
			switch {
			case r.Kind == symfmt.KindFile && isPlaceholder(r.Name):
				names[symfmt.FileID(r.ID)] = string(r.Name)
			case r.Kind == symfmt.KindLine && len(names) > 0 && names[r.Line.File] != "":
				t.add(r, []byte(names[r.Line.File]))
			}
		}, func() {
			t.reportAs(p, "line", "is of a placeholder for a file", "are of placeholders for files")
		}
}

// isPlaceholder reports whether a path, or its last element, stands for a file that the writer did not
// know.
func isPlaceholder(name []byte) bool {
	return slices.Contains(placeholderNames, string(name[bytes.LastIndexAny(name, `/\`)+1:]))
}

// fileTally returns a check that counts the FILE records for whose names is returns true.
func fileTally(is func(name []byte) bool, one, many string) check.Func {
	return func(p *check.Pass) (func(*symfmt.Record), func()) {
		t := tally{}
		return func(r *symfmt.Record) {
				if is(r.Name) {
					t.add(r, r.Name)
				}
			}, func() {
				t.report(p, one, many)
			}
	}
}

func isSlash(c byte) bool { return c == '/' || c == '\\' }

// hasDrive reports whether a path begins with a Windows drive.
func hasDrive(name []byte) bool {
	return len(name) > 2 && name[1] == ':' && isSlash(name[2])
}

func isRelative(name []byte) bool {
	switch {
	case len(name) == 0 || isSlash(name[0]) || hasDrive(name):
		return false
	case name[0] == '<' || string(name) == "??": // not a file
		return false
	}
	slash := bytes.IndexAny(name, `/\`)
	if slash < 0 {
		slash = len(name)
	}
	return bytes.IndexByte(name[:slash], ':') < 0
}

func isMixed(name []byte) bool {
	return bytes.IndexByte(name, '/') >= 0 && bytes.IndexByte(name, '\\') >= 0
}

// machineFolders are the folders of users and build servers; each ends in a slash.
var machineFolders = []string{
	"/home/", "/Users/", "/root/", "/builds/", "/build/", "/tmp/", "/var/tmp/", "/private/tmp/", "/private/var/",
	"/var/lib/jenkins/", "/__w/", "/github/workspace/", "/workspace/", "/worker/",
	"?:/users/", "?:/a/", "?:/b/s/", "?:/builds/", "?:/jenkins/",
}

func isMachinePath(name []byte) bool {
	for _, folder := range machineFolders {
		if underFolder(name, folder) {
			return true
		}
	}
	return false
}

// underFolder reports whether a path begins with a folder. "?:" matches any drive, and makes the
// rest case-insensitive.
func underFolder(name []byte, folder string) bool {
	rest, drive := strings.CutPrefix(folder, "?:")
	if !drive {
		return len(name) > len(folder) && string(name[:len(folder)]) == folder
	}
	if !hasDrive(name) || len(name) <= len(folder) {
		return false
	}
	for i := range len(rest) {
		c := name[2+i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c == '\\' {
			c = '/'
		}
		if c != rest[i] {
			return false
		}
	}
	return true
}

// maxFolders is how many folders of a path are compared.
const maxFolders = 64

// isDoubled reports whether a path repeats some of its folders in a row. The last element is the file,
// which does not count.
func isDoubled(name []byte) bool {
	var starts [maxFolders + 1]int // starts of folders, and the end of the last
	n := 0
	for i, c := range name {
		if isSlash(c) && n < maxFolders {
			n++
			starts[n] = i + 1
		}
	}
	for first := 0; first < n; first++ {
		for k := 1; first+2*k <= n; k++ {
			a, b := name[starts[first]:starts[first+k]], name[starts[first+k]:starts[first+2*k]]
			if len(a) > 1 && bytes.Equal(a, b) && !isDots(a) {
				return true
			}
		}
	}
	return false
}

// isDots reports whether a folder consists only of dots and slashes: "../".
func isDots(folder []byte) bool { return len(bytes.Trim(folder, `./\`)) == 0 }

func moduleName(p *check.Pass) (func(*symfmt.Record), func()) {
	flags := check.State[nameCache](p)
	return func(r *symfmt.Record) {
		switch name := string(r.Name); {
		case strings.ContainsAny(name, `/\`):
			p.Report(r, facts.NameField(r), "MODULE name %s has a folder: want a file name", shortName(r.Name))
		case name == "." || name == "..":
			p.Report(r, facts.NameField(r), "MODULE name %q is not a file name", name)
		case flags.of(p, r)&nameControl != 0:
			p.Report(r, facts.NameField(r), "MODULE name %s has a control character", shortName(r.Name))
		}
	}, nil
}

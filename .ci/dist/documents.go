package main

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
)

// link matches the target of a link in a Markdown document, without the heading.
var link = regexp.MustCompile(`\]\(([^)\s#]+)(?:#[^)\s]*)?\)`)

// code matches code blocks and code spans in a Markdown document.
var code = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")

// documents reads the documents of an archive and all files of the repository that they link to, so that no link
// is broken. A folder stands for all its files.
func documents() (files []file, err error) {
	names, seen := []string{"LICENSE", "README.md", "CHANGELOG.md"}, map[string]bool{}
	for len(names) > 0 {
		name := path.Clean(names[0])
		names = names[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		if info, err := os.Stat(name); err != nil {
			return nil, err
		} else if info.IsDir() {
			inside, err := fs.Glob(os.DirFS(name), "*")
			if err != nil {
				return nil, err
			}
			for _, f := range inside {
				names = append(names, path.Join(name, f))
			}
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, data, 0o644})
		if path.Ext(name) == ".md" {
			names = append(names, linked(name, string(data))...)
		}
	}
	return files, nil
}

// linked returns the files of the repository that a document links to.
func linked(document, text string) (names []string) {
	for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(text, ""), -1) {
		if !strings.Contains(m[1], "://") {
			names = append(names, path.Join(path.Dir(document), m[1]))
		}
	}
	return names
}

package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// notice is a file with a licence of a linked module.
type notice struct {
	module, version string // "Go" for Go itself
	name            string // below the module's folder
	text            []byte
}

// licenceFile matches the names of licence files, and of files that must accompany a
// licence.
var licenceFile = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice|patents)([.-].*)?$`)

// notices finds the licences in the folders of the linked packages, and in their
// parent folders up to the module's root.
func notices(cpu string, info *buildinfo.BuildInfo) (list []notice, err error) {
	goroot, err := exec.Command(goProgram(), "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(goroot)), "LICENSE"))
	if err != nil {
		return nil, err
	}
	list = []notice{{"Go", info.GoVersion, "LICENSE", text}}
	cmd := exec.Command(goProgram(), "list", "-deps", "-json=Dir,Module", "./cmd/symtool")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+cpu, "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	type module struct {
		Path, Version, Dir string
		Main               bool
	}
	seen, with := map[string]bool{}, map[string]bool{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Dir    string
			Module *module
		}
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		if p.Module == nil || p.Module.Main {
			continue
		}
		for dir := p.Dir; !seen[dir] && strings.HasPrefix(dir, p.Module.Dir); dir = filepath.Dir(dir) {
			seen[dir] = true
			found, err := licences(p.Module.Dir, dir)
			if err != nil {
				return nil, err
			}
			for _, n := range found {
				n.module, n.version = p.Module.Path, p.Module.Version
				list, with[n.module] = append(list, n), true
			}
		}
	}
	for _, d := range info.Deps {
		if !with[d.Path] {
			return nil, fmt.Errorf("module %s is linked in, but has no licence", d.Path)
		}
	}
	slices.SortFunc(list[1:], func(a, b notice) int {
		return strings.Compare(a.module+"\x00"+a.name, b.module+"\x00"+b.name)
	})
	return list, nil
}

// licences reads the licences in a folder of a module.
func licences(root, dir string) (list []notice, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() || !licenceFile.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		name, err := filepath.Rel(root, filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		list = append(list, notice{name: name, text: text})
	}
	return list, nil
}

// noticeText returns THIRD-PARTY-LICENSES.
func noticeText(info *buildinfo.BuildInfo, list []notice) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "symtool is distributed under the licence in LICENSE. It contains Go's runtime and\nstandard library (%s) and %d modules, whose licences follow.\n", info.GoVersion, len(info.Deps))
	for _, n := range list {
		fmt.Fprintf(&b, "\n%s\n%s %s, %s\n%s\n\n", strings.Repeat("=", 80), n.module, n.version, n.name, strings.Repeat("=", 80))
		b.Write(bytes.TrimSpace(bytes.ReplaceAll(n.text, []byte("\r\n"), []byte("\n"))))
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// goProgram returns the go command, as in the Makefile.
func goProgram() string {
	if name := os.Getenv("GO"); name != "" {
		return name
	}
	return "go"
}

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"
)

const debDocs = "usr/share/doc/symtool/"

// debOverrides lists lintian findings that are intended: the program is static so that it runs on any Linux, and doctor
// names the Debian package of a file without calling one of Debian's programs.
const debOverrides = "symtool: statically-linked-binary\nsymtool: uses-dpkg-database-directly\n"

// debCopyright is the template of the copyright file: the licences of all parts, and the home page (Debian Policy,
// 12.5).
const debCopyright = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: symtool
Source: %s

Files: *
Copyright: 2026 the authors of symtool
License: Apache-2.0
 On Debian systems, the licence is in /usr/share/common-licenses/Apache-2.0.
Comment:
 THIRD-PARTY-LICENSES beside this file has the licences of what is linked in.
`

// deb writes the Debian package with dpkg-deb: the same bytes for the same files and date.
func (r *release) deb(output string, files []file) error {
	tree, err := os.MkdirTemp("", "deb")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tree)
	if err := os.Chmod(tree, 0o755); err != nil {
		return err
	}
	placed, size := r.debFiles(files), 0
	for _, f := range placed {
		size += len(f.data)
	}
	version := debVersion(r.version)
	control := fmt.Sprintf("Package: symtool\nVersion: %s\nArchitecture: %s\nMaintainer: %s\nInstalled-Size: %d\n"+
		"Suggests: debuginfod\nSection: devel\nPriority: optional\nHomepage: %s\n"+
		"Description: Breakpad symbol files: dump, check, compare, walk stacks\n symtool writes the symbol files of binaries with DWARF or a PDB, checks and\n"+
		" compares them, and prints the stacks of crashed processes.\n", version, r.cpu, r.maintainer, (size+1023)/1024, r.homepage)
	placed = append(placed, file{"DEBIAN/control", []byte(control), 0o644})
	for _, f := range placed {
		if err := writeDated(filepath.Join(tree, f.name), f, r.date); err != nil {
			return err
		}
	}
	cmd := exec.Command("dpkg-deb", "--root-owner-group", "-Zxz", "--build", tree, filepath.Join(output, "symtool_"+version+"_"+r.cpu+".deb"))
	cmd.Env = append(os.Environ(), fmt.Sprint("SOURCE_DATE_EPOCH=", r.date.Unix()), "LC_ALL=C", "DPKG_DEB_THREADS_MAX=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("dpkg-deb: %w: %s", err, out)
	}
	return nil
}

// debVersion returns a version in the form that Debian orders correctly: 0.1.0~dev comes before 0.1.0.
func debVersion(version string) string { return strings.ReplaceAll(version, "-", "~") }

// debFiles returns the files of the package at their paths on Debian (Debian Policy 4.6, 9.1; 12.3), with the manual
// pages and the changelog compressed.
func (r *release) debFiles(files []file) (placed []file) {
	for _, f := range files {
		switch {
		case f.name == "LICENSE": // part of the copyright file
			continue
		case f.name == "symtool":
			f.name = "usr/bin/symtool"
		case strings.HasPrefix(f.name, "share/man/"):
			f.name, f.data = "usr/"+f.name+".gz", gzipped(f.data)
		case strings.HasPrefix(f.name, "share/zsh/"):
			f.name = "usr/share/zsh/vendor-completions/" + path.Base(f.name)
		case strings.HasPrefix(f.name, "share/"):
			f.name = "usr/" + f.name
		default:
			f.name = debDocs + f.name
		}
		placed = append(placed, f)
	}
	changes := fmt.Sprintf("symtool (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- %s  %s\n", debVersion(r.version), r.maintainer, r.date.Format(time.RFC1123Z))
	return append(placed,
		file{debDocs + "copyright", fmt.Appendf(nil, debCopyright, r.homepage), 0o644},
		file{debDocs + "changelog.gz", gzipped([]byte(changes)), 0o644},
		file{"usr/share/lintian/overrides/symtool", []byte(debOverrides), 0o644})
}

// writeDated writes a file with its date and mode, whatever the umask. It creates missing folders, which everyone may
// read.
func writeDated(name string, f file, date time.Time) error {
	for dir := filepath.Dir(f.name); dir != "."; dir = filepath.Dir(dir) {
		parent := filepath.Join(strings.TrimSuffix(name, f.name), dir)
		if err := os.MkdirAll(parent, 0o755); err != nil {
			return err
		}
		if err := os.Chmod(parent, 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(name, f.data, os.FileMode(f.mode)); err != nil {
		return err
	}
	if err := os.Chmod(name, os.FileMode(f.mode)); err != nil {
		return err
	}
	return os.Chtimes(name, date, date)
}

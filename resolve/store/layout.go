package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Contents says what a file of a store is.
type Contents uint8

const (
	Symbols    Contents = iota // a symbol file
	Executable                 // an ELF file with code
	DebugInfo                  // an ELF file with debug information
)

var contentNames = [...]string{"a symbol file", "an executable", "debug information"}

// File holds what determines the place of a file.
type File struct {
	Contents Contents
	OS       string // from MODULE, like Name and ID; symbol files only
	Name     string
	ID       string
	BuildID  string // hexadecimal, or ""; INFO CODE_ID for symbol files
	Ext      string // of a symbol file: ".sym", followed by the compression's
}

// layout is a way to name the files of a store. See Sentry's page "Symbol
// Server Compatibility", GDB's manual ("Debugging Information in Separate
// Files") and debuginfod(8).
type layout struct {
	name string
	path func(f *File) (string, error)
}

var layouts = []layout{
	{"breakpad", breakpadPath},
	{"build-id", buildIDPath},
	{"debuginfod", debuginfodPath},
	{"unified", unifiedPath},
}

// Layouts returns the names of the layouts.
func Layouts() (names []string) {
	for _, l := range layouts {
		names = append(names, l.name)
	}
	return names
}

// TakesELF reports whether a layout has places for ELF files.
func TakesELF(layout string) bool { return layout != "breakpad" }

// TakesSymbols reports whether a layout has places for symbol files.
func TakesSymbols(layout string) bool { return layout == "breakpad" || layout == "unified" }

// layoutOf returns the layout, other than breakpad, whose form a path below the root of a store
// has, or "".
func layoutOf(path string) string {
	parts := strings.Split(filepath.ToSlash(path), "/")
	if len(parts) != 3 {
		return ""
	}
	first, id, last := parts[0], parts[1], parts[2]
	hex := checkID(id) == nil
	switch {
	case first == ".build-id" && hex && len(id) == 2 && checkID(strings.TrimSuffix(last, ".debug")) == nil:
		return "build-id"
	case first == "buildid" && hex && (last == "executable" || last == "debuginfo"):
		return "debuginfod"
	case len(first) == 2 && checkID(first) == nil && hex && (last == "executable" || last == "debuginfo" || last == "breakpad"):
		return "unified"
	}
	return ""
}

// PathIn returns the place of a file below the root of a store in a layout, with this system's
// separators. Its parts may come from anywhere: the path never leads out of a folder; PathIn
// returns an error instead.
func PathIn(layout string, f *File) (string, error) {
	for _, l := range layouts {
		if l.name == layout {
			return l.path(f)
		}
	}
	return "", fmt.Errorf("no layout %q", layout)
}

func (f *File) refused(layout string) error {
	return fmt.Errorf("%s has no place in a store of layout %s", contentNames[f.Contents], layout)
}

// breakpadPath returns NAME/ID/STEM.sym.
func breakpadPath(f *File) (string, error) {
	if f.Contents != Symbols {
		return "", f.refused("breakpad")
	}
	p, err := NewPlace(f.Name, f.ID)
	if err != nil {
		return "", fmt.Errorf("MODULE %w", err)
	}
	if err := p.checkExt(f.Ext); err != nil {
		return "", fmt.Errorf("MODULE name %q: %w", f.Name, err)
	}
	return p.Path(f.Ext), nil
}

// split splits a hexadecimal id into a folder of two digits and a name.
func split(id string) (folder, name string, err error) {
	if id == "" {
		return "", "", errors.New("no build-id")
	}
	if err := checkID(id); err != nil {
		return "", "", fmt.Errorf("build-id %q: %w", clipped(id), err)
	}
	if len(id) < 4 {
		return "", "", fmt.Errorf("build-id %q: want two bytes or more", id)
	}
	id = strings.ToLower(id)
	return id[:2], id[2:], nil
}

// buildIDPath returns .build-id/xx/yyyy for executables, with .debug appended
// for debug information, where gdb looks below its debug-file-directory.
func buildIDPath(f *File) (string, error) {
	folder, name, err := split(f.BuildID)
	switch {
	case f.Contents == Symbols:
		return "", f.refused("build-id")
	case err != nil:
		return "", err
	case f.Contents == DebugInfo:
		name += ".debug"
	}
	if len(name) > maxName {
		return "", fmt.Errorf("build-id %q: %d digits, which are too many for a file name", clipped(f.BuildID), len(f.BuildID))
	}
	return filepath.Join(".build-id", folder, name), nil
}

// elfNames are the names of ELF files by their contents.
var elfNames = map[Contents]string{Executable: "executable", DebugInfo: "debuginfo"}

// debuginfodPath returns buildid/HEX/executable and buildid/HEX/debuginfo: the
// paths of debuginfod's web interface.
func debuginfodPath(f *File) (string, error) {
	if f.Contents == Symbols {
		return "", f.refused("debuginfod")
	}
	folder, name, err := split(f.BuildID)
	if err != nil {
		return "", err
	}
	return filepath.Join("buildid", folder+name, elfNames[f.Contents]), nil
}

// unifiedPath returns xx/yyyy/ followed by executable, debuginfo or breakpad. A symbol
// file has the id of its binary: the build-id if INFO CODE_ID has one, otherwise
// MODULE's, without the age on Apple's systems.
func unifiedPath(f *File) (string, error) {
	id, last := f.BuildID, elfNames[f.Contents]
	if f.Contents == Symbols {
		last = "breakpad"
		switch {
		case f.OS == "windows":
			id = f.ID
		case (f.OS == "mac" || f.OS == "ios") && len(f.ID) > 32:
			id = f.ID[:32]
		case id == "":
			id = f.ID
		}
	}
	folder, name, err := split(id)
	if err != nil {
		return "", err
	}
	return filepath.Join(folder, name, last), nil
}

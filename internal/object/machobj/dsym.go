package machobj

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

// inDSYM is the path of the folder with the files in a dSYM bundle.
var inDSYM = filepath.Join("Contents", "Resources", "DWARF")

const dsymExtension = ".dSYM"

// InBundle returns the file that represents a bundle: for a dSYM, its only file with debug information or the one
// named after the bundle; for an app, its program; for a framework, its library. For a file or any other folder it
// returns path itself.
func InBundle(path string) string {
	if st, err := os.Stat(path); err != nil || !st.IsDir() {
		return path
	}
	base := filepath.Base(path)
	name := strings.TrimSuffix(base, filepath.Ext(base))
	switch files := DSYMFiles(path); {
	case len(files) == 1:
		return files[0]
	case len(files) > 1:
		for _, own := range []string{name, strings.TrimSuffix(name, filepath.Ext(name))} {
			if file := filepath.Join(path, inDSYM, own); slices.Contains(files, file) {
				return file
			}
		}
		return path
	}
	for _, inside := range []string{filepath.Join("Contents", "MacOS", name), name} {
		if file := filepath.Join(path, inside); name != base && isFile(file) {
			return file
		}
	}
	return path
}

// InBundleOf is like InBundle, but if a dSYM bundle has several files, it prefers the one with the UUID id.
func InBundleOf(path string, id []byte) string {
	if files := DSYMFiles(path); len(files) > 1 && len(id) > 0 {
		for _, file := range files {
			if hasUUID(file, id, object.DefaultLimits()) {
				return file
			}
		}
	}
	return InBundle(path)
}

// CheckChosen returns an error for a dSYM bundle with several files if neither the UUID id nor the name selects one.
func CheckChosen(path string, id []byte) error {
	files := DSYMFiles(path)
	if len(files) < 2 {
		return nil
	}
	var names []string
	for _, file := range files {
		names = append(names, filepath.Base(file))
	}
	e := &bin.Error{File: path, Msg: "a dSYM of " + strings.Join(names, ", ")}
	if len(id) > 0 {
		e.Err, e.Kind = fmt.Errorf("none has the UUID %X", id), object.ErrOtherBuild
	} else {
		e.Err = fmt.Errorf("name one of the files in %s", inDSYM)
	}
	return e
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

// DSYMFiles returns the Mach-O files in a dSYM bundle, in order of name. It ignores other files, which
// tools leave there. The bundle may be the file itself ("dsymutil --flat").
func DSYMFiles(bundle string) (files []string) {
	if isFile(bundle) && beginsMachO(bundle) {
		return []string{bundle}
	}
	dir := filepath.Join(bundle, inDSYM)
	entries, _ := os.ReadDir(dir) // what is not a bundle has no files
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); isFile(path) && beginsMachO(path) {
			files = append(files, path)
		}
	}
	return files
}

func beginsMachO(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, 4)
	n, _ := file.ReadAt(head, 0)
	return slices.Contains(Magics, string(head[:n]))
}

// DebugFiles implements object.DebugLocator. It returns the files of dSYM bundles named after the file, or
// after a bundle that contains it, beside these and below the folders in dirs. In those folders, bundles
// of other names count, too, if they have the file's UUID.
func (f *File) DebugFiles(dirs []string, hermetic bool) (files []string) {
	if f.in.Path == "" || f.fileType == typeDSYM {
		return nil
	}
	var names []string
	for path := filepath.Clean(f.in.Path); ; path = filepath.Dir(path) {
		if base := filepath.Base(path); len(names) == 0 || filepath.Ext(base) != "" {
			names = append(names, base+dsymExtension)
			if !hermetic {
				files = append(files, DSYMFiles(path+dsymExtension)...)
			}
		}
		if dir := filepath.Dir(path); dir == path || dir == "." {
			break
		}
	}
	for _, dir := range dirs {
		files = append(files, f.below(dir, names)...)
	}
	return files
}

const (
	// maxBundles is the maximum number of dSYM bundles of a folder that are opened to read their UUIDs.
	maxBundles = 10_000
	// maxEntries and maxDepth limit the search for bundles below a folder. In a folder of Xcode archives, a bundle
	// is in DATE/NAME.xcarchive/dSYMs.
	maxEntries = 100_000
	maxDepth   = 4
)

// below returns the files of bundles below dir, which may itself be a bundle, whose bundle has a name in
// names or contains f's UUID.
func (f *File) below(dir string, names []string) (files []string) {
	for _, bundle := range bundlesBelow(filepath.Clean(dir)) {
		for _, file := range DSYMFiles(bundle) {
			if slices.Contains(names, filepath.Base(bundle)) || f.describedBy(file) {
				files = append(files, file)
			}
		}
	}
	return files
}

// bundlesBelow returns the dSYM bundles below a folder, or the folder itself if it is one. It skips hidden folders.
func bundlesBelow(dir string) (bundles []string) {
	if filepath.Ext(dir) == dsymExtension {
		return []string{dir}
	}
	entries := 0
	root := dir + string(filepath.Separator) // dir may be a symbolic link
	filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		entries++
		switch {
		case entries > maxEntries || len(bundles) == maxBundles:
			return fs.SkipAll
		case err != nil || path == root: // a folder that cannot be read has no bundles
			return nil
		case filepath.Ext(path) == dsymExtension:
			bundles = append(bundles, path)
		case strings.HasPrefix(e.Name(), "."), levels(dir, path) == maxDepth:
		default:
			return nil
		}
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return bundles
}

// levels returns the number of levels that path is below dir.
func levels(dir, path string) int {
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return maxDepth
	}
	return strings.Count(rel, string(filepath.Separator)) + 1
}

// describedBy reports whether the file at path has the UUID of f.
func (f *File) describedBy(path string) bool {
	lim := f.in.Limits
	lim.CPU = f.cpu.name
	return f.uuid != nil && hasUUID(path, f.uuid, lim)
}

// hasUUID reports whether a file, or one of the binaries in it, has the given UUID.
func hasUUID(path string, id []byte, lim object.Limits) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	st, err := file.Stat()
	if err != nil {
		return false
	}
	lim.ID = id
	f, err := NewFile(file, st.Size(), path, lim)
	return err == nil && bytes.Equal(f.uuid, id)
}

package machobj

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/object"
)

// inDSYM is where a dSYM bundle has its files.
var inDSYM = filepath.Join("Contents", "Resources", "DWARF")

const dsymExtension = ".dSYM"

// InBundle returns the file that stands for a folder: the only file with debug information in a dSYM
// bundle, the program of an app, the library of a framework. It returns the path itself for a file or for any
// other folder.
func InBundle(path string) string {
	if st, err := os.Stat(path); err != nil || !st.IsDir() {
		return path
	}
	base := filepath.Base(path)
	name := strings.TrimSuffix(base, filepath.Ext(base))
	if files := filesInDSYM(path); len(files) > 0 {
		own := filepath.Join(path, inDSYM, strings.TrimSuffix(name, filepath.Ext(name)))
		if len(files) > 1 && slices.Contains(files, own) {
			return own
		}
		return files[0]
	}
	for _, inside := range []string{filepath.Join("Contents", "MacOS", name), name} {
		if file := filepath.Join(path, inside); name != base && isFile(file) {
			return file
		}
	}
	return path
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

// filesInDSYM returns the Mach-O files in a dSYM bundle, in order of name. Others, which tools leave there,
// are ignored. The bundle may be the file itself ("dsymutil --flat").
func filesInDSYM(bundle string) (files []string) {
	if isFile(bundle) && beginsMachO(bundle) {
		return []string{bundle}
	}
	dir := filepath.Join(bundle, inDSYM)
	entries, _ := os.ReadDir(dir) // no bundle has no files
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

// DebugFiles implements object.Placed. It returns the files of dSYM bundles that are named after the file
// or after a bundle that it is in: beside them, and in the folders of the search, where those of other names count,
// too, if their UUID is that of the file. An archive of Xcode has them in dSYMs.
func (f *File) DebugFiles(s *object.Search) (files []string) {
	if f.in.Path == "" || f.fileType == typeDSYM {
		return nil
	}
	var names []string
	for path := filepath.Clean(f.in.Path); ; path = filepath.Dir(path) {
		if base := filepath.Base(path); len(names) == 0 || filepath.Ext(base) != "" {
			names = append(names, base+dsymExtension)
			if !s.Limits.Hermetic {
				files = append(files, filesInDSYM(path+dsymExtension)...)
			}
		}
		if dir := filepath.Dir(path); dir == path || dir == "." {
			break
		}
	}
	for _, dir := range s.Dirs {
		for _, sub := range []string{dir, filepath.Join(dir, "dSYMs")} {
			files = append(files, f.below(sub, names)...)
		}
	}
	return files
}

// maxBundles bounds how many dSYM bundles of a folder are opened to learn their UUIDs.
const maxBundles = 10_000

// below returns the files of the bundles in a folder, or of the bundle that it is, which have a name of
// names or the UUID of f.
func (f *File) below(dir string, names []string) (files []string) {
	bundles := []string{dir}
	if filepath.Ext(dir) != dsymExtension {
		bundles, _ = filepath.Glob(filepath.Join(escaped(dir), "*"+dsymExtension))
	}
	for _, bundle := range bundles[:min(len(bundles), maxBundles)] {
		for _, file := range filesInDSYM(bundle) {
			if slices.Contains(names, filepath.Base(bundle)) || f.describedBy(file) {
				files = append(files, file)
			}
		}
	}
	return files
}

// escaped returns a path as a pattern that matches it alone.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// describedBy reports whether a file has the UUID of f.
func (f *File) describedBy(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	st, err := file.Stat()
	if err != nil {
		return false
	}
	lim := f.in.Limits
	lim.ID, lim.CPU = f.uuid, f.cpu.name
	other, err := NewFile(file, st.Size(), path, lim)
	return err == nil && f.uuid != nil && bytes.Equal(other.uuid, f.uuid)
}

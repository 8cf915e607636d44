package dump

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/resolve/supplier"
)

// index is the set of modules that a store already has, whose symbol files are not wanted. It holds hashes of NAME/ID,
// which take the same memory for every name.
type index map[[sha256.Size]byte]struct{}

// hash returns the element of an index for a module.
func hash(name, id string) [sha256.Size]byte { return sha256.Sum256([]byte(name + "/" + id)) }

// readIndex reads the list of modules at a path.
func readIndex(path string) (index, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, cli.FileError(path, err)
	}
	defer f.Close()
	x := index{}
	r := bufio.NewReader(f)
	if head, _ := r.Peek(1); string(head) == "{" {
		err = x.readListing(r)
	} else {
		err = store.ReadWanted(r, func(p store.Place) error {
			x.add(p)
			return nil
		})
	}
	if err != nil {
		return nil, cli.FileError(path, err)
	}
	return x, nil
}

func (x index) add(p store.Place) { x[hash(p.Name, p.ID)] = struct{}{} }

// readListing reads the output of symtool store ls --format json, one module at a time.
func (x index) readListing(r io.Reader) error {
	d := json.NewDecoder(r)
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		if key == "modules" {
			return x.readModules(d)
		}
		if err := d.Decode(new(json.RawMessage)); err != nil {
			return err
		}
	}
	return errors.New("JSON without modules, want that of symtool store ls")
}

// readModules reads the array of modules. The text after it does not matter.
func (x index) readModules(d *json.Decoder) error {
	if start, err := d.Token(); err != nil || start != json.Delim('[') {
		return cmp.Or(err, fmt.Errorf("modules are %v, want an array", start))
	}
	for d.More() {
		var m struct {
			Name     string
			Versions []struct{ ID string }
		}
		if err := d.Decode(&m); err != nil {
			return err
		}
		for _, v := range m.Versions {
			p, err := store.NewPlace(m.Name, v.ID)
			if err != nil {
				return fmt.Errorf("module %q: %w", m.Name, err)
			}
			x.add(p)
		}
	}
	_, err := d.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// known reports whether the index has all symbol files that would be written for a file with the given name.
func (d *dumper) known(f *supplier.BinaryFile, name string) bool {
	name = strings.TrimSuffix(name, ".debug")
	names := []string{cmp.Or(d.Options.Name, f.Name, name)}
	if d.bothNames {
		names = append(names, name)
	}
	for _, name := range names {
		p, err := store.NewPlace(name, cmp.Or(d.Options.ID, f.ID))
		if err != nil {
			return false
		}
		if _, ok := d.since[hash(p.Name, p.ID)]; !ok {
			return false
		}
	}
	return true
}

// skip reports whether a build is in the index. If so, it reports with --verbose that the build is skipped.
func (d *dumper) skip(b *build) bool {
	f := cmp.Or(b.binary, b.debug)
	if f == nil || len(d.since) == 0 || !d.known(&f.BinaryFile, cmp.Or(f.name, filepath.Base(f.Path))) {
		return false
	}
	d.reportSkipped(f.Path)
	return true
}

// skipResult is like skip, but also for an operand.
func (d *dumper) skipResult(r *dumpResult) bool {
	if r.build != nil || len(d.since) == 0 || r.Error != "" {
		return r.build != nil && d.skip(r.build)
	}
	path := objfile.InBundle(r.File)
	for _, f := range supplier.ReadFile(path) {
		if (r.cpu == "" || f.CPU == "" || r.cpu == f.CPU) && d.known(&f, filepath.Base(path)) {
			d.reportSkipped(r.File)
			return true
		}
	}
	return false
}

func (d *dumper) reportSkipped(path string) {
	if d.verbose {
		d.msgs.Printf("symtool: %s: skipped, as its symbol file is in the index", path)
	}
}

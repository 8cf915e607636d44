package pdb

import (
	"bytes"
	"context"
	"crypto"
	"crypto/md5"
	"fmt"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// The digests in a PDB match its sources. Damaged ones are left out.
func TestContents(t *testing.T) {
	data := testenv.Gunzip(t, testenv.Input(t, "pdb-x64.pdb.gz"))
	want := ""
	for _, asked := range []bool{false, true} {
		r, err := Read(context.Background(), bytes.NewReader(data), int64(len(data)), Options{File: "x.pdb", Contents: asked})
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]symfmt.Contents{}
		for _, name := range []string{"pdb_names.cc", "pdb_start.c"} {
			if asked {
				all[`C:\src\`+name] = symfmt.Contents{Hash: crypto.MD5, Sum: fmt.Sprintf("%x", md5.Sum(testenv.ReadInput(t, "src", name)))}
			}
		}
		want = fmt.Sprint(all)
		if got := fmt.Sprint(r.Module.Contents); got != want {
			t.Errorf("asked %v: got %s, want %s", asked, got, want)
		}
	}
	sha := append([]byte{7, 0, 0, 0, 20, 2}, make([]byte, 22)...)
	for _, c := range []struct {
		what string
		data []byte
		want int
	}{
		{"SHA-1, padded, twice", append(bytes.Clone(sha), sha...), 2},
		{"cut", sha[:20], 0},
		{"a digest of another length", []byte{7, 0, 0, 0, 4, 1, 1, 2, 3, 4, 0, 0}, 0},
		{"none, and SHA-1", append([]byte{7, 0, 0, 0, 0, 0, 0, 0}, sha...), 1},
		{"an unknown kind", []byte{7, 0, 0, 0, 0, 9, 0, 0}, 0},
	} {
		if got := (&moduleLines{files: c.data}).contents(); len(got) != c.want {
			t.Errorf("%s: got %d files, want %d", c.what, len(got), c.want)
		}
	}
}

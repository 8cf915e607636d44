package resolve

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
)

// openIndexed opens a symbol file, and reports whether its index was used.
func openIndexed(t testing.TB, path, folder string) (r *Resolver, used bool) {
	t.Helper()
	r, unwritten, err := openIndexedPath(context.Background(), path, folder)
	if err != nil || unwritten != nil {
		t.Fatal(err, unwritten)
	}
	t.Cleanup(func() { r.Close() })
	return r, r.unmap != nil
}

func TestIndexFile(t *testing.T) {
	for name, text := range map[string]string{
		"plain":     small,
		"bom":       "\xef\xbb\xbf" + small,
		"overlap":   small + "FUNC 800 2000 0 outer\nSTACK WIN 4 1000 10 0 0 8 0 0 0 1 $eip\nSTACK WIN 0 1000 20 0 0 8 0 0 0 0 0\n",
		"old form":  head + "FILE 0 a\nINLINE_ORIGIN 0 0 x\nFUNC 0 100 0 f\nINLINE 0 5 0 10 20\n10 10 1 0\n",
		"problems":  small + "rubbish \x01\x00 x\nFUNC zz\n",
		"no MODULE": "PUBLIC 10 0 p\n",
	} {
		path := writeFile(t, "x.sym", []byte(text))
		for _, folder := range []string{"", t.TempDir()} {
			first, used := openIndexed(t, path, folder)
			if used {
				t.Errorf("%s: an index is used before there is one", name)
			}
			second, used := openIndexed(t, path, folder)
			if !used {
				t.Errorf("%s: the index is not used", name)
			}
			if !sameIndex(first.x, second.x) {
				t.Errorf("%s: %+v, want %+v", name, second.x, first.x)
			}
			if len(first.Damage()) != len(second.Damage()) {
				t.Errorf("%s: %d problems, want %d", name, len(second.Damage()), len(first.Damage()))
			}
			for i, p := range second.Damage() {
				if got, want := p.String(), strings.ReplaceAll(first.Damage()[i].String(), "\x00", " "); got != want {
					t.Errorf("%s: problem %q, want %q", name, got, want)
				}
			}
			compareNaive(t, second, readNaive(t, text))
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".symtool*")); left != nil {
			t.Errorf("%s: left %q", name, left)
		}
	}
}

func sameIndex(a, b *index) bool {
	x, y := a.tables(), b.tables()
	for i := range x {
		if !bytes.Equal(x[i].data, y[i].data) {
			return false
		}
	}
	return a.OS == b.OS && a.Arch == b.Arch && a.ID == b.ID && a.Name == b.Name && a.OldInlines == b.OldInlines && a.size == b.size &&
		a.funcs.first == b.funcs.first && a.funcs.shift == b.funcs.shift
}

// An index is not used for another symbol file, even if that has the same size and time.
func TestIndexFileOfAnother(t *testing.T) {
	long := small + strings.Repeat("PUBLIC 3000 0 behind\n", 10000)
	for name, change := range map[string]func(path string, at time.Time){
		"size": func(path string, at time.Time) {
			os.WriteFile(path, []byte(long+"\n"), 0o644)
			os.Chtimes(path, at, at)
		},
		"time": func(path string, at time.Time) {
			os.Chtimes(path, at, at.Add(time.Nanosecond*1000))
		},
		"start": func(path string, at time.Time) {
			os.WriteFile(path, []byte(strings.Replace(long, "callee", "called", 1)), 0o644)
			os.Chtimes(path, at, at)
		},
		"shifted": func(path string, at time.Time) {
			half := len(long)/2 - 7
			os.WriteFile(path, []byte(long[:half]+"x"+long[half:len(long)-2]+"\n"), 0o644)
			os.Chtimes(path, at, at)
		},
	} {
		path := writeFile(t, "x.sym", []byte(long))
		openIndexed(t, path, "")
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		change(path, st.ModTime())
		r, used := openIndexed(t, path, "")
		if used {
			t.Errorf("%s: used the index of another file", name)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		compareNaive(t, r, readNaive(t, string(text)))
		if _, used := openIndexed(t, path, ""); !used {
			t.Errorf("%s: the index was not made again", name)
		}
	}
}

// Damage to any byte, and truncation, is detected; the index is made again.
func TestDamagedSideIndex(t *testing.T) {
	path := writeFile(t, "x.sym", []byte(small))
	openIndexed(t, path, "")
	good, err := os.ReadFile(path + ".idx")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	id, err := identify(f)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := decodeIndex(good, id); err != nil {
		t.Fatal(err)
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x10
		if _, _, err := decodeIndex(bad, id); err == nil {
			t.Fatalf("byte %d changed: no error", i)
		}
		if _, _, err := decodeIndex(good[:i], id); err == nil {
			t.Fatalf("%d bytes of %d: no error", i, len(good))
		}
	}
	for _, bad := range [][]byte{nil, []byte("x"), good[:len(good)/2], append(bytes.Clone(good), 0)} {
		if err := os.WriteFile(path+".idx", bad, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, used := openIndexed(t, path, ""); used {
			t.Errorf("used an index of %d bytes", len(bad))
		}
		if now, _ := os.ReadFile(path + ".idx"); !bytes.Equal(now, good) {
			t.Errorf("the index of %d bytes was not made again", len(bad))
		}
	}
}

// There is no index for compressed files, nor if it cannot be written.
func TestNoSideIndex(t *testing.T) {
	path := writeFile(t, "x.sym.gz", testenv.Gzip(t, []byte(small)))
	r, used := openIndexed(t, path, "")
	if _, err := os.Stat(path + ".idx"); used || err == nil {
		t.Error("a compressed file has an index")
	}
	if got := show(t, r, 0x1008); got != smallAnswer {
		t.Error(got)
	}
	path = writeFile(t, "x.sym", []byte(small))
	r, unwritten, err := openIndexedPath(context.Background(), path, filepath.Join(path, "none"))
	if err != nil || unwritten == nil {
		t.Fatalf("a folder that cannot be made: %v, %v", unwritten, err)
	}
	defer r.Close()
	if got := show(t, r, 0x1008); got != smallAnswer {
		t.Error(got)
	}
}

// Processes that make the same index at once do not disturb each other.
func TestIndexFileAtOnce(t *testing.T) {
	path := writeFile(t, "x.sym", []byte(small))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				r, unwritten, err := openIndexedPath(context.Background(), path, "")
				if err != nil || unwritten != nil {
					t.Error(err, unwritten)
					return
				}
				var at Location
				if _, err := r.Find(t.Context(), 0x1008, &at); err != nil || text2line(&at) != smallAnswer {
					t.Error(text2line(&at), err)
				}
				r.Close()
			}
		})
	}
	wg.Wait()
}

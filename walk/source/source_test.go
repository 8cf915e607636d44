package source

import (
	"context"
	"crypto"
	"crypto/md5"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

const program = "one\ntwo\r\n\tthree\nfour"

func digest(text string) symfmt.Contents {
	return symfmt.Contents{Hash: crypto.MD5, Sum: fmt.Sprintf("%x", md5.Sum([]byte(text)))}
}

// outcome describes what Find returns: the check and the path below dir, or the error.
func outcome(f *Finder, dir string, file File) string {
	t, err := f.Find(context.Background(), file)
	if err != nil {
		return strings.ReplaceAll(err.Error(), dir, "DIR")
	}
	return t.Check.String() + " " + strings.TrimPrefix(t.Path, dir)
}

// tree makes a folder with source files, a secret beside it, and things that are not source files.
func tree(t *testing.T) string {
	t.Helper()
	dir := testenv.WriteFiles(t, "src/a.c", program, "src/sub/b.c", "other", "secret", "password", "src/binary", "a\x00b", "src/large.c", "")
	if err := os.Symlink("../secret", filepath.Join(dir, "src/link.c")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "src/pipe.c"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "src/large.c"), 1<<30); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestFind(t *testing.T) {
	dir := tree(t)
	src := filepath.Join(dir, "src")
	named := &Finder{Roots: []Root{{"/build", src}, {`C:\app`, src}, {"git:host/app:", src}}, AtPaths: true}
	atPath, nowhere := &Finder{AtPaths: true}, &Finder{}
	good, bad := digest(program), digest("another")
	for _, c := range []struct {
		finder *Finder
		name   string
		was    symfmt.Contents
		want   string
	}{
		{named, "/build/a.c", good, "digest /src/a.c"},
		{named, "/build/a.c", symfmt.Contents{Size: uint64(len(program))}, "size /src/a.c"},
		{named, "/build/a.c", symfmt.Contents{}, "unchecked /src/a.c"},
		{named, "/build/./sub/../a.c", good, "digest /src/a.c"},
		{named, `C:\app\sub\b.c`, symfmt.Contents{}, "unchecked /src/sub/b.c"},
		{named, "git:host/app:sub/b.c:0123abc", symfmt.Contents{}, "unchecked /src/sub/b.c"},
		{named, "/build/a.c", bad, "DIR/src/a.c: not the file that was compiled: its MD5 is " + good.Sum + ", the debug information has " + bad.Sum},
		{named, "/build/a.c", symfmt.Contents{Size: 3}, "DIR/src/a.c: not the file that was compiled: it has 20 bytes, the debug information says 3"},
		{named, "/build/none.c", good, "DIR/src/none.c: no such file or directory"},
		{named, "/builder/a.c", symfmt.Contents{}, "/builder/a.c: not read: the symbols have no checksum of it"},
		{named, "/build/../secret", symfmt.Contents{}, "DIR/src/secret: no such file or directory"},
		{named, "/build/link.c", digest("password"), "DIR/src/link.c: path escapes from parent"},
		{named, "/build/pipe.c", symfmt.Contents{}, "DIR/src/pipe.c: not a regular file"},
		{named, "/build/sub", symfmt.Contents{}, "DIR/src/sub: not a regular file"},
		{named, "/build/large.c", symfmt.Contents{}, "DIR/src/large.c: 1073741824 bytes or more, want at most 16777216"},
		{named, "/build/binary", symfmt.Contents{}, "DIR/src/binary: not a text: it has zero bytes"},
		{atPath, src + "/a.c", good, "digest /src/a.c"},
		{atPath, src + "/a.c", symfmt.Contents{Size: uint64(len(program))}, "DIR/src/a.c: not read: the symbols have no checksum of it"},
		{atPath, dir + "/secret", symfmt.Contents{}, "DIR/secret: not read: the symbols have no checksum of it"},
		{atPath, "src/\x1b[31m.c", good, `src/\x1b[31m.c: not read: not an absolute path`},
		{nowhere, src + "/a.c", good, "DIR/src/a.c: not read: no folder is named for it"},
	} {
		for range 2 { // the second answer is the one that was kept
			if got := outcome(c.finder, dir, File{Name: c.name, Contents: c.was}); got != c.want {
				t.Errorf("%s, %+v:\n got %s\nwant %s", c.name, c.was, got, c.want)
			}
		}
	}
	if !atPath.Unnamed() || (&Finder{}).Unnamed() {
		t.Error("Unnamed does not report the files that no folder was named for")
	}
}

// A server has the file for the build-id, but its digest decides if it is known.
func TestFindFetched(t *testing.T) {
	dir := tree(t)
	asked := ""
	f := &Finder{Fetch: func(_ context.Context, id []byte, path string) (string, error) {
		asked = fmt.Sprintf("%x %s", id, path)
		if strings.HasSuffix(path, "none.c") {
			return "", fs.ErrNotExist
		}
		return filepath.Join(dir, "src/a.c"), nil
	}}
	for _, c := range []struct {
		name, id string
		was      symfmt.Contents
		want     string
		asked    string
	}{
		{"/usr/src/x/../a.c", "\x12\xab", digest(program), "digest /src/a.c", "12ab /usr/src/a.c"},
		{"/usr/src/a.c", "\x12\xab", symfmt.Contents{}, "build-id /src/a.c", "12ab /usr/src/a.c"},
		{"/usr/src/a.c", "\x12\xab", symfmt.Contents{Size: 1}, "/usr/src/a.c: not read: no folder is named for it; DIR/src/a.c: not the file that was compiled: it has 20 bytes, the debug information says 1", "12ab /usr/src/a.c"},
		{"/usr/src/none.c", "\x12\xab", symfmt.Contents{}, "/usr/src/none.c: not read: no folder is named for it", "12ab /usr/src/none.c"},
		{"/usr/src/a.c", "", digest(program), "/usr/src/a.c: not read: no folder is named for it", ""},
		{"src/a.c", "\x12\xab", digest(program), "src/a.c: not read: not an absolute path", ""},
	} {
		asked = ""
		if got := outcome(f, dir, File{c.name, c.was, c.id}); got != c.want || asked != c.asked {
			t.Errorf("%s, %x, %+v:\n got %s, asked %q\nwant %s, asked %q", c.name, c.id, c.was, got, asked, c.want, c.asked)
		}
	}
}

func TestAround(t *testing.T) {
	for _, c := range []struct {
		text string
		line uint32
		n    int
		want string
	}{
		{program, 3, 0, "3|        three"},
		{program, 2, 1, "1|one 2|two 3|        three"},
		{program, 4, 9, "1|one 2|two 3|        three 4|four"},
		{"a\n\nb\n", 2, 1, "1|a 2| 3|b"},
		{strings.Repeat("é", 1000), 1, 0, "1|" + strings.Repeat("é", maxLine/2) + "..."},
		{"x\ty\n", 1, 1, "1|x       y"},
		{program, 5, 0, "x.c: not the file that was compiled: it has 4 lines, the frame is in line 5"},
		{"", 1, 0, "x.c: not the file that was compiled: it has 0 lines, the frame is in line 1"},
		{program, 0, 0, "x.c: not the file that was compiled: it has 4 lines, the frame is in line 0"},
	} {
		lines, err := (&Text{Path: "x.c", data: []byte(c.text)}).Around(c.line, c.n)
		var parts []string
		for i := range lines {
			parts = append(parts, fmt.Sprintf("%d|%s", lines[i].Number, lines[i].Expanded()))
		}
		got := strings.Join(parts, " ")
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("line %d of %q, %d around: got %q, want %q", c.line, c.text, c.n, got, c.want)
		}
	}
}

// A Finder keeps at most maxHeld bytes of files.
func TestHeld(t *testing.T) {
	line := strings.Repeat("x", 1<<20) + "\n"
	dir := testenv.WriteFiles(t, "a.c", line)
	f := &Finder{Roots: []Root{{"/", dir}}}
	for i := range 2 * maxHeld / len(line) {
		if _, err := f.Find(context.Background(), File{Name: "/a.c", BuildID: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
		if f.held > maxHeld {
			t.Fatalf("%d bytes are kept after %d files, want at most %d", f.held, i+1, maxHeld)
		}
	}
}

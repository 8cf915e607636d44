package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/bin"
)

const wanted = "\x7fELF"

// spooled is a Spooled in memory.
type spooled struct{ *bytes.Reader }

func (s spooled) Close() error { return nil }

// walk returns the members of an archive that begin like binaries, and the problems.
func walk(t *testing.T, data []byte, o Options) (members, problems []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if o.MaxUnpacked == 0 {
		o.MaxUnpacked = 1 << 30
	}
	o.Wanted = func(head []byte) bool { return bytes.HasPrefix(head, []byte(wanted)) }
	o.Spool = func(r *Member) (Spooled, error) {
		data, err := io.ReadAll(r)
		return spooled{bytes.NewReader(data)}, err
	}
	o.Problem = func(p bin.Problem) { problems = append(problems, p.String()) }
	if o.Visit == nil {
		o.Visit = func(m *Member) error {
			data, err := io.ReadAll(m)
			if err == nil {
				members = append(members, fmt.Sprintf("%s %s %q", m.Path, m.Name, data))
			}
			return err
		}
	}
	if err := Walk(t.Context(), f, "x", o); err != nil {
		t.Fatal(err)
	}
	return members, problems
}

// TestUnread checks that formats that are not read are named, even if the file is also a binary or the magic is not
// at the start, and that a binary with the magic of a disk image is a binary.
func TestUnread(t *testing.T) {
	zeros := strings.Repeat("\x00", 1<<17)
	for contents, want := range map[string]string{
		"hsqs": "a squashfs file system, which is not read: unpack it with unsquashfs, and name the folder",
		wanted + "\x02\x01\x01\x00AI\x02" + zeros: "an AppImage, which is not read: unpack it with --appimage-extract, and name the folder squashfs-root",
		zeros[:1080] + "\x53\xef" + zeros:         "an ext2, ext3 or ext4 file system, which is not read: unpack it with 7z, or mount it, and name the folder",
		zeros[:65600] + "_BHRfS_M" + zeros:        "a Btrfs file system, which is not read: mount it, and name the folder",
		zeros[:510] + "\x55\xaaEFI PART" + zeros:  "a disk with a GPT, which is not read: unpack its file systems with 7z, and name the folder",
		zeros[:510] + "\x55\xaa":                  "a disk or FAT file system, which is not read: unpack it with 7z, or mount it, and name the folder",
		zeros + "koly" + zeros[:508]:              "a disk image of macOS, which is not read: unpack it with 7z, and name the folder",
		"QFI\xfb":                                 "a disk of QEMU, which is not read: unpack it with 7z, and name the folder",
	} {
		if members, problems := walk(t, []byte(contents), Options{}); len(members) != 0 || len(problems) != 1 || !strings.Contains(problems[0], want) {
			t.Errorf("%.20q: got %q, %q, want the problem %q", contents, members, problems, want)
		}
	}
	if members, problems := walk(t, []byte(wanted+zeros[4:510]+"\x55\xaa"), Options{}); len(members) != 1 || problems != nil {
		t.Errorf("a binary with the magic of a disk: %d members, %q, want itself", len(members), problems)
	}
	if f := Find([]byte("!<arch>\nlib.o/")); f != nil {
		t.Errorf("a static library is %s, want no archive", f.What)
	}
}

// TestFormats checks that exactly the members of each format are visited, including those of inner archives.
func TestFormats(t *testing.T) {
	for name, make := range makers {
		got, problems := walk(t, make(t, file{"./usr/lib/liba.so", wanted + "a"}, file{"text", "text"}, file{"empty", ""}, file{"/b", wanted}), Options{})
		want := []string{`x(usr/lib/liba.so) ./usr/lib/liba.so "\x7fELFa"`, `x(b) /b "\x7fELF"`}
		if !slices.Equal(got, want) || problems != nil {
			t.Errorf("%s: got %q, %q, want %q", name, got, problems, want)
		}
		for other, around := range makers {
			inner := make(t, file{"lib.so", wanted})
			got, problems := walk(t, around(t, file{"before", "text"}, file{"in", string(inner)}, file{"after", wanted}), Options{})
			want := []string{`x(in(lib.so)) lib.so "\x7fELF"`, `x(after) after "\x7fELF"`}
			if !slices.Equal(got, want) || problems != nil {
				t.Errorf("%s in %s: got %q, %q, want %q", name, other, got, problems, want)
			}
		}
	}
}

// TestCompressedFile checks that a compressed binary, such as a kernel module, becomes a member named without the
// extension.
func TestCompressedFile(t *testing.T) {
	got, problems := walk(t, makeTar(t, file{"lib/a.ko.xz", string(xzPacked(t, []byte(wanted)))}, file{"man.1.gz", string(gzipped(t, []byte("text")))}), Options{})
	if want := []string{`x(lib/a.ko.xz) lib/a.ko "\x7fELF"`}; !slices.Equal(got, want) || problems != nil {
		t.Errorf("got %q, %q, want %q", got, problems, want)
	}
}

// TestHostileNames checks that names are not interpreted: links, devices and folders are not visited, and paths that
// lead outside are passed on unchanged.
func TestHostileNames(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []tar.Header{
		{Name: "link", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, {Name: "hard", Typeflag: tar.TypeLink, Linkname: "../x"},
		{Name: "null", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3}, {Name: "disk", Typeflag: tar.TypeBlock},
		{Name: "pipe", Typeflag: tar.TypeFifo}, {Name: "folder/", Typeflag: tar.TypeDir},
		{Name: "../../etc/cron.d/x", Typeflag: tar.TypeReg, Size: 4}, {Name: "\x1b[2J", Typeflag: tar.TypeReg, Size: 4},
	} {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			io.WriteString(w, wanted)
		}
	}
	w.Close()
	got, problems := walk(t, b.Bytes(), Options{})
	if want := []string{`x(../../etc/cron.d/x) ../../etc/cron.d/x "\x7fELF"`, "x(\x1b[2J) \x1b[2J \"\\x7fELF\""}; !slices.Equal(got, want) || problems != nil {
		t.Errorf("got %q, %q, want %q", got, problems, want)
	}
	got, problems = walk(t, makeZip(t, file{"../../x", wanted}, file{`C:\x`, wanted}), Options{})
	if want := []string{`x(../../x) ../../x "\x7fELF"`, `x(C:\x) C:\x "\x7fELF"`}; !slices.Equal(got, want) || problems != nil {
		t.Errorf("got %q, %q, want %q", got, problems, want)
	}
	long := strings.Repeat("n", maxName+1)
	got, problems = walk(t, makeTar(t, file{long, wanted}, file{"b", wanted}), Options{})
	if len(got) != 1 || len(problems) != 1 || !strings.Contains(problems[0], "a member's name has 4097 bytes, want at most 4096") {
		t.Errorf("long name: got %q, %q", got, problems)
	}
}

// TestDamage cuts each format and inverts each of its bytes: there must be no panic and no additional member, and
// a cut archive must give a problem with its name.
func TestDamage(t *testing.T) {
	for name, make := range makers {
		data := make(t, file{"a", wanted + strings.Repeat("a", 600)}, file{"b", wanted + strings.Repeat("b", 600)})
		whole, _ := walk(t, data, Options{})
		for cut := HeadSize; cut < len(data)*8/10; cut += 197 {
			members, problems := walk(t, data[:cut], Options{})
			if len(members) > 2 || !slices.Equal(members, whole[:len(members)]) {
				t.Errorf("%s, cut at %d of %d: got %q, want the beginning of %q", name, cut, len(data), members, whole)
			}
			if name != "tar" && (len(problems) == 0 || !strings.HasPrefix(problems[0], "x")) { // a tar archive may end anywhere
				t.Errorf("%s, cut at %d of %d: %q, want a problem", name, cut, len(data), problems)
			}
		}
		for i := 0; i < len(data); i += 1 + len(data)/150 {
			bad := bytes.Clone(data)
			bad[i] ^= 0xff
			if members, _ := walk(t, bad, Options{}); len(members) > 2 {
				t.Errorf("%s, inverted at %d: %q, want two members at most", name, i, members)
			}
		}
	}
}

// TestDamagedMember checks that damage in an archive costs that archive, and not those around it.
func TestDamagedMember(t *testing.T) {
	inner := makers["deb"](t, file{"lib.so", wanted})
	got, problems := walk(t, makeZip(t, file{"a.deb", string(inner[:len(inner)-30])}, file{"b.deb", string(inner)}), Options{})
	if want := []string{`x(b.deb(lib.so)) lib.so "\x7fELF"`}; !slices.Equal(got[len(got)-1:], want) {
		t.Errorf("got %q, want %q at the end", got, want)
	}
	if len(problems) == 0 || !strings.HasPrefix(problems[0], "x(a.deb") || !strings.Contains(problems[0], "unexpected EOF") {
		t.Errorf("problems %q, want the end of a.deb", problems)
	}
}

// TestBombs checks the limits: the number of bytes that an archive unpacks to, also relative to its size, and
// the nesting of archives.
func TestBombs(t *testing.T) {
	zeros := strings.Repeat("\x00", 4<<20)
	for name, make := range makers {
		if name == "plain deb" || name == "tar" || name == "cpio" || name == "odc" {
			continue // not compressed
		}
		contents := wanted + zeros // a zip's members are inflated only if they are wanted
		got, problems := walk(t, make(t, file{"a", ""}, file{"b", contents}, file{"c", wanted}), Options{MaxUnpacked: 1 << 20})
		if len(got) > 0 || len(problems) != 1 || !strings.Contains(problems[0], "too many bytes unpacked: want at most 1048576") {
			t.Errorf("%s: got %d members, %q; want the limit", name, len(got), problems)
		}
	}
	deep := []byte(wanted)
	for range 20 {
		deep = gzipped(t, deep)
	}
	if got, problems := walk(t, deep, Options{}); len(got) > 0 || len(problems) != 1 || !strings.Contains(problems[0], ErrDepth.Error()) {
		t.Errorf("20 deep: got %q, %q, want %v", got, problems, ErrDepth)
	}
	w := walker{Options: Options{MaxUnpacked: 64 << 30, MaxRatio: 100}}
	for size, want := range map[int64]int64{1: freeUnpacked, 20 << 20: 100 * 20 << 20, 10 << 30: 64 << 30} {
		if got := w.limitFor(size); got != want {
			t.Errorf("limit of %d bytes: %d, want %d", size, got, want)
		}
	}
}

// TestManyMembers checks that members cost no memory, as none is kept.
func TestManyMembers(t *testing.T) {
	const many = 20_000
	files := make([]file, many)
	for i := range files {
		files[i] = file{fmt.Sprint(i), wanted}
	}
	n := 0
	_, problems := walk(t, makeTar(t, files...), Options{Visit: func(*Member) error { n++; return nil }})
	if n != many || problems != nil {
		t.Errorf("%d members, %q, want %d", n, problems, many)
	}
}

// TestStop checks that errors of Visit and the end of the context end a walk.
func TestStop(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, makeTar(t, file{"a", wanted}, file{"b", wanted}), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	stop := errors.New("stop")
	for name, visit := range map[string]func(context.CancelCauseFunc) error{
		"visit":   func(context.CancelCauseFunc) error { return stop },
		"context": func(cancel context.CancelCauseFunc) error { cancel(stop); return nil },
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		n := 0
		err := Walk(ctx, f, "x", Options{MaxUnpacked: 1 << 20, Wanted: func([]byte) bool { return true },
			Visit: func(m *Member) error { n++; return visit(cancel) }, Problem: func(p bin.Problem) { t.Error(name, p) }})
		if n != 1 || name == "visit" && err != stop {
			t.Errorf("%s: %v after %d members, want %v after one", name, err, n, stop)
		}
		cancel(nil)
	}
}

func FuzzWalk(f *testing.F) {
	for _, make := range makers {
		f.Add(make(&testing.T{}, file{"a", wanted}, file{"b", "text"}))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		members, _ := walk(t, data, Options{MaxUnpacked: 1 << 20})
		if len(members) > 1<<16 {
			t.Errorf("%d members", len(members))
		}
	})
}

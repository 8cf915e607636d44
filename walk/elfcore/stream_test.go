package elfcore

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/dump"
)

// streamed reads a core from a reader that cannot seek.
func streamed(t *testing.T, in io.Reader) (*dump.Dump, error) {
	t.Helper()
	spill, err := os.Create(filepath.Join(t.TempDir(), "spill"))
	if err != nil {
		t.Fatal(err)
	}
	defer spill.Close()
	return ReadStream(in, "core", StreamOptions{Spill: spill})
}

// coreFixtures returns the contents of the cores in the repository, by name.
func coreFixtures(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, folder := range []string{"input", "input/crashes"} {
		paths, _ := filepath.Glob(filepath.Join(testenv.Root(t), "golden", folder, "*.core.gz"))
		for _, path := range paths {
			all[filepath.Base(path)] = testenv.Gunzip(t, path)
		}
	}
	if len(all) < 15 {
		t.Fatalf("%d cores", len(all))
	}
	return all
}

// A core that is read from front to back gives everything except the memory that was not worth keeping. The memory that
// contains the stacks is kept.
func TestStreamIsWhole(t *testing.T) {
	for name, data := range coreFixtures(t) {
		want, err := Read(data, "core", Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := streamed(t, iotest.HalfReader(bytes.NewReader(data)))
		var seek *SeekError
		whole := name == "calls-riscv64.core.gz" || name == "vectors-aarch64.core.gz" || // by gdb, which wrote its notes last
			name == "kernel-high.core.gz" // whose page tables may be anywhere
		if errors.As(err, &seek) && whole {
			if rest, err := io.ReadAll(seek.Rest); err != nil || !bytes.Equal(rest, data) {
				t.Errorf("%s: %d bytes are left of %d: %v", name, len(rest), len(data), err)
			}
			continue
		}
		if err != nil {
			t.Fatal(name, err)
		}
		for i := range want.Threads {
			a, b := &want.Threads[i], &got.Threads[i]
			sp := a.Context.SP()
			stack := want.Memory.Find(sp)
			if stack == nil {
				continue
			}
			n := int(min(stack.End()-sp, maxStack))
			if !bytes.Equal(got.Memory.Bytes(sp, n), want.Memory.Bytes(sp, n)) {
				t.Errorf("%s: thread %d: another stack", name, a.ID)
			}
			a.Stack, b.Stack = dump.Range{}, dump.Range{}
		}
		for i := range got.Memory.Regions {
			if r := &got.Memory.Regions[i]; !bytes.Equal(r.Data, want.Memory.Bytes(r.Addr, len(r.Data))) {
				t.Errorf("%s: other memory at %#x", name, r.Addr)
			}
		}
		want.Memory, got.Memory = dump.Memory{}, dump.Memory{}
		a, b := reflect.ValueOf(*want), reflect.ValueOf(*got)
		for i := range a.NumField() {
			if x, y := a.Field(i).Interface(), b.Field(i).Interface(); !reflect.DeepEqual(x, y) {
				t.Errorf("%s: %s: %+v, want %+v", name, a.Type().Field(i).Name, y, x)
			}
		}
	}
}

// A core that ends early has what came before, and one that is damaged anywhere does not panic.
func TestStreamDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	data := coreFixtures(t)["stacks.core.gz"]
	whole, err := streamed(t, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{len(data) - 1, len(data) / 2, len(data) / 3} {
		d, err := streamed(t, bytes.NewReader(data[:n]))
		if err != nil || len(d.Threads) != len(whole.Threads) || len(d.Problems) == 0 {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if last := d.Problems[len(d.Problems)-1].String(); !strings.Contains(last, "bytes of memory (truncated?)") {
			t.Errorf("%d bytes: %s", n, last)
		}
	}
	for _, n := range []int{0, 3, 63, 64, 300} {
		if d, err := streamed(t, bytes.NewReader(data[:n])); err == nil {
			t.Errorf("%d bytes: %d threads", n, len(d.Threads))
		}
	}
	bare := bytes.Clone(data[:4096]) // a header that says there are no program headers
	clear(bare[32:40])
	clear(bare[56:58])
	if d, err := streamed(t, bytes.NewReader(bare)); err == nil && len(d.Threads) > 0 {
		t.Errorf("without program headers: %d threads", len(d.Threads))
	}
	for i := 0; i < 4096; i += 23 {
		bad := bytes.Clone(data)
		bad[i] ^= 0xff
		_, _ = ReadStream(bytes.NewReader(bad), "core", StreamOptions{})
	}
	broken := errors.New("broken")
	if _, err := streamed(t, io.MultiReader(bytes.NewReader(data[:len(data)/2]), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("%v, want the reader's error", err)
	}
}

// The amount that is kept is limited, whatever the core contains, and the core is read to its end.
func TestStreamLimit(t *testing.T) {
	const size = 1 << 28
	d := &dump.Dump{}
	base, err := Read(coreFixtures(t)["walk-sources.core.gz"], "core", Options{})
	if err != nil {
		t.Fatal(err)
	}
	*d = *base
	var b bytes.Buffer
	if _, err := Write(&b, d); err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	// The first segment becomes too large for memory: its bytes are zeros.
	first := bytes.IndexByte(data[64:], 1) // PT_LOAD, after PT_NOTE
	if first < 0 {
		t.Fatal("no segment")
	}
	count := int(data[56]) | int(data[57])<<8
	for i := range count {
		p := data[64+56*i:]
		if p[0] == 1 && p[4] == 6 { // writable
			for j, v := range []byte{0, 0, 0, byte(size >> 24)} {
				p[32+j], p[40+j] = v, v
			}
		}
	}
	in := &counted{r: io.MultiReader(bytes.NewReader(data), io.LimitReader(zeros{}, 2*size))}
	got, err := ReadStream(in, "core", StreamOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var kept int
	for i := range got.Memory.Regions {
		kept += len(got.Memory.Regions[i].Data)
	}
	if kept > maxKept || in.n != int64(len(data))+2*size {
		t.Errorf("%d bytes kept, %d read", kept, in.n)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

type counted struct {
	r io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// A core that is read from front to back takes little time, whatever is in it. If it can only be read at random,
// SeekError.Rest has all of it.
func FuzzStream(f *testing.F) {
	f.Add(small(f))
	for _, name := range fixtureCores {
		data := coreData(f, name)
		f.Add(data[:min(len(data), 6<<10)])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		watch := testenv.StartWatch()
		d, err := ReadStream(bytes.NewReader(data), "core", StreamOptions{})
		if took := watch.Took(); took > 5*time.Second {
			t.Fatalf("%d bytes took %v", len(data), took)
		}
		var seek *SeekError
		if errors.As(err, &seek) {
			if rest, err := io.ReadAll(seek.Rest); err != nil || !bytes.Equal(rest, data) {
				t.Fatalf("%d bytes are left of %d: %v", len(rest), len(data), err)
			}
		}
		if err == nil {
			use(t, d)
		}
	})
}

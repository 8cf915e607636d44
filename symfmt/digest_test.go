package symfmt

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// withDigest returns a text with its digest.
func withDigest(t testing.TB, text string, opts WriteOptions) string {
	t.Helper()
	m, _, err := read(strings.NewReader(text), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m.Digest = true
	var out bytes.Buffer
	if err := Write(&out, m, opts); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The form of the two records, which other programs may check too.
func TestDigestForm(t *testing.T) {
	for _, opts := range []WriteOptions{{}, {CRLF: true}} {
		text := withDigest(t, cutText, opts)
		end := lineEnd(opts.CRLF)
		const first = "INFO CODE_ID 67452301AB89EFCD0123456789ABCDEF"
		if !strings.Contains(text, first+end+"INFO DIGEST sha256"+end+"FILE 0 ") {
			t.Errorf("no announcement behind the first records: %q", text[:200])
		}
		at := strings.LastIndex(text, "INFO DIGEST sha256 ")
		if want := fmt.Sprintf("INFO DIGEST sha256 %x%s", sha256.Sum256([]byte(text[:at])), end); text[at:] != want {
			t.Errorf("the last record is %q, want %q", text[at:], want)
		}
		for _, in := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)), strings.NewReader("\xef\xbb\xbf" + text)} {
			m, report, err := read(in, ReadOptions{})
			if err != nil || !m.Digest || !report.Digest || report.BadDigest != nil || len(m.Infos) != 1 {
				t.Errorf("%+v, %+v, %v", m, report, err)
			}
		}
	}
}

// A text of several buffers, read with and without records inside FUNCs.
func TestDigestOfLongText(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	var b strings.Builder
	b.WriteString("MODULE Linux x86_64 0 app\nFILE 0 a.c\n")
	for i := range 40_000 {
		fmt.Fprintf(&b, "FUNC %x 10 0 f%d\n%x 10 %d 0\n", 16*i, i, 16*i, i+1)
	}
	text := withDigest(t, b.String(), WriteOptions{})
	for _, o := range []ReadOptions{{}, {Outline: true}, {Plain: true, Outline: true, Grouped: true}} {
		o.Tolerant = true
		if _, report := everything(text, o); !report.Digest || report.BadDigest != nil || len(report.Problems) > 0 {
			t.Errorf("%+v: %+v", o, report)
		}
		at := len(text) / 2
		if _, report := everything(text[:at]+string(text[at]^4)+text[at+1:], o); report.BadDigest == nil {
			t.Errorf("%+v: a flipped bit was not seen", o)
		}
	}
}

func TestBadDigests(t *testing.T) {
	const head, funcs = "MODULE Linux x86_64 0 app\n", "FUNC 1000 10 0 f\n"
	whole := withDigest(t, head+funcs, WriteOptions{})
	last := whole[strings.LastIndex(whole, "INFO DIGEST"):]
	for _, c := range []struct{ name, text, want string }{
		{"none", head + funcs, ""},
		{"right", whole, ""},
		{"another text", strings.Replace(whole, "1000", "1001", 1), "a.sym:4:20: INFO: not the digest of the text, which is "},
		{"line ends", strings.ReplaceAll(whole, "\n", "\r\n"), "(its lines end in CR LF: were they converted?)"},
		{"missing", strings.TrimSuffix(whole, last), "a.sym:2:1: INFO: the digest announced here is missing at the end: the file is cut off, or was changed"},
		{"cut", whole[:len(whole)-1], "a.sym:4:84: INFO: the file ends inside this line: want a line feed"},
		{"behind it", whole + "PUBLIC 2000 0 g\n1000 4 5 0\n", "a.sym:5:1: PUBLIC: a line behind the digest, which ends the file: it is left out, with all that follows"},
		{"a line record behind it", whole + "1000 10 5 0\n", "a.sym:5:1: line record: a line behind the digest, which ends the file: it is left out, with all that follows"},
		{"a blank line behind it", whole + "\n", "a.sym:5:1: a line behind the digest"},
		{"not announced", strings.Replace(whole, "INFO DIGEST sha256\n", "", 1), "a.sym:3:6: INFO: the digest is not announced by INFO DIGEST sha256 among the first records"},
		{"announced late", head + funcs + "INFO DIGEST sha256\n", "a.sym:3:6: INFO: a digest is announced here: want that among the first records, once"},
		{"announced twice", strings.Replace(whole, "INFO DIGEST sha256\n", "INFO DIGEST sha256\nINFO DIGEST sha256\n", 1), "a.sym:3:6: INFO: a digest is announced here"},
		{"another kind", head + "INFO DIGEST md5\n" + funcs, "a.sym:2:6: INFO: the digest is not announced"},
		{"upper case", strings.TrimSuffix(whole, last) + "INFO DIGEST sha256" + strings.ToUpper(last[len("INFO DIGEST sha256"):]), "not the digest of the text"},
	} {
		rd := NewReader(strings.NewReader(c.text), ReadOptions{File: "a.sym", Tolerant: true})
		records := 0
		for _, err := rd.Next(); err != io.EOF; _, err = rd.Next() {
			records++
		}
		rd.Next() // does not report anything twice
		report := rd.Report()
		said := ""
		for _, p := range report.Problems {
			said += p.Err.Error() + "\n"
		}
		if (said == "") != (c.want == "") || !strings.Contains(said, c.want) || strings.Count(said, "\n") > 2 {
			t.Errorf("%s: problems %q, want %q", c.name, said, c.want)
		}
		if bad := report.BadDigest; (bad == nil) != (c.want == "" || c.name == "cut") || records > 2 {
			t.Errorf("%s: %v after %d records", c.name, bad, records)
		}
		var syntax *SyntaxError
		if _, err := Read(context.Background(), strings.NewReader(c.text), ReadOptions{}); errors.As(err, &syntax) != (c.want != "") {
			t.Errorf("%s: the strict reader returns %v", c.name, err)
		}
	}
}

// No flipped bit in a text with a digest, and no cut after its announcement, goes unnoticed.
func TestDigestFlips(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	text := []byte(withDigest(t, cutText, WriteOptions{}))
	t.Log(flips(t, "with a digest", text, 1, true))
	for at := bytes.Index(text, []byte("INFO DIGEST")) + len("INFO DIGEST sha256\n"); at < len(text); at++ {
		if _, report := everything(string(text[:at]), ReadOptions{Tolerant: true}); len(report.Problems) == 0 {
			t.Errorf("cut at %d: no problem", at)
		}
	}
	t.Log(flips(t, "without", []byte(cutText), 1, false))
	for _, c := range []struct {
		name   string
		writer func(io.Writer) io.WriteCloser
	}{
		{"gzip", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }},
		{"zstd", func(w io.Writer) io.WriteCloser {
			z, err := zstd.NewWriter(w)
			if err != nil {
				t.Fatal(err)
			}
			return z
		}},
	} {
		var packed bytes.Buffer
		z := c.writer(&packed)
		z.Write(text)
		z.Close()
		t.Log(flips(t, c.name+" with a digest", packed.Bytes(), 1, true))
	}
}

// flips flips every step-th bit of a file and counts the outcomes. Silent changes are errors
// if the file is guarded.
func flips(t *testing.T, name string, data []byte, step int, guarded bool) string {
	t.Helper()
	outcome := func(data []byte) (string, bool) {
		m, report, err := read(bytes.NewReader(data), ReadOptions{Tolerant: true})
		if err != nil {
			return "", false
		}
		return textOf(t, m), len(report.Problems) == 0
	}
	whole, clean := outcome(data)
	if !clean {
		t.Fatalf("%s: the file is damaged", name)
	}
	var refused, said, same, silent int
	for bit := 0; bit < 8*len(data); bit += step {
		flipped := bytes.Clone(data)
		flipped[bit/8] ^= 1 << (bit % 8)
		switch text, clean := outcome(flipped); {
		case text == "":
			refused++
		case !clean:
			said++
		case text == whole:
			same++
		default:
			if silent++; guarded {
				t.Errorf("%s: bit %d of byte %d, %q, changes symbols silently", name, bit%8, bit/8, data[max(0, bit/8-5):bit/8+1])
			}
		}
	}
	return fmt.Sprintf("%s: %d bits: %d refused, %d reported, %d without effect, %d silent", name, len(data)*8/step, refused, said, same, silent)
}

// A text without its digest is the text that is written without one.
func TestWithoutDigest(t *testing.T) {
	long := "MODULE Linux x86_64 0 app\nFUNC 1000 10 0 " + strings.Repeat("long", bufferSize) + "\n"
	for _, text := range []string{cutText, long, "MODULE Linux x86_64 0 app\n"} {
		for _, opts := range []WriteOptions{{}, {CRLF: true}} {
			m, _, err := read(strings.NewReader(text), ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var plain bytes.Buffer
			if err := Write(&plain, m, opts); err != nil {
				t.Fatal(err)
			}
			for _, in := range []string{plain.String(), withDigest(t, text, opts)} {
				got, err := io.ReadAll(WithoutDigest(iotest.HalfReader(strings.NewReader(in))))
				if err != nil || string(got) != plain.String() {
					t.Errorf("%.200q: %.200q, %v", in, got, err)
				}
			}
		}
	}
}

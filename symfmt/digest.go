package symfmt

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"

	"github.com/symtool/symtool/symfmt/vars"
)

// A text may carry a digest of itself, so that a reader notices a flipped bit or a missing
// end. The digest is the last record,
//
//	INFO DIGEST sha256 HEX
//
// and covers all bytes before it, including line ends but not a byte order mark. The record
//
//	INFO DIGEST sha256
//
// announces it. It stands near the start, before any record other than MODULE and INFO. A text
// that was cut off after a whole line lacks the digest that it announces, and texts without a
// digest need not be hashed. Other readers skip INFO records that they do not know.
const (
	digestKey    = "DIGEST"
	digestRecord = "INFO " + digestKey + " sha256"
)

// DigestKey is the key of the INFO records of a digest. It is reserved for them.
const DigestKey = digestKey

// digest is the part of a Reader that checks the digest of a text.
type digest struct {
	settled   bool         // the head has ended, so it is known whether the text has a digest
	announced int          // line of the record that announces the digest; 0 if none does
	ended     bool         // the digest was read, which ends the text
	behind    bool         // a line after the digest was reported
	bad       *SyntaxError // the last error

	hash hash.Hash // of the text before buf[from]; nil before the first call of feed
	from int
}

// feed hashes the text before buf[to], because it is about to be dropped or because the digest
// ends there.
func (d *digest) feed(buf []byte, to int) {
	if d.ended || d.settled && d.announced == 0 {
		return
	}
	if d.hash == nil {
		d.hash = sha256.New()
	}
	d.hash.Write(buf[d.from:to])
	d.from = to
}

// see checks whether rec ends the head of the text: the head ends at the first record that is
// neither MODULE nor INFO, or that describes variables.
func (d *digest) see(rec *Record) {
	d.settled = d.settled || rec.Kind > KindInfo || rec.Kind == KindInfo && string(rec.Key) == vars.Key
}

// digestRecord reads an INFO DIGEST record.
func (r *Reader) digestRecord(rec *Record) *SyntaxError {
	d := &r.digest
	text := trimCR(rec.text)
	r.report.Digest = true
	switch {
	case string(text) == digestRecord:
		if d.settled || d.announced > 0 {
			return r.badDigest(rec.errorf(1, "a digest is announced here: want that among the first records, once"))
		}
		d.announced = rec.line
		return nil
	case d.announced == 0:
		d.ended = true
		return r.badDigest(rec.errorf(1, "the digest is not announced by %s among the first records: the file was changed after it was written", digestRecord))
	}
	d.feed(r.buf, r.at)
	want := fmt.Appendf(nil, "%s %x", digestRecord, d.hash.Sum(nil))
	d.ended = true
	if string(text) == string(want) {
		return nil
	}
	why := ""
	if r.report.Layout.CR.Count > 0 {
		why = " (its lines end in CR LF: were they converted?)"
	}
	return r.badDigest(rec.errorf(3, "not the digest of the text, which is %s: the file was damaged or changed after it was written%s",
		want[len(digestRecord)+1:], why))
}

// badDigest records an error of the digest; the Report keeps the first. It does not count as a
// lost record.
func (r *Reader) badDigest(bad *SyntaxError) *SyntaxError {
	r.digest.bad = bad
	if r.report.BadDigest == nil {
		r.report.BadDigest = bad
	}
	return bad
}

// behindDigest skips the lines after the digest and reports the first of them.
func (r *Reader) behindDigest() (*Record, *SyntaxError, error) {
	for {
		text, _, err := r.line()
		if err != nil {
			return nil, nil, err
		}
		r.rec.line, r.rec.text = r.report.Lines, nil
		if !r.digest.behind {
			r.digest.behind = true
			return nil, r.badDigest(r.badLine(text, 0, "a line behind the digest, which ends the file: it is left out, with all that follows")), nil
		}
	}
}

// endDigest reports, at the end of a text, that an announced digest is missing.
func (r *Reader) endDigest() error {
	d := &r.digest
	if d.announced == 0 || d.ended || r.report.Cut != nil || r.report.Damage != nil {
		return nil
	}
	d.ended = true
	return r.problem(r.badDigest(&SyntaxError{
		File: r.opts.File, Line: d.announced, Col: 1, Record: KindInfo.String(),
		Msg: "the digest announced here is missing at the end: the file is cut off, or was changed",
	}), "")
}

// digestWriter hashes what is written to it.
type digestWriter struct {
	w   io.Writer
	sum hash.Hash
}

func (d *digestWriter) Write(p []byte) (int, error) {
	n, err := d.w.Write(p)
	d.sum.Write(p[:n])
	return n, err
}

// end writes the digest, the last record.
func (d *digestWriter) end(crlf bool) error {
	line := append(hex.AppendEncode([]byte(digestRecord+" "), d.sum.Sum(nil)), lineEnd(crlf)...)
	_, err := d.w.Write(line)
	return err
}

func lineEnd(crlf bool) string {
	if crlf {
		return "\r\n"
	}
	return "\n"
}

// WithoutDigest returns the text of a symbol file without its DIGEST records, as if it had been written
// without them.
func WithoutDigest(text io.Reader) io.Reader {
	return &undigested{in: bufio.NewReaderSize(text, bufferSize)}
}

// undigested copies a text without the records of its digest.
type undigested struct {
	in    *bufio.Reader
	head  bool // the head has ended
	has   bool // a digest was announced
	ready []byte
}

// Read implements io.Reader.
func (u *undigested) Read(p []byte) (n int, err error) {
	for len(u.ready) == 0 {
		if u.head && !u.has {
			return u.in.Read(p)
		}
		line, err := u.in.ReadSlice('\n')
		if len(line) == 0 {
			return 0, err
		}
		text := trimCR(bytes.TrimSuffix(line, []byte{'\n'}))
		switch kind := kindOf(text); {
		case !u.head && string(text) == digestRecord:
			u.has = true
		case u.has && len(text) == len(digestRecord)+1+2*sha256.Size && bytes.HasPrefix(text, []byte(digestRecord+" ")):
		default:
			u.head = u.head || kind != KindModule && kind != KindInfo
			u.ready = line
		}
	}
	n = copy(p, u.ready)
	u.ready = u.ready[n:]
	return n, nil
}

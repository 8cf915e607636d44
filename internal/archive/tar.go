package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"strconv"
)

const (
	tarBlock = 512

	// tarSum is the offset of the header's checksum: the sum of its bytes, with the checksum itself taken as blanks.
	tarSum, tarSumEnd = 148, 156
)

// isTar reports whether head is the first header of a tar archive. Archives from before POSIX are
// recognized only by the checksum.
func isTar(head []byte) bool {
	if len(head) < tarBlock || head[0] == 0 {
		return false
	}
	text := string(bytes.Trim(head[tarSum:tarSumEnd], " \x00"))
	want, err := strconv.ParseInt(text, 8, 32)
	sum := int64(tarSumEnd-tarSum) * ' '
	for i, b := range head[:tarBlock] {
		if i < tarSum || i >= tarSumEnd {
			sum += int64(b)
		}
	}
	return err == nil && sum == want
}

// tar reads a tar archive. It skips links, devices and folders: a link's target is in the archive under its own name,
// or not at all.
func (w *walker) tar(in *input) error {
	r := tar.NewReader(in.r)
	for !w.done() {
		h, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) { // these names are never written to
			return err
		}
		if h.Typeflag == tar.TypeReg || h.Typeflag == tar.TypeGNUSparse || h.Typeflag == tar.TypeCont {
			w.member(in, h.Name, w.charged(r))
		}
	}
	return nil
}

package upload

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// partThreshold is the size in bytes from which an object is sent in parts, each of which is
// retried on its own. partSize is the size of a part; each of Jobs workers holds one part in
// memory, and S3 accepts 10,000 parts.
const (
	partThreshold = 64 << 20
	partSize      = 16 << 20
	maxParts      = 10_000
)

// sendParts sends an object in parts. An upload that is begun and not completed is aborted, as
// its parts cost money until then.
func (b *bucket) sendParts(ctx context.Context, f *file, header http.Header, r *Result) error {
	size := cmp.Or(b.u.partSize, partSize)
	for (f.body.size+size-1)/size > maxParts {
		size *= 2
	}
	key := b.key(f)
	a, err := b.call(ctx, http.MethodPost, key, "uploads=", header, nil, maxJSON, nil, nil)
	if err != nil {
		return err
	}
	var begun struct {
		ID string `xml:"UploadId"`
	}
	if err := xml.Unmarshal(a.text, &begun); err != nil || begun.ID == "" {
		return &refusal{errors.New("the answer to uploads= has no UploadId")}
	}
	upload := "uploadId=" + url.QueryEscape(begun.ID)
	err = b.parts(ctx, f, key, upload, size, r)
	if err != nil {
		// Abort even if the context has ended, but do not wait long.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_, _ = b.call(ctx, http.MethodDelete, key, upload, nil, nil, 0, nil, nil)
	}
	return err
}

type part struct {
	Number int    `xml:"PartNumber"`
	Tag    string `xml:"ETag"`
}

func (b *bucket) parts(ctx context.Context, f *file, key, upload string, size int64, r *Result) error {
	in, err := f.body.reader(nil)
	if err != nil {
		return err
	}
	defer in.Close()
	r.Tries++
	var list struct {
		XMLName xml.Name `xml:"CompleteMultipartUpload"`
		Parts   []part   `xml:"Part"`
	}
	buf := make([]byte, min(size, f.body.size))
	for sent := int64(0); sent < f.body.size; {
		n, err := io.ReadFull(in, buf[:min(size, f.body.size-sent)])
		if err != nil {
			return err
		}
		payload := bytesBody(buf[:n])
		number := len(list.Parts) + 1
		a, err := b.call(ctx, http.MethodPut, key, fmt.Sprintf("partNumber=%d&%s", number, upload), nil, payload, 0, nil, nil)
		if err == nil {
			err = checkTag(a.header, payload.md5[:])
		}
		if err != nil {
			return fmt.Errorf("part %d: %w", number, err)
		}
		list.Parts = append(list.Parts, part{number, a.header.Get("ETag")})
		sent += int64(n)
		if f.progress != nil {
			f.progress(sent)
		}
	}
	text, err := xml.Marshal(&list)
	if err != nil {
		return err
	}
	return b.completeParts(ctx, f, key, upload, bytesBody(text))
}

// completeParts joins the parts into one object. The answer may be an error with status 200. If
// an answer was lost, the parts may be gone, so the object is looked for.
func (b *bucket) completeParts(ctx context.Context, f *file, key, upload string, list *body) error {
	var tries Result
	a, err := b.call(ctx, http.MethodPost, key, upload, nil, list, maxJSON, nil, &tries)
	if err != nil && tries.Tries > 1 && hasStatus(err, http.StatusNotFound) {
		if there, _ := b.there(ctx, f); there {
			return nil
		}
	}
	if err != nil {
		return err
	}
	var failed s3Error
	var made struct {
		XMLName xml.Name `xml:"CompleteMultipartUploadResult"`
	}
	if text := bytes.TrimSpace(a.text); xml.Unmarshal(text, &failed) == nil {
		return &refusal{fmt.Errorf("%s: %s", a.say(failed.Code), a.say(failed.Message))}
	}
	if xml.Unmarshal(a.text, &made) != nil {
		return &refusal{errors.New("the answer to the list of parts is not a CompleteMultipartUploadResult")}
	}
	return nil
}

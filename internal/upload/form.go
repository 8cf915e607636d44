package upload

import (
	"bytes"
	"encoding/hex"
	"io"
	"mime/multipart"
	"net/textproto"
	"strings"
)

// formEscaper escapes names in forms as browsers do (the HTML standard, "multipart form data");
// mime/multipart has the older form, with backslashes.
var formEscaper = strings.NewReplacer("\r", "%0D", "\n", "%0A", `"`, "%22")

// disposition returns the header of a part of a form.
func disposition(name, more string) textproto.MIMEHeader {
	return textproto.MIMEHeader{"Content-Disposition": {`form-data; name="` + formEscaper.Replace(name) + `"` + more}}
}

// form encodes a multipart/form-data body with fields and one file. Equal contents have equal
// bytes: the boundary is derived from the file's SHA-256, which the file cannot contain.
func form(fields []Field, fileField, fileName string, file *body) (contentType string, made *body) {
	var text bytes.Buffer // everything but the file; writing to it cannot fail
	w := multipart.NewWriter(&text)
	_ = w.SetBoundary("symtool-" + hex.EncodeToString(file.sha[:])[:40])
	for _, f := range fields {
		part, _ := w.CreatePart(disposition(f.Name, ""))
		_, _ = io.WriteString(part, f.Value)
	}
	head := disposition(fileField, `; filename="`+formEscaper.Replace(fileName)+`"`)
	head.Set("Content-Type", "application/octet-stream")
	_, _ = w.CreatePart(head)
	at := text.Len()
	_ = w.Close()
	before, behind := text.Bytes()[:at], text.Bytes()[at:]
	made = &body{size: int64(text.Len()) + file.size}
	made.open = func() (io.ReadCloser, error) {
		in, err := file.reader(nil)
		if err != nil {
			return nil, err
		}
		return struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(before), in, bytes.NewReader(behind)), in}, nil
	}
	return w.FormDataContentType(), made
}

package upload

import (
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

// formEscaper is how browsers write names in forms (the HTML standard, "multipart form
// data").
var formEscaper = strings.NewReplacer("\r", "%0D", "\n", "%0A", `"`, "%22")

// form makes a multipart/form-data body with fields and one file. The same contents
// have the same bytes: the boundary is made of the file's SHA-256, which it cannot have
// in it.
func form(fields []Field, fileField, fileName string, file *body) (contentType string, made *body) {
	boundary := "symtool-" + hex.EncodeToString(file.sha[:])[:40]
	var head strings.Builder
	for _, f := range fields {
		fmt.Fprintf(&head, "--%s\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n", boundary, formEscaper.Replace(f.Name), f.Value)
	}
	fmt.Fprintf(&head, "--%s\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"%s\"\r\nContent-Type: application/octet-stream\r\n\r\n",
		boundary, formEscaper.Replace(fileField), formEscaper.Replace(fileName))
	tail := "\r\n--" + boundary + "--\r\n"
	made = &body{size: int64(head.Len()) + file.size + int64(len(tail))}
	made.open = func() (io.ReadCloser, error) {
		in, err := file.reader(nil)
		if err != nil {
			return nil, err
		}
		return struct {
			io.Reader
			io.Closer
		}{io.MultiReader(strings.NewReader(head.String()), in, strings.NewReader(tail)), in}, nil
	}
	return "multipart/form-data; boundary=" + boundary, made
}

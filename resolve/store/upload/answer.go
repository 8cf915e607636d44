package upload

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
)

func asStatus(err error, status **statusError) bool { return errors.As(err, status) }

// contentLength returns what a header says of the size, in bytes.
func contentLength(h http.Header) (int64, bool) {
	n, err := strconv.ParseInt(h.Get("Content-Length"), 10, 64)
	return n, err == nil && n >= 0
}

// maxJSON is the size of the largest answer that is read as JSON, in bytes: the list of
// files in an answer to a zip may have hundred thousands of names.
const maxJSON = 32 << 20

// parse reads an answer as JSON.
func (a *answer) parse(into any) error {
	if err := json.Unmarshal(a.text, into); err != nil {
		says := a.readable()
		if says == "" {
			says = fmt.Sprintf("%d bytes", len(a.text))
		}
		return &refusal{fmt.Errorf("the answer is not the JSON that is due: %s", says)}
	}
	return nil
}

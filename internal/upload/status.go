package upload

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sort"
	"strings"
	"time"
)

// statusError is an unsuccessful answer.
type statusError struct {
	code   int
	status string
	says   string        // "" if there is no readable text
	after  time.Duration // Retry-After
	header http.Header
	xml    s3Error

	foreign bool // it is not from the server that was named
}

func (e *statusError) Error() string {
	if e.says == "" {
		return e.status
	}
	return e.status + ": " + e.says
}

// hasStatus reports whether err is an answer with one of these statuses.
func hasStatus(err error, codes ...int) bool {
	var status *statusError
	if !errors.As(err, &status) {
		return false
	}
	for _, c := range codes {
		if status.code == c {
			return true
		}
	}
	return false
}

// RefusesMethod reports whether a file failed because the server accepts nothing at its address,
// or not by this protocol: 405 and 501.
func RefusesMethod(err error) bool {
	return hasStatus(err, http.StatusMethodNotAllowed, http.StatusNotImplemented)
}

// s3Error is an error of S3 in XML.
type s3Error struct {
	XMLName xml.Name `xml:"Error"`
	Code    string   `xml:"Code"`
	Message string   `xml:"Message"`
	Region  string   `xml:"Region"`
}

// statusError returns the error for an unsuccessful answer.
func (a *answer) statusError(foreign bool) *statusError {
	e := &statusError{code: a.status, after: retryAfter(a.header, time.Now()), header: a.header, foreign: foreign}
	// The server's own words may be anything.
	e.status = strings.TrimSpace(fmt.Sprintf("%d %s", e.code, http.StatusText(e.code)))
	if xml.Unmarshal(a.text, &e.xml) == nil {
		e.says = a.say(strings.Trim(e.xml.Code+": "+e.xml.Message, ": "))
	} else {
		e.says = a.readable()
	}
	return e
}

// say returns the server's words on one line. Secrets are hidden before it is shortened, as half
// of one would not be found.
func (a *answer) say(text string) string { return oneLine(a.hidden.redact(text)) }

// readable returns the text of an answer as one line, or "" for pages and binary data.
func (a *answer) readable() string {
	var doc map[string]any
	if json.Unmarshal(a.text, &doc) == nil {
		for _, key := range []string{"error", "message", "detail"} {
			switch v := doc[key].(type) {
			case string:
				return a.say(v)
			case map[string]any: // Google's
				if s, ok := v["message"].(string); ok {
					return a.say(s)
				}
			}
		}
	}
	s := a.say(string(a.text))
	if strings.HasPrefix(s, "<") {
		return ""
	}
	return s
}

const maxSays = 300

func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if len(s) > maxSays {
		s = strings.ToValidUTF8(s[:maxSays], "") + "..."
	}
	return s
}

// secrets are texts that must not appear in messages.
type secrets struct{ all []string }

// shortSecret is the length below which a value may be in messages for other reasons.
const shortSecret = 4

func (s *secrets) add(text string) {
	if len(text) < shortSecret {
		return
	}
	s.all = append(s.all, text, url.QueryEscape(text), url.PathEscape(text))
	if word, rest, ok := strings.Cut(text, " "); ok && (word == "Bearer" || word == "Basic" || word == "token") {
		s.add(rest)
	}
	// Longest first, as one may contain another.
	sort.SliceStable(s.all, func(i, j int) bool { return len(s.all[i]) > len(s.all[j]) })
}

func (s *secrets) redact(text string) string {
	for _, secret := range s.all {
		text = strings.ReplaceAll(text, secret, "[hidden]")
	}
	return text
}

// hiddenError is an error whose message has no secrets.
type hiddenError struct {
	error
	text string
}

func (e *hiddenError) Error() string { return e.text }
func (e *hiddenError) Unwrap() error { return e.error }

func (s *secrets) hide(err error) error {
	if err == nil {
		return nil
	}
	return &hiddenError{err, s.redact(err.Error())}
}

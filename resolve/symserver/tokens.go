package symserver

import (
	"bufio"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"

	"golang.org/x/time/rate"
)

// access is what a token permits.
type access uint8

const (
	mayRead access = 1 << iota
	mayUpload
)

// roles are the words for access in a list of tokens.
var roles = map[string]access{"read": mayRead, "upload": mayUpload, "all": mayRead | mayUpload}

// Tokens are the clients that may upload or read.
type Tokens struct{ all []*token }

// token is a client's secret. Only its hash is known.
type token struct {
	hash   [sha256.Size]byte
	name   string
	access access
	rate   *rate.Limiter // of uploads
}

// ReadTokens reads a list of tokens, one a line: the SHA-256 of the token in hexadecimal, what it permits
// (read, upload or all) and its name, which the access log shows. Blank lines and lines that begin with #
// are skipped.
func ReadTokens(r io.Reader) (*Tokens, error) {
	t := &Tokens{}
	names := map[string]bool{}
	lines := bufio.NewScanner(r)
	n := 0
	for lines.Scan() {
		n++
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		one, err := parseToken(text)
		if err == nil && names[one.name] {
			err = fmt.Errorf("a second token %q", one.name)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		names[one.name] = true
		t.all = append(t.all, one)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", n+1, err)
	}
	return t, nil
}

// parseToken parses a line. What is not a hash may be the token itself, so no error repeats it.
func parseToken(text string) (*token, error) {
	parts := strings.Fields(text)
	if len(parts) != 3 {
		return nil, fmt.Errorf("%d words, want 3: the SHA-256 of the token, its role (read, upload or all) and its name", len(parts))
	}
	hash, err := hex.DecodeString(parts[0])
	if err != nil || len(hash) != sha256.Size {
		return nil, fmt.Errorf("the first word is not a SHA-256, which has %d hexadecimal digits", 2*sha256.Size)
	}
	access := roles[parts[1]]
	if access == 0 {
		return nil, fmt.Errorf("the second word is not a role: want read, upload or all")
	}
	return &token{hash: [sha256.Size]byte(hash), name: parts[2], access: access}, nil
}

// find returns the token with a secret, or nil. It takes the same time for every secret.
func (t *Tokens) find(secret string) (found *token) {
	hash := sha256.Sum256([]byte(secret))
	for _, one := range t.all {
		if subtle.ConstantTimeCompare(hash[:], one.hash[:]) == 1 {
			found = one
		}
	}
	return found
}

// SetTokens replaces the tokens. Requests that were permitted go on.
func (s *Server) SetTokens(t *Tokens) {
	for _, one := range t.all {
		one.rate = rate.NewLimiter(rate.Limit(float64(s.cfg.UploadRate)/60), s.cfg.UploadRate)
	}
	s.tokens.Store(t)
}

// secretOf returns the token of a request, or "". Clients of symbol servers send it as a bearer token or as the
// password of basic authentication (RFC 6750, RFC 7617), as Auth-Token to Tecken, and as ?key= in
// sym-upload-v2.
func secretOf(r *http.Request) string {
	if _, password, ok := r.BasicAuth(); ok {
		return password
	}
	if scheme, secret, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(secret)
	}
	if secret := r.Header.Get("Auth-Token"); secret != "" {
		return secret
	}
	return r.URL.Query().Get("key")
}

// permit reports whether a request's token permits one of the kinds of access, and answers if it does not.
func (s *Server) permit(w *recorder, r *http.Request, to target, need access) bool {
	secret := secretOf(r)
	w.token = s.tokens.Load().find(secret)
	if w.token != nil && w.token.access&need != 0 {
		return true
	}
	status, text := http.StatusUnauthorized, "this server wants a token"
	switch {
	case w.token != nil:
		status, text = http.StatusForbidden, "the token "+w.token.name+" does not permit this"
	case secret != "":
		text = "the token is not known here"
	}
	if status == http.StatusUnauthorized {
		w.Header().Add("WWW-Authenticate", `Bearer realm="symtool"`)
		w.Header().Add("WWW-Authenticate", `Basic realm="symtool", charset="UTF-8"`) // for browsers; the password is the token
	}
	s.failFor(to)(w, status, text)
	return false
}

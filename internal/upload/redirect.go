package upload

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

const maxRedirects = 5

// redirected returns where an answer sends on to; nil if it does not. What has no body
// goes anywhere, PUT and POST only where they stay what they are.
func redirected(method string, at *url.URL, resp *http.Response) (*url.URL, error) {
	code := resp.StatusCode
	switch code {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, nil
	}
	where := resp.Header.Get("Location")
	if where == "" {
		return nil, &refusal{fmt.Errorf("%s, and not where to", resp.Status)}
	}
	next, err := at.Parse(where)
	if err != nil {
		return nil, &refusal{fmt.Errorf("%s, to an address that cannot be read", resp.Status)}
	}
	next.Fragment = ""
	if err := mayGo(at, next); err != nil {
		return nil, &refusal{fmt.Errorf("%s, %w", resp.Status, err)}
	}
	keeps := code == http.StatusTemporaryRedirect || code == http.StatusPermanentRedirect
	if !keeps && method != http.MethodGet && method != http.MethodHead {
		return nil, &refusal{fmt.Errorf("%s, to %s: with this status a %s becomes a GET, which uploads nothing; unless it is a login page, use that address",
			resp.Status, shown(next), method)}
	}
	return next, nil
}

// mayGo rejects addresses that are not HTTP, and the way out of encryption.
func mayGo(from, to *url.URL) error {
	switch {
	case to.Scheme != "http" && to.Scheme != "https":
		return fmt.Errorf("to %q, which is not an http: or https: URL", shown(to))
	case to.Hostname() == "":
		return errors.New("to an address that names no server")
	case from.Scheme == "https" && to.Scheme != "https":
		return fmt.Errorf("from https to %s", shown(to))
	}
	return nil
}

// sameServer reports whether what is for a server may go to an address: to the same host
// and port, or to the same host's https.
func sameServer(to, base *url.URL) bool {
	if to.Hostname() != base.Hostname() {
		return false
	}
	if to.Scheme == base.Scheme {
		return port(to) == port(base)
	}
	return base.Scheme == "http" && to.Scheme == "https" && port(base) == "80" && port(to) == "443"
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}

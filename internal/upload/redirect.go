package upload

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

const maxRedirects = 5

// redirected returns the address that an answer redirects to, or nil. Requests without a body
// follow any redirection, PUT and POST only those that preserve the method.
func redirected(method string, at *url.URL, resp *http.Response) (*url.URL, error) {
	code := resp.StatusCode
	switch code {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, nil
	}
	where := resp.Header.Get("Location")
	if where == "" {
		return nil, &refusal{fmt.Errorf("%s, without an address to redirect to", resp.Status)}
	}
	next, err := at.Parse(where)
	if err != nil {
		return nil, &refusal{fmt.Errorf("%s, to an invalid address", resp.Status)}
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

// mayGo rejects addresses that are not HTTP, and redirections from https to http.
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

// sameServer reports whether what is meant for a server may be sent to an address: to the same
// host and port, or to the same host by https.
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

package upload

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/minio/minio-go/v7/pkg/s3utils"
	"github.com/minio/minio-go/v7/pkg/signer"
)

// bucket is a bucket of S3 or a compatible server. Credentials and signatures are minio-go's, but
// requests are sent as in other protocols: minio-go's Client waits at most a second
// between tries, whatever Retry-After says, accepts no endpoint with a path, cannot sign the
// user's headers, and sends requests for unknown regions to us-east-1.
type bucket struct {
	u        *Uploader
	name     string
	prefix   string   // of objects' names; "" or with a trailing slash
	endpoint *url.URL // nil for AWS
	creds    credentialSource

	mu     sync.Mutex
	region string
	asked  sync.Once // for the region
}

// defaultRegion is the region that AWS assumes by default.
const defaultRegion = "us-east-1"

// Names are limited to what S3 allows and is safe in a host's name. The patterns do not limit
// lengths: a counted repetition is compiled as often as it may occur.
var (
	bucketName = regexp.MustCompile(`^[a-z0-9A-Z][a-zA-Z0-9._-]+[a-zA-Z0-9]$`)
	regionName = regexp.MustCompile(`^[a-zA-Z0-9-]+$`)
)

func isBucket(name string) bool { return len(name) <= 255 && bucketName.MatchString(name) }
func isRegion(name string) bool { return len(name) <= 64 && regionName.MatchString(name) }

// openBucket prepares the target for S3.
func (u *Uploader) openBucket() error {
	at, err := url.Parse(u.URL)
	if err != nil || at.Scheme != "s3" || at.Host == "" || at.User != nil || at.RawQuery != "" || at.Fragment != "" {
		return fmt.Errorf("want s3://BUCKET or s3://BUCKET/PREFIX")
	}
	if !isBucket(at.Host) || strings.Contains(at.Host, "..") {
		return fmt.Errorf("%q is not the name of a bucket", at.Host)
	}
	b := &bucket{u: u, name: at.Host, region: u.Region, prefix: strings.Trim(at.Path, "/")}
	b.creds.noRole = u.NoRole
	if b.region == "" {
		b.region = defaultRegion
	}
	if !isRegion(b.region) {
		return fmt.Errorf("%q is not the name of a region", b.region)
	}
	if b.prefix != "" {
		for _, part := range strings.Split(b.prefix, "/") {
			if part == "" || part == "." || part == ".." {
				return fmt.Errorf("%q in s3://BUCKET/PREFIX is not the name of a folder", part)
			}
		}
		b.prefix += "/"
	}
	if u.Endpoint != "" {
		if b.endpoint, err = parseURL(u.Endpoint); err != nil {
			return fmt.Errorf("endpoint: %w", err)
		}
	}
	u.client = newClient(&u.Options, b.host())
	u.target = b
	return nil
}

// host returns the server's address, with the bucket where it belongs in the host's name.
func (b *bucket) host() *url.URL {
	if b.endpoint != nil {
		return b.endpoint.JoinPath(b.name)
	}
	server := "s3." + b.inRegion() + ".amazonaws.com"
	if strings.HasPrefix(b.inRegion(), "cn-") {
		server += ".cn"
	}
	if !strings.Contains(b.name, ".") && strings.ToLower(b.name) == b.name { // otherwise TLS has no certificate for it
		return &url.URL{Scheme: "https", Host: b.name + "." + server, Path: "/"}
	}
	return &url.URL{Scheme: "https", Host: server, Path: "/" + b.name}
}

func (b *bucket) inRegion() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.region
}

func (b *bucket) key(f *file) string { return b.prefix + strings.Join(f.parts(), "/") }

func (b *bucket) url(f *file) string {
	at := url.URL{Scheme: "s3", Host: b.name, Path: "/" + b.key(f)}
	if b.endpoint == nil {
		return at.String()
	}
	return shown(b.object(b.key(f)))
}

// object returns the address of an object, escaped as signatures require.
func (b *bucket) object(key string) *url.URL {
	u := b.host()
	u.Path = strings.TrimSuffix(u.Path, "/") + "/" + key
	u.RawPath = s3utils.EncodePath(u.Path)
	return u
}

// call sends a request for an object, following the bucket to its region.
func (b *bucket) call(ctx context.Context, method, key, query string, header http.Header, payload *body, most int64, f *file, r *Result) (*answer, error) {
	for again := false; ; again = true {
		at := b.object(key)
		at.RawQuery = query
		region := b.inRegion()
		req := &request{method: method, url: at, header: header, body: payload, most: most, carries: r}
		if f != nil {
			req.progress = f.progress
		}
		req.sign = func(q *http.Request) (*http.Request, error) { return b.sign(ctx, q, payload, region) }
		a, err := b.u.client.do(ctx, req)
		if err != nil && !again && b.moved(err, region) {
			continue
		}
		return a, err
	}
}

// moved switches to the region that a server names, and reports whether it did.
func (b *bucket) moved(err error, asked string) bool {
	var status *statusError
	if !errors.As(err, &status) {
		return false
	}
	region := status.header.Get("X-Amz-Bucket-Region")
	if region == "" {
		region = status.xml.Region
	}
	if region == "" || region == asked || !isRegion(region) {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.region = region
	return true
}

// emptySHA is the SHA-256 of no bytes.
const emptySHA = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// sign signs a request with the SHA-256 of its body, so that a server accepts
// no other bytes.
func (b *bucket) sign(ctx context.Context, req *http.Request, payload *body, region string) (*http.Request, error) {
	v, err := b.creds.get(ctx, b.u.client.http.Transport)
	if err != nil {
		return nil, &refusal{err}
	}
	sum := emptySHA
	if payload != nil {
		sum = hex.EncodeToString(payload.sha[:])
	}
	req.Header.Set("X-Amz-Content-Sha256", sum)
	return signer.SignV4(*req, v.AccessKeyID, v.SecretAccessKey, v.SessionToken, region), nil
}

// shaKey is the header with the SHA-256 of an object. The ETag is the MD5 only if the object was
// sent in one part and is not encrypted with a key of the user.
const shaKey = "X-Amz-Meta-Sha256"

func (b *bucket) send(ctx context.Context, f *file, r *Result) (Outcome, error) {
	if !b.u.Force {
		there, err := b.there(ctx, f)
		if there || err != nil {
			return Present, err
		}
	}
	header := http.Header{"Content-Type": {textType}, shaKey: {hex.EncodeToString(f.body.sha[:])}}
	if f.gzip {
		header.Set("Content-Encoding", "gzip")
	}
	if f.body.size > cmp.Or(b.u.partThreshold, partThreshold) {
		return Uploaded, b.sendParts(ctx, f, header, r)
	}
	a, err := b.call(ctx, http.MethodPut, b.key(f), "", header, &f.body, 0, f, r)
	if err == nil {
		err = checkTag(a.header, f.body.md5[:])
	}
	return Uploaded, err
}

// there reports whether an object has the bytes of the file.
func (b *bucket) there(ctx context.Context, f *file) (bool, error) {
	region := b.inRegion()
	a, err := b.call(ctx, http.MethodHead, b.key(f), "", nil, nil, 0, nil, nil)
	if err != nil {
		// Without the permission to list the bucket, missing objects get 403, too.
		if hasStatus(err, http.StatusForbidden, http.StatusBadRequest) && b.locate(ctx, region) {
			return b.there(ctx, f)
		}
		if hasStatus(err, http.StatusNotFound, http.StatusForbidden, http.StatusBadRequest) {
			return false, nil
		}
		return false, err
	}
	size, known := contentLength(a.header)
	if known && size != f.body.size {
		return false, nil
	}
	if sum := a.header.Get(shaKey); sum != "" {
		return sum == hex.EncodeToString(f.body.sha[:]), nil
	}
	tag := strings.Trim(a.header.Get("ETag"), `"`)
	isMD5 := len(tag) == 32 && a.header.Get(kmsKey) == ""
	return known && (!isMD5 || strings.EqualFold(tag, hex.EncodeToString(f.body.md5[:]))), nil
}

// locate asks for the region, once: servers other than Amazon's name it in the text of an
// answer, and an answer to HEAD has no text. It reports whether the region has changed.
func (b *bucket) locate(ctx context.Context, before string) bool {
	b.asked.Do(func() {
		a, err := b.call(ctx, http.MethodGet, "", "location=", nil, nil, maxErrorText, nil, nil)
		if err != nil {
			return // call has switched to the region, if there is one
		}
		var doc struct {
			Region string `xml:",chardata"`
		}
		if xml.Unmarshal(a.text, &doc) == nil && isRegion(doc.Region) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.region = doc.Region
		}
	})
	return b.inRegion() != before
}

// kmsKey is a header of objects that are encrypted so that the ETag differs from the MD5.
const kmsKey = "X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id"

// checkTag compares the ETag of what was sent with its MD5.
func checkTag(h http.Header, sum []byte) error {
	tag := strings.Trim(h.Get("ETag"), `"`)
	if len(tag) != 32 || h.Get(kmsKey) != "" || strings.EqualFold(tag, hex.EncodeToString(sum)) {
		return nil
	}
	if _, err := hex.DecodeString(tag); err != nil {
		return nil
	}
	return &refusal{fmt.Errorf("the server has other bytes: ETag %s, want %x", tag, sum)}
}

// Command s3server is an S3 server for tests: gofakes3, with its objects in memory. gofakes3 does
// not check signatures, so each is compared with AWS's own signer's. It prints its address, and
// exits at the end of its standard input.
//
//	s3server BUCKET REGION ACCESS-KEY SECRET-KEY
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

func main() {
	backend := s3mem.New()
	if err := backend.CreateBucket(os.Args[1]); err != nil {
		log.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("http://" + l.Addr().String())
	go quit()
	fake := gofakes3.New(backend)
	log.Fatal(http.Serve(l, &checked{fake.Server(), os.Args[2], aws.Credentials{AccessKeyID: os.Args[3], SecretAccessKey: os.Args[4]}}))
}

// quit ends the program at the end of its standard input.
func quit() {
	io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// checked checks signatures, and the SHA-256 that they are for.
type checked struct {
	next   http.Handler
	region string
	creds  aws.Credentials
}

func (c *checked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	code, message := c.check(r)
	if code == "" {
		c.next.ServeHTTP(w, r)
		return
	}
	w.WriteHeader(http.StatusForbidden)
	fmt.Fprintf(w, "<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>%s</Message><Region>%s</Region></Error>", code, message, c.region)
}

func (c *checked) check(r *http.Request) (code, message string) {
	got := r.Header.Get("Authorization")
	if !strings.Contains(got, "/"+c.region+"/s3/aws4_request") {
		return "AuthorizationHeaderMalformed", "the region is wrong; expecting " + c.region
	}
	_, signed, _ := strings.Cut(got, "SignedHeaders=")
	signed, _, _ = strings.Cut(signed, ",")
	date, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil {
		return "AccessDenied", "no date"
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return "IncompleteBody", err.Error()
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	sum := sha256.Sum256(body)
	hash := r.Header.Get("X-Amz-Content-Sha256")
	if hash != hex.EncodeToString(sum[:]) {
		return "XAmzContentSHA256Mismatch", "the body has another SHA-256"
	}
	again, err := http.NewRequest(r.Method, "http://"+r.Host+r.URL.RequestURI(), nil)
	if err != nil {
		return "InvalidURI", err.Error()
	}
	for _, name := range strings.Split(signed, ";") {
		if values := r.Header.Values(name); len(values) > 0 {
			again.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	if err := signer.SignHTTP(context.Background(), c.creds, again, hash, "s3", c.region, date); err != nil {
		return "AccessDenied", err.Error()
	}
	if want := again.Header.Get("Authorization"); strings.ReplaceAll(want, " ", "") != strings.ReplaceAll(got, " ", "") {
		return "SignatureDoesNotMatch", got + " for " + want
	}
	return "", ""
}

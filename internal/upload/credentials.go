package upload

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"sync"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// credentialSource gets the credentials for S3: from AWS's variables, its files (profiles, single
// sign-on, a program), or the machine's role.
type credentialSource struct {
	noRole bool // do not ask the machine

	mu    sync.Mutex
	creds *credentials.Credentials
	err   error // why there are no credentials
}

// roleTimeout limits the request for a machine's role: on a machine without
// one, nothing answers.
const roleTimeout = 3 * time.Second

func (s *credentialSource) get(ctx context.Context, t http.RoundTripper) (credentials.Value, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	cc := &credentials.CredContext{Client: &http.Client{Transport: t, Timeout: roleTimeout}, Context: ctx}
	if s.creds != nil {
		return s.creds.GetWithContext(cc)
	}
	if s.err != nil {
		return credentials.Value{}, s.err
	}
	var why []error
	providers := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	if !s.noRole {
		providers = append(providers, &credentials.IAM{})
	}
	for _, p := range providers {
		creds := credentials.New(p)
		v, err := creds.GetWithContext(cc)
		if err == nil && v.AccessKeyID != "" && v.SecretAccessKey != "" {
			s.creds = creds
			return v, nil
		}
		if _, file := p.(*credentials.FileAWSCredentials); file && err != nil && !errors.Is(err, fs.ErrNotExist) {
			why = append(why, fmt.Errorf("AWS's files: %w", err))
		}
	}
	if ctx.Err() != nil {
		return credentials.Value{}, context.Cause(ctx)
	}
	s.err = errors.New("no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE for AWS's files")
	if len(why) > 0 {
		s.err = fmt.Errorf("%w (%w)", s.err, errors.Join(why...))
	}
	return credentials.Value{}, s.err
}

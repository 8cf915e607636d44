package dump

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
)

// member returns a member of n bytes.
func member(n int64) found { return found{kept: &content{size: n}} }

// TestScanQueue checks that packages are scanned ahead of the reader up to the limits, that the package that the
// reader is at is scanned beyond them, and that everything arrives in the order of the packages.
func TestScanQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newScanQueue(3, 100)
		put := make([]int, 3)
		for pkg, sizes := range [][]int64{{50, 1000, 1000}, {60, 30, 30}, {10, 10, 70, 10}} {
			go func() {
				for _, n := range sizes {
					if err := q.put(t.Context(), pkg, member(n)); err != nil {
						t.Error(err)
					}
					put[pkg]++
				}
				q.finish(pkg, nil)
			}()
			synctest.Wait()
		}
		// 50 fits, but not 1000, which the reader has not requested, and not 60; 10 and 10 fit, but not 70.
		if want := []int{1, 0, 2}; !slices.Equal(put, want) {
			t.Errorf("%d members put before the first is asked for, want %d", put, want)
		}
		var got []int64
		for pkg := range 3 {
			for {
				f, more, err := q.next(pkg)
				if err != nil {
					t.Fatal(err)
				}
				if !more {
					break
				}
				got = append(got, f.kept.size)
				synctest.Wait()
				if q.bytes > 1000+100 || q.bytes < 0 {
					t.Errorf("%d bytes wait after %d", q.bytes, got)
				}
			}
		}
		if want := []int64{50, 1000, 1000, 60, 30, 30, 10, 10, 70, 10}; !slices.Equal(got, want) || q.members != 0 || q.bytes != 0 {
			t.Errorf("members of %d bytes, then %d and %d bytes wait; want %d, and none", got, q.members, q.bytes, want)
		}
	})
}

// TestScanQueueEnds checks that waiting goroutines are woken when the work ends.
func TestScanQueueEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newScanQueue(2, 100)
		failed := errors.New("failed")
		ctx, cancel := context.WithCancelCause(t.Context())
		context.AfterFunc(ctx, q.wake)
		var err error
		go func() { err = q.put(ctx, 1, member(101)) }()
		synctest.Wait()
		cancel(failed)
		synctest.Wait()
		if err != failed || q.members != 0 {
			t.Errorf("put: %v, %d members wait; want %v and none", err, q.members, failed)
		}
		go func() { _, _, err = q.next(0) }()
		synctest.Wait()
		q.end(context.Canceled)
		synctest.Wait()
		if err != context.Canceled {
			t.Errorf("next: %v, want %v", err, context.Canceled)
		}
	})
}

// TestScanFails checks that an error of a temporary file ends the command, with any number of jobs.
func TestScanFails(t *testing.T) {
	packages := t.TempDir()
	paths, _ := pack(t, t.TempDir(), packages)
	t.Setenv("TMPDIR", packages+"/none")
	for _, jobs := range []int{1, 2, 5} {
		d := &dumper{dumpConfig: &dumpConfig{jobs: jobs, packages: packageLimits{unpacked: 1 << 30, ratio: 100, scratch: 1 << 30}}, archives: paths}
		if jobs > 1 {
			d.working = make(chan struct{}, jobs)
		}
		kept := func(_ int, f found) error { return f.kept.Close() }
		err := d.scanAll(t.Context(), kept, func(int) error { return nil })
		if err == nil || len(d.working) > 0 {
			t.Errorf("%d jobs: %v, %d under way; want an error, and none", jobs, err, len(d.working))
		}
	}
}

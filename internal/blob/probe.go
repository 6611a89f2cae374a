package blob

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/taskloom/taskloom/internal/fault"
)

const (
	// probes is what the keys of probes begin with. The rest is a probe's own, so that
	// two at the same time do not take each other's object away.
	probes = "taskloom-doctor-probe-"
	// probeKept is how old a probe is when nobody is left who would delete it.
	probeKept = time.Hour
	// removeTimeout bounds the deletion, which follows also where the time is up.
	removeTimeout = 2 * time.Second
)

// RoundTrip writes an object, reads it back and deletes it: fault.NotFound when
// there is no bucket for it.
func (s *Store) RoundTrip(ctx context.Context) error {
	key := probes + rand.Text()
	err := s.thereAndBack(ctx, key)
	if fault.Is(err, fault.NotFound) {
		return err
	}
	removing, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	_, left := s.client.DeleteObject(removing, &s3.DeleteObjectInput{Bucket: &s.config.Bucket, Key: &key}, impatient)
	switch {
	case err != nil:
		return err
	case left != nil:
		return fmt.Errorf("delete object: %w", left)
	}
	s.sweepProbes(removing)
	return nil
}

func (s *Store) thereAndBack(ctx context.Context, key string) error {
	bucket, body := &s.config.Bucket, []byte("taskloom doctor")
	_, err := s.client.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: &key, Body: bytes.NewReader(body)}, impatient)
	if statusOf(err) == http.StatusNotFound { // nothing else need be there
		return fault.New(fault.NotFound, "there is no bucket %s at %s", s.config.Bucket, s.place()).Because(err)
	}
	if err != nil {
		return fmt.Errorf("put object: %w", err)
	}
	got, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: &key}, impatient)
	if err != nil {
		return fmt.Errorf("get object: %w", err)
	}
	defer got.Body.Close()
	var back bytes.Buffer
	if _, err := back.ReadFrom(got.Body); err != nil {
		return fmt.Errorf("read object: %w", err)
	}
	if !bytes.Equal(back.Bytes(), body) {
		return errors.New("the object came back changed")
	}
	return nil
}

// sweepProbes deletes what those have left who were killed before they could. What
// fails is left to the next.
func (s *Store) sweepProbes(ctx context.Context) {
	found, _ := s.ListObjects(ctx, probes, "")
	for _, o := range found {
		// Nothing else goes, whatever a store takes a prefix for.
		if strings.HasPrefix(o.Key, probes) && time.Since(o.Modified) > probeKept {
			_ = s.Delete(ctx, o.Key)
		}
	}
}

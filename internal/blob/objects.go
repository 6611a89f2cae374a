package blob

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/taskloom/taskloom/internal/fault"
)

// Object is what the store says of an object.
type Object struct {
	Size int64
	ETag string // as the store writes it, with its quotes
}

// Head looks at an object: fault.NotFound when there is none. It takes 1.5
// seconds at most.
func (s *Store) Head(ctx context.Context, key string) (Object, error) {
	return s.HeadWithin(ctx, key, headTimeout)
}

// HeadWithin is Head for a caller with more time.
func (s *Store) HeadWithin(ctx context.Context, key string, within time.Duration) (Object, error) {
	asking, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	out, err := s.client.HeadObject(asking, &s3.HeadObjectInput{Bucket: &s.config.Bucket, Key: &key})
	if err != nil {
		return Object{}, translate(ctx, "head "+key, err)
	}
	return Object{Size: aws.ToInt64(out.ContentLength), ETag: aws.ToString(out.ETag)}, nil
}

// Delete removes an object; one that is not there is fine.
func (s *Store) Delete(ctx context.Context, key string) error {
	asking, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := s.client.DeleteObject(asking, &s3.DeleteObjectInput{Bucket: &s.config.Bucket, Key: &key})
	err = translate(ctx, "delete "+key, err)
	if fault.Is(err, fault.NotFound) {
		return nil // some gateways say so
	}
	return err
}

// listPage is how many keys one question brings.
const listPage = 1000

// List returns the first keys, in byte order, that have the prefix and come
// after the key; none when there are no more.
func (s *Store) List(ctx context.Context, prefix, after string) ([]string, error) {
	asking, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	in := &s3.ListObjectsV2Input{Bucket: &s.config.Bucket, Prefix: &prefix, MaxKeys: aws.Int32(listPage)}
	if after != "" {
		in.StartAfter = &after
	}
	found, err := s.client.ListObjectsV2(asking, in)
	if err != nil {
		return nil, translate(ctx, "list "+prefix, err)
	}
	keys := make([]string, 0, len(found.Contents))
	for _, o := range found.Contents {
		keys = append(keys, aws.ToString(o.Key))
	}
	return keys, nil
}

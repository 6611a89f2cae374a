package blob

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/taskloom/taskloom/internal/fault"
)

// impatient is for operators' commands and probes: whoever asks has little
// time and asks again.
func impatient(o *s3.Options) { o.Retryer = newRetryer(1) }

// Check asks whether the bucket is there.
func (s *Store) Check(ctx context.Context) error {
	return s.explain(s.head(ctx))
}

func (s *Store) head(ctx context.Context) error {
	_, err := s.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &s.config.Bucket}, impatient)
	return err
}

// EnsureBucket makes the bucket when it is missing.
func (s *Store) EnsureBucket(ctx context.Context) (made bool, err error) {
	err = s.head(ctx)
	if _, missing := errors.AsType[*types.NotFound](err); err == nil || !missing {
		return false, s.explain(err)
	}
	in := &s3.CreateBucketInput{Bucket: &s.config.Bucket}
	if s.config.Endpoint == "" && s.config.Region != "us-east-1" {
		in.CreateBucketConfiguration = &types.CreateBucketConfiguration{
			LocationConstraint: types.BucketLocationConstraint(s.config.Region),
		}
	}
	_, err = s.client.CreateBucket(ctx, in, impatient)
	if _, ok := errors.AsType[*types.BucketAlreadyOwnedByYou](err); ok {
		return false, nil // somebody was faster
	}
	return err == nil, s.explain(err)
}

// explain says which settings lead to the object store.
func (s *Store) explain(err error) error {
	if err == nil {
		return nil
	}
	return fault.New(fault.Unavailable, "bucket %q at %s cannot be used; check that the object store runs there and that "+
		"S3_ENDPOINT, S3_REGION, S3_BUCKET, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY are right",
		s.config.Bucket, s.place()).Because(err)
}

// place is where the bucket should be.
func (s *Store) place() string {
	if s.config.Endpoint == "" {
		return "AWS in " + s.config.Region
	}
	return s.config.Endpoint
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/taskloom/taskloom/internal/config"
	"github.com/taskloom/taskloom/internal/fault"
)

// objects is the bucket, as far as operators' commands and probes need it.
type objects struct {
	client *s3.Client
	config config.S3
}

func newObjects(c config.S3) *objects {
	o := s3.Options{
		Region: c.Region,
		Credentials: credentials.NewStaticCredentialsProvider(
			c.AccessKeyID.Reveal(), c.SecretAccessKey.Reveal(), ""),
		RetryMaxAttempts: 1, // whoever asks has little time and asks again
	}
	if c.Endpoint != "" {
		o.BaseEndpoint = aws.String(c.Endpoint)
		o.UsePathStyle = true
	}
	return &objects{client: s3.New(o), config: c}
}

// answers asks whether the bucket is there.
func (o *objects) answers(ctx context.Context) error {
	_, err := o.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &o.config.Bucket})
	return err
}

// ensureBucket makes the bucket when it is missing.
func (o *objects) ensureBucket(ctx context.Context) (made bool, err error) {
	err = o.answers(ctx)
	var missing *types.NotFound
	if err == nil || !errors.As(err, &missing) {
		return false, err
	}
	in := &s3.CreateBucketInput{Bucket: &o.config.Bucket}
	if o.config.Endpoint == "" && o.config.Region != "us-east-1" {
		in.CreateBucketConfiguration = &types.CreateBucketConfiguration{
			LocationConstraint: types.BucketLocationConstraint(o.config.Region),
		}
	}
	_, err = o.client.CreateBucket(ctx, in)
	if _, ok := errors.AsType[*types.BucketAlreadyOwnedByYou](err); ok {
		return false, nil // somebody was faster
	}
	return err == nil, err
}

// roundTrip writes an object, reads it back and deletes it.
func (o *objects) roundTrip(ctx context.Context) error {
	key, body := aws.String("taskloom-doctor"), []byte("taskloom doctor")
	_, err := o.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &o.config.Bucket, Key: key, Body: bytes.NewReader(body)})
	if err != nil {
		return fmt.Errorf("put object: %w", err)
	}
	got, err := o.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &o.config.Bucket, Key: key})
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
	if _, err := o.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &o.config.Bucket, Key: key}); err != nil {
		return fmt.Errorf("delete object: %w", err)
	}
	return nil
}

// explain says which settings lead to the object store.
func (o *objects) explain(err error) error {
	place := o.config.Endpoint
	if place == "" {
		place = "AWS in " + o.config.Region
	}
	return fault.New(fault.Unavailable, "bucket %q at %s cannot be used; check that the object store runs there and that "+
		"S3_ENDPOINT, S3_REGION, S3_BUCKET, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY are right",
		o.config.Bucket, place).Because(err)
}

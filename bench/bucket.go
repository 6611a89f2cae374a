package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"
)

const (
	// atOnce is how many objects the floors move at a time.
	atOnce = 16
	// deleteBatch is what one request may delete.
	deleteBatch = 1000
)

// bucket is the object store without the product: the AWS SDK alone.
type bucket struct {
	client *s3.Client
	name   string
}

func openBucket() (*bucket, error) {
	name := os.Getenv("S3_BUCKET")
	if name == "" {
		return nil, errors.New("S3_BUCKET names no bucket: run `make bench`, or set the S3_ variables")
	}
	region := os.Getenv("S3_REGION")
	if region == "" {
		region = "us-east-1"
	}
	const buffer = 64 << 10
	o := s3.Options{
		Region: region, UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(os.Getenv("S3_ACCESS_KEY_ID"), os.Getenv("S3_SECRET_ACCESS_KEY"), ""),
		// Nothing that the product's connections have is missing here.
		HTTPClient: &http.Client{Transport: &http.Transport{
			MaxIdleConns: 4 * atOnce, MaxIdleConnsPerHost: 4 * atOnce, DisableCompression: true,
			ReadBufferSize: buffer, WriteBufferSize: buffer,
		}},
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
	}
	if endpoint := os.Getenv("S3_ENDPOINT"); endpoint != "" {
		o.BaseEndpoint = &endpoint
	}
	return &bucket{client: s3.New(o), name: name}, nil
}

// put stores a body as it comes, without a checksum: the cheapest way.
func (b *bucket) put(ctx context.Context, key string, size int64, body io.Reader) error {
	in := &s3.PutObjectInput{Bucket: &b.name, Key: &key, Body: body, ContentLength: &size}
	_, err := b.client.PutObject(ctx, in, s3.WithAPIOptions(v4.SwapComputePayloadSHA256ForUnsignedPayloadMiddleware),
		func(o *s3.Options) { o.Retryer = aws.NopRetryer{} }) // what has been read cannot be sent again
	if err != nil {
		return fmt.Errorf("put %s: %w", key, err)
	}
	return nil
}

// through copies an object as a program must that looks at it: down and up.
func (b *bucket) through(ctx context.Context, from, to string) error {
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &from})
	if err != nil {
		return fmt.Errorf("get %s: %w", from, err)
	}
	defer out.Body.Close()
	return b.put(ctx, to, aws.ToInt64(out.ContentLength), out.Body)
}

// inside lets the store copy an object by itself.
func (b *bucket) inside(ctx context.Context, from, to string) error {
	source := b.name + "/" + url.PathEscape(from)
	_, err := b.client.CopyObject(ctx, &s3.CopyObjectInput{Bucket: &b.name, Key: &to, CopySource: &source})
	if err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	return nil
}

// list returns the sizes of all objects whose keys begin so.
func (b *bucket) list(ctx context.Context, prefix string) (map[string]int64, error) {
	sizes := map[string]int64{}
	pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: &prefix})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", prefix, err)
		}
		for _, o := range page.Contents {
			sizes[aws.ToString(o.Key)] = aws.ToInt64(o.Size)
		}
	}
	return sizes, nil
}

// remove deletes all objects whose keys begin so.
func (b *bucket) remove(ctx context.Context, prefix string) error {
	sizes, err := b.list(ctx, prefix)
	if err != nil {
		return err
	}
	var batch []types.ObjectIdentifier
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		out, err := b.client.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: &b.name, Delete: &types.Delete{Objects: batch, Quiet: aws.Bool(true)}})
		batch = batch[:0]
		if err == nil && len(out.Errors) > 0 {
			err = fmt.Errorf("%s: %s", aws.ToString(out.Errors[0].Key), aws.ToString(out.Errors[0].Message))
		}
		if err != nil {
			return fmt.Errorf("delete %s…: %w", prefix, err)
		}
		return nil
	}
	for key := range sizes {
		batch = append(batch, types.ObjectIdentifier{Key: &key})
		if len(batch) == deleteBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// sum is the SHA-256 of an object.
func (b *bucket) sum(ctx context.Context, key string) (sum [sha256.Size]byte, err error) {
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key})
	if err != nil {
		return sum, fmt.Errorf("get %s: %w", key, err)
	}
	defer out.Body.Close()
	h := sha256.New()
	if _, err := io.Copy(h, out.Body); err != nil {
		return sum, fmt.Errorf("get %s: %w", key, err)
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// each does something to so many numbers, 16 at a time.
func each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error { return do(ctx, i) })
	}
	return g.Wait()
}

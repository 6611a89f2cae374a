package s3

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// startTime is how long the gateway may take to listen.
const startTime = 20 * time.Second

// prepareBucket makes the bucket, if it is not there, and lets pages that are
// served from any port of this machine, or at the product's own address, read
// and write it.
func prepareBucket(ctx context.Context, c Config) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	client := s3.New(s3.Options{
		BaseEndpoint: aws.String("http://" + c.Addr),
		Region:       c.Region,
		Credentials:  credentials.NewStaticCredentialsProvider(c.AccessKeyID, c.SecretKey, ""),
		UsePathStyle: true,
		Retryer:      aws.NopRetryer{},
	})
	if err := untilListening(ctx, client, c.Bucket); err != nil {
		return fmt.Errorf("make the bucket %q: %w", c.Bucket, err)
	}
	origins := []string{
		"http://localhost", "http://localhost:*", "http://127.0.0.1", "http://127.0.0.1:*",
		"http://[::1]", "http://[::1]:*", "https://localhost", "https://localhost:*",
	}
	if c.Origin != "" {
		origins = append(origins, strings.TrimRight(c.Origin, "/"))
	}
	_, err := client.PutBucketCors(ctx, &s3.PutBucketCorsInput{
		Bucket: &c.Bucket,
		CORSConfiguration: &types.CORSConfiguration{CORSRules: []types.CORSRule{{
			AllowedOrigins: origins,
			AllowedMethods: []string{"GET", "HEAD", "PUT", "POST", "DELETE"},
			AllowedHeaders: []string{"*"},
			ExposeHeaders:  []string{"ETag", "Content-Range", "Accept-Ranges"},
		}}},
	})
	if err != nil {
		return fmt.Errorf("set the CORS rules of %q: %w", c.Bucket, err)
	}
	return nil
}

// untilListening creates the bucket as soon as the gateway takes requests.
func untilListening(ctx context.Context, client *s3.Client, bucket string) error {
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for {
		_, err := client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &bucket})
		var exists *types.BucketAlreadyOwnedByYou
		if err == nil || errors.As(err, &exists) {
			return nil
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return err
		}
	}
}

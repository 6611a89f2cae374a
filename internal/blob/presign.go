package blob

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// PresignPut makes a link under which one object can be put for a while, with
// exactly this content type. It asks nobody.
func (s *Store) PresignPut(ctx context.Context, key, contentType string, lives time.Duration) (string, error) {
	signed, err := s.presign.PresignPutObject(ctx, &s3.PutObjectInput{
		Bucket: &s.config.Bucket, Key: &key, ContentType: &contentType,
	}, s3.WithPresignExpires(lives))
	if err != nil {
		return "", fmt.Errorf("sign a link to put %s: %w", key, err)
	}
	return signed.URL, nil
}

// Download says as what an object is given out, whatever it was stored as.
type Download struct {
	// Name is the file's name for the one who saves it. It may be anything.
	Name        string
	ContentType string
	// Inline lets a browser show the file, if its type cannot carry scripts;
	// else it is saved.
	Inline bool
}

// PresignGet makes a link under which an object can be read for a while, as d
// says. It asks nobody.
func (s *Store) PresignGet(ctx context.Context, key string, d Download, lives time.Duration) (string, error) {
	signed, err := s.presign.PresignGetObject(ctx, &s3.GetObjectInput{
		Bucket: &s.config.Bucket, Key: &key,
		ResponseContentType:        aws.String(d.contentType()),
		ResponseContentDisposition: aws.String(d.disposition()),
	}, s3.WithPresignExpires(lives))
	if err != nil {
		return "", fmt.Errorf("sign a link to get %s: %w", key, err)
	}
	return signed.URL, nil
}

package blob

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// LinkSlack is how long a link that works for minutes only must live on top: the
// server that signs it may have a clock that is so far behind the store's.
const LinkSlack = 5 * time.Minute

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

// PresignPutSized is PresignPut for a body of exactly this many bytes.
func (s *Store) PresignPutSized(ctx context.Context, key, contentType string, size int64, lives time.Duration) (string, error) {
	signed, err := s.presign.PresignPutObject(ctx, &s3.PutObjectInput{
		Bucket: &s.config.Bucket, Key: &key, ContentType: &contentType, ContentLength: &size,
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

// PublicOrigin is the scheme, host and port of every link, for pages that must
// name whom they talk to.
func (s *Store) PublicOrigin(ctx context.Context) (string, error) {
	link, err := s.PresignGet(ctx, "origin", Download{}, time.Minute)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(link)
	if err != nil {
		return "", fmt.Errorf("address of the object store: %w", err)
	}
	return u.Scheme + "://" + u.Host, nil
}

package blob

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Listed is an object as a listing tells it.
type Listed struct {
	Key      string
	Size     int64
	Modified time.Time
}

// ListObjects is List with what the store says of each object.
func (s *Store) ListObjects(ctx context.Context, prefix, after string) ([]Listed, error) {
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
	out := make([]Listed, len(found.Contents))
	for i, o := range found.Contents {
		out[i] = Listed{Key: aws.ToString(o.Key), Size: aws.ToInt64(o.Size), Modified: aws.ToTime(o.LastModified)}
	}
	return out, nil
}

package blob

import (
	"context"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// StallAfter shortens the time that a transfer may stand still.
func (s *Store) StallAfter(d time.Duration) *Store {
	s.stall = d
	return s
}

// Disposition and Type are what a link forces.
func (d Download) Disposition() string { return d.disposition() }
func (d Download) Type() string        { return d.contentType() }

const BlockBytes = blockBytes

// Over sends requests another way.
func (s *Store) Over(way s3.HTTPClient) *Store {
	s.client = s3.New(s.client.Options(), func(o *s3.Options) { o.HTTPClient = way })
	return s
}

// SignOff makes links by a clock that is off by d.
func (s *Store) SignOff(d time.Duration) *Store {
	s.presign = s3.NewPresignClient(s.client, func(o *s3.PresignOptions) { o.Presigner = signerOff{v4.NewSigner(), d} })
	return s
}

type signerOff struct {
	*v4.Signer

	by time.Duration
}

func (s signerOff) PresignHTTP(ctx context.Context, c aws.Credentials, r *http.Request, hash, service, region string, at time.Time,
	more ...func(*v4.SignerOptions),
) (string, http.Header, error) {
	more = append(more, func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }) // as S3's own does
	return s.Signer.PresignHTTP(ctx, c, r, hash, service, region, at.Add(s.by), more...)
}

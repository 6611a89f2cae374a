// Package blob is the object store: archives that integrators upload and the
// files that come out of them, in one S3 bucket. Callers get fault errors for
// what they can act on: NotFound, Conflict when an object was changed, and
// Unavailable while the store is away or refuses us.
package blob

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Config says where the bucket is and who asks.
type Config struct {
	// Endpoint is http(s)://host:port of the store as this process reaches it;
	// AWS itself when empty.
	Endpoint string
	// PublicEndpoint is the same store as browsers and integrators reach it:
	// links carry it. Endpoint when empty.
	PublicEndpoint               string
	Region                       string
	Bucket                       string
	AccessKeyID, SecretAccessKey string
}

// How long and how often we try. Transfers have no overall limit: a long one is
// fine as long as it moves.
const (
	attempts   = 3
	maxBackoff = 400 * time.Millisecond
	// headTimeout bounds Head, which requests of the API wait for.
	headTimeout = 1500 * time.Millisecond
	// callTimeout bounds the other calls without a body.
	callTimeout = 15 * time.Second
	// stallTimeout is how long a transfer may stand still.
	stallTimeout = 30 * time.Second
)

// Store is one bucket. It does not connect before it is used, and is safe for
// concurrent use.
type Store struct {
	config  Config
	client  *s3.Client
	presign *s3.PresignClient
	stall   time.Duration
}

// Open makes a Store.
func Open(c Config) *Store {
	if c.PublicEndpoint == "" {
		c.PublicEndpoint = c.Endpoint
	}
	o := s3.Options{
		Region:      c.Region,
		Credentials: credentials.NewStaticCredentialsProvider(c.AccessKeyID, c.SecretAccessKey, ""),
		HTTPClient:  newTransport(),
		Retryer:     newRetryer(attempts),
		// Not every gateway knows the newer checksums, and links with one would
		// make every client of ours compute it.
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
	}
	return &Store{
		config:  c,
		client:  s3.New(at(o, c.Endpoint)),
		presign: s3.NewPresignClient(s3.New(at(o, c.PublicEndpoint))),
		stall:   stallTimeout,
	}
}

// at points the options at an endpoint; path style, for it has no host name
// for each bucket.
func at(o s3.Options, endpoint string) s3.Options {
	if endpoint != "" {
		o.BaseEndpoint = aws.String(endpoint)
		o.UsePathStyle = true
	}
	return o
}

// newRetryer tries again soon and seldom. The SDK's own budget of retries for
// the whole process is off: it would outlast the outage.
func newRetryer(attempts int) aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = attempts
		o.MaxBackoff = maxBackoff
		o.RateLimiter = ratelimit.None
	})
}

// once is for calls whose body cannot be rewound. The SDK's error for the
// failed rewinding would hide the error that mattered.
func once(o *s3.Options) { o.Retryer = aws.NopRetryer{} }

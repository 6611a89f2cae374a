package blob

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/taskloom/taskloom/internal/fault"
)

// tryAgain is when a caller should ask again while the store is away.
const tryAgain = 5 * time.Second

// passing are the codes that come with status 400, but say nothing against the
// request: its body was lost or changed on the way.
var passing = map[string]bool{
	"BadDigest": true, "IncompleteBody": true, "RequestTimeout": true, "XAmzContentSHA256Mismatch": true,
}

// translate turns the error of a call into what the caller can act on. A call
// that the caller gave up is no fault of the store's.
func translate(ctx context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", doing, context.Cause(ctx))
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	because := fmt.Errorf("%s: %w", doing, err)
	code := errorCode(err)
	switch status := statusOf(err); {
	case code == "RequestTimeTooSkewed": // and the SDK's own correction did not help
		return fault.New(fault.Unavailable, "this server's clock and the object store's differ by more than the store allows; an operator "+
			"must synchronise both").Because(because).After(tryAgain)
	case status == http.StatusNotFound && code != "NoSuchBucket":
		return fault.New(fault.NotFound, "the object is not in the object store").Because(because)
	case status == http.StatusRequestEntityTooLarge, code == "EntityTooLarge":
		return fault.New(fault.PayloadTooLarge, "the object store takes no object of that size").Because(because)
	case status == http.StatusPreconditionFailed || status == http.StatusRequestedRangeNotSatisfiable:
		return errChanged.Because(because)
	case status == 0:
		if brokenOff(err) {
			return away(because)
		}
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooManyRequests,
		status >= http.StatusInternalServerError, passing[code]:
		return away(because)
	case status < http.StatusBadRequest, status == http.StatusUnauthorized, status == http.StatusForbidden, code == "NoSuchBucket":
		return fault.New(fault.Unavailable, "the object store refuses its bucket or our credentials; an operator must mend "+
			"that, taskloom doctor says more").Because(because).After(tryAgain)
	}
	return because
}

// errChanged is for an object that is no longer the one that was looked at.
var errChanged = fault.New(fault.Conflict, "the archive was changed after it was confirmed: make a new upload")

func away(because error) error {
	return fault.New(fault.Unavailable, "the object store does not answer right now; try again").Because(because).After(tryAgain)
}

// statusOf returns the status that the store answered, 0 when it did not.
func statusOf(err error) int {
	if answer, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		return answer.HTTPStatusCode()
	}
	return 0
}

func errorCode(err error) string {
	if answer, ok := errors.AsType[smithy.APIError](err); ok {
		return answer.ErrorCode()
	}
	return ""
}

// brokenOff tells whether an answer is missing because of the way to the store,
// its pace, or its end, and not because of what we asked.
func brokenOff(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errStalled) || errors.Is(err, errUnread) {
		return true
	}
	_, sending := errors.AsType[*smithyhttp.RequestSendError](err)
	_, canceled := errors.AsType[*smithy.CanceledError](err) // by a deadline of ours: the caller's was looked at before
	_, reading := errors.AsType[*smithy.DeserializationError](err)
	return sending || canceled || reading
}

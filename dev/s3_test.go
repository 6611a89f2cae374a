package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/stretchr/testify/require"
)

func tryPut(ctx context.Context, env map[string]string, key string) error {
	_, err := s3Client(env).PutObject(ctx, &s3.PutObjectInput{
		Bucket: aws.String(env["S3_BUCKET"]), Key: &key, Body: strings.NewReader(key),
	})
	return err
}

func TestTheS3Gateway(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	run := h.dev(t, []string{"PUBLIC_URL=https://loom.test/"}, "exec", "--dir", h.state, "--", "sh", "-c",
		"trap 'echo interrupted; exit 9' INT; echo the parts are up; sleep 1000")
	run.waitFor("the parts are up")
	env := h.env(t)

	t.Run("an aborted PUT leaves nothing", func(t *testing.T) { abortedPut(t, env) })
	t.Run("an aborted part leaves nothing", func(t *testing.T) { abortedPart(t, env) })
	t.Run("a page on this machine may upload", func(t *testing.T) { preflight(t, env) })
	t.Run("a wrong secret is refused", func(t *testing.T) {
		wrong := maps.Clone(env)
		wrong["S3_SECRET_ACCESS_KEY"] = "wrong"
		require.ErrorContains(t, tryPut(t.Context(), wrong, "x"), "SignatureDoesNotMatch")
	})

	t.Run("exec passes Ctrl-C on to its command", func(t *testing.T) {
		run.interrupt()
		require.Equal(t, 9, run.exit())
		require.Contains(t, run.out.String(), "interrupted")
		h.goneSoon(t)
	})
}

func abortedPut(t *testing.T, env map[string]string) {
	t.Helper()
	bucket, key := aws.String(env["S3_BUCKET"]), aws.String("cut.zip")
	signed, err := s3.NewPresignClient(s3Client(env)).PresignPutObject(t.Context(),
		&s3.PutObjectInput{Bucket: bucket, Key: key, ContentType: aws.String("application/zip")})
	require.NoError(t, err)
	sendHalf(t, signed.URL, "application/zip")

	_, err = s3Client(env).HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: bucket, Key: key})
	var missing *types.NotFound
	require.ErrorAs(t, err, &missing)

	// An aborted PUT over an object leaves the object.
	putObject(t, env, *key, "whole")
	sendHalf(t, signed.URL, "application/zip")
	require.Equal(t, "whole", getObject(t, env, *key))

	whole := strings.Repeat("x", 1<<20)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, signed.URL, strings.NewReader(whole))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/zip")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.Equal(t, whole, getObject(t, env, *key))
}

func abortedPart(t *testing.T, env map[string]string) {
	t.Helper()
	client, bucket, key := s3Client(env), aws.String(env["S3_BUCKET"]), aws.String("parts")
	upload, err := client.CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{Bucket: bucket, Key: key})
	require.NoError(t, err)
	signed, err := s3.NewPresignClient(client).PresignUploadPart(t.Context(),
		&s3.UploadPartInput{Bucket: bucket, Key: key, UploadId: upload.UploadId, PartNumber: aws.Int32(1)})
	require.NoError(t, err)
	sendHalf(t, signed.URL, "")
	parts, err := client.ListParts(t.Context(), &s3.ListPartsInput{Bucket: bucket, Key: key, UploadId: upload.UploadId})
	require.NoError(t, err)
	require.Empty(t, parts.Parts)
}

// sendHalf begins a PUT, closes its side after half of the body, and waits
// until the gateway has given up on it.
func sendHalf(t *testing.T, target, contentType string) {
	t.Helper()
	u, err := url.Parse(target)
	require.NoError(t, err)
	conn, err := net.Dial("tcp", u.Host)
	require.NoError(t, err)
	defer conn.Close()
	half := bytes.Repeat([]byte("x"), 4<<20)
	fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n", u.RequestURI(), u.Host, 2*len(half))
	if contentType != "" {
		fmt.Fprintf(conn, "Content-Type: %s\r\n", contentType)
	}
	fmt.Fprint(conn, "\r\n")
	_, err = conn.Write(half)
	require.NoError(t, err)
	tcp, ok := conn.(*net.TCPConn)
	require.True(t, ok)
	require.NoError(t, tcp.CloseWrite())
	answer, err := io.ReadAll(conn)
	if err == nil {
		require.NotContains(t, string(answer), "200 OK")
	} else {
		require.NotErrorIs(t, err, context.DeadlineExceeded)
	}
}

func preflight(t *testing.T, env map[string]string) {
	t.Helper()
	for origin, allowed := range map[string]bool{
		"http://localhost:5173": true, "http://127.0.0.1:8080": true, "http://localhost": true,
		"https://loom.test":          true, // its public address
		"http://localhost.evil.test": false, "https://evil.test": false,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodOptions,
			env["S3_ENDPOINT"]+"/"+env["S3_BUCKET"]+"/upload.zip", http.NoBody)
		require.NoError(t, err)
		req.Header.Set("Origin", origin)
		req.Header.Set("Access-Control-Request-Method", "PUT")
		req.Header.Set("Access-Control-Request-Headers", "content-type")
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		res.Body.Close()
		if allowed {
			require.Equal(t, origin, res.Header.Get("Access-Control-Allow-Origin"))
		} else {
			require.Empty(t, res.Header.Get("Access-Control-Allow-Origin"), origin)
		}
	}
}

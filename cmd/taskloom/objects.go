package main

import (
	"github.com/taskloom/taskloom/internal/blob"
	"github.com/taskloom/taskloom/internal/config"
)

func newObjects(c config.S3) *blob.Store {
	return blob.Open(blob.Config{
		Endpoint: c.Endpoint, PublicEndpoint: c.PublicEndpoint, Region: c.Region, Bucket: c.Bucket,
		AccessKeyID: c.AccessKeyID.Reveal(), SecretAccessKey: c.SecretAccessKey.Reveal(),
	})
}

// Package azureblob stands for the driver of Azure's storage, which a simulation does not use.
package azureblob

import (
	"context"
	"errors"
	"net/url"

	"gocloud.dev/blob"
)

// Scheme of addresses of Azure's storage.
const Scheme = "azblob"

// ServiceURLOptions has no options.
type ServiceURLOptions struct{}

// NewDefaultServiceURLOptions returns no options.
func NewDefaultServiceURLOptions() *ServiceURLOptions { return &ServiceURLOptions{} }

// NewDefaultClient does nothing.
func NewDefaultClient() {}

// URLOpener opens nothing.
type URLOpener struct {
	MakeClient        func()
	ServiceURLOptions ServiceURLOptions
}

// OpenBucketURL returns an error.
func (*URLOpener) OpenBucketURL(context.Context, *url.URL) (*blob.Bucket, error) {
	return nil, errors.New("this build of Pulumi has no driver for azblob://; it is for simulations, which keep their state in files")
}

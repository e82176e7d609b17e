package operations

import (
	"context"
	"errors"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"
)

// GCPOperationsProvider returns an error: a simulation reads no logs from Google.
func GCPOperationsProvider(context.Context, map[config.Key]string, *Resource) (Provider, error) {
	return nil, errors.New("this build of Pulumi reads no logs from Google Cloud; it is for simulations")
}

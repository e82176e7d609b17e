// Package authhelpers stands for the login to Google's storage, which a simulation does not use.
package authhelpers

import (
	"context"
	"errors"

	"gocloud.dev/blob"
)

// GoogleCredentialsMux returns an error.
func GoogleCredentialsMux(context.Context) (*blob.URLMux, error) {
	return nil, errors.New("this build of Pulumi has no driver for gs://; it is for simulations, which keep their state in files")
}

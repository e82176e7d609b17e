// Package cloud stands for the encryption of secrets by clouds, which a simulation does not use.
package cloud

import (
	"encoding/json"
	"errors"

	"github.com/pulumi/pulumi/pkg/v3/secrets"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
)

// Type of secrets that a cloud encrypts.
const Type = "cloud"

var errLeftOut = errors.New("this build of Pulumi encrypts secrets with a passphrase only; it is for simulations")

// EditProjectStack returns an error.
func EditProjectStack(*workspace.ProjectStack, json.RawMessage) error { return errLeftOut }

// NewCloudSecretsManagerFromState returns an error.
func NewCloudSecretsManagerFromState(json.RawMessage) (secrets.Manager, error) { return nil, errLeftOut }

// NewCloudSecretsManager returns an error.
func NewCloudSecretsManager(*workspace.ProjectStack, string, bool) (secrets.Manager, error) {
	return nil, errLeftOut
}

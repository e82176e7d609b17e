// Package cloud stands for the commands about Pulumi Cloud's own API, which a simulation does not use.
package cloud

import (
	"context"
	"errors"

	"github.com/pulumi/pulumi/pkg/v3/backend/httpstate/client"
	"github.com/spf13/cobra"
)

var errLeftOut = errors.New("this build of Pulumi has no commands for Pulumi Cloud; it is for simulations")

// APIError is an error of a command of this package. None occurs.
type APIError struct {
	ExitCode int
	Silent   bool
}

func (*APIError) Error() string { return errLeftOut.Error() }

// ResolvedContext is the login to Pulumi Cloud. There is none.
type ResolvedContext struct {
	Client   *client.Client
	OrgName  string
	LoggedIn bool
}

// ResolveContext returns an error.
func ResolveContext(context.Context) (*ResolvedContext, error) { return nil, errLeftOut }

// NewAPICmd returns a command that fails.
func NewAPICmd() *cobra.Command {
	return &cobra.Command{
		Use:    "api",
		Hidden: true,
		RunE:   func(*cobra.Command, []string) error { return errLeftOut },
	}
}

// Package s3 stands for the client of Amazon's storage, which a simulation does not use.
package s3

// CopyObjectInput is the request that Pulumi changes when it copies an object there.
type CopyObjectInput struct{ CopySource *string }

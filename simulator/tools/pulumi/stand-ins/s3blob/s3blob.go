// Package s3blob stands for the driver of Amazon's storage, which a simulation does not use.
package s3blob

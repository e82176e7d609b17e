// Package gcsblob stands for the driver of Google's storage, which a simulation does not use.
package gcsblob

// Scheme of addresses of Google's storage.
const Scheme = "gs"

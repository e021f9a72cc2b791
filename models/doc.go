// Package models is the local store of models. Each is a bundle with a lock file that lists its sources by hash.
// Finding one needs no network. Package pull brings them, and package catalog knows what they are called.
package models

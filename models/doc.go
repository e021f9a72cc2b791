// Package models is the store of models on this machine: each is a bundle, with a lock file that says what it was made of, by hash.
// Finding one needs no network. Package pull brings them, and package catalog knows what they are called.
package models

package grpcauth

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Role is what a process does, and so what others may ask of it.
type Role string

// The roles. Each process has one.
const (
	Router   Role = "router"
	Worker   Role = "worker"
	Portal   Role = "portal"
	Operator Role = "operator"
)

var roles = []Role{Router, Worker, Portal, Operator}

// Identity is who the process is that a certificate was made for. It stands there as the only URI of the form
// spiffe://swar/NAMESPACE/NAME/ROLE, in place of a host name: addresses of processes come and go.
type Identity struct {
	Namespace string
	Name      string // of the fleet, or of the portal
	Role      Role
}

func (i Identity) String() string { return i.URI().String() }

// URI is how i stands in a certificate.
func (i Identity) URI() *url.URL {
	return &url.URL{Scheme: "spiffe", Host: "swar", Path: "/" + i.Namespace + "/" + i.Name + "/" + string(i.Role)}
}

// identityOf reads who a certificate was made for.
func identityOf(cert *x509.Certificate) (Identity, error) {
	var found []Identity
	for _, u := range cert.URIs {
		if u.Scheme != "spiffe" || u.Host != "swar" {
			continue // of another system that uses the certificate too
		}
		parts := strings.Split(u.Path, "/")
		if len(parts) != 4 || u.String() != "spiffe://swar"+u.Path || slices.Contains(parts[1:], "") {
			return Identity{}, fmt.Errorf("the certificate has the name %s; want spiffe://swar/NAMESPACE/NAME/ROLE", u)
		}
		id := Identity{Namespace: parts[1], Name: parts[2], Role: Role(parts[3])}
		if !slices.Contains(roles, id.Role) {
			return Identity{}, fmt.Errorf("the certificate has the role %s; want one of %s", id.Role, orOf(roles))
		}
		found = append(found, id)
	}
	switch len(found) {
	case 0:
		return Identity{},
			errors.New("the certificate names no role; make one with the URI spiffe://swar/NAMESPACE/NAME/ROLE")
	case 1:
		return found[0], nil
	default:
		return Identity{},
			fmt.Errorf("the certificate has %d names of Swar; make one with a single spiffe://swar/… URI",
				len(found))
	}
}

// accept refuses a peer that has none of the roles, or belongs to another fleet.
func (i Identity) accept(peer Identity, accepts []Role) error {
	if !slices.Contains(accepts, peer.Role) {
		return fmt.Errorf("the certificate is of the role %s, and only %s may do this: %s",
			peer.Role, orOf(accepts), peer)
	}
	sameFleet := i.Namespace == peer.Namespace && i.Name == peer.Name
	if i.Role.inFleet() && peer.Role.inFleet() && !sameFleet {
		return fmt.Errorf("the certificate is of another fleet: %s, and this is %s", peer, i)
	}
	return nil
}

// inFleet reports whether a process of the role works for one fleet only.
func (r Role) inFleet() bool { return r == Router || r == Worker }

func orOf(roles []Role) string {
	words := make([]string, len(roles))
	for i, r := range roles {
		words[i] = string(r)
	}
	return strings.Join(words, " or ")
}

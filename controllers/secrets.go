package controllers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers/certs"
	"github.com/swar-tts/swar/controllers/plan"
	"github.com/swar-tts/swar/controllers/resources"
	"github.com/swar-tts/swar/runtime/contract"
	"github.com/swar-tts/swar/runtime/grpcauth"
)

// secrets is what the pods of a fleet want of Secrets.
type secrets struct {
	toWrite []*corev1.Secret // to be written
	missing bool             // another client must write one first
	renew   time.Time        // when the first certificate is to be made anew; zero for never
	expiry  time.Time        // of the certificate that ends first; zero without one
	facts   resources.Facts  // facts that Secrets contain
}

// AuthorityStore keeps the authority of all fleets of an operator in a Secret of its namespace. It is safe for
// concurrent use.
type AuthorityStore struct {
	Client    client.Client
	Namespace string
	Name      string
	Now       func() time.Time
	ReadOnly  bool // another program makes and renews it

	mu   sync.Mutex
	last certs.Authority
	read time.Time
}

// nextCert and nextKey are the entries of an authority that is announced.
const (
	nextCert = "next.crt"
	nextKey  = "next.key"
)

// Get returns the authority, which it makes at first and renews in time, unless it only reads it.
func (s *AuthorityStore) Get(ctx context.Context) (certs.Authority, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.Now(); now.Sub(s.read) < time.Minute { // only this operator writes it
		return s.last, nil
	}
	secret := &corev1.Secret{}
	err := s.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: s.Name}, secret)
	var a certs.Authority
	changed := false
	switch {
	case apierrors.IsNotFound(err) && s.ReadOnly:
		err = errors.New("it is not there yet: the operator makes it when it starts; look at the operator's log")
	case apierrors.IsNotFound(err):
		a, err = certs.NewAuthority(s.Now())
		changed = true
	case err == nil:
		a = authorityIn(secret)
		if !s.ReadOnly {
			a, changed, err = a.Renew(s.Now())
		}
	}
	if err != nil {
		err = fmt.Errorf("the authority in the Secret %s/%s: %w", s.Namespace, s.Name, err)
		if secret.Name != "" {
			err = &authorityError{err}
		}
		return a, err
	}
	if changed {
		if err := s.write(ctx, a, secret.ResourceVersion); err != nil {
			return a, fmt.Errorf("writing the authority to the Secret %s/%s: %w", s.Namespace, s.Name, err)
		}
	}
	s.last, s.read = a, s.Now()
	return a, nil
}

func authorityIn(s *corev1.Secret) certs.Authority {
	return certs.Authority{
		Cert: s.Data[contract.TLSCert], Key: s.Data[contract.TLSKey], Trust: s.Data[contract.TLSAuthority],
		NextCert: s.Data[nextCert], NextKey: s.Data[nextKey],
	}
}

// authorityError reports an authority that was read but is not usable.
type authorityError struct{ error }

// write keeps an authority. Of two operators that make one at the same time the first wins.
func (s *AuthorityStore) write(ctx context.Context, a certs.Authority, version string) error {
	secret := &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name},
		Type:       corev1.SecretTypeTLS,
		Data: map[string][]byte{
			contract.TLSCert: a.Cert, contract.TLSKey: a.Key, contract.TLSAuthority: a.Trust, nextCert: a.NextCert,
			nextKey: a.NextKey,
		},
	}
	if version == "" {
		return s.Client.Create(ctx, secret, client.FieldOwner(fieldManager))
	}
	u, err := toUnstructured(secret)
	if err != nil {
		return err
	}
	u.SetResourceVersion(version)
	return s.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(fieldManager),
		client.ForceOwnership)
}

// observeSecrets returns which Secrets to write, and the problems of those of others.
func (r *Reconciler) observeSecrets(ctx context.Context,
	fleet *v1alpha1.TTSDeployment) (s secrets, lacking []plan.Problem, err error) {
	for _, check := range []func(context.Context, *v1alpha1.TTSDeployment, *secrets) ([]plan.Problem, error){
		r.observeCertificates, r.observeToken, r.observeAccess, r.observeTwilio, r.observeScalerCA,
	} {
		found, err := check(ctx, fleet, &s)
		if unusable, ok := errors.AsType[*authorityError](err); ok {
			found = []plan.Problem{{Reason: v1alpha1.ReasonSecretMalformed,
				Text: fmt.Sprintf("%v. Restore it from a backup; if there "+
					"is not one, delete the Secret, and every fleet gets certificates of a new authority within minutes", unusable)}}
		} else if err != nil {
			return s, nil, err
		}
		for _, p := range found {
			if !slices.Contains(lacking, p) {
				lacking = append(lacking, p)
			}
		}
	}
	s.missing = len(lacking) > 0
	return s, lacking, nil
}

// observeCertificates issues leaves for routers and workers, or reads those of another issuer.
func (r *Reconciler) observeCertificates(ctx context.Context, fleet *v1alpha1.TTSDeployment,
	s *secrets) ([]plan.Problem, error) {
	switch fleet.Spec.Security.InternalTLS {
	case v1alpha1.TLSMesh:
		return nil, nil
	case v1alpha1.TLSSecret:
		return r.observeForeignCertificates(ctx, fleet, s)
	}
	authority, err := r.Authority.Get(ctx)
	if err != nil {
		return nil, err
	}
	for secret, role := range map[string]grpcauth.Role{
		resources.WorkerTLSSecret(fleet): grpcauth.Worker, resources.RouterTLSSecret(fleet): grpcauth.Router,
	} {
		name := grpcauth.Identity{Namespace: fleet.Namespace, Name: fleet.Name, Role: role}.URI()
		live, foreign, err := r.ownSecret(ctx, fleet, secret)
		if err != nil || foreign != nil {
			return foreign, err
		}
		leaf := leafOf(live)
		if leaf.Check(r.Now(), authority, name) != nil {
			if leaf, err = authority.Issue(r.Now(), name); err != nil {
				return nil, err
			}
			s.toWrite = append(s.toWrite, resources.Secret(fleet, secret, corev1.SecretTypeTLS, leafData(leaf)))
		}
		if s.noteExpiry(leaf.Cert); !s.expiry.IsZero() {
			s.renew = certs.RenewAt(s.expiry)
		}
	}
	return nil, nil
}

// observeForeignCertificates reads certificates of another issuer, and how long they last.
func (r *Reconciler) observeForeignCertificates(
	ctx context.Context, fleet *v1alpha1.TTSDeployment, s *secrets,
) ([]plan.Problem, error) {
	names := []string{resources.WorkerTLSSecret(fleet), resources.RouterTLSSecret(fleet)}
	lacking, err := r.missingEntries(ctx, fleet, names, contract.TLSCert, contract.TLSKey, contract.TLSAuthority)
	if err != nil || len(lacking) > 0 {
		return lacking, err
	}
	leaves := make([]certs.Leaf, len(names))
	for i, name := range names {
		live, err := r.secret(ctx, fleet, name)
		if err != nil {
			return nil, err
		}
		leaves[i] = leafOf(live)
		s.noteExpiry(leaves[i].Cert)
	}
	for i, role := range []grpcauth.Role{grpcauth.Worker, grpcauth.Router} {
		name, otherSide := grpcauth.Identity{Namespace: fleet.Namespace, Name: fleet.Name, Role: role}.URI(),
			leaves[1-i]
		if err := leaves[i].CheckGiven(r.Now(), otherSide.CA, name); err != nil {
			lacking = append(lacking, plan.Problem{Reason: certificateReason(err), Text: fmt.Sprintf(
				"the certificate of the Secret %s cannot be used: %v. Renew it there, for the URI %s", names[i], err, name)})
		}
	}
	return lacking, nil
}

// certificateReason is the reason in a condition about an unusable certificate.
func certificateReason(err error) string {
	switch {
	case errors.Is(err, certs.ErrExpired):
		return v1alpha1.ReasonCertificateExpired
	case errors.Is(err, certs.ErrMalformed):
		return v1alpha1.ReasonSecretMalformed
	}
	return v1alpha1.ReasonCertificateInvalid
}

// noteExpiry records the expiry of a certificate that pods use.
func (s *secrets) noteExpiry(certPEM []byte) {
	expiry, err := certs.Expiry(certPEM)
	if err == nil && (s.expiry.IsZero() || expiry.Before(s.expiry)) {
		s.expiry = expiry
	}
}

func leafOf(s *corev1.Secret) certs.Leaf {
	return certs.Leaf{Cert: s.Data[contract.TLSCert], Key: s.Data[contract.TLSKey], CA: s.Data[contract.TLSAuthority]}
}

func leafData(l certs.Leaf) map[string][]byte {
	return map[string][]byte{contract.TLSCert: l.Cert, contract.TLSKey: l.Key, contract.TLSAuthority: l.CA}
}

// observeToken has the token made that routers and workers share.
func (r *Reconciler) observeToken(ctx context.Context, fleet *v1alpha1.TTSDeployment,
	s *secrets) ([]plan.Problem, error) {
	if resources.TokenSecret(fleet) == "" {
		return nil, nil
	}
	live, foreign, err := r.ownSecret(ctx, fleet, resources.TokenSecret(fleet))
	if err != nil || foreign != nil || len(live.Data[contract.Token]) >= 16 {
		return foreign, err
	}
	s.toWrite = append(s.toWrite, resources.Secret(fleet, resources.TokenSecret(fleet), corev1.SecretTypeOpaque,
		map[string][]byte{contract.Token: []byte(rand.Text())}))
	return nil, nil
}

// observeAccess hands the fleet what it needs to know the portal, or looks whether keys are there.
func (r *Reconciler) observeAccess(ctx context.Context, fleet *v1alpha1.TTSDeployment,
	s *secrets) ([]plan.Problem, error) {
	access := fleet.Spec.Access
	switch {
	case access.Mode == v1alpha1.AccessKeys:
		return r.observeKeys(ctx, fleet, s)
	case access.Mode == v1alpha1.AccessPortal && access.SecretName != "":
		return r.observeForeignPortal(ctx, fleet, s)
	case access.Mode == v1alpha1.AccessPortal:
		return r.observePortal(ctx, fleet, s)
	}
	return nil, nil
}

// observeKeys looks for the keys of a fleet without a portal.
func (r *Reconciler) observeKeys(ctx context.Context, fleet *v1alpha1.TTSDeployment,
	s *secrets) ([]plan.Problem, error) {
	lacking, err := r.missingEntries(ctx, fleet, []string{resources.KeysSecret(fleet)}, contract.APIKeys)
	if err != nil || len(lacking) > 0 {
		return lacking, err
	}
	live, err := r.secret(ctx, fleet, resources.KeysSecret(fleet))
	s.facts.KeysHash = hashOf(map[string]any{contract.APIKeys: live.Data[contract.APIKeys]})
	return nil, err
}

// observeTwilio looks for the token of Twilio. Routers do not start without it, or every stream would be answered.
func (r *Reconciler) observeTwilio(ctx context.Context, fleet *v1alpha1.TTSDeployment,
	s *secrets) ([]plan.Problem, error) {
	token := fleet.Spec.Router.TwilioTokenSecretRef
	if token == nil {
		return nil, nil
	}
	lacking, err := r.missingEntries(ctx, fleet, []string{token.Name}, token.Key)
	if err != nil || len(lacking) > 0 {
		return lacking, err
	}
	live, err := r.secret(ctx, fleet, token.Name)
	s.facts.TwilioHash = hashOf(map[string]any{token.Key: live.Data[token.Key]})
	return nil, err
}

// observeForeignPortal looks for what is to be known of a portal that is not of this release.
func (r *Reconciler) observeForeignPortal(ctx context.Context, fleet *v1alpha1.TTSDeployment,
	s *secrets) ([]plan.Problem, error) {
	entries := []string{contract.PortalAddress, contract.Token}
	if fleet.Spec.Security.InternalTLS != v1alpha1.TLSMesh {
		entries = append(entries, contract.TLSAuthority)
	}
	name := resources.PortalSecret(fleet)
	lacking, err := r.missingEntries(ctx, fleet, []string{name}, entries...)
	if err != nil || len(lacking) > 0 {
		return lacking, err
	}
	live, err := r.secret(ctx, fleet, name)
	if err != nil {
		return nil, err
	}
	address := string(live.Data[contract.PortalAddress])
	number := portOf(address)
	if number == 0 {
		return []plan.Problem{{Reason: v1alpha1.ReasonSecretMalformed, Text: fmt.Sprintf(
			"the entry %s of the Secret %s is %q: want HOST:PORT of the portal's dataplane", contract.PortalAddress, name, address)}}, nil
	}
	s.facts.PortalPort = number
	return nil, nil
}

// portOf returns the port of HOST:PORT, 0 if it is not that.
func portOf(address string) int32 {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return 0
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return 0
	}
	return int32(number)
}

// secret reads one of the fleet; an empty one where there is none.
func (r *Reconciler) secret(ctx context.Context, fleet *v1alpha1.TTSDeployment, name string) (*corev1.Secret, error) {
	s := &corev1.Secret{}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: fleet.Namespace, Name: name}, s)
	return s, client.IgnoreNotFound(err)
}

// ownSecret reads a Secret that the operator makes for the fleet; an empty one if it does not exist. A Secret of that
// name with another owner is a problem: it is neither changed nor given to the pods.
func (r *Reconciler) ownSecret(
	ctx context.Context, fleet *v1alpha1.TTSDeployment, name string,
) (live *corev1.Secret, foreign []plan.Problem, err error) {
	live, err = r.secret(ctx, fleet, name)
	if err == nil && live.Name != "" && ownerOf(live) != string(fleet.UID) {
		foreign = []plan.Problem{{Reason: v1alpha1.ReasonApplyFailed,
			Text: fmt.Sprintf("Secret %s: %v", name, errForeign)}}
	}
	return live, foreign, err
}

// missingEntries looks for entries of Secrets that others write.
func (r *Reconciler) missingEntries(
	ctx context.Context, fleet *v1alpha1.TTSDeployment, names []string, entries ...string,
) (lacking []plan.Problem, err error) {
	for _, name := range names {
		s, err := r.secret(ctx, fleet, name)
		if err != nil {
			return nil, err
		}
		if s.Name == "" {
			lacking = append(lacking, plan.Problem{Reason: v1alpha1.ReasonSecretMissing, Text: fmt.Sprintf(
				"there is no Secret %s in the namespace %s: make one with the entries %s", name, fleet.Namespace, strings.Join(entries, ", "))})
			continue
		}
		for _, e := range entries {
			if len(strings.TrimSpace(string(s.Data[e]))) == 0 {
				lacking = append(lacking, plan.Problem{Reason: v1alpha1.ReasonSecretMalformed, Text: fmt.Sprintf(
					"the Secret %s has no entry %s, or an empty one: it wants %s", name, e, strings.Join(entries, ", "))})
			}
		}
	}
	return lacking, nil
}

// observePortal hands the fleet address, token and authority of the portal of this release.
func (r *Reconciler) observePortal(ctx context.Context, fleet *v1alpha1.TTSDeployment,
	s *secrets) ([]plan.Problem, error) {
	if r.Portal == "" {
		return []plan.Problem{{Reason: v1alpha1.ReasonSecretMissing,
			Text: "spec.access.mode is Portal, and there is no portal in " +
				"this release of the operator: install it with one, name another portal's Secret in spec.access.secretName, or take mode Keys"}}, nil
	}
	token, err := r.Authority.PortalToken(ctx)
	if err != nil {
		return nil, err
	}
	authority, err := r.Authority.Get(ctx)
	if err != nil {
		return nil, err
	}
	live, foreign, err := r.ownSecret(ctx, fleet, resources.PortalSecret(fleet))
	if err != nil || foreign != nil {
		return foreign, err
	}
	data := map[string][]byte{
		contract.PortalAddress: []byte(r.Portal), contract.Token: token, contract.TLSAuthority: authority.Trust,
	}
	for k, v := range data {
		if string(live.Data[k]) != string(v) {
			s.toWrite = append(s.toWrite,
				resources.Secret(fleet, resources.PortalSecret(fleet), corev1.SecretTypeOpaque, data))
			break
		}
	}
	return nil, nil
}

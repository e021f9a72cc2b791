package firestore

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"cloud.google.com/go/firestore"

	"github.com/swar-tts/swar/runtime/ident"
)

// name encodes an identifier as a document id. Identifiers of the portal stay as they are; free text, such as e-mail
// addresses, is encoded, because Firestore forbids slashes, single dots and names between underscores, and allows at
// most 1500 bytes.
func name(id string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	isPlain := id != "" && len(id) <= 100 && strings.Trim(id, plain) == ""
	switch {
	case isPlain && !strings.HasPrefix(id, "__"):
		return id
	case len(id) <= 1000:
		return "~" + base64.RawURLEncoding.EncodeToString([]byte(id))
	}
	return "~~" + hashed(id)
}

// hashed is a document id for what has several parts, or would rise with time. It is evenly spread.
func hashed(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		sum := sha256.Sum256([]byte(p)) // of each part, so that parts cannot run into one another
		h.Write(sum[:])
	}
	return ident.Of("", [32]byte(h.Sum(nil)))
}

func (s *Store) doc(collection, id string) *firestore.DocumentRef {
	return s.client.Collection(collection).Doc(name(id))
}

func (s *Store) org(id string) *firestore.DocumentRef { return s.doc("orgs", id) }

func (s *Store) member(orgID, email string) *firestore.DocumentRef {
	return s.org(orgID).Collection("members").Doc(name(email))
}

func (s *Store) answer(scope, key string) *firestore.DocumentRef {
	return s.client.Collection("answers").Doc(hashed(scope, key))
}

package grpcauth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

const (
	minToken  = 16 // characters: of base 64 they are 96 bits
	maxTokens = 8
)

// Token is what processes share to know one another. It is safe for concurrent use.
//
// One that was opened from a file is read again when the file has changed. The file holds one token a line: the first
// is shown to others, and all are accepted. So a token is replaced without refusing anybody: add the new one below,
// everywhere; put it first, everywhere; remove the old one. What cannot be used changes nothing.
type Token struct {
	file string // empty for one that does not change
	log  *slog.Logger

	mu        sync.Mutex
	good      tokens
	checkedAt time.Time
	failed    string // as in Certificates
}

// tokens are those that were read together. They are not changed.
type tokens struct {
	raw    string
	first  string
	hashes [][sha256.Size]byte // of the header with each of them
}

// NewToken returns a token that stays as it is. It must have at least 16 characters of visible ASCII.
func NewToken(token string) (*Token, error) {
	good, err := parseTokens(token)
	if err != nil {
		return nil, err
	}
	return &Token{good: good}, nil
}

// OpenToken reads the token of a file.
func OpenToken(file string, log *slog.Logger) (*Token, error) {
	good, err := readTokens(file)
	if err != nil {
		return nil, err
	}
	warnIfExposed(file, log)
	return &Token{file: file, log: log, good: good, checkedAt: time.Now()}, nil
}

// Shares reports whether one of the tokens of t is accepted by other, too.
func (t *Token) Shares(other *Token) bool {
	mine, others := t.current(), other.current()
	return slices.ContainsFunc(mine.hashes, func(h [sha256.Size]byte) bool { return slices.Contains(others.hashes, h) })
}

// Authorize checks the token of a call. Hashes are compared, in constant time: neither a token nor its length shows in
// how long that takes. The error is a status for the caller.
func (t *Token) Authorize(ctx context.Context) error {
	good, found := t.current(), 0
	md, _ := metadata.FromIncomingContext(ctx)
	for _, value := range md.Get("authorization") {
		got := sha256.Sum256([]byte(value))
		for i := range good.hashes {
			found |= subtle.ConstantTimeCompare(got[:], good.hashes[i][:])
		}
	}
	if found == 1 {
		return nil
	}
	return status.Error(codes.Unauthenticated, "the token is missing or wrong")
}

// current returns what the file holds, or held when it could be used last.
func (t *Token) current() tokens {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file == "" || time.Since(t.checkedAt) < checkInterval {
		return t.good
	}
	t.checkedAt = time.Now()
	fresh, err := readTokens(t.file)
	switch {
	case err == nil:
		if fresh.raw != t.good.raw {
			t.log.Info("the token was read again", "file", t.file)
		}
		t.good, t.failed = fresh, ""
	case err.Error() != t.failed:
		t.failed = err.Error()
		t.log.Error("the new token cannot be used; going on with the last one", "error", err)
	}
	return t.good
}

func readTokens(file string) (tokens, error) {
	raw, err := readSecret(file)
	if err != nil {
		return tokens{}, err
	}
	good, err := parseTokens(string(raw))
	if err != nil {
		return tokens{}, fmt.Errorf("%s: %w", file, err)
	}
	return good, nil
}

// parseTokens reads one token a line. Empty lines do not count.
func parseTokens(raw string) (tokens, error) {
	t := tokens{raw: raw}
	for line := range strings.Lines(raw) {
		token := strings.TrimRight(line, "\r\n")
		if token == "" {
			continue
		}
		isOther := func(r rune) bool { return r <= ' ' || r > '~' }
		if len(token) < minToken || strings.ContainsFunc(token, isOther) {
			return t, fmt.Errorf("a token must have at least %d characters of visible ASCII, without spaces", minToken)
		}
		if t.first == "" {
			t.first = token
		}
		t.hashes = append(t.hashes, sha256.Sum256([]byte("Bearer "+token)))
	}
	switch {
	case len(t.hashes) == 0:
		return t, errors.New("there is no token")
	case len(t.hashes) > maxTokens:
		return t, fmt.Errorf("there are more than %d tokens, one a line; remove old ones", maxTokens)
	}
	return t, nil
}

// bearer puts the token on every call. It implements credentials.PerRPCCredentials.
type bearer struct {
	token  *Token
	secure bool // the transport has to be
}

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + b.token.current().first}, nil
}

func (b bearer) RequireTransportSecurity() bool { return b.secure }

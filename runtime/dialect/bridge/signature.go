package bridge

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // it is what Twilio signs with
	"encoding/base64"
	"net"

	"github.com/swar-tts/swar/runtime/dialect"
)

var errSignature = dialect.Refuse("X-Twilio-Signature", dialect.CodeForbidden,
	"X-Twilio-Signature does not fit the URL; a proxy must pass Host and the path on as they came")

// isSigned reports whether Twilio has signed the URL of a request with the token of its account. How a proxy was
// asked is not known: the scheme and the port that Twilio saw are tried.
func isSigned(c dialect.Call, token string) bool {
	got, err := base64.StdEncoding.DecodeString(c.Header("X-Twilio-Signature"))
	if err != nil {
		return false
	}
	hosts := []string{c.Host}
	if name, _, err := net.SplitHostPort(c.Host); err == nil {
		hosts = append(hosts, name)
	} else {
		hosts = append(hosts, c.Host+":443")
	}
	for _, scheme := range []string{"wss://", "https://", "ws://", "http://"} {
		for _, host := range hosts {
			if hmac.Equal(got, sign(scheme+host+c.Target, token)) {
				return true
			}
		}
	}
	return false
}

func sign(url, token string) []byte {
	h := hmac.New(sha1.New, []byte(token))
	h.Write([]byte(url))
	return h.Sum(nil)
}

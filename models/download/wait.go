package download

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Wait returns how long a server asks clients to wait. It reads Retry-After of RFC 9110, in seconds or as a date, or
// the t of RateLimit, as the Hugging Face hub sends it (`"resolvers";r=0;t=55`). 0 where it does not say.
func Wait(h http.Header, now time.Time) time.Duration {
	if text := h.Get("Retry-After"); text != "" {
		if seconds, err := strconv.Atoi(text); err == nil {
			return time.Duration(max(seconds, 0)) * time.Second
		}
		if at, err := http.ParseTime(text); err == nil {
			return max(at.Sub(now), 0)
		}
	}
	for item := range strings.SplitSeq(h.Get("RateLimit"), ";") {
		if text, ok := strings.CutPrefix(strings.TrimSpace(item), "t="); ok {
			if seconds, err := strconv.Atoi(text); err == nil && seconds >= 0 {
				return time.Duration(seconds+1) * time.Second // which have begun
			}
		}
	}
	return 0
}

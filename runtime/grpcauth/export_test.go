package grpcauth

import (
	"log/slog"
	"net"
)

// LimitTo is Limit with other limits.
func LimitTo(l net.Listener, all, each int, log *slog.Logger) net.Listener {
	limited := Limit(l, log).(*limited)
	limited.all, limited.each = all, each
	return limited
}

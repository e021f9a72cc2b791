// Package contract has the constants that the operator and the programs of a fleet share. They are ports, paths,
// names in Secrets, and times. The operator's builders and the programs' defaults are both tested against it.
package contract

import "time"

// Ports of the programs, all TCP.
const (
	RouterAPI   = 8080 // HTTP and WebSocket, for clients
	RouterProbe = 8090 // /healthz, /readyz, /metrics
	RouterWatch = 8091 // gRPC Fleet.Watch, for those who scale

	WorkerSpeech = 9090 // gRPC Speech and Link, for routers
	WorkerProbe  = 9091

	PortalAPI       = 8081 // HTTP, for people
	PortalDataplane = 8082 // gRPC, for routers
	PortalProbe     = 8083

	OperatorProbe   = 8081
	OperatorMetrics = 8443
	OperatorScaler  = 9443 // gRPC, for KEDA

	ExternalMetrics      = 6443 // HTTP, for the API server
	ExternalMetricsProbe = 8081
)

// SpeechPort is what the port WorkerSpeech is called in the Service of the worker pods, by which routers find it.
const SpeechPort = "grpc"

// Paths of probes and metrics.
const (
	Healthz = "/healthz"
	Readyz  = "/readyz"
	Metrics = "/metrics"
)

// Entries of the Secrets that processes are given.
const (
	TLSCert       = "tls.crt"
	TLSKey        = "tls.key"
	TLSAuthority  = "ca.crt"
	Token         = "token"   // the token that processes share
	PortalAddress = "address" // HOST:PORT of the dataplane
	APIKeys       = "keys"    // a key a line, KEY or KEY=voice,voice
)

// Times that hold for every process of a fleet.
const (
	// DrainLimit is the longest that an utterance may take, and so what a pod that is to go may need.
	DrainLimit = 120 * time.Second
	// ShipLimit is what a router needs at most, when it has drained, to send the portal what was used.
	ShipLimit = 20 * time.Second
)

// EspeakModel is the model that every worker speaks with that is given no other.
const EspeakModel = "espeak-ng-hinglish"

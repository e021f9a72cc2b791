// Package layout holds no code, only the test of how the packages of this repository may depend on one another.
package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/swar-tts/swar/"

// A rule says which packages of ours a package may import, and why not more.
type rule struct {
	may []string
	why string
}

const step = "a step of the speech path knows the vocabulary and no other step: pipeline joins them"

const dialect = "a dialect maps one vendor's wire to what is spoken: it knows no other one, no engine and no HTTP server"

// rules has a line for every package. Add one together with the package, and think before you widen one.
var rules = map[string]rule{
	"runtime/lexicon":                   {nil, "words and what is spoken for them are known before anything is spoken"},
	"runtime/speech":                    {[]string{"runtime/lexicon"}, "the vocabulary imports nothing of ours but what an utterance carries, so that everything can import it"},
	"runtime/speech/speechtest":         {[]string{"runtime/speech"}, "the suite must fit every speaker"},
	"runtime/normalize":                 {[]string{"runtime/lexicon", "runtime/speech"}, step},
	"runtime/internal/ogg":              {nil, "a page of Ogg is the same for who reads and who writes it"},
	"runtime/internal/table":            {nil, "what the rows of a table mean is known to whoever reads them"},
	"runtime/normalize/internal/words":  {[]string{"runtime/internal/table"}, "words are data, and know nobody who reads them"},
	"runtime/internal/pronounce":        {[]string{"runtime/internal/table"}, "capitals are judged by their letters alone, whoever asks"},
	"runtime/normalize/internal/markup": {nil, "what is markup in a text depends on no word of it"},
	"runtime/normalize/internal/text": {[]string{"runtime/internal/pronounce", "runtime/normalize/internal/markup", "runtime/normalize/internal/words"},
		"what stands in a text is known before anybody says it"},
	"runtime/normalize/internal/say": {[]string{"runtime/speech", "runtime/normalize/internal/words", "runtime/normalize/internal/text"},
		"what writes words decides nothing"},
	"runtime/normalize/internal/rules": {[]string{
		"runtime/speech", "runtime/normalize/internal/markup", "runtime/normalize/internal/words", "runtime/normalize/internal/text", "runtime/normalize/internal/say",
	}, "a rule knows the layers below it, and not the loop that asks it"},
	"runtime/ssml":            {[]string{"runtime/speech"}, "markup becomes text and marks before any step of the speech path"},
	"runtime/translit":        {[]string{"runtime/internal/pronounce", "runtime/internal/table", "runtime/speech"}, step},
	"runtime/tokenize":        {[]string{"runtime/speech"}, step},
	"runtime/chunk":           {[]string{"runtime/speech"}, step},
	"runtime/wordtime":        {[]string{"runtime/speech"}, "words are estimated from text and audio alone, whoever has spoken them"},
	"runtime/wav":             {nil, "a header that also those write who link no codec"},
	"runtime/encode":          {[]string{"runtime/internal/ogg", "runtime/speech", "runtime/wav"}, "a step of the speech path, and the header of one of its formats"},
	"runtime/stretch":         {nil, "speed is a matter of samples alone"},
	"runtime/voiceout":        {[]string{"runtime/encode", "runtime/resample", "runtime/stretch", "runtime/wav"}, "it knows samples and formats alone, neither engines nor dialects"},
	"runtime/synth":           {[]string{"runtime/speech"}, "the engine port must not know an engine"},
	"runtime/synth/synthtest": {[]string{"runtime/speech", "runtime/synth"}, "the suite must fit every engine"},
	"runtime/resample":        {nil, "samples are numbers, whoever they come from"},
	"runtime/childenv":        {nil, "what a program may see depends on nothing of ours"},
	"runtime/recording":       {[]string{"runtime/childenv", "runtime/internal/ogg", "runtime/speech", "runtime/resample"}, "a recording is a file; what is made of it is decided elsewhere"},
	"runtime/espeak":          {[]string{"runtime/internal/espeakng", "runtime/speech", "runtime/resample", "runtime/synth", "runtime/tokenize", "runtime/translit"}, "an engine knows its port and what it feeds its model with"},
	"runtime/kokoro": {[]string{
		"runtime/espeak", "runtime/internal/noise", "runtime/internal/ort", "runtime/kokoro/bundle", "runtime/kokoro/convert",
		"runtime/safetensors", "runtime/speech", "runtime/synth",
	}, "an engine knows its port, what it feeds its model with, and how its voices are measured when they are converted"},
	"runtime/onnx": {[]string{
		"runtime/speech", "runtime/synth", "runtime/tokenize", "runtime/translit", "runtime/onnx/bundle", "runtime/onnx/layout",
		"runtime/internal/graph", "runtime/internal/noise", "runtime/internal/ort",
	}, "an engine knows its port and what it feeds its model with"},
	"models":             {[]string{"models/archive", "models/catalog", "runtime/manifest"}, "where models lie is known to programs that run them and to what brings them; it needs no network"},
	"models/download":    {nil, "bytes are brought and hashed without knowing who publishes them, or what they are"},
	"models/hub":         {[]string{"models/download"}, "a hub says what there is and where; how bytes are brought is not its own"},
	"models/hub/hubtest": {nil, "a hub for tests is written after the real one, not after its client"},
	"models/pull": {[]string{
		"models", "models/catalog", "models/download", "models/hub", "models/packages", "runtime/manifest", "runtime/onnx/bundle",
		"runtime/onnx/convert", "runtime/kokoro/bundle", "runtime/kokoro/convert",
	}, "what is pulled is a bundle of ours in the end; it is tried by whoever pulls"},
	"models/packages":       {[]string{"runtime/childenv"}, "packages are downloaded without knowing what is made of their files"},
	"models/oci":            {[]string{"models/archive", "models/download"}, "a registry keeps folders; what is a bundle is known to whoever pushes one"},
	"models/archive":        {nil, "archive transfer is independent of content"},
	"models/catalog":        {nil, "what models are called is data, whoever brings them"},
	"runtime/manifest":      {[]string{"runtime/internal/folder", "runtime/onnx/bundle", "runtime/kokoro/bundle"}, "what bundles have in common is said where all of them are known, and needs no engine"},
	"runtime/safetensors":   {nil, "a file of named tensors is read without knowing what they are of"},
	"runtime/onnx/bundle":   {[]string{"runtime/safetensors", "runtime/internal/folder"}, "a bundle is files: what makes them and what runs them meet here"},
	"runtime/kokoro/bundle": {[]string{"runtime/safetensors", "runtime/internal/folder"}, "a bundle is files: what makes them and what runs them meet here"},
	"runtime/kokoro/convert": {[]string{
		"runtime/kokoro/bundle", "runtime/internal/folder", "runtime/internal/graph", "runtime/safetensors",
	}, "a bundle is made of files and graphs; running them, as for measuring a voice, is the engine's"},
	"runtime/kokoro/kokorotest": {[]string{"internal/testenv/downloadtest", "runtime/kokoro/bundle", "runtime/kokoro/convert"}, "the weights for tests are found without the engine that is tested"},
	"runtime/onnx/convert": {[]string{
		"runtime/speech", "runtime/recording", "runtime/tokenize", "runtime/onnx/bundle", "runtime/internal/folder", "runtime/internal/graph",
		"runtime/safetensors",
	}, "a bundle is made of files and graphs; running them is the engine's"},
	"runtime/onnx/parity": {[]string{
		"runtime/speech", "runtime/synth", "runtime/tokenize", "runtime/onnx/bundle", "runtime/onnx/convert",
		"runtime/onnx/internal/model", "runtime/internal/noise", "runtime/internal/npy", "runtime/internal/ort", "runtime/safetensors",
	}, "what the reference has recorded is compared with the model itself, without the engine around it"},
	"runtime/onnx/layout": {[]string{
		"runtime/speech", "runtime/tokenize", "runtime/onnx/bundle", "runtime/onnx/convert",
		"runtime/internal/graph", "runtime/internal/npy", "runtime/internal/ort", "runtime/safetensors",
	}, "public layouts are run: they know what a graph declares and the manifest, and read recordings and text rules as convert does"},
	"runtime/onnx/measure": {[]string{"runtime/onnx/bundle", "runtime/onnx/internal/model", "runtime/internal/graph", "runtime/internal/ort"}, "graphs, those of a bundle and one of products alone, are timed without the engine around them"},
	"runtime/onnx/layout/layouttest": {[]string{
		"runtime/speech", "runtime/onnx/bundle", "runtime/onnx/convert", "runtime/internal/graph",
	}, "public layouts are made here from the same random models that bundles are made of"},
	"runtime/queue": {nil, "a queue knows nothing about its items"},
	"runtime/pool":  {[]string{"runtime/queue", "runtime/speech", "runtime/synth"}, "lending workers has nothing to do with what they speak"},
	"runtime/pipeline": {[]string{
		"runtime/speech", "runtime/ssml", "runtime/normalize", "runtime/chunk", "runtime/synth", "runtime/pool", "runtime/stretch", "runtime/encode", "runtime/wordtime",
	}, "pipeline knows every step, but neither engines nor HTTP"},
	"runtime/pipeline/pipelinetest": {[]string{"runtime/pipeline", "runtime/pool", "runtime/speech", "runtime/synth"}, "any engine is joined to workers, so that the suites of speakers fit it"},
	"runtime/session": {[]string{
		"runtime/speech", "runtime/ssml", "runtime/normalize",
	}, "whoever is fed speaks to a Speaker in sentences, and normalize knows where those end; no engine and no dialect does"},
	"runtime/access":             {[]string{"runtime/speech", "runtime/lexicon", "runtime/ident"}, "keys are checked the same way with and without HTTP"},
	"runtime/metrics":            {[]string{"runtime/speech"}, "metrics are names; what they count is decided where it happens"},
	"runtime/dialect":            {[]string{"runtime/speech", "runtime/strictjson"}, "what dialects have in common is words and tables; formats are written elsewhere"},
	"runtime/dialect/cartesia":   {[]string{"runtime/dialect", "runtime/speech", "runtime/strictjson"}, dialect},
	"runtime/dialect/sarvam":     {[]string{"runtime/dialect", "runtime/speech", "runtime/strictjson"}, dialect},
	"runtime/dialect/deepgram":   {[]string{"runtime/dialect", "runtime/speech", "runtime/strictjson"}, dialect},
	"runtime/dialect/elevenlabs": {[]string{"runtime/dialect", "runtime/speech", "runtime/ssml", "runtime/strictjson"}, dialect},
	"runtime/dialect/openai":     {[]string{"runtime/dialect", "runtime/speech", "runtime/strictjson"}, dialect},
	"runtime/dialect/jambonz":    {[]string{"runtime/dialect", "runtime/speech", "runtime/strictjson"}, dialect},
	"runtime/dialect/vapi":       {[]string{"runtime/dialect", "runtime/speech", "runtime/strictjson"}, dialect},
	"runtime/serve": {[]string{
		"runtime/speech", "runtime/ssml", "runtime/lexicon", "runtime/session", "runtime/access", "runtime/dialect", "runtime/meter", "runtime/metrics", "runtime/wav", "runtime/answer", "runtime/strictjson", "runtime/ident",
	}, "serve speaks to a Speaker, local or remote, and must not know which; it counts what is spoken, and of encode it takes the WAV header"},
	"runtime/dialect/bridge": {[]string{"runtime/dialect", "runtime/speech", "runtime/strictjson"}, dialect},
	"runtime/dialect/wyoming": {[]string{
		"runtime/dialect", "runtime/speech", "runtime/strictjson",
	}, "a protocol of its own over TCP: what speaks is asked for by a port, which may be a server elsewhere"},
	"runtime/dialect/wyoming/wyomingtest": {
		nil, "a client for tests is written after the protocol, not after our server",
	},
	"runtime/sample":                {[]string{"runtime/speech", "runtime/wav"}, "a sample is asked of a Speaker, local or remote, as any utterance; HTTP is around it"},
	"runtime/answer":                {nil, "what every API answers in the same way knows none of them"},
	"runtime/strictjson":            {nil, "a body is read the same way by every API, whatever its fields are"},
	"runtime/ident":                 {nil, "identifiers look the same, whatever they identify"},
	"runtime/meter":                 {[]string{"runtime/speech", "runtime/access", "runtime/ident"}, "what was spoken is counted without HTTP and without the portal"},
	"runtime/grpcauth":              {nil, "who may call is asked the same way, whatever is called"},
	"runtime/grpcauth/grpcauthtest": {[]string{"runtime/grpcauth"}, "certificates for tests are made for the roles that there are"},
	"runtime/dataplane": {[]string{
		"runtime/access", "runtime/meter", "runtime/grpcauth", "runtime/dataplane/wire",
	}, "a router knows keys and usage events, and links nothing of the portal"},
	"runtime/dataplane/wire": {[]string{
		"runtime/access", "runtime/lexicon", "runtime/meter",
	}, "both halves of the link speak of keys and usage events, and of nothing else"},
	"api/v1alpha1": {nil, "clients of the API import it alone: it brings nothing along but Kubernetes' own"},
	"controllers/resources": {[]string{
		"api/v1alpha1", "runtime/contract",
	}, "which objects make up a fleet follows from what is wanted alone, without a client"},
	"controllers/monitoring": {[]string{
		"api/v1alpha1",
	}, "what to watch is text that a TTSDeployment is filled in; who tells what it names is a matter of its tests"},
	"controllers/metrics": {nil, "what is told of a fleet stands in one place, whoever finds it out"},
	"controllers": {[]string{
		"api/v1alpha1", "controllers/certs", "controllers/keda", "controllers/metrics", "controllers/plan", "controllers/resources",
		"controllers/scaler", "controllers/watch",
		"runtime/contract", "runtime/fleet/link/wire", "runtime/grpcauth",
	}, "who observes and applies decides nothing: plan, scaler and the builders do"},
	"controllers/certs": {nil, "a certificate depends on time and name, and on nothing that has to be read"},
	"controllers/plan":  {[]string{"api/v1alpha1"}, "a decision is tried in a table: it reads and writes nothing"},
	"controllers/watch": {[]string{"runtime/fleet/link/wire"}, "one adapter listens to routers, and decides nothing"},
	"cmd/operator": {[]string{
		"cmd/internal/launch", "controllers", "controllers/externalmetrics", "controllers/metrics", "controllers/monitoring",
		"controllers/resources", "runtime/grpcauth",
	}, "the operator starts what looks after fleets; no speech passes through it"},
	"controllers/keda": {[]string{
		"controllers/keda/wire",
	}, "one adapter knows the protocol of KEDA; what fleets have to do is found out elsewhere"},
	"controllers/externalmetrics": {[]string{
		"controllers/keda", "controllers/keda/wire",
	}, "one adapter knows the API of external metrics; it asks the operator from outside, and has no part in it"},
	"controllers/keda/wire":         {nil, "the protocol is KEDA's, and means nothing of ours"},
	"runtime/contract":              {nil, "what starts processes and what they are must be able to agree without importing one another"},
	"runtime/fleet/route":           {[]string{"runtime/queue", "runtime/speech"}, "who speaks what is decided without a clock and without a network"},
	"runtime/fleet/route/routetest": {[]string{"runtime/fleet/route"}, "a pod without workers is its slots and what route decides about them"},
	"runtime/fleet/link/wire": {[]string{
		"runtime/speech", "runtime/lexicon", "runtime/ssml", "runtime/fleet/route",
	}, "the messages between routers and pods mean what the vocabulary and the routing say"},
	"runtime/fleet/link": {[]string{
		"runtime/metrics", "runtime/speech", "runtime/fleet/link/wire", "runtime/fleet/route",
	}, "what travels is known here, what is decided about it is not"},
	"runtime/fleet": {[]string{
		"runtime/metrics", "runtime/speech", "runtime/fleet/link", "runtime/fleet/link/wire", "runtime/fleet/route",
	}, "a remote speaker knows pods, and no engine, no HTTP and no tenant"},
	"runtime/fleet/discover": {[]string{"runtime/fleet/route"}, "where pods are has nothing to do with what they say"},
	"runtime/fleet/discover/endpointslice": {[]string{
		"runtime/contract", "runtime/fleet/discover",
	}, "one adapter asks Kubernetes, and only where pods are"},
	"portal/emailaddr": {nil, "what an address is does not depend on whose it is"},
	"portal/cursor":    {[]string{"runtime/ident"}, "a place in a list does not depend on what is listed"},
	"portal/tenant":    {[]string{"runtime/speech", "runtime/lexicon", "runtime/access", "runtime/ident", "portal/cursor", "portal/emailaddr"}, "the rules of tenancy stand without HTTP and without a database"},
	"portal/usage":     {[]string{"runtime/meter", "portal/cursor"}, "usage is added up without HTTP and without a database"},
	"portal/web":       {[]string{"runtime/answer"}, "pages are files under a policy; what they show they fetch over HTTP themselves"},
	"portal/signin":    {[]string{"runtime/answer", "runtime/ident", "runtime/strictjson", "portal/emailaddr"}, "who a person is has nothing to do with what they may do"},
	"portal/storetest": {[]string{"runtime/access", "runtime/lexicon", "runtime/meter", "runtime/speech", "portal/cursor", "portal/signin", "portal/tenant", "portal/usage"}, "the suite must fit every store"},
	"portal/memstore":  {[]string{"portal/cursor", "portal/signin", "portal/tenant", "portal/usage"}, "a store knows its ports and keeps no rule"},
	"portal/sqlite":    {[]string{"runtime/meter", "portal/signin", "portal/tenant", "portal/usage"}, "a store knows its ports, and the statuses that its rows hold, and keeps no rule"},
	"portal/rest": {[]string{
		"runtime/speech", "runtime/lexicon", "runtime/meter", "runtime/answer", "runtime/strictjson", "runtime/ident", "portal/cursor", "portal/signin", "portal/tenant", "portal/usage",
	}, "rest translates between HTTP and the rules; of the runtime it knows the words: voices, and the status of a stream"},
	"portal/dataplane": {[]string{
		"runtime/access", "runtime/meter", "runtime/grpcauth", "runtime/dataplane/wire", "portal/tenant",
	}, "the portal's half of the link knows keys and usage events, not what becomes of either"},
	"portal/firestore":    {[]string{"runtime/ident", "runtime/meter", "runtime/speech", "portal/signin", "portal/tenant", "portal/usage"}, "a store knows its ports and keeps no rule; of meter it takes what a day is, of speech what a disclosure is"},
	"portal/migrate":      {[]string{"portal/tenant", "portal/usage"}, "moving a tenancy must fit every store"},
	"client":              {nil, "the client is for others to import: it brings nothing of the server along"},
	"cmd/internal/launch": {nil, "what every program shares knows neither engines nor the portal"},
	"cmd/internal/peer":   {[]string{"cmd/internal/launch", "runtime/grpcauth"}, "processes of a fleet know one another by the same settings, whatever they do"},
	"cmd/internal/engine": {[]string{
		"cmd/internal/launch", "models", "runtime/espeak", "runtime/kokoro", "runtime/metrics", "runtime/onnx", "runtime/onnx/bundle", "runtime/onnx/layout",
		"runtime/pipeline", "runtime/pool", "runtime/synth",
	}, "programs that speak by themselves choose and join the same things; keys and HTTP are not among them"},
	"cmd/internal/portal": {[]string{
		"cmd/internal/launch", "portal/dataplane", "portal/emailaddr", "portal/firestore", "portal/rest", "portal/signin", "portal/sqlite", "portal/tenant", "portal/usage",
		"runtime/access", "runtime/answer", "runtime/grpcauth", "runtime/meter", "runtime/metrics", "runtime/speech",
	}, "the portal is joined in one way, with speech in the same process or without; no engine is among it"},
	"cmd/internal/dialects": {[]string{
		"cmd/internal/launch", "runtime/dialect", "runtime/dialect/bridge", "runtime/dialect/deepgram", "runtime/dialect/cartesia", "runtime/dialect/sarvam", "runtime/dialect/jambonz", "runtime/dialect/vapi", "runtime/dialect/elevenlabs", "runtime/dialect/openai", "runtime/serve", "runtime/voiceout",
	}, "what answers clients offers the same dialects, whoever speaks"},
	"cmd/internal/lexfile": {[]string{"cmd/internal/launch", "runtime/lexicon"}, "a file of words is read in one way by whoever takes one"},
	"cmd/internal/label":   {[]string{"cmd/internal/launch", "runtime/serve", "runtime/speech"}, "what answers clients marks speech in one way, whoever speaks"},
	"cmd/internal/call":    {[]string{"client", "cmd/internal/launch", "runtime/speech"}, "calling a server, and what is said of its refusals, has nothing to do with running one"},
	"cmd/internal/control": {[]string{
		"client", "cmd/internal/call", "cmd/internal/launch", "cmd/internal/lexfile", "cmd/internal/portal", "portal/emailaddr", "portal/migrate", "portal/sqlite", "portal/tenant", "portal/usage",
		"runtime/lexicon", "runtime/meter", "runtime/speech",
	}, "commands on a portal know its API, its files and its words, and no engine"},
	"cmd/portal": {[]string{
		"cmd/internal/call", "cmd/internal/control", "cmd/internal/launch", "cmd/internal/peer", "cmd/internal/portal",
		"portal/web", "runtime/answer", "runtime/metrics", "runtime/serve", "runtime/speech",
	}, "a program that makes no speech: of serve it takes what stands around every API, and of speech the words"},
	"cmd/swar":           {[]string{"*"}, ""},
	"cmd/internal/trace": {[]string{"cmd/internal/launch"}, "where spans go is a setting; what they say is said where it happens"},
	"cmd/worker": {[]string{
		"cmd/internal/engine", "cmd/internal/launch", "cmd/internal/peer", "cmd/internal/trace", "runtime/fleet/link", "runtime/grpcauth", "runtime/metrics",
		"runtime/pool", "runtime/speech",
	}, "a pod speaks for routers: it knows no key, no tenant and no client"},
	"cmd/router": {[]string{
		"cmd/internal/dialects", "cmd/internal/label", "cmd/internal/launch", "cmd/internal/lexfile", "cmd/internal/peer", "cmd/internal/trace", "runtime/access", "runtime/dataplane", "runtime/fleet", "runtime/fleet/discover",
		"runtime/answer", "runtime/fleet/discover/endpointslice", "runtime/fleet/link", "runtime/fleet/route", "runtime/grpcauth", "runtime/meter", "runtime/metrics", "runtime/sample", "runtime/serve", "runtime/speech",
	}, "a router answers clients: it links no engine, and of the portal only what runtime/dataplane knows"},
	"controllers/scaler": {nil, "how many pods there are, and which go, is decided without Kubernetes, a clock and a network"},
	"hack/layout":        {nil, "a test of the tree"},
	"hack/fleetbench":    {[]string{"*"}, ""},
	"hack/e2ecluster":    {nil, "what is tried is what users have: images, the chart and the addresses of a cluster"},
	"hack/operatorbench": {[]string{
		"api/v1alpha1", "controllers/resources", "runtime/contract", "runtime/fleet/link/wire",
	}, "a measurement starts the program, and makes what it looks at"},
	"internal/testenv/firestoretest":   {nil, "finding an emulator has nothing to do with what is stored in it"},
	"internal/testenv/peerstest":       {nil, "providers of others know nothing of us"},
	"hack/internal/page":               {nil, "the commands of a page are found without knowing what they do"},
	"internal/testenv/clocktest":       {nil, "a clock is set without knowing who reads it"},
	"internal/testenv/lineartest":      {nil, "time is measured without knowing what takes it"},
	"internal/testenv/kubetest":        {nil, "an API server does not know what is tried on it"},
	"hack/cpumasktest":                 {nil, "what hides instructions is tried on a program that knows nothing of it"},
	"hack/fetch":                       {nil, "scripts are tried as they are run"},
	"internal/testenv/downloadtest":    {nil, "finding a download does not depend on its content"},
	"internal/testenv/onnxruntimetest": {[]string{"internal/testenv/downloadtest"}, "finding the library does not depend on the models that it runs"},
	"hack/benchengine": {[]string{
		"runtime/speech", "runtime/synth", "runtime/onnx", "runtime/onnx/bundle", "runtime/onnx/convert", "runtime/onnx/layout/layouttest",
		"runtime/onnx/measure",
	}, "what is measured is the engine as it is, and the same models in other layouts"},
	"hack/sim": {[]string{
		"controllers/scaler", "runtime/fleet/route", "runtime/fleet/route/routetest", "runtime/speech",
	}, "what is simulated is decided by the code that decides it in the programs, and by nothing else"},
	"hack/chaos": {nil, "what is harmed from outside is not imported"},
	"hack/e2e":   {[]string{"internal/testenv/peerstest"}, "what is tested from outside is not imported"},

	"hack/webtypes":       {nil, "types of pages follow from the description of the API alone"},
	"hack/web":            {nil, "what bundles pages knows files, and no program of ours"},
	"hack/reading":        {[]string{"hack/reading/accept", "runtime/normalize", "runtime/translit"}, "normalisers are compared as they stand, ours among them"},
	"hack/reading/accept": {nil, "what judges readings must not know how ours come to be"},
	"hack/romanwords":     {[]string{"runtime/normalize", "runtime/translit"}, "words are counted in what an engine would be given"},

	"hack/chart":                 {nil, "what of the chart follows from other files, follows from files alone"},
	"hack/cluster":               {nil, "a cluster for tests runs whatever it is given"},
	"hack/cluster/image/pause":   {nil, "it waits, in every pod of that cluster"},
	"hack/cluster/image/smoke":   {nil, "it shows what a pod sees, whatever else the pods of the project do"},
	"hack/cluster/image/scratch": {nil, "an image is packed without knowing what is in it"},
	"hack/images":                {[]string{"hack/internal/oci"}, "what is packed is compiled programs and files, and imported by nothing"},
}

// only says which packages may import an outside module or a heavy part of the standard library.
var only = map[string]struct {
	in  []string
	why string
}{
	"net/http":                               {[]string{"runtime/answer", "runtime/serve", "runtime/metrics", "portal/rest", "portal/signin", "portal/web", "client", "cmd/", "hack/cluster", "hack/reading", "internal/testenv/peerstest", "controllers/externalmetrics", "models/archive", "models/download", "models/hub", "models/oci", "models/pull"}, "the core compiles without HTTP; signing in is HTTP by its standards"},
	"github.com/gorilla/":                    {[]string{"runtime/serve", "portal/rest", "client"}, "one adapter of each API knows gorilla"},
	"github.com/prometheus/":                 {[]string{"runtime/metrics", "controllers/metrics"}, "metric names stand in one place, of the data plane and of the operator"},
	"github.com/spf13/":                      {[]string{"cmd/"}, "only cmd reads flags"},
	"os/exec":                                {[]string{"runtime/espeak", "runtime/internal/espeakng", "runtime/recording", "models/packages", "cmd/", "hack/", "internal/testenv"}, "adapters run programs: one that speaks or writes phonemes, one that decodes what we do not, and those that know where packages are"},
	"k8s.io/":                                {[]string{"api/", "controllers", "runtime/fleet/discover/endpointslice", "cmd/operator", "cmd/router", "internal/testenv/kubetest"}, "the data plane runs without Kubernetes"},
	"sigs.k8s.io/":                           {[]string{"api/", "controllers", "cmd/operator", "internal/testenv/kubetest"}, "the data plane runs without Kubernetes"},
	"google.golang.org/grpc":                 {[]string{"controllers", "runtime/grpcauth", "runtime/dataplane", "runtime/fleet", "portal/dataplane", "portal/firestore", "cmd/router", "cmd/worker"}, "adapters know gRPC: the links between our processes, and the client of Firestore"},
	"go.opentelemetry.io/":                   {[]string{"runtime/fleet", "cmd/internal/trace"}, "traces go where utterances leave a process"},
	"cloud.google.com/go/firestore":          {[]string{"portal/firestore"}, "one adapter knows Firestore"},
	"modernc.org/sqlite":                     {[]string{"portal/sqlite"}, "one adapter knows SQLite"},
	"github.com/yalue/onnxruntime_go":        {[]string{"runtime/onnx", "runtime/internal/ort"}, "one adapter knows ONNX Runtime"},
	"github.com/go-json-experiment/json":     {[]string{"runtime/answer", "runtime/strictjson", "runtime/dialect", "runtime/serve", "portal/rest"}, "strict JSON is a matter of the APIs"},
	"github.com/go-jose/":                    {[]string{"portal/signin"}, "tokens are signed and checked in one place"},
	"github.com/coreos/go-oidc":              {nil, "the other side of the tests of portal/signin, and nothing else"},
	"github.com/wneessen/go-mail":            {[]string{"portal/signin"}, "one adapter sends mail"},
	"github.com/hashicorp/golang-lru":        {[]string{"runtime/synth", "hack/sim"}, "the prefill cache is the only one, and the simulator has pods with one"},
	"github.com/klauspost/compress":          {[]string{"models/archive"}, "archives are unpacked in one place"},
	"oras.land/":                             {[]string{"models/oci"}, "one adapter talks to registries"},
	"github.com/opencontainers/":             {[]string{"models/oci"}, "and knows what lies in them"},
	"github.com/google/go-containerregistry": {nil, "the other side of the tests of models/oci, and nothing else"},
	"github.com/schollz/progressbar":         {[]string{"cmd/"}, "only commands draw"},
	"golang.org/x/text/unicode/norm": {[]string{
		"runtime/lexicon", "runtime/normalize", "runtime/translit", "runtime/espeak", "runtime/onnx/internal/model", "portal/emailaddr", "hack/reading/accept",
	}, "text is cleaned at the front, and again only where raw text may come in"},
	"pgregory.net/rapid":            {nil, "properties are a matter of tests"},
	"regexp":                        {[]string{"hack/"}, "the speech path scans; regular expressions hide their cost"},
	"github.com/mewkiz/flac":        {[]string{"runtime/recording"}, "one package decodes"},
	"github.com/hajimehoshi/go-mp3": {[]string{"runtime/recording"}, "one package decodes"},
	"C":                             {[]string{"runtime/encode", "runtime/voiceout", "runtime/recording", "runtime/internal/ort", "runtime/internal/rowproduct", "runtime/internal/convolve", "runtime/internal/vector"}, "cgo stands where a library needs it, and where instructions of a processor do"},
}

type pkg struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	CgoFiles   []string
	TestGoFiles,
	XTestGoFiles []string
	Imports []string
}

func TestImports(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		seen[name] = true
		r, ok := rules[name]
		if !ok && !strings.Contains(name, "/internal/") {
			t.Errorf("%s has no line in hack/layout: say what it may import, and why", name)
			continue
		}
		for _, imported := range p.Imports {
			if own, ours := strings.CutPrefix(imported, module); ours {
				if !slices.Contains(r.may, own) && !slices.Contains(r.may, "*") &&
					!strings.HasPrefix(own, name+"/internal/") && ok {
					t.Errorf("%s imports %s: %s", name, own, r.why)
				}
				continue
			}
			for prefix, limit := range only {
				if matches(imported, prefix) &&
					!slices.ContainsFunc(limit.in, func(in string) bool { return strings.HasPrefix(name, in) }) {
					t.Errorf("%s imports %s, which is for %s only: %s", name, imported,
						strings.Join(limit.in, ", "), limit.why)
				}
			}
		}
	}
	for name := range rules {
		if !seen[name] {
			t.Errorf("the table of hack/layout has a line for %s, which does not exist", name)
		}
	}
}

// TestTheRuntimeLinksNothingOfThePortal: no package of runtime/ imports one of portal/, so that none links one by way
// of another either. A router has no use for tenancy and its stores.
func TestTheRuntimeLinksNothingOfThePortal(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		if !strings.HasPrefix(name, "runtime/") {
			continue
		}
		for _, imported := range p.Imports {
			if strings.HasPrefix(imported, module+"portal/") {
				t.Errorf("%s imports %s, which is of the portal", name, imported)
			}
		}
	}
}

// standIns are packages that need cgo for a library only, and build without both: what they then lack they say
// themselves.
var standIns = []string{"runtime/encode", "runtime/voiceout"}

// withoutCgo are packages whose programs build without a C compiler, because they do not speak.
var withoutCgo = []string{
	"cmd/internal/launch", "cmd/internal/peer", "cmd/portal", "cmd/router", "runtime/fleet/discover/endpointslice", "runtime/serve",
}

func TestWhatBuildsWithoutCgo(t *testing.T) {
	args := []string{"list", "-deps", "-f", "{{if and .CgoFiles (not .Standard)}}{{.ImportPath}}{{end}}"}
	for _, name := range withoutCgo {
		args = append(args, module+name)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for _, p := range strings.Fields(string(out)) {
		if slices.Contains(standIns, strings.TrimPrefix(p, module)) {
			continue
		}
		t.Errorf("%s needs cgo, and is among what %s link", p, strings.Join(withoutCgo, ", "))
	}
}

func TestStandInsBuildWithoutCgo(t *testing.T) {
	args := []string{"build"}
	for _, name := range standIns {
		args = append(args, module+name)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func matches(imported, prefix string) bool {
	return imported == prefix || strings.HasPrefix(imported, strings.TrimSuffix(prefix, "/")+"/")
}

func TestPackageComments(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		doc, pkgName := packageComment(t, p)
		want := "Package " + pkgName + " "
		if pkgName == "main" {
			want = "Command " + filepath.Base(p.Dir) + " "
			if folder, ok := strings.CutPrefix(name, "cmd/"); ok && folder != "swar" {
				want = "Command swar-" + folder + " "
			}
		}
		switch {
		case doc == "":
			t.Errorf("%s has no package comment: say in its first sentence what it is for", name)
		case !strings.HasPrefix(doc, want):
			t.Errorf("%s: the package comment begins with %q, want %q", name, firstWords(doc), want)
		}
	}
}

func packageComment(t *testing.T, p pkg) (doc, name string) {
	t.Helper()
	files := slices.Concat(p.GoFiles, p.CgoFiles)
	if len(files) == 0 {
		files = p.TestGoFiles
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil,
			parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		name = f.Name.Name
		if f.Doc != nil && isProse(f.Doc) {
			if doc != "" {
				t.Errorf("%s has two package comments", p.ImportPath)
			}
			doc = f.Doc.Text()
		}
	}
	return doc, name
}

// isProse leaves out comments that are only directives.
func isProse(c *ast.CommentGroup) bool { return strings.TrimSpace(c.Text()) != "" }

func firstWords(s string) string { return s[:min(len(s), 40)] }

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles,Imports", "./...")
	cmd.Dir = "../.."
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var all []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(fmt.Errorf("reading go list: %w", err))
		}
		all = append(all, p)
	}
	if len(all) < 5 {
		t.Fatalf("go list found only %d packages", len(all))
	}
	return all
}

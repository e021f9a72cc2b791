# The image of swar-worker, for those who have a daemon; make images needs none:
#
#   docker build -f images/worker.Dockerfile --build-arg VERSION=v1.0.0 -t registry.example.org/speech/worker:v1.0.0 .
#
# hack/images decides in both ways which files are in it (docs/images.md).
FROM --platform=$BUILDPLATFORM python:3.13-slim-bookworm AS onnxruntime
ARG TARGETARCH
WORKDIR /swar
COPY hack/onnxruntime.sh hack/
COPY hack/fetch/ hack/fetch/
RUN hack/onnxruntime.sh $TARGETARCH

FROM --platform=$BUILDPLATFORM golang:1.26.8-bookworm AS build
ARG BUILDARCH TARGETARCH VERSION REVISION SOURCE_DATE_EPOCH=0
RUN case $BUILDARCH-$TARGETARCH in \
    amd64-arm64) packages='gcc-aarch64-linux-gnu libc6-dev-arm64-cross' ;; \
    arm64-amd64) packages='gcc-x86-64-linux-gnu libc6-dev-amd64-cross' ;; \
    *) exit 0 ;; \
    esac && apt-get update && apt-get install -y --no-install-recommends $packages && rm -rf /var/lib/apt/lists/*
WORKDIR /swar
COPY . .
COPY --from=onnxruntime /swar/.cache/onnxruntime/ .cache/onnxruntime/
RUN go run ./hack/images rootfs -only worker -platforms linux/$TARGETARCH -version "$VERSION" -out /image

FROM scratch
COPY --from=build /image/ /
ARG VERSION REVISION
LABEL org.opencontainers.image.title="Swar worker" \
      org.opencontainers.image.description="Speaks for routers, with espeak-ng or a neural model." \
      org.opencontainers.image.licenses="Apache-2.0 AND GPL-3.0-or-later AND LGPL-2.1-or-later AND LGPL-2.0-or-later AND GPL-3.0-or-later WITH GCC-exception-3.1 AND BSD-3-Clause AND MIT AND MPL-2.0" \
      org.opencontainers.image.source="https://github.com/swar-tts/swar" \
      org.opencontainers.image.documentation="https://github.com/swar-tts/swar/blob/main/docs/images.md" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
ENV PATH=/usr/local/bin:/usr/bin
USER 65532:65532
WORKDIR /
EXPOSE 9090 9091
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/swar-worker"]

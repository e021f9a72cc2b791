#!/usr/bin/env bash
# Installs what is missing, and only that: "run" for building and speaking, "test" for what tests compare with as well, "browser"
# for Chromium and letters that it draws, "generate" for what generates code, "arm64" for building and running tests for arm64,
# "cluster" for running Kubernetes. Without apt-get it prints what to install and fails only where nothing works without it.
set -euo pipefail

want=${1:?usage: install-deps.sh run|test|browser|generate|arm64|cluster}
required=() optional=()

# need PACKAGE CHECK…: the package is missing when the check fails.
need() { local package=$1; shift; "$@" >/dev/null 2>&1 || required+=("$package"); }
like() { local package=$1; shift; "$@" >/dev/null 2>&1 || optional+=("$package"); }
has() { command -v "$1"; }
daemon() { command -v "$1" || test -x "/usr/sbin/$1"; } # which not every user has in the PATH
has_hindi() { [[ -n $(fc-list :lang=hi) ]]; } # a font without which Chromium draws boxes

command -v go >/dev/null || { echo "Go is missing: install Go $(awk '/^go /{print $2}' go.mod) or later (https://go.dev/doc/install)" >&2; exit 1; }
need gcc has "$(go env CC)"
need libc6-dev test -e /usr/include/stdio.h
need pkg-config has pkg-config
need libopus-dev pkg-config --exists opus
need libmp3lame-dev pkg-config --exists lame
need espeak-ng has espeak-ng
like curl has curl
if [[ $want != run ]]; then
	like opus-tools has opusinfo
	like ffmpeg has ffprobe
	like sox has sox
	like flac has flac
	like nginx-light daemon nginx
	like haproxy daemon haproxy
fi
if [[ $want == browser ]]; then
	like chromium has chromium
	like fonts-noto-core has_hindi
fi

if [[ $want == generate ]]; then
	need protobuf-compiler has protoc
fi
if [[ $want == arm64 ]]; then
	need gcc-aarch64-linux-gnu has aarch64-linux-gnu-gcc
	need libc6-dev-arm64-cross test -e /usr/aarch64-linux-gnu/include/stdio.h
	need libstdc++6-arm64-cross test -e /usr/aarch64-linux-gnu/lib/libstdc++.so.6
	need qemu-user has qemu-aarch64
fi
if [[ $want == cluster ]]; then
	need libseccomp-dev pkg-config --exists libseccomp
	need iproute2 has ip
	need iptables has iptables
	need nftables has nft
	need openssl has openssl
	need procps has pgrep
	need util-linux has nsenter
fi

missing=("${required[@]}" "${optional[@]}")
((${#missing[@]})) || exit 0

if ! command -v apt-get >/dev/null; then
	echo "Please install: ${missing[*]} (Debian's package names; elsewhere look for the headers of opus and lame, and for espeak-ng)." >&2
	((${#required[@]} == 0)) || exit 1
	exit 0
fi
sudo=()
if ((EUID != 0)); then
	command -v sudo >/dev/null || { echo "Please run as root: apt-get install -y ${missing[*]}" >&2; exit 1; }
	sudo=(sudo)
fi
echo "installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${sudo[@]}" apt-get -o DPkg::Lock::Timeout=120 -qq update
"${sudo[@]}" apt-get -o DPkg::Lock::Timeout=120 -qq install -y --no-install-recommends "${missing[@]}" >/dev/null

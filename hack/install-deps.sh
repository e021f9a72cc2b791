#!/usr/bin/env bash
# Installs what is missing, and only that: "run" for building and speaking, "test" for what tests compare with as well, "browser"
# for Chromium and letters that it draws, "generate" for what generates code, "arm64" for building and running tests for arm64,
# "cluster" for running Kubernetes. Without apt-get it prints what to install and fails only where nothing works without it.
# Go, which Debian has in old versions, comes pinned as a package of Python.
set -euo pipefail

want=${1:?usage: install-deps.sh run|test|browser|generate|arm64|cluster}
required=() optional=()

# need PACKAGE CHECK…: the package is missing when the check fails.
need() { local package=$1; shift; "$@" >/dev/null 2>&1 || required+=("$package"); }
like() { local package=$1; shift; "$@" >/dev/null 2>&1 || optional+=("$package"); }
has() { command -v "$1"; }
daemon() { command -v "$1" || test -x "/usr/sbin/$1"; } # which not every user has in the PATH
has_hindi() { [[ -n $(fc-list :lang=hi) ]]; } # a font without which Chromium draws boxes

has_pip() { python3 -m pip --version; }

"${0%/*}/go.sh" -n || need python3-pip has_pip # Go comes by it
# So does the library of the neural engines, without which espeak-ng speaks.
[[ ${SWAR_VOICE:-} == espeak || -n ${SWAR_ONNXRUNTIME:-} ]] || like python3-pip has_pip
need gcc has "$(go env CC 2>/dev/null || echo "${CC:-gcc}")"
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

mapfile -t missing < <(printf '%s\n' "${required[@]}" "${optional[@]}" | sort -u | sed '/^$/d')

# complain WHAT says what is not installed, which is an error only where nothing works without it.
complain() {
	echo "$1" >&2
	((${#required[@]} == 0)) || exit 1
}

install() {
	local sudo=()
	if ! command -v apt-get >/dev/null; then
		complain "Please install: ${missing[*]} (Debian's package names; elsewhere look for the headers of opus and lame, and for espeak-ng)."
		return
	fi
	if ((EUID != 0)); then
		command -v sudo >/dev/null || { complain "Please run as root: apt-get install -y ${missing[*]}"; return; }
		sudo=(sudo)
	fi
	sudo+=(env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 -qq)
	echo "installing ${missing[*]}"
	local unknown='add the part of the archive that has it (Ubuntu: add-apt-repository universe)'
	"${sudo[@]}" -o APT::Update::Error-Mode=any update || # a source that has nothing to do with this may be gone
		unknown='its lists of packages could not be updated, see above: check the network'
	leave_out_unknown
	((${#missing[@]} == 0)) || "${sudo[@]}" -o APT::Status-Fd=1 install -y --no-install-recommends "${missing[@]}" | progress ||
		complain "apt-get could not install ${missing[*]}, see above; check the network and run this again"
}

# leave_out_unknown, in which $unknown says what to do, takes packages that no source has out of missing, because apt-get would install none of them.
leave_out_unknown() {
	has apt-cache >/dev/null || return 0
	local known=() package
	for package in "${missing[@]}"; do
		if apt-cache show "$package" >/dev/null 2>&1; then
			known+=("$package")
		elif [[ " ${required[*]} " == *" $package "* ]]; then
			echo "apt-get knows no package $package, which is needed; $unknown and run this again" >&2
			exit 1
		else
			echo "apt-get knows no package $package; going on without it" >&2
		fi
	done
	missing=("${known[@]}")
}

# progress shows how far apt-get is, every five seconds, from the lines that it writes for programs.
progress() {
	local kind what percent next=$((SECONDS + 5))
	while IFS=: read -r kind _ percent what; do
		if [[ $kind == [dp][lm]status ]] && ((SECONDS >= next)); then
			echo "  ${percent%.*} %: $what"
			next=$((SECONDS + 5))
		fi
	done
}

((${#missing[@]} == 0)) || install
"${0%/*}/go.sh"

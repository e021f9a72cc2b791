# shellcheck shell=bash
# Functions for scripts that bring something out of packages, which they source from the root of the repository. pip and npm know
# which registry this machine uses. What comes must have the hash that is pinned, in pins.txt or by the script; nothing of it is run.
#
# A file under its final name is always whole, and a run that is broken off leaves nothing. pip and npm keep what they have
# downloaded, so that running a script again begins where it can.

pins=hack/fetch/pins.txt
me=$(basename "$0" .sh)

fail() { echo "$me: $*" >&2; exit 1; }

# has_pip says whether wheel will find a pip. Debian packs it by itself, or in the package of virtual environments.
has_pip() { python3 -m pip --version >/dev/null 2>&1 || python3 -c 'import ensurepip' 2>/dev/null; }

# begin FOLDER makes the folder, and in it $work, which goes when the script ends: from there a file is moved to FOLDER in one step.
begin() {
	mkdir -p "$1"
	find "$1" -maxdepth 1 -name '.fetching.*' -mmin +60 -exec rm -rf {} + # of runs that were killed
	work=$(mktemp -d "$(realpath "$1")/.fetching.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	trap 'exit 130' INT TERM
}

# pinned PACKAGE prints the version of a package.
pinned() {
	local pin
	pin=$(grep "^$1==" "$pins") || fail "$pins has no $1"
	pin=${pin#*==}
	echo "${pin%% *}"
}

# machine [ARCH] prints x86_64 or aarch64, by Go's name, uname's or, if none is given, for this machine.
machine() {
	case $(uname -s)-${1:-$(uname -m)} in
	Linux-x86_64 | Linux-amd64) echo x86_64 ;;
	Linux-aarch64 | Linux-arm64) echo aarch64 ;;
	*) fail "nothing is pinned for $(uname -s) on ${1:-$(uname -m)}, only for Linux on amd64 and arm64${instead:+; $instead}" ;;
	esac
}

# wheel PACKAGE SIZE MACHINE downloads the pinned file of a package for x86_64 or aarch64, says so, and names it in $wheel. What the
# script's reader can do without it stands in $instead.
wheel() {
	local package log progress=/dev/null
	package=$1==$(pinned "$1")
	if [[ -z ${python:-} ]]; then
		has_pip || fail "pip is missing; install it (Debian: apt-get install python3-pip)${instead:+, or $instead}"
		python=python3
		if ! python3 -m pip --version >/dev/null 2>&1; then
			python3 -m venv "$work/venv" >/dev/null || fail "pip is missing; install it (Debian: apt-get install python3-pip)"
			python=$work/venv/bin/python
		fi
	fi
	echo "$me: downloading $package ($2), once" >&2
	grep "^$1==" "$pins" >"$work/pin.txt" || fail "writing to $work failed; look for space on the disk and run this again"
	rm -rf "$work/wheel"
	[[ ! -t 2 ]] || progress=/dev/stderr # with pip's bar
	# Of the builds for several Pythons one is pinned: which one does not matter, as none of it is run. What pip complains of is kept in a
	# variable, because a full disk takes no file.
	{ log=$(PIP_RESUME_RETRIES=5 "$python" -m pip download --disable-pip-version-check --no-input --retries=2 --timeout=30 --no-deps \
		--only-binary=:all: --platform="manylinux_2_28_$3" --platform="manylinux_2_17_$3" --python-version=311 --implementation=cp \
		--abi=cp311 --require-hashes --requirement="$work/pin.txt" --dest="$work/wheel" 2>&1 >&3); } 3>"$progress" || {
		[[ $log != *'DO NOT MATCH THE HASHES'* ]] ||
			fail "$package does not have the pinned hash and was deleted; run this again, and if that fails too, do not use that registry"
		fail "pip could not download $package$(pip_said "$log"), and run this again"
	}
	wheel=$(echo "$work"/wheel/*.whl)
	[[ -s $wheel ]] || fail "pip downloaded nothing for $package; run this again"
}

# pip_said LOG prints why pip failed, and what to do. Without a network, pip's own last words are that there is no such version.
pip_said() {
	local why proxy
	why=$(grep -oE '\[Errno -?[0-9]+\] [A-Z][A-Za-z ]+|\[SSL: [A-Z_]+\]|Tunnel connection failed: [0-9]+ [A-Za-z ]+|timed out' <<<"$1" | tail -n 1 || true)
	case $why in
	*'No space left'*) echo ": the disk of $work or of ${TMPDIR:-/tmp} is full; free some space" ;;
	*'Read-only'* | *'Permission denied'*) echo ": ${why#*] }; look at who may write to $work and ${TMPDIR:-/tmp}" ;;
	'[SSL: '*) echo ": its registry's certificate is not trusted ($why); name your authority's with PIP_CERT" ;;
	?*)
		proxy=${https_proxy:-${HTTPS_PROXY:-${all_proxy:-${ALL_PROXY:-}}}}
		[[ $1 == *ProxyError* && -n $proxy ]] && proxy=", by the proxy ${proxy##*@}" || proxy='' # without a password
		echo ": ${why#*] }$proxy; check the network"
		;;
	*) echo "; check the network and the space on the disk$(sed -n '0,/^ERROR: /s/^ERROR: \(.*\)/ (pip: \1)/p' <<<"$1")" ;;
	esac
}

# unpack FILE [TO] writes a file of the wheel, or with a slash at its end a folder, to $work or TO, and prints where.
unpack() {
	"$python" - "$wheel" "$1" "${2:-$work}" <<-'PYTHON' || fail "unpacking $1 failed; look for space on the disk and run this again"
		import os, sys, zipfile
		_, wheel, name, to = sys.argv
		with zipfile.ZipFile(wheel) as z:
		    members = [m for m in z.infolist() if m.filename == name or name.endswith("/") and m.filename.startswith(name)]
		    if not members:
		        sys.exit(f"{wheel} holds no {name}")
		    for m in members:
		        path = z.extract(m, to)
		        if (m.external_attr >> 16) & 0o100 and not m.is_dir():
		            os.chmod(path, 0o755)
		print(os.path.join(to, name))
	PYTHON
}

# tarball PACKAGE VERSION SHA256 SIZE downloads a package of npm and names it in $tarball.
tarball() {
	local npm=npm
	if ! command -v npm >/dev/null; then
		npm=$PWD/hack/fetch/bin/npm
		"$npm" --version >/dev/null # which brings it, and says so
	fi
	echo "$me: downloading $1 $2 ($4), once" >&2
	local log
	log=$(cd "$work" && "$npm" pack --loglevel error --ignore-scripts --prefer-offline "$1@$2" 2>&1 >/dev/null) || {
		sed 's/^/  /' <<<"$log" >&2
		fail "npm could not download $1 $2; check the network (npm ping) and the space on the disk, and run this again"
	}
	tarball=$work/$1-$2.tgz
	[[ -s $tarball ]] || fail "npm downloaded nothing; run this again"
	check "$tarball" "$3"
}

# check FILE SHA256
check() {
	echo "$2  $1" | sha256sum --check --status ||
		fail "$(basename "$1") does not have the pinned hash and was deleted; run this again, and if that fails too, do not use that registry"
}

#!/usr/bin/env bash
# Runs a command with Google's Firestore emulator beside it: hack/firestore-emulator.sh go test ./portal/firestore
#
# The command finds the emulator in FIRESTORE_EMULATOR_HOST. It ends with the command. Where FIRESTORE_EMULATOR_HOST is set already, that
# one is used and left running. Without a command it prints the emulator's jar, or fails where there is none.
set -euo pipefail

fail() { echo "firestore-emulator: $*" >&2; exit 1; }

if [[ $# -gt 0 && -n ${FIRESTORE_EMULATOR_HOST:-} ]]; then
	exec "$@"
fi

# Where the Debian package puts it, and where gcloud does.
root=$(command -v gcloud >/dev/null && gcloud info --format='value(installation.sdk_root)' 2>/dev/null || true)
for dir in /usr/lib/google-cloud-sdk "$root" "$HOME/google-cloud-sdk"; do
	jar=$dir/platform/cloud-firestore-emulator/cloud-firestore-emulator.jar
	[[ -n $dir && -s $jar ]] && break
	jar=
done
[[ $jar ]] || fail "there is no emulator; install it (Debian: apt-get install google-cloud-cli-firestore-emulator, else: gcloud components install cloud-firestore-emulator)"
java=$(command -v "${JAVA_HOME:+$JAVA_HOME/bin/}java") || fail "Java is missing; install version 17 or later (Debian: apt-get install openjdk-17-jre-headless)"
if [[ $# -eq 0 ]]; then
	echo "$jar"
	exit
fi

here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
pid=
stop() {
	if [[ -n $pid ]]; then kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; fi
	rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT TERM

for _ in 1 2 3; do # another program may take the port between the choice and the start
	port=$((20000 + RANDOM % 20000))
	"$java" -Xmx1g -Duser.language=en -cp "$jar" com.google.cloud.datastore.emulator.firestore.CloudFirestore \
		--host=127.0.0.1 --port="$port" --rules="$here/portal/firestore/firestore.rules" >"$work/log" 2>&1 &
	pid=$!
	for ((i = 0; i < 600; i++)); do
		kill -0 "$pid" 2>/dev/null || break
		if grep -qs 'now running' "$work/log" && (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
			FIRESTORE_EMULATOR_HOST=127.0.0.1:$port "$@"
			exit
		fi
		sleep 0.1
	done
	kill "$pid" 2>/dev/null || true
	pid=
done
tail -n 20 "$work/log" >&2
fail "the emulator did not start; its last words are above"

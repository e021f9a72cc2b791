#!/usr/bin/env bash
# Speaks with real clients of other services against swar serve. They are installed, with the versions that are pinned
# here, into .cache/compat. One that cannot be had is skipped, and named at the end. One that hangs prints where it does.
set -euo pipefail
cd "$(dirname "$0")/../.."

command -v ffmpeg >/dev/null || { echo "ffmpeg is missing, which says how long audio is: make install-test-deps" >&2; exit 1; }

cache=$PWD/.cache/compat
work=$(mktemp -d)
mkdir -p "$cache"
trap 'kill "${server:-}" 2>/dev/null || true; rm -rf "$work"' EXIT
skipped=() failed=()

port=${COMPAT_PORT:-18787}
export SWAR_COMPAT=http://127.0.0.1:$port SWAR_COMPAT_WYOMING=127.0.0.1:$((port + 1)) SWAR_COMPAT_KEY=compat-key SWAR_COMPAT_RAJ_KEY=compat-raj
export SWAR_TEST_BINARY=$work/swar # for those that start servers of their own
go build -o "$work/swar" ./cmd/swar
profiles=127.0.0.1:$((port + 2))
"$work/swar" serve --portal off --engine espeak --listen "127.0.0.1:$port" --pprof "$profiles" --wyoming "$SWAR_COMPAT_WYOMING" --api-key compat-key --api-key compat-raj=raj \
	>"$work/log" 2>&1 &
server=$!
for _ in $(seq 100); do
	curl -fs "$SWAR_COMPAT/readyz" >/dev/null && break
	sleep .1
done
curl -fs "$SWAR_COMPAT/readyz" >/dev/null || { cat "$work/log"; exit 1; }

# The bound of one script in seconds, which sdk/python/tests/bounded.py and sdk/typescript/test/bounded.mjs keep: it takes a
# tenth of that on two quiet cores. Behind it stands timeout(1), for a client that does not even run its timers.
export SWAR_TEST_BOUND=${SWAR_TEST_BOUND:-300}

# try NAME COMMAND... runs one client. Of one that hangs it prints where the server stands.
try() {
	local name=$1 status=0 began=$SECONDS
	shift
	echo "== $name"
	timeout -k 5 $((SWAR_TEST_BOUND + 60)) "$@" || status=$?
	if ((status)); then
		failed+=("$name (status $status)")
		tail -20 "$work/log"
	fi
	if ((status == 124 || status == 13 || status == 137)); then curl -s "http://$profiles/debug/pprof/goroutine?debug=2" || true; fi
	echo "   $((SECONDS - began)) s"
}

# npm_client NAME SCRIPT PACKAGE@VERSION... installs packages of one client and runs its script with them.
npm_client() {
	local name=$1 script=$2 folder=$cache/npm-$1
	shift 2
	if [[ $(cat "$folder/.of" 2>/dev/null) != "$*" ]]; then
		rm -rf "$folder"
		mkdir -p "$folder"
		if ! npm install --silent --no-audit --no-fund --prefix "$folder" "$@" >"$work/npm.log" 2>&1; then
			tail -3 "$work/npm.log"
			skipped+=("$*")
			return
		fi
		echo "$*" >"$folder/.of"
	fi
	cp hack/compat/*.mjs sdk/typescript/test/bounded.mjs "$folder/"
	try "$*" node --import "$folder/bounded.mjs" "$folder/$script"
}

# A Python that is new enough for all of them, if there is one.
python=python3
for newer in python3.14 python3.13 python3.12 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[2-9]*/bin/python; do
	if "$newer" -c '' 2>/dev/null; then
		python=$newer
		break
	fi
done

# pip_client NAME SCRIPT PACKAGE==VERSION... is the same for PyPI.
pip_client() {
	local name=$1 script=$2 folder=$cache/pip-$1
	shift 2
	if [[ $(cat "$folder/.of" 2>/dev/null) != "$*" ]]; then
		rm -rf "$folder"
		if ! { "$python" -m venv "$folder" && "$folder/bin/pip" install -q --disable-pip-version-check "$@"; } >"$work/pip.log" 2>&1; then
			tail -3 "$work/pip.log"
			skipped+=("$*")
			return
		fi
		echo "$*" >"$folder/.of"
	fi
	local bounded=sdk/python/tests/bounded.py
	[[ $script != plugin.py ]] || bounded= # bounds each of its tests
	try "$*" "$folder/bin/python" $bounded "hack/compat/$script"
}

if command -v npm >/dev/null; then
	npm_client openai7 openai.mjs openai@7.55.0
	npm_client openai6 openai.mjs openai@6.49.0
	npm_client ai ai.mjs ai@6.0.326 @ai-sdk/openai@3.0.141
	npm_client livekit-node livekit_node.mjs @livekit/agents@1.9.0 @livekit/rtc-node@0.13.34 typescript@5.9.3 @types/node@22.19.1
	agents=(@livekit/agents@1.9.0 @livekit/rtc-node@0.13.34)
	SWAR_COMPAT_PLUGINS=openai,deepgram,elevenlabs npm_client livekit-node-vendors livekit_node_vendors.mjs "${agents[@]}" @livekit/agents-plugin-{openai,deepgram,elevenlabs}@1.9.0
	SWAR_COMPAT_PLUGINS=cartesia npm_client livekit-node-cartesia livekit_node_vendors.mjs @livekit/{agents,agents-plugin-cartesia}@1.8.1 @livekit/rtc-node@0.13.34
	SWAR_COMPAT_PLUGINS=sarvam npm_client livekit-node-sarvam livekit_node_vendors.mjs @livekit/{agents,agents-plugin-sarvam}@1.4.8 @livekit/rtc-node@0.13.34
	npm_client deepgram deepgram.mjs @deepgram/sdk@5.13.0
	npm_client sarvam sarvam.mjs sarvamai@1.1.10
	npm_client cartesia cartesia.mjs @cartesia/cartesia-js@4.2.0
	npm_client elevenlabs elevenlabs.mjs @elevenlabs/elevenlabs-js@2.73.0 ws@8.23.0
	npm_client runtimes runtimes.mjs bun@1.4.5 deno@2.9.6 typescript@5.9.3 @types/node@22.19.1
	npm_client jambonz jambonz.mjs @jambonz/speech-utils@0.2.27
else
	skipped+=("all of npm: npm is missing")
fi
if command -v python3 >/dev/null; then
	pip_client openai openai_client.py openai==3.51.0
	pip_client deepgram deepgram_client.py deepgram-sdk==7.16.0
	pip_client sarvam sarvam_client.py sarvamai==0.1.39
	pip_client cartesia cartesia_client.py "cartesia[websockets]==4.2.0"
	pip_client elevenlabs elevenlabs_client.py elevenlabs==2.78.0
	pip_client wyoming wyoming_client.py wyoming==1.10.2
	pip_client wyoming-openai wyoming_openai_client.py wyoming-openai==0.8.0
	tools=(httpx==0.28.1 websockets==17.4 mypy==2.4.1 pytest==9.2.0)
	livekit=(livekit-agents==1.8.9 livekit-plugins-{openai,deepgram,elevenlabs,sarvam,cartesia}==1.8.9)
	pipecat=(pipecat-ai==1.14.0)
	SWAR_PLUGIN=livekit pip_client livekit plugin.py "${livekit[@]}" "${tools[@]}"
	SWAR_PLUGIN=pipecat pip_client pipecat plugin.py "${pipecat[@]}" "${tools[@]}"
	SWAR_DIALECTS=openai,deepgram,elevenlabs,sarvam,cartesia pip_client livekit livekit_vendors.py "${livekit[@]}" "${tools[@]}"
	SWAR_DIALECTS=openai,deepgram-http,deepgram,elevenlabs,elevenlabs-http,sarvam-http,sarvam,cartesia-http,cartesia pip_client pipecat pipecat_vendors.py "${pipecat[@]}" "${tools[@]}"
else
	skipped+=("all of PyPI: python3 is missing")
fi

for what in "${skipped[@]}"; do
	echo "SKIPPED, not to be had: $what" >&2
done
if ((${#failed[@]})); then
	printf 'FAILED: %s\n' "${failed[@]}" >&2
	exit 1
fi
echo "compat: every client that was found speaks, in $SECONDS s"

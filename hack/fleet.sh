#!/usr/bin/env bash
# Runs a whole fleet on this machine: two workers, two routers and a portal, as five processes that know one another by
# tokens. It prints a key and a command that makes audible speech, starts again what ends, and stops all on Ctrl-C.
# The first argument is the folder for everything that is kept, data/fleet unless given; ENGINE=fake needs programs
# that were built with the tag fake.
set -euo pipefail

data=${1:-data/fleet}
bin=${BIN:-bin}
engine=${ENGINE:-auto}
mkdir -p "$data"
for t in token portal-token; do # workers must not have that of the portal
	[ -s "$data/$t" ] || (umask 077 && head -c 24 /dev/urandom | base64 >"$data/$t")
done

pids=()
stop() {
	trap '' INT TERM
	echo "stopping" >&2
	# Routers first: they finish with the workers, and bring usage to the portal.
	for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
		kill -TERM "${pids[i]}" 2>/dev/null || true
		wait "${pids[i]}" 2>/dev/null || true
	done
}
trap stop EXIT
trap 'exit 130' INT TERM

fleet=(--token-file "$data/token")
portal=(--token-file "$data/portal-token")

# start NAME PROGRAM FLAGS… runs a program in a session of its own, so that Ctrl-C does not reach it before its turn, and
# starts it again when it ends by itself, as a cluster does.
start() {
	local name=$1 log=$data/$1.log
	shift
	(
		trap '' INT
		trap 'kill -TERM "$child" 2>/dev/null; wait "$child"; exit' TERM
		while :; do
			setsid "$@" --log-format json >>"$log" 2>&1 &
			child=$!
			code=0
			wait "$child" 2>/dev/null || code=$?
			echo "$name has ended with $code and is started again; its log is $log" >&2
			sleep 1
		done
	) &
	pids+=($!)
}
ready() { # NAME ADDRESS
	for _ in $(seq 150); do
		curl -fs "http://$2/readyz" >/dev/null && return
		sleep 0.2
	done
	echo "$1 does not become ready; its log ends:" >&2
	tail -n 3 "$data/$1.log" >&2
	exit 1
}

start portal "$bin/swar-portal" "${portal[@]}" --listen 127.0.0.1:8081 --dataplane 127.0.0.1:8082 --http 127.0.0.1:8083 \
	--data "$data/portal" --model-id "${MODEL:-espeak-ng-hinglish}" --voice anjura --voice raj --api-url http://127.0.0.1:8080
ready portal 127.0.0.1:8083
for port in 9090 9190; do
	start "worker-$port" "$bin/swar-worker" "${fleet[@]}" --engine "$engine" --workers 1 \
		--listen "127.0.0.1:$port" --http "127.0.0.1:$((port + 1))"
	ready "worker-$port" "127.0.0.1:$((port + 1))"
done
for port in 8080 8180; do
	start "router-$port" "$bin/swar-router" "${fleet[@]}" --listen "127.0.0.1:$port" --http "127.0.0.1:$((port + 10))" \
		--watch "127.0.0.1:$((port + 11))" --data "$data/router-$port" --endpoints 127.0.0.1:9090,127.0.0.1:9190 --pages http://127.0.0.1:8081/welcome \
		--portal-addr 127.0.0.1:8082 --portal-token-file "$data/portal-token" --linger 1s
	ready "router-$port" "127.0.0.1:$((port + 10))"
done

if [ ! -s "$data/key" ]; then
	"$bin/swar-portal" orgs create 'My organisation' --data "$data/portal" >/dev/null
	(umask 077 && "$bin/swar-portal" keys create 'First key' --data "$data/portal" 2>/dev/null >"$data/key")
fi
cat <<END

The fleet is ready: routers at http://127.0.0.1:8080 and http://127.0.0.1:8180, workers at 9090 and 9190, the portal at
http://127.0.0.1:8081, all on this machine. Logs are in $data. The playground is http://127.0.0.1:8081/app/.

  curl -sS http://127.0.0.1:8080/v1/tts -H 'content-type: application/json' -H 'x-api-key: $(cat "$data/key")' -d '{"text":"Namaste! Aapka order kal tak deliver ho jayega, total ₹499 hai."}' -o namaste.wav

  $bin/swar-portal usage --data $data/portal

Kill any of its processes and go on: what ends is started again. Ctrl-C stops all.
END
wait

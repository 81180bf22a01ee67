#!/usr/bin/env bash
# Packet rate of one Weft worker beside its peers on this machine, in one run: a pcap port replays
# N flows of 64-byte frames from memory into a null port.
#
# usage: compare.sh [ROUNDS] [SECONDS]      as root, with two cores, after `make build`
#
# Rounds are interleaved, so that a noisy moment hits all alike; medians are printed, and ratios to
# the peers. The peers are measured by scripts outside of this repository: the folder $WEFT_PEERS has
# `testpmd.sh FLOWS mac SECONDS` and `ovs.sh FLOWS one SECONDS`, which print a JSON object with `mpps`.
# Without them, Weft alone is measured, and the output says so.
set -euo pipefail
rounds=${1:-3} seconds=${2:-3}
root=$(cd "$(dirname "$0")/../.." && pwd)
peers=${WEFT_PEERS:-}
work=$(mktemp -d)
# 1 GB for one peer at a time, as the peers' scripts ask for.
hugepages=/proc/sys/vm/nr_hugepages
before=$(cat "$hugepages")
daemon=

stop_daemon() { [ -z "$daemon" ] || { kill "$daemon" 2>/dev/null; wait "$daemon" 2>/dev/null || true; daemon=; }; }
clean_up() { stop_daemon; echo "$before" > "$hugepages"; rm -rf "$work"; }
trap clean_up EXIT
echo 640 > "$hugepages"

api() { curl --silent --show-error --fail --unix-socket "$work/api.sock" "http://weft$1"; }

# flows N: a capture of N flows, at least 512 packets, as the peers replay it.
flows() {
  [ -e "$work/$1.pcap" ] || python3 "$root/runtime/bench/flows.py" "$1" "$work/$1.pcap"
}

# weft N STAGE: packets a second of one worker, in millions; STAGE is none or router-hop.
weft() {
  flows "$1"
  local actions='{ output = "out" }' stage=''
  if [ "$2" = router-hop ]; then
    actions='{ stage = "hop" }, { output = "out" }'
    stage="[modules.router-hop]
path = \"$root/target/modules/router-hop.wasm\"
[stages.hop]
module = \"router-hop\"
config = { source_mac = \"02:00:00:00:00:0a\", destination_mac = \"02:00:00:00:00:0b\" }"
  fi
  cat > "$work/weft.toml" <<EOF
[api]
socket = "$work/api.sock"
[memory]
hugepages = "on"
size_mb = 512
[workers]
cores = [1]
[ports.in]
device = "net_pcap0,rx_pcap=$work/$1.pcap,infinite_rx=1"
[ports.out]
device = "net_null0,no-rx=1"
$stage
[tables.0.rules.forward]
priority = 1
match = { in_port = "in" }
actions = [$actions]
EOF
  "$root/target/release/weftd" --config "$work/weft.toml" 2> "$work/weft.log" &
  daemon=$!
  for _ in $(seq 100); do api /readyz > /dev/null 2>&1 && break; sleep 0.1; done
  sleep 1
  local first last
  first=$(api /v1/stats | sent); sleep "$seconds"; last=$(api /v1/stats | sent)
  stop_daemon
  jq -n --argjson a "$first" --argjson b "$last" '($b.packets - $a.packets) / ($b.at - $a.at) / 1e6'
}

# What has left by the null port, and when that was read.
sent() { jq "{ packets: .ports.out.tx_packets, at: $(date +%s.%N) }"; }

peer() { "$peers/$1" "${@:2}" "$seconds" | jq .mpps; }

measure() { # name, command...
  local name=$1; shift
  "$@" >> "$work/$name.mpps" || { echo "compare: $name failed:" >&2; cat "$work"/*.log >&2; exit 1; }
}

have_peers=no
if [ -x "$peers/testpmd.sh" ] && [ -x "$peers/ovs.sh" ]; then have_peers=yes
else echo "compare: skipped: the peers, since WEFT_PEERS names no folder with testpmd.sh and ovs.sh" >&2; fi

for round in $(seq "$rounds"); do
  for count in 1 1000; do
    echo "compare: round $round of $rounds, $count flows" >&2
    measure "weft-$count" weft "$count" none
    measure "weft-router-hop-$count" weft "$count" router-hop
    [ $have_peers = yes ] || continue
    measure "testpmd-$count" peer testpmd.sh "$count" mac
    measure "ovs-$count" peer ovs.sh "$count" one
  done
done

median() { sort -n "$work/$1.mpps" | awk '{ v[NR] = $1 } END { printf "%.2f", v[int((NR + 1) / 2)] }'; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }

printf '%-8s %-16s %8s %12s %8s\n' flows system Mpps "of testpmd" "of OVS"
for count in 1 1000; do
  for system in weft weft-router-hop testpmd ovs; do
    [ -e "$work/$system-$count.mpps" ] || continue
    rate=$(median "$system-$count") of_testpmd=- of_ovs=-
    if [ $have_peers = yes ]; then
      of_testpmd=$(ratio "$rate" "$(median "testpmd-$count")")
      of_ovs=$(ratio "$rate" "$(median "ovs-$count")")
    fi
    printf '%-8s %-16s %8s %12s %8s\n' "$count" "$system" "$rate" "$of_testpmd" "$of_ovs"
  done
done

#!/usr/bin/env bash
# Shows Weft at work between two network namespaces, without a NIC and without hugepages, in a minute.
# It cleans up after itself, also when interrupted, and after a run that was killed.
# usage: demo.sh    (after `make build`; needs root, and asks for it)
set -euo pipefail
cd "$(dirname "$0")/../.."
target=$(realpath "${CARGO_TARGET_DIR:-target}")
[ "$(id -u)" -eq 0 ] || exec sudo CARGO_TARGET_DIR="$target" "$0" "$@"

bin=$target/release
modules=$target/modules
home=/run/weft-demo
socket=$home/api.sock
export WEFT_SERVER=unix:$socket PATH=$bin:$PATH
lan=10.99.0.1 wan=10.99.0.2
forbidden=8080

bold=$(tput bold 2>/dev/null || true) plain=$(tput sgr0 2>/dev/null || true)
[ -t 1 ] || bold='' plain=''

# say SENTENCE: what the next step is.
say() { printf '\n%s==> %s%s\n' "$bold" "$*" "$plain"; }
# show COMMAND...: prints a command, runs it, and indents its output.
show() {
  local word line='$'
  for word in "$@"; do
    # The folders are the same everywhere, and long.
    word=${word//"$modules/"/}
    case $word in
      *[' {$\']*) line+=" '$word'" ;;
      *) line+=" $word" ;;
    esac
  done
  printf '%s\n' "$line"
  "$@" 2>&1 | sed 's/^/    /'
}
# api METHOD PATH [CURL-ARGUMENT...]: asks weftd over its Unix socket.
api() {
  show curl --silent --show-error --fail-with-body --unix-socket "$socket" -X "$1" "http://weft$2" "${@:3}"
  echo
}
in_lan() { show ip netns exec weft-demo-lan "$@"; }
fail() { printf '\ndemo: %s\n' "$*" >&2; exit 1; }

# Ends what a run left: its processes, and only those; its namespaces, with their links; its files.
clean() {
  local name pid
  for name in weft-demo-lan weft-demo-wan; do
    [ -e "/run/netns/$name" ] || continue
    for pid in $(ip netns pids "$name"); do kill "$pid" 2>/dev/null || true; done
    ip netns delete "$name"
  done
  pid=$(cat "$home/weftd.pid" 2>/dev/null || true)
  if [ -n "$pid" ] && [ "$(readlink "/proc/$pid/exe")" = "$bin/weftd" ]; then
    kill "$pid"
    timeout 5 tail --pid="$pid" -f /dev/null || kill -KILL "$pid"
  fi
  rm -rf "$home"
  for name in weft-demo-l weft-demo-w; do ip link delete "$name" 2>/dev/null || true; done
}

# namespace NAME LINK ADDRESS: a namespace with an eth0 whose other end is LINK.
namespace() {
  ip netns add "weft-demo-$1"
  ip link add "$2" type veth peer name eth0 netns "weft-demo-$1"
  echo 1 > "/proc/sys/net/ipv6/conf/$2/disable_ipv6"
  ip -n "weft-demo-$1" address add "$3/24" dev eth0
  ip netns exec "weft-demo-$1" ethtool -K eth0 tx off > /dev/null
  ip -n "weft-demo-$1" link set lo up
  ip -n "weft-demo-$1" link set eth0 up
  ip link set "$2" up
}

# background NAMESPACE COMMAND...: runs a server in a namespace, which `clean` ends.
background() { ip netns exec "weft-demo-$1" "${@:2}" > /dev/null 2>&1 & }

# await WHAT COMMAND...: waits until a command succeeds.
await() {
  local tries
  for ((tries = 0; tries < 100; tries++)); do
    "${@:2}" > /dev/null 2>&1 && return
    sleep 0.1
  done
  fail "waited ten seconds for $1$([ ! -e "$home/weftd.log" ] || printf '\n%s' "$(tail "$home/weftd.log")")"
}
listens() { ip netns exec weft-demo-wan ss -Hlntu "sport = :$1" | grep -q .; }

trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
clean
mkdir -m 0700 "$home"

say "Two network namespaces, lan and wan, each with one end of a veth pair"
echo "    The ports are af_packet on the other ends: a ring shared with the kernel, so no hugepages, no NIC, and no"
echo "    system call for a packet that arrives; a tap device would take one for each, and sends signals besides."
echo "    'ethtool -K eth0 tx off': a veth leaves checksums for a NIC to fill in, and there is none on this way."
namespace lan weft-demo-l $lan
namespace wan weft-demo-w $wan
show ip -brief link show type veth

say "weftd, empty: it is told the rest over its API"
cat > "$home/weft.toml" <<TOML
[api]
socket = "$socket"
[memory]
hugepages = "off"
TOML
show cat "$home/weft.toml"
"$bin/weftd" --config "$home/weft.toml" 2> "$home/weftd.log" &
echo $! > "$home/weftd.pid"
await weftd weft status
show weft status

say "A module, uploaded: the firewall, as WebAssembly"
api POST /v1/modules -H 'content-type: application/wasm' --data-binary "@$modules/firewall-1.0.0.wasm"

say "A stage made of it, which denies TCP port $forbidden"
config="{\"default\": \"allow\", \"rules\": [{\"action\": \"deny\", \"protocol\": \"tcp\", \"destination_ports\": $forbidden}]}"
json=(-H 'content-type: application/json')
api PUT /v1/stages/fw "${json[@]}" --data "{\"module\": \"firewall@1.0.0\", \"config\": $config}"

say "Two ports"
api PUT /v1/ports/lan "${json[@]}" --data '{"device": "net_af_packet0,iface=weft-demo-l"}'
api PUT /v1/ports/wan "${json[@]}" --data '{"device": "net_af_packet1,iface=weft-demo-w"}'

say "Two rules that send what comes in by either port through the stage and out by the other"
api PUT /v1/tables/0/rules/lan-to-wan "${json[@]}" \
  --data '{"priority": 10, "match": {"in_port": "lan"}, "actions": [{"stage": "fw"}, {"output": "wan"}]}'
echo "    The command line says the same in other words:"
show weft rule add wan-to-lan --priority 10 --match in_port=wan --action stage:fw --action output:lan

say "Ping passes"
in_lan ping -c 3 -i 0.2 $wan

say "So does TCP, and fast"
background wan iperf3 --server --one-off
await iperf3 listens 5201
in_lan iperf3 --client $wan --time 4 --interval 0

say "A web server on port $((forbidden + 1)) answers"
background wan python3 -m http.server --directory examples $((forbidden + 1))
background wan python3 -m http.server --directory examples $forbidden
await "the web servers" eval "listens $forbidden && listens $((forbidden + 1))"
in_lan curl --silent --show-error --max-time 2 --output /dev/null --write-out 'HTTP %{http_code}, %{size_download} bytes\n' \
  "http://$wan:$((forbidden + 1))/"

say "The same server on port $forbidden cannot be reached, and the drops are counted under the module's own reason"
if in_lan curl --silent --show-error --connect-timeout 2 "http://$wan:$forbidden/"; then
  fail "port $forbidden is open"
fi
weft --json stats > "$home/stats"
show jq --compact-output .ports.lan.drops "$home/stats"

say "The firewall, swapped for its next version and back, 20 times, while 2000 packets a second pass"
show weft module upload "$modules/firewall-1.1.0.wasm"
# At real-time priority, where it may be had, so that a gap is weftd's and not theirs.
urgently=(chrt -f 10)
"${urgently[@]}" true 2> /dev/null || urgently=()
ip netns exec weft-demo-wan "${urgently[@]}" steady receive --port 9000 > "$home/received" &
receiver=$!
await steady listens 9000
ip netns exec weft-demo-lan "${urgently[@]}" steady send --to $wan:9000 --rate 2000 --seconds 6 > "$home/sent" &
sender=$!
echo "    weft stage set fw --module firewall@1.1.0, and @1.0.0, in turn; the generations:"
for ((swap = 1; swap <= 20; swap++)); do
  weft --json stage set fw --module "firewall@1.$((swap % 2)).0" > "$home/stage"
  printf ' %s' "$(jq .status.generation "$home/stage")"
  sleep 0.2
done | sed 's/^/   /'
echo
wait $sender $receiver
show weft stage list
echo "    What the receiver saw, the longest gap in microseconds:"
show jq --compact-output . "$home/received"
jq --exit-status '.lost + .duplicated + .reordered == 0' "$home/received" > /dev/null || fail "packets were lost"

say "Nothing is unaccounted for: what came in = what was sent on + what was dropped, by reason + what is under way"
show weft stats
weft --json stats > "$home/stats"
jq --exit-status '[.ports[] | .rx_packets + .copied_packets == .forwarded_packets + ([.drops[]] | add // 0) + .in_flight_packets] | all' \
  "$home/stats" > /dev/null || fail "packets are missing"

say "Done: weftd stops, and the namespaces go"

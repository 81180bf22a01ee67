#!/usr/bin/env bash
# Installs what building and testing need and this machine lacks. Says nothing if that is nothing.
set -euo pipefail

packages=(
  build-essential pkg-config clang libclang-dev libdpdk-dev libhwloc-dev libudev-dev
  iproute2 iputils-ping iperf3 ethtool curl ca-certificates jq tshark python3 openvswitch-switch
)
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)

# Tests start what they need, so that installing starts nothing, as long as this script runs.
start_no_services() {
  local policy=/usr/sbin/policy-rc.d
  [ ! -e "$policy" ] || return 0
  # shellcheck disable=SC2064
  trap "${as_root[*]} rm -f $policy" EXIT
  "${as_root[@]}" install -m 755 /dev/stdin "$policy" <<< $'#!/bin/sh\nexit 101'
}

# install PACKAGE...: those that are missing, and nothing that they merely recommend.
install() {
  local missing
  missing=$(comm -23 <(printf '%s\n' "$@" | sort) \
    <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p' | sort))
  [ -n "$missing" ] || return 0
  echo "setup: installing" $missing
  start_no_services
  "${as_root[@]}" apt-get update -qq
  # shellcheck disable=SC2086
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing
}

# The linker has to be about as new as the compiler: LLVM 14's lacks symbols that modules need.
newest_lld() { apt-cache pkgnames lld- | grep -E '^lld-[0-9]+$' | sort -V | tail -n 1; }

# The modules' target: rustup's where it can be had, else what Debian builds Firefox's sandbox with.
install_guest_target() {
  [ "$("$(dirname "$0")/modules.sh" route)" = none ] || return 0
  if command -v rustup >/dev/null && rustup target add wasm32-unknown-unknown; then return; fi
  echo "setup: rustup has no wasm32-unknown-unknown here, so Debian's compiler builds the modules"
  install rustc-web cargo-web rust-web-src "$(newest_lld)"
}

install "${packages[@]}"
if ! command -v cargo >/dev/null; then
  echo "setup: there is no cargo: install Rust 1.95 or newer by rustup, then run this again" >&2
  exit 1
fi
install_guest_target

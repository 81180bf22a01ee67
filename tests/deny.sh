#!/usr/bin/env bash
# Licences, sources and duplicates by deny.toml; known vulnerabilities where their list can be had.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v cargo-deny >/dev/null; then
  echo "cargo-deny: skipped, for it is not installed (cargo install --locked cargo-deny)"
  exit
fi
cargo deny --log-level error check licenses bans sources
if ! cargo deny --log-level error fetch db 2>/dev/null; then
  echo "cargo-deny: advisories skipped, for the list of RustSec cannot be fetched"
  exit
fi
cargo deny --log-level error check --disable-fetch advisories

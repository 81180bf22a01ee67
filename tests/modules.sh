#!/usr/bin/env bash
# Builds or checks the modules for Wasm, by the toolchain in use or else by Debian's.
# usage: modules.sh build | clippy | route
#   build   makes target/modules/{firewall-1.0.0,firewall-1.1.0,router-hop,macswap,port-class}.wasm
#   clippy  checks the modules and the SDK as guests
#   route   says whose compiler it would take: rustup, debian or none
set -euo pipefail
cd "$(dirname "$0")/.."

target=wasm32-unknown-unknown
out=${CARGO_TARGET_DIR:-target}

route() {
  if [ -d "$(rustc --print target-libdir --target $target 2>/dev/null)" ]; then
    echo rustup
  elif dpkg-query -W rustc-web cargo-web rust-web-src >/dev/null 2>&1; then
    echo debian
  else
    echo none
  fi
}

# guest_cargo ARGUMENT...: cargo for the modules' target. Debian's standard library is built from its
# source, which a stable compiler does only when told that it may.
guest_cargo() {
  case $(route) in
    rustup) cargo "$1" --target $target "${@:2}" ;;
    debian)
      local linker
      linker=$(compgen -c wasm-ld | sort -V | tail -n 1)
      RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$linker \
        /usr/bin/cargo "$1" -Z build-std=core,alloc --target $target "${@:2}"
      ;;
    none)
      echo "no compiler for $target: run 'make setup'" >&2
      exit 1
      ;;
  esac
}

# build_one PACKAGE FILE [VERSION]: builds a module, stamped with a version, as target/modules/FILE.wasm.
build_one() {
  [ -z "${3:-}" ] || local -x WEFT_MODULE_VERSION=$3
  guest_cargo build --quiet --profile module -p "$1"
  cp "$out/$target/module/${1//-/_}.wasm" "$out/modules/$2.wasm"
}

case ${1:-} in
  build)
    mkdir -p "$out/modules"
    build_one router-hop router-hop
    build_one macswap macswap
    build_one port-class port-class
    build_one firewall firewall-1.1.0 1.1.0
    build_one firewall firewall-1.0.0 1.0.0
    ls -l "$out/modules"
    ;;
  clippy)
    if [ "$(route)" = debian ]; then
      echo "guest clippy: skipped, for Debian's compiler comes without it"
      exit
    fi
    guest_cargo clippy -p firewall -p router-hop -p macswap -p port-class -p weft-sdk -p weft-abi -- -D warnings
    ;;
  route) route ;;
  *)
    sed -n '2,6s/^# //p' "$0" >&2
    exit 2
    ;;
esac

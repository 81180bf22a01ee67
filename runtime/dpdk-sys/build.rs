//! Finds the installed DPDK, compiles the shim and generates the bindings.

use std::{env, path::PathBuf, process::Command};

/// The oldest release the shim compiles against.
const OLDEST: &str = "22.11";

fn main() {
    println!("cargo:rerun-if-changed=wrapper.h");
    println!("cargo:rerun-if-changed=shim.c");

    pkg_config::Config::new()
        .atleast_version(OLDEST)
        .probe("libdpdk")
        .unwrap_or_else(|e| panic!("DPDK {OLDEST} or newer is needed (Debian: libdpdk-dev): {e}"));
    let flags = compiler_flags();
    compile_shim(&flags);
    generate_bindings(&flags);
}

/// All of them: the pkg-config crate drops `-include` and `-march`, which DPDK's headers rely on.
fn compiler_flags() -> Vec<String> {
    let program = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".to_owned());
    let output = Command::new(&program)
        .args(["--cflags", "libdpdk"])
        .output()
        .unwrap_or_else(|e| panic!("{program} does not run: {e}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let flags = String::from_utf8(output.stdout).expect("flags are text");
    flags.split_whitespace().map(str::to_owned).collect()
}

fn compile_shim(flags: &[String]) {
    let mut shim = cc::Build::new();
    shim.file("shim.c").opt_level(3);
    for flag in flags {
        shim.flag(flag);
    }
    shim.compile("dpdk_shim");
}

fn generate_bindings(flags: &[String]) {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    bindgen::builder()
        .header("wrapper.h")
        .clang_args(flags)
        .allowlist_function("dp_.*")
        .allowlist_function("rte_eal_init")
        .allowlist_function("rte_(strerror|get_tsc_hz)")
        .allowlist_function("rte_thread_(register|unregister)")
        .allowlist_function("rte_dev_(probe|remove)")
        .allowlist_function("rte_mempool_avail_count")
        .allowlist_function("rte_eth_dev_(start|stop|close|set_mtu|get_port_by_name)")
        .allowlist_function("rte_eth_dev_adjust_nb_rx_tx_desc")
        .allowlist_function("rte_eth_promiscuous_(enable|disable)")
        .allowlist_type("dp_.*")
        .blocklist_type("(rte|RTE)_.*")
        .default_enum_style(bindgen::EnumVariation::Consts)
        .prepend_enum_name(false)
        // DPDK's comments are neither Markdown nor doctests.
        .generate_comments(false)
        .use_core()
        .generate()
        .expect("bindgen reads wrapper.h")
        .write_to_file(out.join("bindings.rs"))
        .expect("OUT_DIR is writable");
}

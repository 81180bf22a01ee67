use std::fs;

use serde_json::{Value, json};

use crate::daemon::{Asked, Daemon, Outcome, ok, weft};

fn firewall(name: &str) -> Value {
    json!({
        "name": name, "digest": format!("sha256:{}", "ab".repeat(32)), "size_bytes": 8,
        "used_by": [],
        "manifest": {"name": "firewall", "version": "1.0.0", "abi": 1, "kind": "stage", "access": ["window"],
            "window": 128, "writes": false, "drop_reasons": [], "counters": []},
    })
}

#[test]
fn a_module_is_uploaded_under_the_name_that_it_states_or_another() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("firewall.wasm");
    fs::write(&file, b"\0asm\x01\0\0\0").unwrap();
    let file = file.to_str().unwrap();
    for (arguments, line, name) in [
        (&["module", "upload", file][..], "POST /v1/modules", "firewall@1.0.0"),
        (&["module", "upload", file, "--name", "f@2"], "PUT /v1/modules/f@2", "f@2"),
    ] {
        let (outcome, asked) = Daemon::answering([ok(&firewall(name))]).weft(arguments);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
        assert!(outcome.stdout.contains(&format!("\n{name}  ")), "{}", outcome.stdout);
        let (kind, body) = ("application/wasm".into(), "\0asm\x01\0\0\0".into());
        assert_eq!(asked, [Asked { line: line.into(), kind, body }]);
    }
}

#[test]
fn modules_are_listed_shown_and_deleted() {
    let (list, asked) =
        Daemon::answering([ok(&json!([firewall("firewall@1.0.0")]))]).weft(&["module", "list"]);
    assert_eq!(
        list,
        Outcome::success(
            "MODULE          BYTES  WRITES  WINDOW  USED BY  DIGEST\n\
             firewall@1.0.0      8  no         128  none     sha256:abababababab\n"
        )
    );
    assert_eq!(asked, [Asked::plain("GET /v1/modules")]);

    let (_, asked) = Daemon::answering([ok(&firewall("f"))]).weft(&["module", "show", "f"]);
    assert_eq!(asked, [Asked::plain("GET /v1/modules/f")]);
    let (gone, asked) = Daemon::answering([(204, String::new())]).weft(&["module", "delete", "f"]);
    assert_eq!(gone, Outcome::success("deleted module f\n"));
    assert_eq!(asked, [Asked::plain("DELETE /v1/modules/f")]);
}

#[test]
fn a_file_that_cannot_be_read_is_named_and_nothing_is_asked() {
    let outcome = weft("unix:/nobody/listens", &["module", "upload", "/no/such.wasm"]);
    let stderr = "error: cannot read /no/such.wasm: No such file or directory (os error 2)\n";
    assert_eq!(outcome, Outcome::failure(1, stderr));
}

#[test]
fn a_large_module_arrives_even_where_nobody_asks_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("large.wasm");
    fs::write(&file, "m".repeat(1 << 20)).unwrap();
    let daemon = Daemon::answering([ok(&firewall("large@1.0.0"))]);
    let (outcome, asked) = daemon.weft(&["module", "upload", file.to_str().unwrap()]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(asked[0].body == "m".repeat(1 << 20), "{} bytes", asked[0].body.len());
}

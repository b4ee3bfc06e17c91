//! The gdb script, on a core file.

use crate::support::process::{output_within, text_of};
use crate::support::{raw::*, roots::*};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

fn gdb(arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("gdb");
    command.args(["-batch", "-nx"]).args(arguments);
    let output = output_within(Duration::from_secs(300), &mut command).ok()?;
    println!("{}", text_of(&output));
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The number at the beginning of a text.
fn number(text: &str) -> usize {
    text.trim().split(' ').next().unwrap().parse().unwrap()
}

// A small heap, so that the core file is small.
test!(
    gdb_lists_live_roots,
    environment = &[("BOXROOT_PROFILE", "2"), ("OCAMLRUNPARAM", "s=4k,d=2")],
    || {
        start();
        let mut all = roots(0..5000);
        stress();
        // This thread deletes some of the roots, and a thread without the lock deletes others.
        let gone: Vec<_> = all.drain(1000..3000).collect();
        delete_all(&gone[..1000]);
        let gone = Roots(gone[1000..].to_vec());
        std::thread::spawn(move || {
            let gone = gone;
            delete_all(&gone.0);
        })
        .join()
        .unwrap();
        let core = std::env::temp_dir().join(format!("boxroot-core-{}", std::process::id()));
        let core = core.to_str().unwrap();
        #[cfg(target_os = "linux")]
        // SAFETY: the function only allows debuggers.
        unsafe {
            libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY)
        };
        let (save, id) = (format!("generate-core-file {core}"), std::process::id().to_string());
        gdb(&["-p", &id, "-ex", &save, "-ex", "detach"]);
        if std::env::var_os("RUN").is_some() || !Path::new(core).exists() {
            return println!("not tested: there is no gdb, or it cannot debug this process");
        }
        let program = std::env::current_exe().unwrap();
        let script = concat!("source ", env!("CARGO_MANIFEST_DIR"), "/boxroot-c/gdb/boxroot.py");
        let mut arguments = vec![program.to_str().unwrap(), core, "-ex", script];
        for command in ["boxroots", "boxroots values", "boxroots stacks"] {
            arguments.extend(["-ex", "echo ====\\n", "-ex", command]);
        }
        let text = gdb(&arguments);
        std::fs::remove_file(core).unwrap();
        let text = text.unwrap();
        let [pools, values, stacks] = text.split("====\n").skip(1).collect::<Vec<_>>()[..] else {
            panic!("three lists")
        };
        // Each domain, its pools, and the number of their roots.
        let (mut domains, mut listed) = (BTreeMap::new(), BTreeMap::new());
        let mut last = "";
        for line in pools.lines() {
            let (name, count) = line.split_once(": ").unwrap();
            if name.starts_with("domain") {
                last = name;
                domains.insert(last, number(count));
            } else {
                *listed.entry(last).or_insert(0) += number(count);
            }
        }
        domains.retain(|_, count| *count > 0);
        listed.retain(|_, count| *count > 0);
        assert_eq!(domains, listed);
        assert_eq!((domains.len(), domains.values().sum::<usize>()), (2, 3000));
        // The values of the roots.
        let mut found: Vec<usize> = values
            .lines()
            .filter(|line| line.starts_with("    "))
            .map(|line| line.rsplit('\'').nth(1).unwrap_or(line).parse().unwrap())
            .collect();
        found.sort_unstable();
        assert_eq!(found, (0..1000).chain(3000..5000).collect::<Vec<_>>());
        // Their call stacks.
        let sampled = stacks.lines().filter(|line| line.ends_with("created by")).map(number);
        let of_shadow = domains.iter().find(|(name, _)| name.contains("sampled")).unwrap();
        assert_eq!(sampled.sum::<usize>(), *of_shadow.1);
        assert!(stacks.contains("support::roots::root"), "{stacks}");
        check_all(&all[..1000], 0);
        delete_all(&all);
    }
);

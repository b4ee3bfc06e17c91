//! Counts of roots and of memory, and memory that is given back.

use crate::support::exported::Run;
use crate::support::safe::*;
use ocaml_boxroot::debug::{profile, stats, trim, write_profile};
use ocaml_boxroot::{AttachError, Boxroot, DomainLock, Domains, OCamlInt, Value};
use std::thread;

test!(trimming, || {
    with_ocaml(|lock| {
        let roots: Vec<Boxroot<OCamlInt>> =
            (0..100_000).map(|i| Boxroot::new(lock, Value::int(i))).collect();
        let full = stats().bytes;
        roots.into_iter().for_each(|root| root.delete_in(lock));
        let given_back = trim(lock);
        assert!(given_back > 0 && stats().bytes == full - given_back);
    })
});

test!(leaks_are_in_the_profile, || {
    with_ocaml(|lock| {
        let path = std::env::temp_dir().join(format!("boxroot-leaks-{}", std::process::id()));
        profile(1);
        (0..1000).for_each(|i| std::mem::forget(Boxroot::<OCamlInt>::new(lock, Value::int(i))));
        write_profile(std::fs::File::create(&path).unwrap(), 0).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(
            text.starts_with("heap profile: 1000: 8000 [1000: 8000] @ heapprofile\n"),
            "{text}"
        );
        for age in [1000, u32::MAX] {
            write_profile(std::fs::File::create(&path).unwrap(), age).unwrap();
            assert!(std::fs::read_to_string(&path).unwrap().starts_with("heap profile: 0: 0 ["));
        }
        let read_only = std::fs::File::open(&path).unwrap();
        assert!(write_profile(&read_only, 0).is_err());
        std::fs::remove_file(&path).unwrap();
    })
});

test!(roots_of_jobs_are_in_the_profile, || {
    let path = std::env::temp_dir().join(format!("boxroot-jobs-{}", std::process::id()));
    profile(1);
    let domains = with_ocaml(|lock| Domains::new(lock, 2).unwrap());
    let forget = |lock: &mut DomainLock, i| {
        std::mem::forget(Boxroot::<OCamlInt>::new(lock, Value::int(i)));
        Ok::<_, AttachError>(())
    };
    domains.map(0..1000, forget).unwrap();
    write_profile(std::fs::File::create(&path).unwrap(), 0).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    // The profile may also contain the pool's own roots.
    let live = text.strip_prefix("heap profile: ").and_then(|text| text.split(':').next());
    assert!((1000..1010).contains(&live.unwrap().parse().unwrap()), "{text}");
});

test!(statistics_without_the_lock, || {
    start();
    let roots: Vec<_> =
        DomainLock::with(|lock| (0..10_000).map(|_| string(lock, "x")).collect()).unwrap();
    // Without the lock, the statistics are those of the last major scan, or of an early minor scan,
    // and say so. Under the lock they are exact, on all threads.
    assert!(!stats().is_exact && stats().to_string().contains("when they were last counted"));
    let elsewhere = thread::spawn(|| DomainLock::with(|_| stats()).unwrap()).join().unwrap();
    assert!(elsewhere.is_exact);
    assert_eq!(elsewhere.live_roots, 10_000);
    drop(roots);
    let elsewhere = thread::spawn(|| DomainLock::with(|_| stats()).unwrap()).join().unwrap();
    assert_eq!(elsewhere.live_roots, 0);
});

test!(statistics_after_shutdown, || {
    let runtime = start();
    let strings = |lock: &mut DomainLock| (0..10_002).map(|_| string(lock, "x")).collect();
    let mut roots: Vec<_> = DomainLock::with(strings).unwrap();
    let before = DomainLock::with(|_| stats()).unwrap();
    runtime.shutdown().unwrap();
    let after = stats();
    assert!(after.is_exact);
    assert_eq!((after.live_roots, before.live_roots), (10_002, 10_002));
    assert_eq!(after.pools, 10_002_usize.div_ceil(after.slots_per_pool));
    assert_eq!(after.pools_full + after.pools_partial, after.pools);
    let other = roots.split_off(5000);
    thread::spawn(move || drop(other)).join().unwrap();
    assert_eq!(stats().live_roots, 5000);
    assert_eq!(thread::spawn(|| stats().live_roots).join().unwrap(), 5000);
    drop(roots);
    assert_eq!(stats().live_roots, 0);
});

test!(statistics_at_odd_times, forbid(unsafe_code), || {
    assert_eq!(stats().live_roots, 0);
    let runtime = start();
    DomainLock::with(|lock| {
        let kept = strings(lock, 100_000);
        let body: Run = |lock, _| {
            let before = stats().live_roots;
            trim(lock);
            assert_eq!(stats().live_roots, before);
            Ok(())
        };
        for how in ["run", "run_in_a_thread", "run_in_a_finaliser"] {
            ocaml(lock, how, 0, body).unwrap();
        }
        lock.release(|| {
            thread::spawn(move || kept.into_iter().step_by(2).collect::<Strings>()).join().unwrap()
        });
        trim(lock);
    })
    .unwrap();
    runtime.shutdown().unwrap();
    assert_eq!(stats(), stats());
});

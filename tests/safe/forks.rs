//! Children of forks.

use crate::support::exported::Run;
use crate::support::process::{in_a_child, patience};
use crate::support::safe::*;
use ocaml_boxroot::{AttachError, DomainLock, OCamlInt, Runtime};
use std::cell::OnceCell;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::{self, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{mpsc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use std::{env, fs};

fn attach_on_another_thread() {
    thread::spawn(|| DomainLock::with(churn)).join().unwrap().unwrap();
}

test!(command_with_pre_exec_after_a_worker_ended, || {
    Runtime::start().unwrap();
    for _ in 0..50 {
        attach_on_another_thread();
        let mut command = Command::new("true");
        // SAFETY: the function does nothing. It makes std copy the process with fork.
        unsafe { command.pre_exec(|| Ok(())) };
        assert!(command.status().unwrap().success());
    }
    DomainLock::with(|lock| {
        let mut command = Command::new("true");
        // SAFETY: the function does nothing.
        unsafe { command.pre_exec(|| Ok(())) };
        assert!(command.status().unwrap().success());
        churn(lock);
    })
    .unwrap();
});

/// When it is dropped, starts a process through fork.
struct RunsACommand(mpsc::Sender<ExitStatus>);

impl Drop for RunsACommand {
    fn drop(&mut self) {
        let mut command = Command::new("true");
        // SAFETY: the function does nothing.
        unsafe { command.pre_exec(|| Ok(())) };
        self.0.send(command.status().unwrap()).unwrap();
    }
}

// The thread seems to hold a lock, because OCaml does not clear the thread's data of the domain.
test!(command_after_the_end_of_a_domain, ocaml = 5, || {
    thread_local!(static AT_THE_END: OnceCell<RunsACommand> = const { OnceCell::new() });
    static SENDER: Mutex<Option<mpsc::Sender<ExitStatus>>> = Mutex::new(None);
    let (sender, results) = mpsc::channel();
    *SENDER.lock().unwrap() = Some(sender);
    with_ocaml(|lock| {
        ocaml(lock, "run_in_a_domain", 0, |_, _| {
            let sender = SENDER.lock().unwrap().take().unwrap();
            AT_THE_END.with(|command| assert!(command.set(RunsACommand(sender)).is_ok()));
            Ok(())
        })
        .unwrap();
        // OCaml does not wait for the thread's destructors.
        assert!(lock.release(|| results.recv().unwrap()).success());
        churn(lock);
    });
});

/// Starts OCaml with runtime events, which go to a separate file for each process. Returns a
/// function with the name of this process's file.
fn start_with_events() -> impl Fn() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("events-{}", process::id()));
    fs::create_dir_all(&folder).unwrap();
    env::set_var("OCAML_RUNTIME_EVENTS_DIR", &folder);
    env::set_var("OCAML_RUNTIME_EVENTS_START", "1");
    Runtime::start().unwrap();
    move || folder.join(format!("{}.events", process::id()))
}

test!(a_child_writes_runtime_events_of_its_own, ocaml = 5, || {
    let file = start_with_events();
    DomainLock::with(|lock| {
        churn(lock);
        let before = fs::read(file()).unwrap();
        in_a_child(|| {
            churn(lock);
            assert!(file().exists());
            // OCaml removes the file of its process.
            let _ = ocaml(lock, "exit", 0, |_, _| Ok(()));
        });
        let after = fs::read(file()).expect("the child has removed its parent's file");
        assert!(before == after, "the child has written to its parent's file");
        churn(lock);
    })
    .unwrap();
    fs::remove_dir_all(file().parent().unwrap()).unwrap();
});

// Such a child cannot request the collection in which OCaml would make another file, because it is
// already in a collection.
test!(command_in_a_finaliser_with_runtime_events, ocaml = 5, || {
    let file = start_with_events();
    let (sender, results) = mpsc::channel();
    DomainLock::with(|lock| {
        drop(boxed(lock, RunsACommand(sender)));
        let status = loop {
            full_major(lock);
            match results.try_recv() {
                Ok(status) => break status,
                Err(empty) => assert_eq!(empty, mpsc::TryRecvError::Empty),
            }
        };
        assert!(status.success());
    })
    .unwrap();
    fs::remove_dir_all(file().parent().unwrap()).unwrap();
});

// As above, without Rust.
test!(fork_in_a_finaliser_of_c_with_runtime_events, ocaml = 5, || {
    let file = start_with_events();
    DomainLock::with(|lock| {
        let forks = function::<(), OCamlInt>(lock, "fork_in_a_finaliser");
        assert_eq!(forks.call(lock).unwrap().0.to_int(), 1);
    })
    .unwrap();
    fs::remove_dir_all(file().parent().unwrap()).unwrap();
});

static IS_ENDING: AtomicBool = AtomicBool::new(false);
static MAY_END: AtomicBool = AtomicBool::new(false);

/// The destructor of a thread-specific key.
extern "C" fn wait_at_the_end(_: *mut libc::c_void) {
    IS_ENDING.store(true, Ordering::SeqCst);
    while !MAY_END.load(Ordering::SeqCst) {
        thread::yield_now();
    }
}

// In the child, glibc leaves the thread-specific values of such a thread on its stack. So a thread
// that gets this stack also gets the values.
test!(fork_while_a_thread_ends, || {
    let key = make_key(wait_at_the_end);
    start();
    let ending = thread::spawn(move || {
        DomainLock::with(churn).unwrap();
        set_key(key);
    });
    while !IS_ENDING.load(Ordering::SeqCst) {
        thread::yield_now();
    }
    DomainLock::with(|lock| {
        for uses_ocaml_at_first in [false, true] {
            in_a_child(|| {
                lock.release(|| {
                    if !uses_ocaml_at_first {
                        (0..4).for_each(|_| thread::spawn(|| ()).join().unwrap());
                    }
                    (0..4).for_each(|_| attach_on_another_thread());
                });
            });
        }
    })
    .unwrap();
    MAY_END.store(true, Ordering::SeqCst);
    ending.join().unwrap();
});

test!(fork_without_the_lock, || {
    let runtime = Runtime::start().unwrap();
    let roots = DomainLock::with(|lock| strings(lock, 1000)).unwrap();
    attach_on_another_thread();
    in_a_child(|| {
        let elsewhere = thread::spawn(|| DomainLock::with(|_| ())).join().unwrap();
        let here = DomainLock::with(|_| ());
        drop(roots);
        assert_eq!((here, elsewhere), (Err(AttachError::Forked), Err(AttachError::Forked)));
        assert_eq!(runtime.shutdown().unwrap_err().error, AttachError::Forked.into());
    });
    DomainLock::with(churn).unwrap();
});

test!(fork_under_the_lock, || {
    let mut runtime = Some(Runtime::start().unwrap());
    let kept = DomainLock::with(|lock| strings(lock, 1000)).unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !stop.load(Ordering::SeqCst) {
                    DomainLock::with(|lock| drop(strings(lock, 10))).unwrap();
                }
            });
        }
        let forked = DomainLock::with(|lock| {
            // SAFETY: the child goes on as a separate process.
            let id = unsafe { libc::fork() };
            if id == 0 {
                // SAFETY: the function has no precondition.
                unsafe { libc::alarm(patience(Duration::from_secs(60)).as_secs() as u32) };
                let runtime = runtime.take().unwrap();
                churn(lock);
                assert_eq!(kept[999].get(lock).to_string_lossy(), "999");
                lock.release(|| ());
                return Err(runtime);
            }
            let mut status = 0;
            // SAFETY: `id` is a child of this process, and `status` is valid.
            let ended = lock.release(|| unsafe { libc::waitpid(id, &mut status, 0) });
            Ok((ended == id, status))
        });
        stop.store(true, Ordering::SeqCst);
        match forked.unwrap() {
            Ok(end) => assert_eq!(end, (true, 0), "the child's status"),
            Err(runtime) => {
                DomainLock::with(churn).unwrap();
                runtime.shutdown().unwrap();
                // SAFETY: the function has no precondition; only the child gets here.
                unsafe { libc::_exit(0) }
            }
        }
    });
    runtime.unwrap().shutdown().unwrap();
});

/// OCaml code of this thread and of another one wait for each other, twice.
fn take_turns(lock: &mut DomainLock) {
    for turn in [1, 3] {
        let other = thread::spawn(move || {
            DomainLock::with(|lock| {
                through_ocaml(lock, "tell", turn).unwrap();
                through_ocaml(lock, "wait_until_told", turn + 1).unwrap()
            })
        });
        let told = through_ocaml(lock, "wait_until_told", turn);
        through_ocaml(lock, "tell", turn + 1).unwrap();
        lock.release(|| other.join().unwrap()).unwrap();
        assert_eq!(told, Ok(turn));
    }
}

// OCaml forks before it calls Rust.
test!(threads_of_a_child_of_ocaml_take_turns, except = &["5.0.", "5.1."], || {
    let _runtime = Runtime::builder().args(["name", "tick", "fork"]).start().unwrap();
    DomainLock::with(take_turns).unwrap();
});

// OCaml 5 assumes that the parent's tick thread also runs in the child.
test!(threads_of_a_child_take_turns, || {
    let _runtime = Runtime::start().unwrap();
    thread::spawn(|| DomainLock::with(|_| ()).unwrap()).join().unwrap();
    let status = DomainLock::with(|lock| {
        // SAFETY: the child goes on as a separate process.
        let id = unsafe { libc::fork() };
        if id == 0 {
            // SAFETY: the function has no precondition.
            unsafe { libc::alarm(patience(Duration::from_secs(20)).as_secs() as u32) };
            take_turns(lock);
            // SAFETY: the function has no precondition.
            unsafe { libc::_exit(0) }
        }
        let mut status = -1;
        // SAFETY: `id` is a child of this process, and `status` is valid.
        lock.release(|| unsafe { libc::waitpid(id, &mut status, 0) });
        status
    });
    assert_eq!(status, Ok(0), "the child's status");
});

// A process ends when its last thread ends. Here this is the thread that forked, so no other thread
// may stay.
test!(a_child_ends_by_the_end_of_its_last_thread, ocaml = 5, || {
    let _runtime = Runtime::start().unwrap();
    attach_on_another_thread();
    let fork = || {
        DomainLock::with(|lock| {
            // SAFETY: the child goes on as a separate process.
            let id = unsafe { libc::fork() };
            if id == 0 {
                lock.release(attach_on_another_thread);
            }
            id
        })
        .unwrap()
    };
    // SAFETY: the function has no precondition.
    let parent = unsafe { libc::getpid() };
    let id = thread::spawn(fork).join().unwrap();
    // SAFETY: as above.
    assert_eq!(unsafe { libc::getpid() }, parent, "the child has returned from its thread");
    let mut status = -1;
    // SAFETY: `id` is a child of this process, and `status` is valid.
    assert_eq!((unsafe { libc::waitpid(id, &mut status, 0) }, status), (id, 0));
});

// The child of a release cannot take the lock again. It prints that, although the lock of Rust's
// stderr is held forever there.
test!(a_child_ends_where_release_does, || {
    let _runtime = Runtime::start().unwrap();
    let (locked, is_locked) = mpsc::channel();
    let (done, is_done) = mpsc::channel::<()>();
    let other = thread::spawn(move || {
        let _stderr = std::io::stderr().lock();
        locked.send(()).unwrap();
        let _ = is_done.recv();
    });
    is_locked.recv().unwrap();
    // SAFETY: the child is aborted when the closure returns.
    let id = DomainLock::with(|lock| lock.release(|| unsafe { libc::fork() })).unwrap();
    let mut status = -1;
    // SAFETY: `id` is a child of this process, and `status` is valid.
    assert_eq!(unsafe { libc::waitpid(id, &mut status, 0) }, id);
    assert_eq!((libc::WIFSIGNALED(status), libc::WTERMSIG(status)), (true, libc::SIGABRT));
    drop(done);
    other.join().unwrap();
});

// The first domain has got a second thread for collections, and the child does not have this
// thread. So in the child the next domain would wait for the first one forever.
test!(fork_after_a_domain_ended, ocaml = 5, || {
    with_ocaml(|lock| {
        let kept = strings(lock, 1000);
        in_a_child(|| lock.release(attach_on_another_thread));
        ocaml(lock, "run_in_a_domain", 0, |_, _| Ok(())).unwrap();
        in_a_child(|| {
            let elsewhere = thread::spawn(|| DomainLock::with(|_| ()));
            assert_eq!(elsewhere.join().unwrap(), Err(AttachError::Forked));
            drop(kept);
        });
        churn(lock);
    });
});

// The child does not use OCaml, but it returns from the closure.
test!(a_child_leaves_attach_after_a_domain_ended, ocaml = 5, || {
    Runtime::start().unwrap();
    let fork = DomainLock::with(|lock| {
        ocaml(lock, "run_in_a_domain", 0, |_, _| Ok(())).unwrap();
        // SAFETY: the child ends below.
        unsafe { libc::fork() }
    });
    let id = fork.unwrap();
    if id == 0 {
        // SAFETY: the function ends the process.
        unsafe { libc::_exit(0) };
    }
    let mut status = -1;
    // SAFETY: `id` is a child of this process that was not waited for yet, and `status` is valid.
    assert_eq!(unsafe { libc::waitpid(id, &mut status, 0) }, id);
    assert_eq!(status, 0);
});

test!(fork_of_ocaml, || {
    with_ocaml(|lock| {
        for _ in 0..8 {
            let attached = thread::spawn(|| DomainLock::with(churn));
            lock.release(|| attached.join().unwrap().unwrap());
        }
        let child: Run = |lock, _| {
            churn(lock);
            lock.release(|| {
                DomainLock::with(churn).unwrap();
                attach_on_another_thread();
                attach_on_another_thread();
            });
            Ok(())
        };
        assert_eq!(ocaml(lock, "run_in_a_child", 0, child).unwrap(), 0, "the child's status");
        lock.release(attach_on_another_thread);
    });
});

test!(fork_while_threads_drop_roots, || {
    let mut runtime = Some(Runtime::start().unwrap());
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !stop.load(Ordering::SeqCst) {
                    let roots = DomainLock::with(|lock| strings(lock, 100)).unwrap();
                    drop(roots);
                }
            });
        }
        for n in 0..50 {
            let roots = DomainLock::with(|lock| strings(lock, 100)).unwrap();
            if n % 2 == 0 {
                in_a_child(|| drop(roots));
            } else {
                DomainLock::with(|lock| {
                    in_a_child(|| {
                        drop(roots);
                        drop(strings(lock, 10_000));
                    })
                })
                .unwrap();
            }
        }
        stop.store(true, Ordering::SeqCst);
    });
    runtime.take().unwrap().shutdown().unwrap();
});

test!(fork_while_threads_call_get_or_start, || {
    Runtime::get_or_start().unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !stop.load(Ordering::SeqCst) {
                    Runtime::get_or_start().unwrap();
                }
            });
        }
        for _ in 0..100 {
            in_a_child(|| {
                Runtime::get_or_start().unwrap();
                assert_eq!(DomainLock::with(|_| ()), Err(AttachError::Forked));
            });
        }
        stop.store(true, Ordering::SeqCst);
    });
});

/// Starts OCaml on another thread, and then runs `after` there. Before OCaml's modules call Rust,
/// the start writes a byte and waits for one.
fn start_that_waits(
    arguments: &'static [&'static str],
    after: impl FnOnce() + Send + 'static,
) -> (UnixStream, JoinHandle<()>) {
    let (mut here, ocaml) = UnixStream::pair().unwrap();
    // SAFETY: the function has no precondition.
    assert_eq!(unsafe { libc::dup2(ocaml.as_raw_fd(), 0) }, 0);
    let start = thread::spawn(move || {
        Runtime::builder().args(arguments.iter().copied()).start().unwrap();
        after();
    });
    here.read_exact(&mut [0]).unwrap();
    (here, start)
}

test!(fork_during_a_start, || {
    let (mut here, start) = start_that_waits(&["name", "talk"], || ());
    in_a_child(|| assert_eq!(Runtime::get_or_start().err(), Some(AttachError::Forked.into())));
    here.write_all(b"!").unwrap();
    start.join().unwrap();
    DomainLock::with(churn).unwrap();
});

// C sets boxroot up without telling the Rust crate.
test!(get_or_start_where_c_has_set_boxroot_up, || {
    let (mut here, start) = start_that_waits(&["name", "talk", "setup"], || ());
    let waits =
        thread::spawn(|| Runtime::get_or_start().and_then(|_| Ok(DomainLock::with(churn)?)));
    thread::sleep(Duration::from_millis(50)); // it should be waiting when C sets boxroot up
    here.write_all(b"!").unwrap();
    waits.join().unwrap().unwrap();
    here.read_exact(&mut [0]).unwrap();
    here.write_all(b"!").unwrap();
    start.join().unwrap();
});

test!(start_forks_while_threads_wait_for_it, || {
    fn use_ocaml() {
        Runtime::get_or_start().unwrap();
        DomainLock::with(churn).unwrap();
    }
    let parent = process::id();
    let after = move || {
        let result = catch_unwind(use_ocaml);
        if process::id() != parent {
            process::exit(result.is_err().into());
        }
        result.unwrap();
    };
    let (mut here, start) = start_that_waits(&["name", "talk", "fork"], after);
    let waiting: Vec<_> = (0..4).map(|_| thread::spawn(use_ocaml)).collect();
    here.write_all(b"!").unwrap();
    start.join().unwrap();
    waiting.into_iter().for_each(|thread| thread.join().unwrap());
});

//! Running processes with a time limit.

use std::ffi::OsStr;
use std::io::{Error, ErrorKind};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// A program of these tests. As for the unit tests in C, the variable RUN can name a command that
/// runs it, such as an emulator if the program is for another processor.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let run = std::env::var("RUN").unwrap_or_default();
    let mut words = run.split_whitespace();
    match words.next() {
        Some(first) => {
            let mut command = Command::new(first);
            command.args(words).arg(program);
            command
        }
        None => Command::new(program),
    }
}

/// This program.
pub fn this_program() -> Command {
    command(std::env::current_exe().expect("a program has a path"))
}

/// A time limit. On an emulated processor everything takes several times as long.
pub fn patience(limit: Duration) -> Duration {
    if std::env::var_os("RUN").is_some() {
        5 * limit
    } else {
        limit
    }
}

/// Runs a program without input. If it takes longer than `limit`, it is killed.
pub fn output_within(limit: Duration, command: &mut Command) -> Result<Output, Error> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn()?;
    let id = child.id() as libc::pid_t;
    let (ended, end) = mpsc::channel();
    thread::spawn(move || ended.send(child.wait_with_output()));
    end.recv_timeout(limit).unwrap_or_else(|_| {
        // SAFETY: the process is a child of this one that was not waited for yet, so its id is
        // still its own.
        unsafe { libc::kill(id, libc::SIGKILL) };
        Err(Error::new(ErrorKind::TimedOut, format!("still running after {limit:?}")))
    })
}

/// The output of a process, for messages.
pub fn text_of(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}{}", output.status, text(&output.stdout), text(&output.stderr))
}

/// Runs `child` in the child of a fork, which must end by itself, without a panic. A child that
/// hangs, even inside fork, is killed.
pub fn in_a_child(child: impl FnOnce()) {
    let limit = patience(Duration::from_secs(60));
    // SAFETY: the child runs `child`, whose behaviour after a fork is the subject of the test, and
    // ends.
    let id = unsafe { libc::fork() };
    if id == 0 {
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child));
        // SAFETY: the function ends the process.
        unsafe { libc::_exit(result.is_err().into()) };
    }
    let started = Instant::now();
    let mut status = 0;
    // SAFETY: `id` is a child of this process that was not waited for yet, and `status` is valid.
    while unsafe { libc::waitpid(id, &mut status, libc::WNOHANG) } == 0 {
        if started.elapsed() > limit {
            // SAFETY: as above.
            unsafe { libc::kill(id, libc::SIGKILL) };
        }
        thread::yield_now();
    }
    assert_eq!(status, 0, "the child failed, or hung");
}

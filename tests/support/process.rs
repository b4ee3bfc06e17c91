//! Running processes with a time limit.

use std::io::{Error, ErrorKind};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Runs a program without input. If it takes longer than `limit`, it is killed.
pub fn output_within(limit: Duration, command: &mut Command) -> Result<Output, Error> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn()?;
    let id = child.id() as libc::pid_t;
    let (ended, end) = mpsc::channel();
    thread::spawn(move || ended.send(child.wait_with_output()));
    end.recv_timeout(limit).unwrap_or_else(|_| {
        // SAFETY: the process is a child of this one that was not waited for yet, so its id is still its own.
        unsafe { libc::kill(id, libc::SIGKILL) };
        Err(Error::new(ErrorKind::TimedOut, format!("still running after {limit:?}")))
    })
}

/// The output of a process, for messages.
pub fn text_of(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}{}", output.status, text(&output.stdout), text(&output.stderr))
}

//! Processes that end, or are ended.

use std::io::{Error, ErrorKind};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Runs a program without input. If it takes longer than `limit`, it hangs: it is killed.
pub fn output_within(limit: Duration, command: &mut Command) -> Result<Output, Error> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn()?;
    let id = child.id() as libc::pid_t;
    let (ended, end) = mpsc::channel();
    thread::spawn(move || ended.send(child.wait_with_output()));
    end.recv_timeout(limit).unwrap_or_else(|_| {
        // SAFETY: our child, which nobody has waited for.
        unsafe { libc::kill(id, libc::SIGKILL) };
        Err(Error::new(ErrorKind::TimedOut, format!("still running after {limit:?}")))
    })
}

/// What it wrote, for messages.
pub fn text_of(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}{}", output.status, text(&output.stdout), text(&output.stderr))
}

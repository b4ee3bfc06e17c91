//! OCaml exceptions: those that Rust catches and those that Rust raises.

use super::form::{Form, OBJECT_TAG, STRING_TAG};
use super::markers::OCamlBytes;
use super::memory;
use super::predefined::Named;
use super::text::{self, Short};
use crate::error::sum;
use crate::raw::{DomainLockExt, ValueExt};
use crate::{
    ffi, AttachError, Boxroot, ConversionError, ConversionErrorKind, DomainLock, Error, FromOCaml,
    Kind, OCamlAny, RootRef, Value,
};
use ocaml_boxroot_sys as sys;
use std::ffi::{c_char, c_void, CStr};
use std::fmt;
use std::ops::Deref;
use std::panic::Location;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering};

marker! {
    /// The type of OCaml's `exn`.
    #[doc(alias = "exn")]
    OCamlException;
}

/// An OCaml exception: one that OCaml raised, or one to raise.
///
/// Its text has the exception's name and arguments, as OCaml's runtime prints them (without
/// `Printexc`). The text is made when the exception arrives in Rust, or is created there; so it can
/// be shown on any thread, without the lock. [`is`](Exception::is) tells exceptions apart, and
/// [`exceptions`](crate::exceptions) has those that OCaml predefines, as structs.
///
/// If an exported function returns an `Exception` as its error, or an error that has one among its
/// sources, OCaml sees this exception, unchanged; see [`export!`](crate::export!). Its own
/// [`source`](std::error::Error::source) says where Rust code called OCaml, or made the exception.
///
/// ```
/// use ocaml_boxroot::exceptions::Failure;
/// use ocaml_boxroot::Exception;
///
/// # ocaml_boxroot::macro_support::example(|lock| {
/// let failure: Exception = Failure("no such file".into()).exception(lock)?;
/// assert!(failure.is(lock, "Failure") && !failure.is(lock, "Not_found"));
/// assert_eq!(failure.text(), "Failure(\"no such file\")");
/// # Ok(()) });
/// ```
#[doc(alias("caml_raise", "exn"))]
#[derive(Clone)]
#[repr(transparent)]
pub struct Exception(Arrived);

/// An exception as its own `source`, and the last error of the chain: wrappers that hide the error
/// itself (`Box`, `Arc`, `io::Error::other`, `#[error(transparent)]` of `thiserror`, an
/// `anyhow::Error`) return *its* source as theirs, so the exception is found in any of them.
struct Arrived(NonNull<Record>);

/// The record that an exception and its clones share.
struct Record {
    /// How many they are.
    owners: AtomicUsize,
    /// `None` if there was no memory for the root.
    value: Option<Boxroot<OCamlException>>,
    /// The line of Rust code that called OCaml then, or made the exception.
    at: &'static Location<'static>,
    /// The text, if there is no other.
    short: Short,
    more: Option<Box<More>>,
}

/// The parts that few exceptions have.
#[derive(Default)]
struct More {
    /// The text, if it is not short.
    text: Option<String>,
    /// The slots of OCaml's backtrace.
    backtrace: Vec<usize>,
}

// SAFETY: owners on other threads use the record there and drop it. It is `Sync` and `Send` (next
// line).
unsafe impl Send for Arrived {}
// SAFETY: as for `Send`, because a thread with a reference can make another owner.
unsafe impl Sync for Arrived {}
const _: () = is_send_and_sync::<Record>();
const fn is_send_and_sync<T: Send + Sync>() {}

impl Record {
    /// The record of an exception with this root, if there is one, and this value.
    #[inline(always)]
    #[track_caller]
    fn new(root: Option<Boxroot<OCamlException>>, value: Value<'_, OCamlException>) -> Box<Record> {
        // Written in its place, because a move would take longer than all that is written.
        let mut record = Box::<Record>::new_uninit();
        let (owners, at) = (AtomicUsize::new(1), Location::caller());
        let short = Short::new();
        let written = record.write(Record { owners, value: root, at, short, more: None });
        if write_short_text(value, &mut written.short).is_none() {
            written.more = long_text(value);
        }
        // SAFETY: the record was written.
        unsafe { record.assume_init() }
    }

    /// Keeps the backtrace of this exception, which was just caught, if there is memory.
    #[cold]
    fn keep_backtrace(&mut self, exception: Value<'_, OCamlException>) {
        let mut slots = ptr::null();
        // SAFETY: the exception is a value, so the lock is held.
        let count = unsafe { ffi::obx_backtrace(exception.raw(), &mut slots) };
        if count > 0 {
            // SAFETY: there are so many slots, and no OCaml code has run.
            let slots = unsafe { slice::from_raw_parts(slots, count) };
            if let Ok(backtrace) = memory::collect(slots.iter().copied()) {
                self.more.get_or_insert_default().backtrace = backtrace;
            }
        }
    }

    fn text(&self) -> &str {
        let long = self.more.as_ref().and_then(|more| more.text.as_deref());
        long.unwrap_or(self.short.as_str())
    }
}

/// As an `Arc`, which has a second counter, and always writes to both when the last owner is
/// dropped.
impl Arrived {
    /// The first owner of this record, whose count is 1.
    fn new(record: Box<Record>) -> Arrived {
        Arrived(NonNull::from(Box::leak(record)))
    }
}

impl Deref for Arrived {
    type Target = Record;

    #[inline]
    fn deref(&self) -> &Record {
        // SAFETY: the record lives as long as it has an owner, and owners only read it.
        unsafe { self.0.as_ref() }
    }
}

impl Clone for Arrived {
    fn clone(&self) -> Self {
        // As in an `Arc`, leaked owners must not let the count overflow.
        if self.owners.fetch_add(1, Ordering::Relaxed) > isize::MAX as usize {
            std::process::abort();
        }
        Arrived(self.0)
    }
}

impl Drop for Arrived {
    #[inline]
    fn drop(&mut self) {
        // If this is the only owner, nobody can make another now, so the count need not change.
        let is_last = self.owners.load(Ordering::Acquire) == 1
            || self.owners.fetch_sub(1, Ordering::AcqRel) == 1;
        if is_last {
            // SAFETY: the record is from a `Box` (`new`). It has no other owner, and acquiring the
            // count has made this happen after all that others did with it.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}

/// How many errors of a chain of sources are looked at. A chain may have no end.
const LONGEST_CHAIN: usize = 100;

/// The OCaml exception that an error of the program is, or has among its sources.
#[inline(always)]
pub(crate) fn exception_inside(
    lock: &mut DomainLock,
    error: &(dyn std::error::Error + 'static),
) -> Option<Exception> {
    let (mut outer, mut inner) = (None, error);
    for _ in 0..LONGEST_CHAIN {
        if let Some(arrived) = inner.downcast_ref::<Arrived>() {
            return Some(Exception(arrived.clone()));
        }
        let Some(source) = inner.source() else { break };
        (outer, inner) = (Some(inner), source);
    }
    // A struct's exception is the last error, and not the only one.
    named_inside(lock, outer?, inner)
}

#[cold]
fn named_inside(
    lock: &mut DomainLock,
    outer: &(dyn std::error::Error + 'static),
    inner: &(dyn std::error::Error + 'static),
) -> Option<Exception> {
    inner.downcast_ref::<Named>()?.exception(lock, outer)
}

impl Exception {
    /// The exception that a call of OCaml ended with.
    ///
    /// # Safety
    ///
    /// `raw` is a live exception.
    #[track_caller]
    pub(crate) unsafe fn raised(lock: &DomainLock, raw: sys::Value) -> Exception {
        // SAFETY: `raw` is a live exception (caller).
        let value = unsafe { Value::from_raw(raw) };
        let mut record = Record::new(Boxroot::try_new(lock, value).ok(), value);
        // SAFETY: the token proves that the lock is held.
        if unsafe { ffi::obx_records_backtraces() } != 0 {
            record.keep_backtrace(value);
        }
        Exception(Arrived::new(record))
    }

    fn record(&self) -> &Record {
        &self.0
    }

    /// The OCaml value. `None` if memory ran out when the exception arrived, so that it could not
    /// be rooted.
    pub fn value(&self) -> Option<&RootRef<OCamlException>> {
        Some(self.record().value.as_ref()?)
    }

    /// Whether this is the exception with that name: one that OCaml defines (`"Not_found"`,
    /// `"Failure"`, `"End_of_file"`, …), or one that the program registered under that name with
    /// `Callback.register_exception`. `false` if there is no such exception. The collector may run,
    /// because OCaml may have to wait for its table of names.
    #[doc(alias = "caml_callback_exn")]
    #[inline]
    pub fn is(&self, lock: &mut DomainLock, name: &str) -> bool {
        match predefined(lock, name) {
            Some(constructor) => self.has(lock, constructor),
            None => self.is_registered(lock, name),
        }
    }

    #[inline(never)]
    fn is_registered(&self, lock: &mut DomainLock, name: &str) -> bool {
        match registered(lock, name) {
            Some((constructor, lock)) => self.has(lock, constructor),
            None => false,
        }
    }

    /// Whether this is the exception of this constructor.
    #[inline]
    fn has(&self, lock: &DomainLock, constructor: Value<'_, Constructor>) -> bool {
        let Some(value) = &self.record().value else { return false };
        let exception = value.get(lock).checked();
        // SAFETY: every exception is a block with a first field (type). That of one with arguments
        // is its constructor; that of one without is its name.
        let first: Value<'_, OCamlAny> = unsafe { exception.field(0) };
        exception.raw() == constructor.raw() || first.raw() == constructor.raw()
    }

    /// An argument of the exception, counted from 0. `None` if the exception has fewer arguments,
    /// or no [`value`](Exception::value).
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`](crate::ConversionErrorKind::OutOfMemory).
    ///
    /// # Safety
    ///
    /// The argument is a `T`; [`is`](Exception::is) tells which exception this is. If `T` is not
    /// both `Send` and `Sync`, so that the value may not leave its thread, this is the thread that
    /// the exception was raised on.
    #[track_caller]
    pub unsafe fn argument<T: ?Sized>(
        &self,
        lock: &DomainLock,
        index: usize,
    ) -> Result<Option<Boxroot<T>>, ConversionError> {
        let Some(value) = &self.record().value else { return Ok(None) };
        let value = value.get(lock);
        match value.kind() {
            Kind::Block { tag: 0, size } if index < size - 1 => {
                // SAFETY: the block has this field (just checked), which is a `T` (caller).
                Boxroot::try_new(lock, unsafe { value.field(index + 1) }).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The name and the arguments, as OCaml's runtime prints them, without `Printexc`, for an
    /// exception that was not caught: integers and strings are shown, other arguments are `_`. The
    /// text of an exception whose only argument is a string is whole; others have at most 255
    /// bytes.
    #[doc(alias("caml_format_exception", "Printexc.to_string"))]
    pub fn text(&self) -> &str {
        self.record().text()
    }

    /// OCaml's backtrace, a line for each place, as `Printexc.print_backtrace` prints it. `None` if
    /// OCaml recorded none: it does so after `Printexc.record_backtrace true`, or with the variable
    /// `OCAMLRUNPARAM=b`, in native code that was compiled with `-g`. A backtrace ends at the place
    /// where Rust called OCaml; if OCaml called that Rust function, its last line is OCaml's call.
    /// An exception without arguments that `raise_notrace` raised has the backtrace of its last
    /// raise, if it was the last of all.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use ocaml_boxroot::{CallError, DomainLock};
    ///
    /// fn report(lock: &DomainLock, error: &CallError) {
    ///     eprintln!("{error}");
    ///     if let CallError::Exception(exception) = error {
    ///         eprint!("{}", exception.backtrace(lock).unwrap_or_default());
    ///     }
    /// }
    /// ```
    #[doc(alias("Printexc.get_raw_backtrace", "caml_get_exception_raw_backtrace"))]
    pub fn backtrace(&self, _lock: &DomainLock) -> Option<String> {
        let slots = &self.record().more.as_ref()?.backtrace;
        // SAFETY: the slots are from `obx_backtrace`, and the token proves that the lock is held.
        let text = unsafe { ffi::obx_backtrace_text(slots.as_ptr(), slots.len()) };
        // SAFETY: a new C string, or NULL, and for this function.
        unsafe { taken(text, ffi::free) }.filter(|text| !text.is_empty())
    }

    /// An exception with this name and these arguments: a predefined one, or one that the program
    /// registered with `Callback.register_exception`; the predefined one if both have the name. The
    /// collector may run.
    ///
    /// # Errors
    ///
    /// [`NotRegistered`](crate::CallError::NotRegistered) if there is none with this name;
    /// [`OutOfMemory`](crate::ConversionErrorKind::OutOfMemory).
    ///
    /// # Safety
    ///
    /// The exception takes arguments of these types.
    #[doc(alias("caml_raise", "caml_raise_with_arg"))]
    #[track_caller]
    pub unsafe fn new(
        lock: &mut DomainLock,
        name: &str,
        arguments: &[&RootRef<OCamlAny>],
    ) -> Result<Exception, CallError> {
        let constructor = match predefined(lock, name) {
            Some(constructor) => Boxroot::try_new(lock, constructor)?,
            None => {
                let found = registered(lock, name);
                let (constructor, now) =
                    found.ok_or_else(|| CallError::NotRegistered(name.into()))?;
                Boxroot::try_new(now, constructor)?
            }
        };
        let mut fields = vec![constructor.as_any()];
        fields.extend(arguments);
        let value = if arguments.is_empty() {
            // SAFETY: an exception without arguments is its constructor.
            unsafe { constructor.cast() }.clone_in(lock)?
        } else {
            // SAFETY: an exception with arguments is a block of tag 0 with its constructor and the
            // arguments, which fit (caller).
            let (value, now) = unsafe { lock.alloc_block(0, &fields) }?;
            Boxroot::try_new(now, value)?
        };
        let unrooted = value.get(lock);
        Ok(Exception(Arrived::new(Record::new(Some(value), unrooted))))
    }
}

impl fmt::Display for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OCaml exception: {}", self.text())
    }
}

impl fmt::Debug for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Exception({})", self.text())
    }
}

impl std::error::Error for Exception {
    /// The line of Rust code that called OCaml, or that made the exception.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

impl fmt::Display for Arrived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}", self.at)
    }
}

impl fmt::Debug for Arrived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl std::error::Error for Arrived {}

/// Why a call of an OCaml function gave no result.
#[derive(Clone)]
#[non_exhaustive]
pub enum CallError {
    /// The function raised this exception. [`exceptions`](crate::exceptions) tells exceptions
    /// apart.
    Exception(Exception),
    /// An argument or the result could not be converted or rooted. The error names it, and the
    /// function.
    Conversion(ConversionError),
    /// OCaml has registered no function, or no exception, under this name: the module that does so
    /// is not linked, or is not initialised yet, or the name is misspelt.
    NotRegistered(Box<str>),
    /// The promise that [`call`](crate::completion::CompletionQueue::call) waits for is never
    /// resolved: OCaml has dropped what would resolve it, or the queue was closed, by
    /// [`close`](crate::completion::CompletionQueue::close) or by a shutdown.
    Unresolved,
    /// OCaml cannot be used.
    Attach(AttachError),
}

impl CallError {
    /// An error that is no exception, in this function.
    #[cold]
    pub(crate) fn of(self, function: fmt::Arguments<'_>) -> CallError {
        match self {
            CallError::Conversion(error) => CallError::Conversion(error.of(function)),
            other => other,
        }
    }
}

sum!(CallError: Exception(Exception), Attach(AttachError));

/// An [`AttachError`] in it is [`CallError::Attach`].
impl From<ConversionError> for CallError {
    #[cold]
    fn from(error: ConversionError) -> CallError {
        error.attach().map_or_else(|| CallError::Conversion(error), CallError::Attach)
    }
}

/// As the exception or the error in it does it.
impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Exception(exception) => exception.fmt(f),
            CallError::Conversion(error) => error.fmt(f),
            CallError::NotRegistered(name) => write!(
                f,
                "OCaml has registered no such function or exception as {name:?}; is the module that does so \
                 linked, and initialised?"
            ),
            CallError::Unresolved => f.write_str(
                "OCaml never resolves the promise: the function that resolves it was garbage, or the \
                 CompletionQueue was closed, by close or by a shutdown",
            ),
            CallError::Attach(error) => error.fmt(f),
        }
    }
}

/// As the exception or the error in it does it.
impl fmt::Debug for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Exception(exception) => fmt::Debug::fmt(exception, f),
            CallError::Conversion(error) => fmt::Debug::fmt(error, f),
            CallError::NotRegistered(_) => write!(f, "NotRegistered: {self}"),
            CallError::Unresolved => write!(f, "Unresolved: {self}"),
            CallError::Attach(error) => fmt::Debug::fmt(error, f),
        }
    }
}

/// The source is that of the exception or the error in it, whose text this has.
impl std::error::Error for CallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CallError::Exception(exception) => exception.source(),
            CallError::Conversion(error) => error.source(),
            CallError::NotRegistered(_) | CallError::Unresolved | CallError::Attach(_) => None,
        }
    }
}

/// An exception, or an error that may be one.
pub trait MayBeException {
    /// The exception.
    fn exception(&self) -> Option<&Exception>;
}

impl MayBeException for Exception {
    fn exception(&self) -> Option<&Exception> {
        Some(self)
    }
}

impl MayBeException for CallError {
    fn exception(&self) -> Option<&Exception> {
        match self {
            CallError::Exception(exception) => Some(exception),
            _ => None,
        }
    }
}

impl MayBeException for Error {
    fn exception(&self) -> Option<&Exception> {
        match self {
            Error::Call(error) => error.exception(),
            _ => None,
        }
    }
}

/// The exception that is among the sources.
impl MayBeException for dyn std::error::Error {
    fn exception(&self) -> Option<&Exception> {
        let mut chain = std::iter::successors(Some(self), |error| error.source());
        let arrived =
            chain.by_ref().take(LONGEST_CHAIN).find_map(|e| e.downcast_ref::<Arrived>())?;
        let exception: *const Exception = ptr::from_ref(arrived).cast();
        // SAFETY: an `Exception` is laid out like the `Arrived` in it (`repr(transparent)`), which
        // is borrowed as long.
        Some(unsafe { &*exception })
    }
}

impl MayBeException for dyn std::error::Error + Send + Sync {
    fn exception(&self) -> Option<&Exception> {
        <dyn std::error::Error>::exception(self)
    }
}

impl<E: MayBeException + ?Sized> MayBeException for Box<E> {
    fn exception(&self) -> Option<&Exception> {
        (**self).exception()
    }
}

/// The exception, if it is the one with that name.
pub fn found<'e>(
    lock: &mut DomainLock,
    error: &'e (impl MayBeException + ?Sized),
    name: &str,
) -> Option<&'e Exception> {
    error.exception().filter(|exception| exception.is(lock, name))
}

/// An argument of an exception.
///
/// # Safety
///
/// The exception has this argument, and it is a `T`.
#[track_caller]
pub unsafe fn argument<T: Send + Sync, R: FromOCaml<T>>(
    lock: &DomainLock,
    exception: &Exception,
    index: usize,
    name: &'static str,
) -> Result<R, ConversionError> {
    // SAFETY: the argument is a `T` (caller), which may be used on any thread.
    let argument = unsafe { exception.argument::<T>(lock, index) }?
        .ok_or_else(|| ConversionError::new(ConversionErrorKind::Mismatch))?;
    argument.to_rust(lock).map_err(|error| error.within(name))
}

/// The constructor of an exception: a block of tag 248 with its name and a number.
enum Constructor {}

/// Whether the value has the form of a constructor. An object without variables has the same tag
/// and size, but no name.
fn is_constructor<T>(value: Value<'_, T>) -> bool {
    if !matches!(value.kind(), Kind::Block { tag: OBJECT_TAG, size: 2 }) {
        return false;
    }
    // SAFETY: the block has two fields (just checked).
    let name: Value<'_, OCamlAny> = unsafe { value.field(0) };
    matches!(name.kind(), Kind::Block { tag: STRING_TAG, .. })
}

impl Form for OCamlException {
    fn is_form_of(value: Value<'_, OCamlAny>) -> bool {
        match value.kind() {
            Kind::Block { tag: 0, size: 2.. } => {
                // SAFETY: the block has two fields or more (just checked).
                let first: Value<'_, OCamlAny> = unsafe { value.field(0) };
                is_constructor(first)
            }
            _ => is_constructor(value),
        }
    }
}

/// The constructor of an exception of this kind.
#[inline(always)]
fn constructor_of<'l>(exception: Value<'l, OCamlException>, kind: Kind) -> Value<'l, Constructor> {
    match kind {
        // SAFETY: an exception with arguments is a block of tag 0 whose first field is the
        // constructor (type).
        Kind::Block { tag: 0, .. } => unsafe { exception.field(0) },
        // SAFETY: an exception without arguments is the constructor (type).
        _ => unsafe { Value::from_raw(exception.raw()) },
    }
}

impl<'l> Value<'l, Constructor> {
    fn name(self) -> Value<'l, OCamlBytes> {
        // SAFETY: the first field of a constructor is its name, a string (type), and strings may be
        // read as bytes.
        unsafe { self.field(0) }
    }
}

/// The constructor of OCaml's own exception of this name. A name that the compiler knows is a
/// number in the program.
#[inline(always)]
fn predefined<'l>(_lock: &'l DomainLock, name: &str) -> Option<Value<'l, Constructor>> {
    let number = match name {
        "Out_of_memory" => 0,
        "Sys_error" => 1,
        "Failure" => 2,
        "Invalid_argument" => 3,
        "End_of_file" => 4,
        "Division_by_zero" => 5,
        "Not_found" => 6,
        "Match_failure" => 7,
        "Stack_overflow" => 8,
        "Sys_blocked_io" => 9,
        "Assert_failure" => 10,
        "Undefined_recursive_module" => 11,
        _ => return None,
    };
    // SAFETY: the token proves that the lock is held. The constructor never dies, and does not move
    // in 'l.
    Some(unsafe { Value::from_raw(ffi::obx_predefined_exception(number)) })
}

/// The constructor that the program registered under this name.
fn registered<'l>(
    lock: &'l mut DomainLock,
    name: &str,
) -> Option<(Value<'l, Constructor>, &'l DomainLock)> {
    let (value, lock) = lock.named_value(name)?;
    // SAFETY: the value is live while the token is borrowed. It is returned as a constructor only
    // if it has the form of one.
    let value = unsafe { Value::<Constructor>::from_raw(value.raw()) };
    is_constructor(value).then_some((value, lock))
}

/// The text of an exception.
pub(crate) fn text_of(exception: Value<'_, OCamlException>) -> String {
    Record::new(None, exception).text().to_string()
}

/// Writes the text of an exception that has no arguments, or a string.
#[inline(always)]
fn write_short_text(exception: Value<'_, OCamlException>, text: &mut Short) -> Option<()> {
    let kind = exception.checked().kind();
    let mut text = text.writer().add_bytes(constructor_of(exception, kind).name())?;
    if let Kind::Block { tag: 0, size } = kind {
        text = text.add("(\"")?.add_bytes(only_string(exception, size)?)?.add("\")")?;
    }
    text.done();
    Some(())
}

/// The argument of an exception with arguments, of this size, if there is only one, a string.
#[inline(always)]
fn only_string(exception: Value<'_, OCamlException>, size: usize) -> Option<Value<'_, OCamlBytes>> {
    if size != 2 {
        return None;
    }
    // SAFETY: the block has two fields (just checked).
    let argument: Value<'_, OCamlAny> = unsafe { exception.field(1) };
    let Kind::Block { tag: STRING_TAG, .. } = argument.kind() else { return None };
    // SAFETY: strings and bytes have this tag, and both may be read as bytes, which other threads
    // may be changing.
    Some(unsafe { Value::from_raw(argument.raw()) })
}

/// The text of an exception whose text is not short. One string is whole, as long as there is
/// memory.
#[inline(never)]
fn long_text(exception: Value<'_, OCamlException>) -> Option<Box<More>> {
    let text = whole_text(exception).or_else(|| runtimes_text(exception));
    Some(Box::new(More { text, ..More::default() }))
}

/// The text of an exception whose only argument is a string. `None` of any other, or if there is
/// no memory.
fn whole_text(exception: Value<'_, OCamlException>) -> Option<String> {
    let kind = exception.kind();
    let Kind::Block { tag: 0, size } = kind else { return None };
    let argument = only_string(exception, size)?;
    let mut text = String::new();
    text::add_bytes(&mut text, constructor_of(exception, kind).name())?;
    text::add(&mut text, "(\"")?;
    text::add_bytes(&mut text, argument)?;
    text::add(&mut text, "\")")?;
    Some(text)
}

/// The text that OCaml's runtime makes, of at most 255 bytes. `None` if there is no memory.
fn runtimes_text(exception: Value<'_, OCamlException>) -> Option<String> {
    // SAFETY: the exception is live. The function only reads it, and allocates in C's heap.
    let text = unsafe { ffi::caml_format_exception(exception.raw()) };
    // SAFETY: a new C string, or NULL, and for this function.
    unsafe { taken(text, ffi::caml_stat_free) }
}

/// A copy of a text of C's, which is freed.
///
/// # Safety
///
/// `text` is a C string that nobody else has, and that `free` takes; or NULL.
unsafe fn taken(text: *mut c_char, free: unsafe extern "C" fn(*mut c_void)) -> Option<String> {
    let text = NonNull::new(text)?;
    // SAFETY: a C string (caller).
    let copy = unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned();
    // SAFETY: `free` takes it, and nobody uses it afterwards (caller).
    unsafe { free(text.as_ptr().cast()) };
    Some(copy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    // These tests need no OCaml, so Miri runs them:
    // `cargo +nightly miri test -p ocaml-boxroot --lib exception`.

    fn owner() -> Exception {
        let more = More { text: Some("a text".to_string()), ..More::default() };
        let (owners, at) = (AtomicUsize::new(1), Location::caller());
        let (short, more) = (Short::new(), Some(Box::new(more)));
        Exception(Arrived::new(Box::new(Record { owners, value: None, at, short, more })))
    }

    #[test]
    fn owners_are_counted() {
        let exception = owner();
        let count = || exception.record().owners.load(Ordering::Relaxed);
        let copies = [exception.clone(), exception.clone()];
        assert_eq!(count(), 3);
        drop(copies);
        assert_eq!((count(), exception.text()), (1, "a text"));
    }

    #[test]
    fn any_thread_drops_the_last_owner() {
        let first = owner();
        let threads = [(); 4].map(|()| {
            let mine = first.clone();
            thread::spawn(move || {
                for _ in 0..100 {
                    assert_eq!((mine.clone().text(), mine.to_string().len()), ("a text", 23));
                }
            })
        });
        drop(first);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }

    #[test]
    fn exceptions_are_as_small_as_pointers() {
        fn is_unwind_safe<T: std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}
        is_unwind_safe::<Exception>();
        assert_eq!(size_of::<Option<Exception>>(), size_of::<usize>());
    }
}

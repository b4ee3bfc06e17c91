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
/// `Printexc`). The text is made when the exception arrives in Rust or is created there, so any
/// thread can show it without the lock. [`is`](Exception::is) checks which exception this is, and
/// [`exceptions`](crate::exceptions) has structs for OCaml's predefined exceptions.
///
/// If an exported function returns an `Exception` as its error, or an error that has one among its
/// sources, OCaml receives this exception unchanged; see [`export!`](crate::export!). The
/// [`source`](std::error::Error::source) of an `Exception` says where Rust code called OCaml or
/// created the exception.
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

/// The `source` of an exception, and the last error of the chain. Wrappers that hide an error
/// (`Box`, `Arc`, `io::Error::other`, `#[error(transparent)]` of `thiserror`, an `anyhow::Error`)
/// return *its* source as theirs, so the exception can be found in all of them.
struct Arrived(NonNull<Record>);

/// The record that an exception and its clones share.
struct Record {
    /// The number of exceptions that share this record.
    owners: AtomicUsize,
    /// The root of the exception. `None` if there was no memory for it.
    value: Option<Boxroot<OCamlException>>,
    /// The line of Rust code that called OCaml or created the exception.
    at: &'static Location<'static>,
    /// The text, unless `more` has one.
    short: Short,
    more: Option<Box<More>>,
}

/// The parts that few exceptions have.
#[derive(Default)]
struct More {
    /// The text, if it does not fit into a [`Short`].
    text: Option<String>,
    /// The slots of OCaml's backtrace.
    backtrace: Vec<usize>,
}

// SAFETY: owners on other threads use and drop the record, which is `Sync` and `Send` (checked
// below).
unsafe impl Send for Arrived {}
// SAFETY: as for `Send`, because a thread with a reference to an owner can clone it.
unsafe impl Sync for Arrived {}
const _: () = is_send_and_sync::<Record>();
const fn is_send_and_sync<T: Send + Sync>() {}

impl Record {
    /// Makes the record of an exception from its root, if there is one, and its value.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn new(root: Option<Boxroot<OCamlException>>, value: Value<'_, OCamlException>) -> Box<Record> {
        // Written in place, because moving the record would take longer than writing its fields.
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

    /// Stores the backtrace of this exception, which was just caught, unless out of memory.
    #[cold]
    fn keep_backtrace(&mut self, exception: Value<'_, OCamlException>) {
        let mut slots = ptr::null();
        // SAFETY: the exception is a value, so the lock is held.
        let count = unsafe { ffi::obx_backtrace(exception.raw(), &mut slots) };
        if count > 0 {
            // SAFETY: there are `count` slots, and no OCaml code has run since.
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

/// Like an `Arc`, but faster: an `Arc` has a second counter, and writes to both when its last owner
/// is dropped.
impl Arrived {
    /// Makes the first owner of this record, whose count is 1.
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
        // As in an `Arc`, leaked owners must not make the count overflow.
        if self.owners.fetch_add(1, Ordering::Relaxed) > isize::MAX as usize {
            std::process::abort();
        }
        Arrived(self.0)
    }
}

impl Drop for Arrived {
    #[inline]
    fn drop(&mut self) {
        // If this is the only owner, no thread can clone it now, so the count need not change.
        let is_last = self.owners.load(Ordering::Acquire) == 1
            || self.owners.fetch_sub(1, Ordering::AcqRel) == 1;
        if is_last {
            // SAFETY: the record comes from a `Box` (`new`). It has no other owner, and acquiring
            // the count has ordered the drop after all uses by other owners.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}

/// How many errors of a chain of sources are examined. A chain may be endless.
const LONGEST_CHAIN: usize = 100;

/// Finds the OCaml exception that an error is, or that is among its sources.
#[cfg_attr(not(debug_assertions), inline(always))]
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
    // A struct's [`Named`] is the last error of its chain, so an outer error comes before it.
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
    /// The exception that ended a call of OCaml.
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

    /// The OCaml value. `None` if the exception could not be rooted when it arrived, because memory
    /// ran out.
    pub fn value(&self) -> Option<&RootRef<OCamlException>> {
        Some(self.record().value.as_ref()?)
    }

    /// Whether this is the exception with this name. The name is that of a predefined exception
    /// (`"Not_found"`, `"Failure"`, `"End_of_file"`, …), or of one that the program registered with
    /// `Callback.register_exception`. Returns `false` if no exception has this name. The collector
    /// may run while this function waits for OCaml's table of names.
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

    /// Whether this exception has this constructor.
    #[inline]
    fn has(&self, lock: &DomainLock, constructor: Value<'_, Constructor>) -> bool {
        let Some(value) = &self.record().value else { return false };
        let exception = value.get(lock).checked();
        // SAFETY: every exception is a block with a first field (by its type). This is the
        // constructor if the exception has arguments, and the name if it has none.
        let first: Value<'_, OCamlAny> = unsafe { exception.field(0) };
        exception.raw() == constructor.raw() || first.raw() == constructor.raw()
    }

    /// Roots the argument with this index, counted from 0. Returns `None` if the exception has
    /// fewer arguments, or no [`value`](Exception::value).
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`](crate::ConversionErrorKind::OutOfMemory).
    ///
    /// # Safety
    ///
    /// The argument is a `T`; use [`is`](Exception::is) to check which exception this is. If `T` is
    /// not both `Send` and `Sync`, the value may not leave its thread, so this must be the thread
    /// that raised the exception.
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
                // SAFETY: the block has this field (just checked). It is a `T` (caller).
                Boxroot::try_new(lock, unsafe { value.field(index + 1) }).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The name and the arguments, as OCaml's runtime prints those of an uncaught exception
    /// (without `Printexc`): integers and strings are shown, other arguments are `_`. If the only
    /// argument is a string, the text is complete. Other texts have at most 255 bytes.
    #[doc(alias("caml_format_exception", "Printexc.to_string"))]
    pub fn text(&self) -> &str {
        self.record().text()
    }

    /// OCaml's backtrace, with a line for each location, as `Printexc.print_backtrace` prints it.
    /// `None` if OCaml recorded none. OCaml records backtraces after `Printexc.record_backtrace
    /// true`, or if the environment has `OCAMLRUNPARAM=b`, in native code that was compiled with
    /// `-g`. A backtrace ends where Rust called OCaml. If OCaml code called that Rust function, the
    /// last line is this call. `raise_notrace` records no backtrace. If an exception without
    /// arguments is raised, and then raised again with `raise_notrace`, the backtrace is that of
    /// the first raise.
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
        // SAFETY: the text is NULL, or a new C string that this function must free.
        unsafe { taken(text, ffi::free) }.filter(|text| !text.is_empty())
    }

    /// Makes the exception with this name and these arguments. The name is that of a predefined
    /// exception, or else of one that the program registered with `Callback.register_exception`.
    /// The collector may run.
    ///
    /// # Errors
    ///
    /// [`NotRegistered`](crate::CallError::NotRegistered) if no exception has this name;
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
            // arguments, which have the right types (caller).
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
    /// The line of Rust code that called OCaml or created the exception.
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

/// The error of a call of an OCaml function.
#[derive(Clone)]
#[non_exhaustive]
pub enum CallError {
    /// The function raised this exception. The structs in [`exceptions`](crate::exceptions) test
    /// for predefined ones.
    Exception(Exception),
    /// An argument or the result could not be converted or rooted. The error names it and the
    /// function.
    Conversion(ConversionError),
    /// OCaml has registered no function or exception under this name. Either the name is misspelt,
    /// or the module that registers it is not linked or not yet initialised.
    NotRegistered(Box<str>),
    /// The promise that [`call`](crate::completion::CompletionQueue::call) waits for is never
    /// resolved. Either OCaml has dropped the function that would resolve it, or the queue was
    /// closed by [`close`](crate::completion::CompletionQueue::close) or by a shutdown.
    Unresolved,
    /// OCaml cannot be used.
    Attach(AttachError),
}

impl CallError {
    /// Adds the function to a conversion error. Other errors stay the same.
    #[cold]
    pub(crate) fn of(self, function: fmt::Arguments<'_>) -> CallError {
        match self {
            CallError::Conversion(error) => CallError::Conversion(error.of(function)),
            other => other,
        }
    }
}

sum!(CallError: Exception(Exception), Attach(AttachError));

/// An error that contains an [`AttachError`] becomes a [`CallError::Attach`].
impl From<ConversionError> for CallError {
    #[cold]
    fn from(error: ConversionError) -> CallError {
        error.attach().map_or_else(|| CallError::Conversion(error), CallError::Attach)
    }
}

/// Formats the inner exception or error.
impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Exception(exception) => exception.fmt(f),
            CallError::Conversion(error) => error.fmt(f),
            CallError::NotRegistered(name) => write!(
                f,
                "no OCaml function or exception is registered as {name:?}; check the name, and that the module that \
                 registers it is linked and initialised"
            ),
            CallError::Unresolved => f.write_str(
                "OCaml can no longer resolve the promise: either its resolver was garbage-collected, or the \
                 CompletionQueue was closed (by close or by a shutdown)",
            ),
            CallError::Attach(error) => error.fmt(f),
        }
    }
}

/// Formats the inner exception or error.
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

/// The source of the inner exception or error, whose text is already this error's text.
impl std::error::Error for CallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CallError::Exception(exception) => exception.source(),
            CallError::Conversion(error) => error.source(),
            CallError::NotRegistered(_) | CallError::Unresolved | CallError::Attach(_) => None,
        }
    }
}

/// An exception, or an error that may be or contain one.
pub trait MayBeException {
    /// The exception, if there is one.
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

/// Finds the exception among the sources.
impl MayBeException for dyn std::error::Error {
    fn exception(&self) -> Option<&Exception> {
        let mut chain = std::iter::successors(Some(self), |error| error.source());
        let arrived =
            chain.by_ref().take(LONGEST_CHAIN).find_map(|e| e.downcast_ref::<Arrived>())?;
        let exception: *const Exception = ptr::from_ref(arrived).cast();
        // SAFETY: an `Exception` has the layout of the `Arrived` in it (`repr(transparent)`), which
        // is borrowed as long as the result.
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

/// The exception in an error, if it has this name.
pub fn found<'e>(
    lock: &mut DomainLock,
    error: &'e (impl MayBeException + ?Sized),
    name: &str,
) -> Option<&'e Exception> {
    error.exception().filter(|exception| exception.is(lock, name))
}

/// Converts an argument of an exception.
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

/// The constructor of an exception: a block of tag 248 with the exception's name and a number.
enum Constructor {}

/// Whether the value has the form of a constructor. An object without instance variables has the
/// same tag and size, but no name.
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

/// The constructor of an exception. `kind` is the exception's own [`Kind`].
#[cfg_attr(not(debug_assertions), inline(always))]
fn constructor_of<'l>(exception: Value<'l, OCamlException>, kind: Kind) -> Value<'l, Constructor> {
    match kind {
        // SAFETY: an exception with arguments is a block of tag 0 whose first field is the
        // constructor (by its type).
        Kind::Block { tag: 0, .. } => unsafe { exception.field(0) },
        // SAFETY: an exception without arguments is the constructor (by its type).
        _ => unsafe { Value::from_raw(exception.raw()) },
    }
}

impl<'l> Value<'l, Constructor> {
    fn name(self) -> Value<'l, OCamlBytes> {
        // SAFETY: the first field of a constructor is its name, a string (by its type), and strings
        // may be read as bytes.
        unsafe { self.field(0) }
    }
}

/// The constructor of the predefined exception with this name. If the name is a constant, the
/// compiler computes the number.
#[cfg_attr(not(debug_assertions), inline(always))]
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
    // SAFETY: the token proves that the lock is held. The constructor is never freed, and does not
    // move during 'l.
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

/// Writes the text of an exception without arguments, or whose only argument is a string.
#[cfg_attr(not(debug_assertions), inline(always))]
fn write_short_text(exception: Value<'_, OCamlException>, text: &mut Short) -> Option<()> {
    let kind = exception.checked().kind();
    let mut text = text.writer().add_bytes(constructor_of(exception, kind).name())?;
    if let Kind::Block { tag: 0, size } = kind {
        text = text.add("(\"")?.add_bytes(only_string(exception, size)?)?.add("\")")?;
    }
    text.done();
    Some(())
}

/// The only argument of an exception whose block has this size, if it is a string.
#[cfg_attr(not(debug_assertions), inline(always))]
fn only_string(exception: Value<'_, OCamlException>, size: usize) -> Option<Value<'_, OCamlBytes>> {
    if size != 2 {
        return None;
    }
    // SAFETY: the block has two fields (just checked).
    let argument: Value<'_, OCamlAny> = unsafe { exception.field(1) };
    let Kind::Block { tag: STRING_TAG, .. } = argument.kind() else { return None };
    // SAFETY: strings and bytes have this tag. Both may be read as bytes, even while other threads
    // change them.
    Some(unsafe { Value::from_raw(argument.raw()) })
}

/// The long text of an exception. If the only argument is a string, the text is complete unless
/// memory runs out.
#[inline(never)]
fn long_text(exception: Value<'_, OCamlException>) -> Option<Box<More>> {
    let text = whole_text(exception).or_else(|| runtimes_text(exception));
    Some(Box::new(More { text, ..More::default() }))
}

/// The text of an exception whose only argument is a string. `None` for other exceptions, or if out
/// of memory.
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

/// The text that OCaml's runtime makes, of at most 255 bytes. `None` if out of memory.
fn runtimes_text(exception: Value<'_, OCamlException>) -> Option<String> {
    // SAFETY: the exception is live. The function only reads it, and allocates in C's heap.
    let text = unsafe { ffi::caml_format_exception(exception.raw()) };
    // SAFETY: the text is NULL, or a new C string that this function must free.
    unsafe { taken(text, ffi::caml_stat_free) }
}

/// Copies a C string, and frees it.
///
/// # Safety
///
/// `text` is NULL, or a C string that nothing else uses and that `free` accepts.
unsafe fn taken(text: *mut c_char, free: unsafe extern "C" fn(*mut c_void)) -> Option<String> {
    let text = NonNull::new(text)?;
    // SAFETY: `text` is a C string (caller).
    let copy = unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned();
    // SAFETY: `free` accepts the text, and nothing uses it afterwards (caller).
    unsafe { free(text.as_ptr().cast()) };
    Some(copy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    // These tests need no OCaml, so Miri can run them:
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

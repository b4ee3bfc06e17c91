//! The code of both libraries, under different names.

macro_rules! library {
    ($name:literal, $greet:ident, $boxed:ident, $dropped:ident, $note:ident, $read:ident, $attach:ident, $word:ident, $spell:ident) => {
        use ocaml_boxroot::custom::{Custom, CustomOperations};
        use ocaml_boxroot::markers::OCamlBox;
        use ocaml_boxroot::{AttachError, Boxroot, ConversionError, DomainLock, Function, OCamlInt, OCamlString, ToOCaml, export};
        use std::sync::atomic::{AtomicUsize, Ordering};

        static DROPPED: AtomicUsize = AtomicUsize::new(0);

        /// A value that OCaml compares and marshals.
        #[derive(PartialEq, Eq, PartialOrd, Ord)]
        pub struct Word(String);

        impl Custom for Word {
            const OPERATIONS: CustomOperations<Word> = CustomOperations::new().compare().marshal(
                concat!($name, ".word"),
                |word| Ok(word.0.clone().into_bytes()),
                |bytes| Ok(Word(String::from_utf8_lossy(bytes).into_owned())),
            );
        }

        pub struct Owner(Vec<Boxroot<OCamlString>>);

        impl Drop for Owner {
            fn drop(&mut self) {
                if DomainLock::with(|_| ()) == Err(AttachError::InFinaliser) {
                    DROPPED.fetch_add(self.0.len(), Ordering::SeqCst);
                }
                panic!("a panic that ends in the finaliser");
            }
        }

        export! {
            unsafe fn $greet(lock, _unit: () as ())
                -> Result<Function<(OCamlString, OCamlInt), OCamlString>, ConversionError>
            {
                let own: Boxroot<OCamlString> = $name.to_ocaml(lock)?;
                Function::<(OCamlString, OCamlInt), OCamlString>::from_rust(lock, move |lock, name, n| {
                    let copies: Result<Vec<_>, ConversionError> = (0..100).map(|_| name.clone_in(lock)).collect();
                    let (own, n) = (own.get(lock).to_string_lossy(), n.get(lock).to_int());
                    let last = copies?.pop().expect("a hundred copies");
                    Ok(format!("{own} {} {n}", last.get(lock).to_string_lossy()))
                })
            }

            unsafe fn $boxed(lock, roots: OCamlInt as usize) -> Result<OCamlBox<Owner>, ConversionError> {
                let roots = (0..roots).map(|n| n.to_string().to_ocaml(lock)).collect::<Result<_, _>>()?;
                let (owner, lock) = lock.alloc_box(Owner(roots))?;
                Boxroot::try_new(lock, owner)
            }

            unsafe fn $note(lock, text: OCamlString as String) -> Result<OCamlBox<String>, ConversionError> {
                let (note, lock) = lock.alloc_box(text)?;
                Boxroot::try_new(lock, note)
            }

            unsafe fn $read(lock, note: OCamlBox<String>) -> Result<OCamlString as String, ConversionError> {
                Ok(note.get(lock).get().clone())
            }

            unsafe fn $word(lock, text: OCamlString as String) -> Result<OCamlBox<Word>, ConversionError> {
                let (word, lock) = lock.alloc_custom(Word(text), 0)?;
                Boxroot::try_new(lock, word)
            }

            unsafe fn $spell(lock, word: OCamlBox<Word>) -> Result<OCamlString as String, ConversionError> {
                Ok(word.get(lock).get().0.clone())
            }

            unsafe fn $dropped(_lock, _unit: () as ()) -> Result<OCamlInt as usize, ConversionError> {
                Ok(DROPPED.load(Ordering::SeqCst))
            }
        }

        /// Called by C, without OCaml's lock. Leaves a box to OCaml.
        #[no_mangle]
        pub extern "C" fn $attach() -> bool {
            DomainLock::with(|lock| lock.alloc_box(Owner(Vec::new())).is_ok()) == Ok(true)
        }
    };
}

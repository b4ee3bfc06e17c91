//! How a crate plugs a type of its own into `Boxroot<T>`: an OCaml record, made and read in Rust.
//!
//! ```text
//! cargo run --example own_type
//! ```

use ocaml_boxroot::{
    Boxroot, DomainLock, Error, FromOCaml, OCamlFloat, OCamlString, Runtime, ToOCaml, Value,
};

/// In OCaml: `type city = { name : string; latitude : float }`.
#[derive(Clone, Debug, PartialEq)]
struct City {
    name: String,
    latitude: f64,
}

/// The OCaml type, as a name: no value of it exists in Rust.
enum OCamlCity {}

extern "C" {
    fn caml_alloc_small(size: usize, tag: u8) -> isize;
}

impl ToOCaml<OCamlCity> for City {
    fn to_ocaml(&self, lock: &mut DomainLock) -> Result<Boxroot<OCamlCity>, Error> {
        // The fields first, rooted: the collector may run at each allocation.
        let name: Boxroot<OCamlString> = self.name.to_ocaml(lock)?;
        let latitude: Boxroot<OCamlFloat> = self.latitude.to_ocaml(lock)?;
        // SAFETY: caml_alloc_small does not raise, and nothing else is allocated before both of
        // its fields are set.
        let (city, lock) = unsafe { lock.alloc(|| caml_alloc_small(2, 0)) };
        // SAFETY: a new block of two fields, in the minor heap, where plain stores are right.
        unsafe {
            let fields = city.raw() as *mut isize;
            fields.write(name.get(lock).raw());
            fields.add(1).write(latitude.get(lock).raw());
        }
        Boxroot::try_new(lock, city)
    }
}

impl FromOCaml<OCamlCity> for City {
    fn from_ocaml(value: Value<'_, OCamlCity>) -> Self {
        // SAFETY: the type of the record.
        let (name, latitude) =
            unsafe { (value.field::<OCamlString>(0), value.field::<OCamlFloat>(1)) };
        City { name: name.to_rust(), latitude: latitude.to_float() }
    }
}

fn main() -> Result<(), Error> {
    let mut runtime = Runtime::start()?;
    let city = City { name: "Paris".to_string(), latitude: 48.86 };
    let root = city.to_ocaml(runtime.lock())?;
    for i in 0..1_000_000 {
        runtime.lock().alloc_string(i.to_string())?; // the collector runs, the city moves
    }
    let back: City = root.get(runtime.lock()).to_rust();
    assert_eq!(back, city);
    println!("{} is at {}° north", back.name, back.latitude);
    Ok(())
}

//! OCaml records and variants in Rust, without a line of unsafe code.
//!
//! Run it: `cargo run --example own_type`

#![forbid(unsafe_code)]

use ocaml_boxroot::{
    ocaml_type, Boxroot, DomainLock, Error, OCamlFloat, OCamlList, OCamlString, Runtime, ToOCaml,
};

ocaml_type! {
    /// In OCaml: `type place = { latitude : float; longitude : float }`.
    struct OCamlPlace for Place { latitude: OCamlFloat, longitude: OCamlFloat }

    /// In OCaml: `type city = { name : string; place : place; transport : transport list }`.
    struct OCamlCity for City {
        name: OCamlString,
        place: OCamlPlace,
        transport: OCamlList<OCamlTransport>,
    }

    /// In OCaml: `type transport = Metro | Ferry of { river : string }`.
    enum OCamlTransport for Transport { Metro, Ferry { river: OCamlString } }
}

#[derive(Clone, Debug, PartialEq)]
struct Place {
    latitude: f64,
    longitude: f64,
}

#[derive(Clone, Debug, PartialEq)]
struct City {
    name: String,
    place: Place,
    transport: Vec<Transport>,
}

#[derive(Clone, Debug, PartialEq)]
enum Transport {
    Metro,
    Ferry { river: String },
}

fn main() -> Result<(), Error> {
    Runtime::start()?;
    let city = City {
        name: "Paris".to_string(),
        place: Place { latitude: 48.86, longitude: 2.35 },
        transport: vec![Transport::Metro, Transport::Ferry { river: "Seine".to_string() }],
    };
    let (back, latitude) = DomainLock::attach(|lock| -> Result<(City, f64), Error> {
        let root = city.to_ocaml(lock)?;
        for i in 0..1_000_000 {
            lock.alloc_string(i.to_string())?; // the collector runs, the city moves
        }
        let place: Boxroot<OCamlPlace> = root.read(lock, OCamlCity::place)?; // one field
        let latitude = place.read(lock, OCamlPlace::latitude)?;
        Ok((root.to_rust(lock)?, latitude))
    })?;
    assert_eq!(back, city);
    println!("{} is at {latitude}° north", back.name);
    Ok(())
}

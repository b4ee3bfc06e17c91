use ocaml_boxroot::{DomainLock, Runtime};

ocaml_boxroot::include_bindings!(); // mod cryptokit

fn main() -> Result<(), Box<dyn std::error::Error>> {
    Runtime::start()?;
    DomainLock::attach(|lock| {
        let sha256 = cryptokit::hash::sha256(lock)?;
        let hash = cryptokit::hash_string_root(lock, &sha256, "abc")?; // bytes, not UTF-8
        let to_hex = cryptokit::hexa::encode(lock)?;
        let hex = cryptokit::transform_string(lock, &to_hex, &hash)?;
        assert_eq!(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        println!("SHA-256 of abc: {hex}");
        Ok(())
    })
}

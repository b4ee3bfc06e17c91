use ocaml_boxroot::{DomainLock, Runtime};

ocaml_boxroot::include_bindings!(); // mod cryptokit

fn main() -> Result<(), Box<dyn std::error::Error>> {
    Runtime::start()?;
    DomainLock::attach(|lock| {
        let sha256 = cryptokit::hash::sha256(lock)?;
        cryptokit::hash_add_string(lock, &sha256, "a")?;
        cryptokit::hash_add_string(lock, &sha256, "bc")?;
        let result: Vec<u8> = cryptokit::hash_result_root(lock, &sha256)?.to_rust(lock)?;
        let hex: String = result.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        println!("SHA-256 of abc: {hex}");
        Ok(())
    })
}

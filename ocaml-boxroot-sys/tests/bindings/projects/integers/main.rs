use ocaml_boxroot::{DomainLock, Runtime};
use stock::{Item, Missing, Size};
use std::error::Error;

ocaml_boxroot::include_bindings!(); // mod stock

fn main() -> Result<(), Box<dyn Error>> {
    Runtime::start()?;
    DomainLock::attach(|lock| {
        let item = Item { count: 3_000_000_000_u32, size: Size::Custom { grams: 1_i64 } };
        let count: u8 = stock::count(lock, Some(255_u16), [&item])?;
        let all: Vec<(i64, bool)> = stock::limits(lock)?;
        println!("{count} {all:?}");
        let error = stock::count(lock, None, [&item]).unwrap_err();
        println!("{error}");
        let error = stock::change(lock, &item, -1).unwrap_err();
        println!("{error}");
        let error = stock::find(lock, "tea", 7).unwrap_err();
        let Some(Missing(name, count)) = Missing::of(lock, &error)? else { return Err(error.into()) };
        let count: u32 = count;
        println!("{count} {name}");
        let error = stock::find(lock, "tea", -7).unwrap_err();
        println!("{}", Missing::of(lock, &error).unwrap_err());
        let too_large = Item { size: Size::Custom { grams: i64::MAX }, ..item };
        let error = stock::count(lock, None, [&too_large]).unwrap_err();
        println!("{error}");
        Ok(())
    })
}

use ocaml_boxroot::{DomainLock, Function, Runtime};
use sqlite3::data::{OCamlT as OCamlData, T as Data};
use sqlite3::rc::T as Rc;

ocaml_boxroot::include_bindings!(); // mod sqlite3

fn main() -> Result<(), Box<dyn std::error::Error>> {
    Runtime::start()?;
    DomainLock::attach(|lock| {
        let db = sqlite3::db_open(lock, ":memory:", Default::default())?;
        let made = sqlite3::exec(lock, &db, None, "CREATE TABLE people (name TEXT, born INTEGER)")?;
        assert!(matches!(made, Rc::OK));
        let insert = sqlite3::prepare(lock, &db, "INSERT INTO people VALUES (?, ?)")?;
        for (name, born) in [("Ada", 1815), ("Grace", 1906)] {
            sqlite3::reset(lock, &insert)?;
            sqlite3::bind_text(lock, &insert, 1, name)?;
            sqlite3::bind_int(lock, &insert, 2, born)?;
            assert!(matches!(sqlite3::step(lock, &insert)?, Rc::DONE));
        }
        // A function in Rust, which SQL calls.
        let loud =
            Function::<(OCamlData,), OCamlData>::from_rust_converting(lock, |_, data: Data| {
                Ok(match data {
                    Data::TEXT(text) => Data::TEXT(text.to_uppercase()),
                    other => other,
                })
            })?;
        sqlite3::create_fun1(lock, &db, "loud", &loud)?;
        let query =
            sqlite3::prepare(lock, &db, "SELECT loud(name), born FROM people ORDER BY born")?;
        assert!(matches!(sqlite3::step(lock, &query)?, Rc::ROW));
        let row = (sqlite3::column_text(lock, &query, 0)?, sqlite3::column_int(lock, &query, 1)?);
        assert_eq!(row, ("ADA".to_string(), 1815));
        println!("{row:?}");
        Ok(())
    })
}

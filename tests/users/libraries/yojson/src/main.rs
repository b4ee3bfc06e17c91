use ocaml_boxroot::{DomainLock, Runtime};
use yojson::safe::{self, T};

ocaml_boxroot::include_bindings!(); // mod yojson

fn main() -> Result<(), Box<dyn std::error::Error>> {
    Runtime::start()?;
    DomainLock::attach(|lock| {
        let text = r#"{"name": "Ada", "born": 1815}"#;
        let T::Assoc(fields) = safe::from_string(lock, text, Default::default())? else {
            return Err("no object".into());
        };
        for (name, value) in &fields {
            println!("{name}: {value:?}");
        }
        let list = T::List(fields.into_iter().map(|(_, value)| value).collect());
        println!("{}", safe::to_string(lock, &list, Default::default())?);

        // Stays in OCaml: nothing is converted but the name.
        let json = safe::from_string_root(lock, text, Default::default())?;
        let name = safe::util::member_root(lock, "name", &json)?;
        assert_eq!(safe::util::to_string(lock, &name)?, "Ada");
        match safe::from_string(lock, "{", Default::default()) {
            Ok(_) => println!("valid"),
            Err(error) => println!("{error}"),
        }
        Ok(())
    })
}

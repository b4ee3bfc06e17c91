use cmdliner::{arg, cmd, term};
use ocaml_boxroot::{DomainLock, Function, OCamlInt, OCamlString, Runtime};

ocaml_boxroot::include_bindings!(); // mod cmdliner

fn main() -> Result<(), Box<dyn std::error::Error>> {
    Runtime::start()?;
    DomainLock::attach(|lock| {
        let (string, int) = (arg::string_root(lock)?, arg::int_root(lock)?);
        let info = arg::info(lock, ["name", "n"], Default::default())?;
        let name = arg::opt(lock, None, &string, "nobody", &info)?;
        let name = arg::value(lock, &name)?;
        let info = arg::info(lock, ["times"], Default::default())?;
        let times = arg::opt(lock, None, &int, 1, &info)?;
        let times = arg::value(lock, &times)?;

        type Greet = Function<(OCamlString,), Function<(OCamlInt,), OCamlString>>;
        let greet = Greet::from_rust(lock, |lock, name| {
            let name = name.to_rust::<String>(lock)?;
            let more = move |_: &mut DomainLock, times: usize| Ok(vec![&*name; times].join(", "));
            Ok(Function::<(OCamlInt,), OCamlString>::from_rust_converting(lock, more)?)
        })?;
        let greet = term::r#const(lock, &greet)?;
        let greet = term::op_dollar(lock, &greet, &name)?;
        let greet = term::op_dollar(lock, &greet, &times)?;

        let info = cmd::info(lock, "greet", Default::default())?;
        let greet = cmd::v(lock, &info, &greet)?;
        let argv = ["greet", "--times=2", "-n", "Ada"].map(String::from);
        let options = cmd::EvalValueOptions { argv: Some(argv.into()), ..Default::default() };
        let Ok(cmd::EvalOk::Ok(text)) = cmd::eval_value(lock, &greet, options)? else {
            return Err("no value".into());
        };
        assert_eq!(text.to_rust::<String>(lock)?, "Ada, Ada");
        println!("{}", text.get(lock).as_str()?);
        Ok(())
    })
}

use ocaml_boxroot::{DomainLock, Runtime};
use xmlm::{Signal, Source};

ocaml_boxroot::include_bindings!(); // mod xmlm

fn main() -> Result<(), Box<dyn std::error::Error>> {
    Runtime::start()?;
    DomainLock::attach(|lock| {
        let text = r#"<people><person born="1815">Ada</person></people>"#;
        let source = Source::String((0, text.into()));
        let input = xmlm::make_input(lock, &source, Default::default())?;
        let mut seen = Vec::new();
        while !xmlm::eoi(lock, &input)? {
            match xmlm::input(lock, &input)? {
                Signal::ElStart(((_, name), attributes)) => {
                    seen.push(format!("<{name}>"));
                    seen.extend(
                        attributes.into_iter().map(|((_, name), value)| name + "=" + &value),
                    );
                }
                Signal::Data(text) => seen.push(text),
                Signal::ElEnd => seen.push("end".into()),
                Signal::Dtd(_) => {}
            }
        }
        assert_eq!(seen, ["<people>", "<person>", "born=1815", "Ada", "end", "end"]);
        println!("{}", seen.join(" "));
        Ok(())
    })
}

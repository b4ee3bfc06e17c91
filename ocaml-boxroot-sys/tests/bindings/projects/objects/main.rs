#![forbid(unsafe_code)]

use ocaml_boxroot::{Boxroot, DomainLock, Function, OCamlFloat, OCamlInt, OCamlString, Runtime};
use std::error::Error;

ocaml_boxroot::include_bindings!(); // mod shapes

fn main() -> Result<(), Box<dyn Error>> {
    Runtime::start()?;
    DomainLock::attach(|lock| {
        let square = shapes::new_square(lock, 3.0)?;
        assert_eq!(shapes::square_area(lock, &square)?, 9.0);
        assert_eq!(shapes::square_name(lock, &square)?, "square");
        let larger = shapes::square_scaled(lock, &square, None)?;
        assert_eq!(shapes::square_area(lock, &larger)?, 36.0);
        let shape = shapes::square_as_shape(lock, larger)?;
        assert_eq!(shapes::shape_area(lock, &shape)?, 36.0);
        assert_eq!(shapes::area(lock, &shape)?, 36.0);
        let wrong = shapes::new_square(lock, -1.0)?;
        let error = shapes::square_area(lock, &wrong).unwrap_err();
        assert!(error.to_string().contains("a negative side"), "{error}");
        assert_eq!(shapes::squares(lock)?, 3);

        // Each call of `new_counter` makes an object.
        let (counter, other) = (shapes::new_counter(lock)?, shapes::new_counter(lock)?);
        shapes::counter_add(lock, &counter, Some(true), 21)?;
        let copy: Boxroot<shapes::OCamlCounter> = shapes::counter_copy(lock, &counter)?;
        shapes::counter_add(lock, &counter, None, 1)?;
        assert_eq!(shapes::counter_value(lock, &counter)?, 43);
        assert_eq!(shapes::counter_value(lock, &copy)?, 42);
        assert_eq!(shapes::counter_value(lock, &other)?, 0);

        let stack = shapes::new_stack(lock)?;
        shapes::stack_push(lock, &stack, "tea")?;
        shapes::stack_push(lock, &stack, "milk")?;
        let length =
            Function::<(OCamlString,), OCamlInt>::from_rust_converting(lock, |_, word: String| {
                Ok(word.len())
            })?;
        let lengths: Vec<isize> = shapes::stack_map_root(lock, &stack, &length)?.to_rust(lock)?;
        assert_eq!(lengths, [4, 3]);

        let metres = shapes::metres(lock)?;
        let (length, unit): (Boxroot<OCamlFloat>, String) = shapes::length(lock, &metres, 2.5)?;
        let length: f64 = length.to_rust(lock)?;
        println!("{length} {unit}");
        Ok(())
    })
}

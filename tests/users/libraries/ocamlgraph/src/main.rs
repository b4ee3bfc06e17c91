use graph::pack::digraph::{self, v};
use ocaml_boxroot::{DomainLock, Function, Runtime};
use std::sync::{Arc, Mutex};

ocaml_boxroot::include_bindings!(); // mod graph

fn main() -> Result<(), Box<dyn std::error::Error>> {
    Runtime::start()?;
    DomainLock::attach(|lock| {
        let graph = digraph::create(lock, None)?;
        let mut vertices = Vec::new();
        for label in 0..5 {
            vertices.push(v::create(lock, label)?);
        }
        for (from, to) in [(4, 2), (2, 0), (0, 3), (3, 1), (4, 0)] {
            digraph::add_edge(lock, &graph, &vertices[from], &vertices[to])?;
        }
        let (path, _) = digraph::shortest_path(lock, &graph, &vertices[4], &vertices[1])?;
        assert_eq!(path.len(), 3);

        let order = Arc::new(Mutex::new(Vec::new()));
        let seen = order.clone();
        let visit = Function::<(v::OCamlT,), ()>::from_rust(lock, move |lock, vertex| {
            let label = v::label(lock, vertex)?;
            seen.lock().unwrap().push(label);
            Ok(())
        })?;
        digraph::topological::iter(lock, &visit, &graph)?;
        assert_eq!(*order.lock().unwrap(), [4, 2, 0, 3, 1]);
        println!("in order: {:?}", order.lock().unwrap());
        Ok(())
    })
}

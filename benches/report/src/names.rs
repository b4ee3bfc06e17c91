//! The names of implementations in tables and plots.

use crate::harness::list;
use std::sync::OnceLock;

/// The registry crate is shown with its name and version, the others with their names in the list.
pub fn shown(name: &str) -> String {
    static PEERS: OnceLock<Vec<(String, String)>> = OnceLock::new();
    let peers = PEERS.get_or_init(|| {
        let all = list::read().expect("the list was read before");
        all.into_iter().filter_map(|i| Some((i.name, format!("{} 0.4.0", i.peer_of?)))).collect()
    });
    let peer = peers.iter().find(|(peer, _)| peer == name);
    peer.map_or_else(|| name.to_string(), |(_, shown)| shown.clone())
}

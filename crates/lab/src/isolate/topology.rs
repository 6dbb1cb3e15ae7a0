//! Which network namespaces a box has, and how they are linked: a plan, made without touching anything.

use std::net::Ipv4Addr;

use super::spec::LinkBetween;

/// The address of a client that is in the subject's namespace.
const LOOPBACK: Ipv4Addr = Ipv4Addr::LOCALHOST;
/// Links are numbered in the network that is set aside for measurements of network devices (RFC 2544), four addresses each.
const FIRST: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 0);
/// A network of two hosts.
pub(super) const PREFIX: u8 = 30;

/// Namespaces and the links between them.
#[derive(Debug, Default)]
pub(super) struct Topology<'a> {
    pub(super) nodes: Vec<NodePlan>,
    pub(super) links: Vec<LinkPlan<'a>>,
}

/// A namespace, and the parts that are in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NodePlan {
    pub(super) parts: Vec<&'static str>,
    /// Whether it opens so many connections to so few addresses that ports may run out.
    pub(super) opens_many: bool,
}

/// A link between two nodes.
#[derive(Debug)]
pub(super) struct LinkPlan<'a> {
    pub(super) ends: [EndPlan; 2],
    pub(super) between: &'a LinkBetween,
}

/// One end of a link: a network device in a node.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EndPlan {
    /// Place of the node in the list.
    pub(super) node: usize,
    /// The name of the device.
    pub(super) device: String,
    pub(super) address: Ipv4Addr,
}

impl<'a> Topology<'a> {
    /// Client and subject, with a link between them or in one namespace.
    pub(super) fn of(link: Option<&'a LinkBetween>) -> Self {
        let mut topology = Self::default();
        match link {
            None => {
                topology.node(&["client", "subject"], false);
            }
            Some(link) => {
                let client = topology.node(&["client"], true);
                let subject = topology.node(&["subject"], false);
                topology.link(client, subject, link);
            }
        }
        topology
    }

    fn node(&mut self, parts: &[&'static str], opens_many: bool) -> usize {
        self.nodes.push(NodePlan { parts: parts.to_vec(), opens_many });
        self.nodes.len() - 1
    }

    fn link(&mut self, from: usize, to: usize, between: &'a LinkBetween) {
        let network = u32::from(FIRST) + 4 * self.links.len() as u32;
        let end = |node: usize, host| EndPlan {
            node,
            device: format!("tolok{}", self.links_of(node).len()),
            address: Ipv4Addr::from(network + host),
        };
        let ends = [end(from, 1), end(to, 2)];
        self.links.push(LinkPlan { ends, between });
    }

    /// The devices of a node that are ends of links, and their addresses.
    pub(super) fn links_of(&self, node: usize) -> Vec<(&str, Ipv4Addr)> {
        let ends = self.links.iter().flat_map(|link| &link.ends).filter(|end| end.node == node);
        ends.map(|end| (end.device.as_str(), end.address)).collect()
    }

    /// The node in which a part is.
    pub(super) fn place_of(&self, part: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node.parts.contains(&part))
    }
}

/// The addresses of client and subject, as the other one sees them.
pub(super) fn addresses(linked: bool) -> [Ipv4Addr; 2] {
    if linked { [1, 2].map(|host| Ipv4Addr::from(u32::from(FIRST) + host)) } else { [LOOPBACK; 2] }
}

#[cfg(test)]
mod tests {
    use tolok_link::LinkSpec;

    use super::super::spec::Backend;
    use super::*;

    fn link() -> LinkBetween {
        LinkBetween { spec: LinkSpec::default(), backend: Backend::Veth, cpus: Vec::new(), report: "report".into() }
    }

    fn ends(link: &LinkPlan<'_>) -> Vec<(usize, String, String)> {
        link.ends.iter().map(|end| (end.node, end.device.clone(), end.address.to_string())).collect()
    }

    #[test]
    fn without_a_link_client_and_subject_share_a_namespace() {
        let topology = Topology::of(None);
        assert_eq!((topology.nodes.len(), topology.links.len()), (1, 0));
        assert_eq!((topology.place_of("client"), topology.place_of("subject")), (Some(0), Some(0)));
        assert_eq!(addresses(false).map(|address| address.to_string()), ["127.0.0.1"; 2]);
    }

    #[test]
    fn a_link_has_an_end_in_each_namespace() {
        let link = link();
        let topology = Topology::of(Some(&link));
        assert_eq!((topology.place_of("client"), topology.place_of("subject")), (Some(0), Some(1)));
        let own = |node, address: &str| (node, "tolok0".to_owned(), address.to_owned());
        assert_eq!(ends(&topology.links[0]), [own(0, "198.18.0.1"), own(1, "198.18.0.2")]);
        assert_eq!(topology.links[0].ends.each_ref().map(|end| end.address), addresses(true));
    }

    #[test]
    fn a_third_namespace_gets_devices_and_a_network_of_its_own() {
        let (front, back) = (link(), link());
        let mut topology = Topology::of(Some(&front));
        let database = topology.node(&["database"], false);
        topology.link(1, database, &back);
        let end = |node, device: &str, address: &str| (node, device.to_owned(), address.to_owned());
        assert_eq!(ends(&topology.links[1]), [end(1, "tolok1", "198.18.0.5"), end(2, "tolok0", "198.18.0.6")]);
    }
}

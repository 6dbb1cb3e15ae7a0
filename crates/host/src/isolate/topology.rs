//! Which network namespaces a box has, and how they are linked: a plan, without side effects.

use std::net::Ipv4Addr;

use super::spec::LinkBetween;

/// The address of a part in the subject's namespace, as the subject sees it, and of the subject as that part sees it.
const LOOPBACK: Ipv4Addr = Ipv4Addr::LOCALHOST;
/// Links get addresses from the network reserved for benchmarks of network devices (RFC 2544), four each.
const FIRST: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 0);
/// The prefix length of a network with two hosts.
pub(super) const PREFIX: u8 = 30;

/// The parts that a link joins. The subject is always at the far end, so a link's first direction is towards the
/// subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joins {
    ClientAndSubject,
    DatabaseAndSubject,
}

impl Joins {
    /// The addresses of its two ends, each as the other end sees it.
    pub(super) fn addresses(self, linked: bool) -> [Ipv4Addr; 2] {
        let network = u32::from(FIRST) + 4 * u32::from(self == Self::DatabaseAndSubject);
        if linked { [1, 2].map(|host| Ipv4Addr::from(network + host)) } else { [LOOPBACK; 2] }
    }

    /// For sentences, after `the link between`.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::ClientAndSubject => "client and subject",
            Self::DatabaseAndSubject => "subject and database",
        }
    }
}

/// Namespaces and the links between them.
#[derive(Debug, Default)]
pub(super) struct Topology<'a> {
    pub(super) nodes: Vec<NodePlan>,
    pub(super) links: Vec<LinkPlan<'a>>,
}

/// A namespace, and the parts in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NodePlan {
    pub(super) parts: Vec<&'static str>,
    /// Whether it opens many connections to few addresses, so ports may run out.
    pub(super) opens_many: bool,
}

/// A link between two nodes.
#[derive(Debug)]
pub(super) struct LinkPlan<'a> {
    pub(super) joins: Joins,
    pub(super) ends: [EndPlan; 2],
    pub(super) between: &'a LinkBetween,
}

/// One end of a link: a network device in a node.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EndPlan {
    /// The node's index in the list.
    pub(super) node: usize,
    pub(super) device: String,
    pub(super) address: Ipv4Addr,
}

impl<'a> Topology<'a> {
    /// Client, subject and database. Each is behind its link to the subject, or without one in the subject's namespace.
    pub(super) fn of(link: Option<&'a LinkBetween>, database_link: Option<&'a LinkBetween>) -> Self {
        let mut topology = Self::default();
        let beside = |part, link: Option<_>| link.is_none().then_some(part);
        let with_subject = [beside("client", link), Some("subject"), beside("database", database_link)];
        let client = link.map(|_| topology.node(&["client"], true));
        let subject = topology.node(&with_subject.into_iter().flatten().collect::<Vec<_>>(), false);
        if let Some((client, link)) = client.zip(link) {
            topology.link(Joins::ClientAndSubject, [client, subject], link);
        }
        if let Some(link) = database_link {
            let database = topology.node(&["database"], false);
            topology.link(Joins::DatabaseAndSubject, [database, subject], link);
        }
        topology
    }

    fn node(&mut self, parts: &[&'static str], opens_many: bool) -> usize {
        self.nodes.push(NodePlan { parts: parts.to_vec(), opens_many });
        self.nodes.len() - 1
    }

    fn link(&mut self, joins: Joins, [from, to]: [usize; 2], between: &'a LinkBetween) {
        let end =
            |node: usize, address| EndPlan { node, device: format!("tolok{}", self.links_of(node).len()), address };
        let [near, far] = joins.addresses(true);
        let ends = [end(from, near), end(to, far)];
        self.links.push(LinkPlan { joins, ends, between });
    }

    /// The devices of a node at ends of links, and their addresses.
    pub(super) fn links_of(&self, node: usize) -> Vec<(&str, Ipv4Addr)> {
        let ends = self.links.iter().flat_map(|link| &link.ends).filter(|end| end.node == node);
        ends.map(|end| (end.device.as_str(), end.address)).collect()
    }

    /// The index of the node that contains a part.
    pub(super) fn place_of(&self, part: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node.parts.contains(&part))
    }
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
    fn without_a_link_all_share_a_namespace() {
        let topology = Topology::of(None, None);
        assert_eq!((topology.nodes.len(), topology.links.len()), (1, 0));
        assert_eq!(["client", "subject", "database"].map(|part| topology.place_of(part)), [Some(0); 3]);
        for joins in [Joins::ClientAndSubject, Joins::DatabaseAndSubject] {
            assert_eq!(joins.addresses(false).map(|address| address.to_string()), ["127.0.0.1"; 2]);
        }
    }

    #[test]
    fn a_link_has_an_end_in_each_namespace() {
        let link = link();
        let topology = Topology::of(Some(&link), None);
        assert_eq!(["client", "subject", "database"].map(|part| topology.place_of(part)), [Some(0), Some(1), Some(1)]);
        let own = |node, address: &str| (node, "tolok0".to_owned(), address.to_owned());
        assert_eq!(ends(&topology.links[0]), [own(0, "198.18.0.1"), own(1, "198.18.0.2")]);
        let planned = topology.links[0].ends.each_ref().map(|end| end.address);
        assert_eq!(planned, Joins::ClientAndSubject.addresses(true));
    }

    #[test]
    fn a_database_behind_a_link_gets_a_namespace_devices_and_a_network_of_its_own() {
        let (front, back) = (link(), link());
        let end = |node, device: &str, address: &str| (node, device.to_owned(), address.to_owned());
        let topology = Topology::of(Some(&front), Some(&back));
        assert_eq!(["client", "subject", "database"].map(|part| topology.place_of(part)), [Some(0), Some(1), Some(2)]);
        assert_eq!(ends(&topology.links[1]), [end(2, "tolok0", "198.18.0.5"), end(1, "tolok1", "198.18.0.6")]);
        // Its addresses are the same if it is the only link.
        let topology = Topology::of(None, Some(&back));
        assert_eq!(["client", "subject", "database"].map(|part| topology.place_of(part)), [Some(0), Some(0), Some(1)]);
        assert_eq!(ends(&topology.links[0]), [end(1, "tolok0", "198.18.0.5"), end(0, "tolok0", "198.18.0.6")]);
        assert!(topology.nodes.iter().all(|node| !node.opens_many));
    }
}

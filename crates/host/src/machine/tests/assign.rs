//! Tables of CPU assignments.

use super::*;

const BESIDE: BesideSubject = BesideSubject::Generator;

type Row = (&'static str, Topology, &'static str, (usize, usize), [&'static str; 3], &'static str);

fn deal(
    topology: &Topology,
    allowed: &str,
    subject: SubjectCpus,
    generator: usize,
    shared: bool,
) -> Result<CpuMap, CpuRefusal> {
    let wish = CpuWish { subject, generator, database: None, shared_allowed: shared, beside: BESIDE };
    assign_cpus(topology, &parse_cpu_list(allowed).unwrap(), wish)
}

/// Each row: what it shows, topology, allowed CPUs, request, result (subject, generator, link), expected note.
fn check(table: Vec<Row>, shared_allowed: bool) {
    for (name, topology, allowed, (subject, generator), expected, note) in table {
        let map = deal(&topology, allowed, SubjectCpus::Dedicated(subject), generator, shared_allowed).unwrap();
        let found = [&map.subject, &map.generator, &map.link].map(|ids| format_cpu_list(ids));
        assert_eq!(found, expected, "{name}: {map:?}");
        assert_eq!(map.shared, map.subject.iter().any(|id| map.generator.contains(id)), "shared: {name}");
        assert_eq!(map.note.is_some(), !note.is_empty(), "{name}: {map:?}");
        assert!(map.note.unwrap_or_default().contains(note), "note: {name}");
    }
}

#[test]
fn each_part_gets_cpus_of_its_own() {
    let two_sockets = Topology { cpus: (0..8).map(|id| Cpu { id, core: id, package: id % 2, node: id % 2 }).collect() };
    let table: Vec<Row> = vec![
        ("two cores", machine_of(2, 1), "0-1", (1, 1), ["0", "1", "1"], ""),
        ("a third core is the link's", machine_of(3, 1), "0-2", (1, 1), ["0", "1", "2"], ""),
        ("one core with two siblings", machine_of(1, 2), "0-1", (1, 1), ["0", "1", "1"], "siblings of one core"),
        ("siblings are left idle where cores suffice", machine_of(4, 2), "0-7", (2, 2), ["0-1", "2-3", "6"], ""),
        ("the link's CPU is never beside the subject", machine_of(2, 2), "0-3", (1, 1), ["0", "1", "3"], ""),
        (
            "whole cores where single ones do not suffice",
            machine_of(4, 2),
            "0-7",
            (4, 4),
            ["0-1,4-5", "2-3,6-7", "2-3,6-7"],
            "",
        ),
        (
            "a core is split as the last resort",
            machine_of(2, 2),
            "0-3",
            (3, 1),
            ["0-2", "3", "3"],
            "siblings of one core",
        ),
        (
            "an odd subject keeps the rest of its core idle",
            machine_of(3, 2),
            "0-5",
            (3, 2),
            ["0-1,3", "2,5", "2,5"],
            "",
        ),
        ("only allowed CPUs", machine_of(8, 1), "5,7", (1, 1), ["5", "7", "7"], ""),
        ("neighbours of one memory node", two_sockets, "0-7", (4, 2), ["0,2,4,6", "1,3", "5"], ""),
        ("zero means one", machine_of(2, 1), "0-1", (0, 0), ["0", "1", "1"], ""),
    ];
    check(table.clone(), false);
    // If there are enough CPUs, permission to share changes nothing.
    check(table, true);
}

#[test]
fn parts_share_where_that_is_allowed_and_needed() {
    check(
        vec![
            ("one core", machine_of(1, 1), "0", (1, 1), ["0", "0", "0"], "one CPU only"),
            ("one allowed CPU of many", machine_of(8, 1), "3", (2, 1), ["3", "3", "3"], "one CPU only"),
            (
                "as few as possible are shared",
                machine_of(4, 1),
                "0-3",
                (3, 2),
                ["0-2", "2-3", "2-3"],
                "asked for 3 + 2 CPUs, 4 may be used: subject on 0-2, generator on 2-3",
            ),
            (
                "the subject takes what there is",
                machine_of(2, 1),
                "0-1",
                (4, 1),
                ["0-1", "1", "1"],
                "asked for 4 + 1 CPUs",
            ),
            ("both take all", machine_of(2, 1), "0-1", (2, 2), ["0-1", "0-1", "0-1"], "asked for 2 + 2 CPUs"),
        ],
        true,
    );
}

#[test]
fn too_few_cpus_are_refused_with_what_to_do() {
    let two = machine_of(2, 1);
    let refusal = |allowed, subject| deal(&two, allowed, subject, 1, false).unwrap_err();
    let too_few = refusal("0-1", SubjectCpus::Dedicated(4));
    assert_eq!(too_few, CpuRefusal::TooFew { subject: 4, generator: 1, available: 2, beside: BESIDE });
    assert_eq!(
        too_few.to_string(),
        "asked for 4 + 1 CPUs (subject + generator), 2 may be used: take a bigger machine, ask for fewer CPUs, or let the \
         parts share what there is with --allow-shared, which puts the generator's own cost into the figures"
    );
    let one = refusal("1", SubjectCpus::Dedicated(1));
    assert_eq!(one, CpuRefusal::OneCpu { available: 1, beside: BESIDE });
    assert!(one.to_string().starts_with("only 1 CPU may be used"), "{one}");
    assert_eq!(refusal("1", SubjectCpus::Quota(0.5)), CpuRefusal::OneCpu { available: 1, beside: BESIDE });
    let quota = refusal("0-1", SubjectCpus::Quota(2.5));
    assert_eq!(quota, CpuRefusal::QuotaTooLarge { quota: 2.5, available: 2 });
    assert!(quota.to_string().contains("quota of 2.5 CPUs, 2 may be used"), "{quota}");
}

#[test]
fn a_quota_leaves_the_subject_more_cpus_than_it_may_use_up() {
    // (what it shows, topology, quota, generator, subject, generator, note)
    type Row = (&'static str, Topology, f64, usize, [&'static str; 3], &'static str);
    let table: [Row; 8] = [
        ("all but the generator's", machine_of(4, 1), 1.0, 1, ["0-2", "3", "3"], ""),
        ("two CPUs for half a one", machine_of(3, 1), 0.5, 1, ["0-1", "2", "2"], ""),
        ("a broken quota is rounded up", machine_of(4, 1), 1.5, 1, ["0-2", "3", "3"], ""),
        ("whole cores are the generator's", machine_of(4, 2), 2.0, 1, ["0-2,4-6", "3", "7"], ""),
        ("a core is split where that suffices", machine_of(2, 2), 2.0, 1, ["0-2", "3", "3"], "siblings of one core"),
        (
            "too few for a quota to limit",
            machine_of(2, 1),
            1.0,
            1,
            ["0-1", "1", "1"],
            "2 CPUs to run on beside the generator's, and 2",
        ),
        ("the quota is all there is", machine_of(4, 1), 4.0, 2, ["0-3", "2-3", "2-3"], "5 CPUs to run on beside"),
        ("two for the generator", machine_of(8, 1), 2.0, 2, ["0-5", "6-7", "6-7"], ""),
    ];
    for (name, topology, quota, generator, expected, note) in table {
        let allowed = format_cpu_list(&topology.ids());
        let map = deal(&topology, &allowed, SubjectCpus::Quota(quota), generator, false).unwrap();
        let found = [&map.subject, &map.generator, &map.link].map(|ids| format_cpu_list(ids));
        assert_eq!(found, expected, "{name}: {map:?}");
        assert_eq!(map.shared, map.subject.iter().any(|id| map.generator.contains(id)), "shared: {name}");
        assert_eq!(map.note.is_some(), !note.is_empty(), "{name}: {map:?}");
        assert!(map.note.clone().unwrap_or_default().contains(note), "note: {name}: {map:?}");
    }
    let larger = deal(&machine_of(2, 1), "0-1", SubjectCpus::Quota(3.0), 4, true).unwrap();
    assert_eq!((larger.subject, larger.generator, larger.shared), (vec![0, 1], vec![0, 1], true));
}

/// Each row: what it shows, topology, the subject's CPUs, the generator's, the database's, result (subject, generator,
/// database, link), expected note.
type DatabaseRow = (&'static str, Topology, SubjectCpus, usize, DatabaseCpus, [&'static str; 4], &'static str);

fn check_with_database(table: Vec<DatabaseRow>, shared_allowed: bool) {
    for (name, topology, subject, generator, database, expected, note) in table {
        let wish = CpuWish { subject, generator, database: Some(database), shared_allowed, beside: BESIDE };
        let map = assign_cpus(&topology, &topology.ids(), wish).unwrap();
        let found = [&map.subject, &map.generator, &map.database, &map.link].map(|ids| format_cpu_list(ids));
        assert_eq!(found, expected, "{name}: {map:?}");
        assert_eq!(map.note.is_some(), !note.is_empty(), "{name}: {map:?}");
        assert!(map.note.unwrap_or_default().contains(note), "note: {name}");
    }
}

#[test]
fn a_database_has_a_cpu_of_its_own_where_one_is_left() {
    use DatabaseCpus::{Own, WhereLeft};
    use SubjectCpus::{Dedicated, Quota};
    let one = Dedicated(1);
    let table: Vec<DatabaseRow> = vec![
        ("none is left", machine_of(2, 1), one, 1, WhereLeft, ["0", "1", "1", "1"], ""),
        ("the third", machine_of(3, 1), one, 1, WhereLeft, ["0", "1", "2", "1"], ""),
        ("and the link the fourth", machine_of(4, 1), one, 1, WhereLeft, ["0", "1", "3", "2"], ""),
        ("beside the generator, not the subject", machine_of(2, 2), one, 1, WhereLeft, ["0", "1", "3", "1"], ""),
        ("a core of its own", machine_of(3, 2), one, 1, WhereLeft, ["0", "1", "2", "4"], ""),
        (
            "beside the subject is not left",
            machine_of(3, 2),
            Dedicated(3),
            2,
            WhereLeft,
            ["0-1,3", "2,5", "2,5", "2,5"],
            "",
        ),
        ("siblings of one core", machine_of(1, 2), one, 1, WhereLeft, ["0", "1", "1", "1"], "siblings of one core"),
        ("a quota needs one CPU beyond", machine_of(4, 1), Quota(1.0), 1, WhereLeft, ["0-1", "2", "3", "2"], ""),
        ("which a database does not take", machine_of(3, 1), Quota(1.0), 1, WhereLeft, ["0-1", "2", "2", "2"], ""),
        ("two of its own", machine_of(4, 1), one, 1, Own(2), ["0", "1", "2-3", "1"], ""),
        ("on cores that nobody else is on", machine_of(4, 2), Dedicated(4), 1, Own(1), ["0-1,4-5", "2", "3", "6"], ""),
        ("nought means one", machine_of(3, 1), one, 1, Own(0), ["0", "1", "2", "1"], ""),
        ("own, at the others' cost", machine_of(1, 3), one, 1, Own(1), ["0", "1", "2", "1"], "siblings of one core"),
        (
            "own, under a quota",
            machine_of(3, 1),
            Quota(1.0),
            1,
            Own(1),
            ["0-1", "1", "2", "1"],
            "2 CPUs to run on beside",
        ),
    ];
    check_with_database(table.clone(), false);
    // If there are enough CPUs, permission to share changes nothing.
    check_with_database(table, true);
}

#[test]
fn messages_name_the_part_that_runs_beside_the_subject() {
    let beside_lab = |shared_allowed| {
        let subject = SubjectCpus::Dedicated(1);
        let wish = CpuWish { subject, generator: 1, database: None, shared_allowed, beside: BesideSubject::Lab };
        assign_cpus(&machine_of(1, 1), &[0], wish)
    };
    let refusal = beside_lab(false).unwrap_err().to_string();
    assert!(refusal.contains("subject and lab need one each") && !refusal.contains("generator"), "{refusal}");
    let note = beside_lab(true).unwrap().note.unwrap();
    assert_eq!(note, "one CPU only: subject and lab share it, so every figure includes the lab's own cost");
}

#[test]
fn a_database_that_is_to_have_its_own_cpus_is_refused_where_there_are_too_few() {
    let wish = |subject, count, shared_allowed| CpuWish {
        subject,
        generator: 1,
        database: Some(DatabaseCpus::Own(count)),
        shared_allowed,
        beside: BESIDE,
    };
    let assign = |wish| assign_cpus(&machine_of(3, 1), &[0, 1, 2], wish);
    let refusal = assign(wish(SubjectCpus::Dedicated(1), 2, false)).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "asked for 1 + 1 + 2 CPUs (subject + generator + database), 3 may be used: take a bigger machine, ask for fewer CPUs, \
         or leave out the CPUs of the database, which then has the generator's where none is left"
    );
    let refusal = assign(wish(SubjectCpus::Quota(1.5), 1, false)).unwrap_err();
    assert_eq!(
        refusal,
        CpuRefusal::TooFewWithDatabase { subject: 2, generator: 1, database: 1, available: 3, beside: BESIDE }
    );
    let shared = assign(wish(SubjectCpus::Dedicated(1), 2, true)).unwrap();
    assert_eq!((&shared.subject, &shared.generator, &shared.database), (&vec![0], &vec![1], &vec![1]));
    let note = shared.note.unwrap();
    assert!(
        note.starts_with("asked for 2 CPUs for the database alone, and none is left: it runs on the generator's, 1,"),
        "{note}"
    );
    let one = assign_cpus(&machine_of(1, 1), &[0], wish(SubjectCpus::Dedicated(1), 1, true)).unwrap();
    assert_eq!((one.database, one.link), (vec![0], vec![0]));
}

#[test]
fn cpus_without_a_known_place_are_still_dealt_out() {
    let one_each = |allowed: &[u32], shared_allowed| {
        let wish = CpuWish {
            subject: SubjectCpus::Dedicated(1),
            generator: 1,
            database: None,
            shared_allowed,
            beside: BESIDE,
        };
        assign_cpus(&Topology::default(), allowed, wish)
    };
    let map = one_each(&[4, 6], false).unwrap();
    assert_eq!((map.subject, map.generator, map.shared), (vec![4], vec![6], false));
    assert!(one_each(&[], true).unwrap().shared);
    assert_eq!(one_each(&[], false), Err(CpuRefusal::OneCpu { available: 0, beside: BESIDE }));
}

#[test]
fn cpu_lists_are_read_and_written_as_the_kernel_does() {
    for (list, ids) in [("0-3,8", vec![0, 1, 2, 3, 8]), ("5\n", vec![5]), ("", vec![]), ("0,2,4", vec![0, 2, 4])] {
        assert_eq!(parse_cpu_list(list), Some(ids.clone()), "{list:?}");
        assert_eq!(format_cpu_list(&ids), list.trim());
    }
    for wrong in ["a", "3-1", "1-", "0-99999999", "-1"] {
        assert_eq!(parse_cpu_list(wrong), None, "{wrong:?}");
    }
}

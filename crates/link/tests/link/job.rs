//! Valid and invalid jobs. The links of all other tests also run here, in separate processes.

use std::os::fd::{AsRawFd, IntoRawFd};
use std::path::PathBuf;

use rustix::process::{Signal, set_parent_process_death_signal};
use tolok_link::{LinkJob, LinkSpec, run, tun};

use crate::in_spaces;
use crate::spaces::Spaces;

/// The variable with the job of a process that is a link.
pub const JOB: &str = "TOLOK_LINK_TEST_JOB";

fn job(ends: [i32; 2]) -> LinkJob {
    LinkJob {
        spec: LinkSpec::default(),
        ends,
        device_tables: None,
        offload: true,
        cpus: vec![],
        report: PathBuf::from("/dev/null"),
    }
}

#[test]
fn the_link_of_a_job() {
    match std::env::var(JOB) {
        Ok(job) => {
            // The link ends with its test, even if the test is killed.
            set_parent_process_death_signal(Some(Signal::KILL)).unwrap();
            run(&serde_json::from_str(&job).unwrap()).unwrap();
        }
        // Not the process of another test: checks that an invalid job is rejected.
        Err(_) => assert!(serde_json::from_str::<LinkJob>(r#"{"spec": {}, "ends": [3]}"#).is_err()),
    }
}

#[test]
fn a_job_reads_back_as_it_was_written() {
    let job = LinkJob { cpus: vec![1], spec: LinkSpec { loss: 0.01, ..LinkSpec::default() }, ..job([3, 4]) };
    let text = serde_json::to_string(&job).unwrap();
    assert_eq!(serde_json::from_str::<LinkJob>(&text).unwrap(), job);
}

fn refusal(job: &LinkJob) -> String {
    run(job).unwrap_err().to_string()
}

#[test]
fn what_is_no_device_is_refused() {
    let file = tempfile::tempfile().unwrap().into_raw_fd();
    assert!(refusal(&job([file, -1])).contains("is no TUN device"));
    assert!(refusal(&job([-1, -2])).starts_with("descriptor -1 is no TUN device that this process has inherited"));
    assert!(refusal(&job([7, 7])).starts_with("a link needs two devices"));
}

#[test]
fn what_cannot_be_emulated_is_refused_before_anything_else() {
    let spec = LinkSpec { loss: 2.0, ..LinkSpec::default() };
    assert!(refusal(&LinkJob { spec, ..job([-1, -2]) }).starts_with("the link cannot be emulated: it asks for a loss"));
    let spec = LinkSpec { loss: 0.1, ..LinkSpec::default() };
    assert!(refusal(&LinkJob { spec, ..job([-1, -2]) }).starts_with("a link that counts packets cannot have offload"));
}

#[test]
fn devices_must_be_as_the_job_says() {
    in_spaces!(|spaces: &Spaces| {
        // Each job takes over its descriptors, even if it fails.
        let open = |offload| spaces.inside(0, || tun::open("other", offload).unwrap()).into_raw_fd();
        let without = refusal(&job([open(false), -1]));
        assert!(without.contains("was opened otherwise"), "{without}");
        let with = refusal(&LinkJob { offload: false, ..job([open(true), -1]) });
        assert!(with.contains("was opened otherwise"), "{with}");
    });
}

#[test]
fn a_report_that_cannot_be_written_is_an_error_and_not_a_link_without_one() {
    in_spaces!(|spaces: &Spaces| {
        let open = |end| spaces.inside(end, || tun::open("end", true).unwrap());
        let (near, far) = (open(0), open(1));
        let report = PathBuf::from("/dev/null/link.jsonl");
        let refused = refusal(&LinkJob { report, ..job([near.as_raw_fd(), far.into_raw_fd()]) });
        // The job has taken it over.
        let _ = near.into_raw_fd();
        assert!(refused.starts_with("cannot write the link's report /dev/null/link.jsonl"), "{refused}");
    });
}

#[test]
fn a_device_tells_whether_it_has_offload() {
    in_spaces!(|spaces: &Spaces| {
        for offload in [false, true] {
            let device = spaces.inside(0, || tun::open("tested", offload).unwrap());
            assert_eq!(tun::has_offload(&device).unwrap(), offload);
        }
    });
}

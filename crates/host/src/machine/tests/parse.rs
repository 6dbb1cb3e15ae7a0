//! Text that kernels print, and the result of parsing it.

use super::super::kernel::{KernelConfig, gnu_libc, measuring_options};
use super::super::parse;
use super::super::scheduler::preemption;
use super::*;
use crate::procfs::pressure_some_total_us;

const LIMITS: &str = "\
Limit                     Soft Limit           Hard Limit           Units     
Max cpu time              unlimited            unlimited            seconds   
Max processes             96365                96365                processes 
Max open files            20000                unlimited            files     
Max realtime priority     0                    0                    
";
const PRESSURE: &str = "\
some avg10=39.90 avg60=29.34 avg300=10.61 total=42900198
full avg10=0.00 avg60=0.00 avg300=0.00 total=0
";

#[test]
fn kernel_files_are_read() {
    assert_eq!(parse::cpu_model(CPUINFO).as_deref(), Some("AMD EPYC"));
    assert!(parse::has_hypervisor_flag(CPUINFO));
    assert!(!parse::has_hypervisor_flag("flags\t: fpu nohypervisor\n"), "a flag is a whole word");
    let limit = |soft, hard| Some(Limit { soft, hard });
    assert_eq!(parse::limit(LIMITS, "Max open files"), limit(Some(20000), None));
    assert_eq!(parse::limit(LIMITS, "Max cpu time"), limit(None, None));
    assert_eq!(parse::limit(LIMITS, "Max realtime priority"), limit(Some(0), Some(0)));
    assert_eq!(parse::limit(LIMITS, "Max nice priority"), None);
    assert_eq!(parse::meminfo_bytes("MemTotal:       24684096 kB\nMemFree: 1 kB\n", "MemTotal"), Some(24684096 * 1024));
    assert_eq!(parse::pressure_some_avg10(PRESSURE), Some(39.90));
    assert_eq!(pressure_some_total_us(PRESSURE), Some(42_900_198));
    assert_eq!(parse::chosen("always [madvise] never\n").as_deref(), Some("madvise"));
    assert_eq!(parse::port_range("32768\t60999\n"), Some((32768, 60999)));
    assert_eq!(parse::load_average("2.19 0.96 0.43 4/117 29928\n"), Some([2.19, 0.96, 0.43]));
    assert_eq!(parse::running_tasks("2.19 0.96 0.43 4/117 29928\n"), Some(4));
    let stat = "cpu  60 0 20 10 0 0 0 10 5 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
    assert_eq!(parse::cpu_ticks(stat), Some([60, 0, 20, 10, 0, 0, 0, 10]));
    assert_eq!(parse::steal_fraction(stat), Some(0.1));
    assert_eq!(parse::allowed_cpus("Cpus_allowed:\t3\nCpus_allowed_list:\t0-1\n"), Some(vec![0, 1]));
    assert_eq!(parse::capabilities("CapEff:\t000001fffeffffff\n"), Some(0x1ff_feff_ffff));
    let os_release = "NAME=Ubuntu\nPRETTY_NAME=\"Ubuntu 24.04.3 LTS\"\nID=ubuntu\n";
    assert_eq!(parse::os_release(os_release, "PRETTY_NAME").as_deref(), Some("Ubuntu 24.04.3 LTS"));
    assert_eq!(parse::os_release(os_release, "NAME").as_deref(), Some("Ubuntu"));
    assert_eq!(parse::dmi_product(Some("QEMU"), Some("Standard PC")).as_deref(), Some("QEMU Standard PC"));
    assert_eq!(parse::dmi_product(Some("System manufacturer"), None), None);
    for (text, bytes) in [("48K", Some(49_152)), ("32M", Some(32 << 20)), ("512", Some(512)), ("1G", None), ("K", None)]
    {
        assert_eq!(parse::cache_size_bytes(text), bytes, "{text}");
    }
}

#[test]
fn the_order_in_which_a_kernel_lists_features_does_not_matter() {
    let hash = |flags: &str| parse::cpu_features_sha256(&format!("flags\t: {flags}\n"));
    assert_eq!(hash("avx2 fpu"), hash("fpu avx2"));
    assert_ne!(hash("avx2 fpu"), hash("avx fpu"));
    let arm = parse::cpu_features_sha256("Features\t: fp asimd\n").unwrap();
    assert_eq!((arm.len(), hash("")), (64, None));
}

#[test]
fn broken_kernel_files_are_unknown_not_wrong() {
    for text in ["", "\n", "garbage", "some avg10=", "cpu  a b", "[", "1", "cpu  0 0 0 0 0 0 0 0", "cpu  1 2 3", "("] {
        assert_eq!(parse::pressure_some_avg10(text), None, "{text:?}");
        assert_eq!(pressure_some_total_us(text), None, "{text:?}");
        assert_eq!(parse::steal_fraction(text), None, "{text:?}");
        assert_eq!(parse::chosen(text), None, "{text:?}");
        assert_eq!(parse::chosen_in_brackets(text), None, "{text:?}");
        assert_eq!(parse::port_range(text), None, "{text:?}");
        assert_eq!(parse::load_average(text), None, "{text:?}");
        assert_eq!(parse::running_tasks(text), None, "{text:?}");
        assert_eq!(parse::limit(text, "Max open files"), None, "{text:?}");
        assert_eq!(parse::meminfo_bytes(text, "MemTotal"), None, "{text:?}");
        assert_eq!(parse::cpu_model(text), None, "{text:?}");
        assert_eq!(parse::capabilities(text), None, "{text:?}");
        assert_eq!(parse::cpu_features_sha256(text), None, "{text:?}");
        assert!(KernelConfig::parse(text).is_none(), "{text:?}");
    }
}

#[test]
fn the_model_of_preemption_is_told_by_the_nearest_source() {
    let dynamic = "#1 SMP PREEMPT_DYNAMIC @0";
    let none = "CONFIG_PREEMPT_NONE=y\n# CONFIG_PREEMPT is not set\n";
    // (build, the scheduler's own report, command line, configuration, model)
    let table = [
        ("#1 SMP PREEMPT_RT Debian", None, "", "", Some("rt")),
        (dynamic, Some("none voluntary (full)\n"), "preempt=none", none, Some("full")),
        (dynamic, None, "quiet preempt=voluntary", none, Some("voluntary")),
        (dynamic, None, "quiet", none, Some("none")),
        (dynamic, None, "", "CONFIG_PREEMPT_LAZY=y\n", Some("lazy")),
        (dynamic, None, "", "", Some("dynamic")),
        ("#1 SMP PREEMPT Thu", None, "", "", Some("full")),
        ("#1 SMP Thu", None, "", "CONFIG_PREEMPT_VOLUNTARY=y\n", Some("voluntary")),
        ("#1 SMP Thu", None, "", "", None),
    ];
    for (build, debug, command_line, config, expected) in table {
        let found = preemption(build, debug, command_line, KernelConfig::parse(config).as_ref());
        assert_eq!(found.as_deref(), expected, "{build} {debug:?} {command_line} {config}");
    }
}

#[test]
fn only_options_that_bear_on_a_measurement_are_kept() {
    let line = "BOOT_IMAGE=/boot/vmlinuz root=UUID=77 ip=10.0.0.7::::web-1 mitigations=off isolcpus=2-3 quiet \
                intel_pstate=disable mem=4G memtest=1 -- --token preempt=full";
    assert_eq!(measuring_options(line), ["mitigations=off", "isolcpus=2-3", "intel_pstate=disable", "mem=4G"]);
}

#[test]
fn gnus_library_says_its_version_in_its_own_text() {
    for (text, expected) in [
        (
            "..GNU C Library (Debian GLIBC 2.36-9+deb12u13) stable release version 2.36.\nCopy",
            Some("Debian GLIBC 2.36-9+deb12u13"),
        ),
        ("..GNU C Library (GNU libc) stable release version 2.40.\nCopy", Some("GNU libc 2.40")),
        ("..GNU C Library (GNU libc) development release version 2.41.9000.\0", Some("GNU libc 2.41.9000")),
        ("GNU C Library (cut o", None),
        ("musl", None),
    ] {
        assert_eq!(gnu_libc(text.as_bytes()).as_deref(), expected, "{text}");
    }
}

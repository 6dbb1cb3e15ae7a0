//! The published sources: exactly what the laws of figures contradict in each, and the wording of the findings.

use crate::invented;

use invented::OF_FIGURES;
use tolok_audit::{AuditFinding, AuditVerdict, Law, audit};
use tolok_model::transcription::Transcription;

/// A source that is part of the project.
fn source(key: &str) -> Transcription {
    let path = format!("{}/../../published/{key}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    Transcription::read(&text, key).unwrap_or_else(|problems| panic!("{path}: {problems:?}"))
}

/// What the laws of figures find in it.
fn findings(key: &str) -> Vec<AuditFinding> {
    let all = audit(&source(key)).findings;
    all.into_iter().filter(|finding| OF_FIGURES.contains(&finding.law)).collect()
}

/// All findings, as text.
fn told(findings: &[AuditFinding]) -> String {
    let of = |finding: &AuditFinding| {
        let AuditFinding { law, about, verdict, statement, arithmetic, sentence, inference, missing, .. } = finding;
        let inference = inference.as_ref().map(|text| format!("\n  inference: {text}")).unwrap_or_default();
        let missing = if missing.is_empty() { String::new() } else { format!("\n  missing: {}", missing.join("; ")) };
        let mut lines: Vec<usize> = finding.inputs.iter().map(|input| input.line).collect();
        lines.sort_unstable();
        lines.dedup();
        format!(
            "{law:?} · {about} · {verdict:?}\n  {statement}\n  {arithmetic} (lines {lines:?})\n  {sentence}{inference}{missing}\n"
        )
    };
    findings.iter().map(of).collect::<Vec<_>>().join("\n")
}

/// The contradicted findings: the law, and the subject.
fn contradicted(key: &str) -> Vec<(Law, String)> {
    let all = findings(key).into_iter().filter(|finding| finding.verdict == AuditVerdict::Contradicted);
    all.map(|finding| (finding.law, finding.about)).collect()
}

/// The expected findings, as a test writes them.
fn expected(list: &[(Law, &str)]) -> Vec<(Law, String)> {
    list.iter().map(|(law, about)| (*law, (*about).to_owned())).collect()
}

#[test]
fn kamarudin_go_bun_php() {
    let failed_answers = [(Law::Goodput, "1,000 rows × 50 fields, up to 300 users (Tabel 4)")];
    assert_eq!(contradicted("kamarudin-go-bun-php"), expected(&failed_answers));
    insta::assert_snapshot!("kamarudin-go-bun-php", told(&findings("kamarudin-go-bun-php")));
}

#[test]
fn srivastava_node_bun_go() {
    let means_of_wrk = [
        (Law::LittlesLaw, "node, WiFi and Tailscale, 4 cores, clustered (Phase 2)"),
        (Law::LittlesLaw, "node, cloud, quota of 1 CPU (Phase 3)"),
        (Law::LittlesLaw, "go, cloud, quota of 1 CPU (Phase 3)"),
        (Law::LittlesLaw, "node, cloud, quota of 4 CPUs (Phase 4)"),
        (Law::LittlesLaw, "go, cloud, quota of 4 CPUs (Phase 4)"),
        (Law::LittlesLaw, "bun, cloud, quota of 4 CPUs (Phase 4)"),
    ];
    assert_eq!(contradicted("srivastava-node-bun-go"), expected(&means_of_wrk));
    insta::assert_snapshot!("srivastava-node-bun-go", told(&findings("srivastava-node-bun-go")));
}

/// Its time-outs and its traffic are questionable, but by these laws none of its figures contradict each other.
#[test]
fn asshuffi_apache_node() {
    assert_eq!(contradicted("asshuffi-apache-node"), []);
    insta::assert_snapshot!("asshuffi-apache-node", told(&findings("asshuffi-apache-node")));
}

/// Shares of CPU and times come from different runs, so CPU times cannot contradict claims about shares.
#[test]
fn nunez_queue() {
    assert_eq!(contradicted("nunez-queue"), []);
    insta::assert_snapshot!("nunez-queue", told(&findings("nunez-queue")));
}

/// CPU for each request follows from its figures (74, 113 and 114 µs), and contradicts nothing.
#[test]
fn astamal_swoole_node_go() {
    assert_eq!(contradicted("astamal-swoole-node-go"), []);
    insta::assert_snapshot!("astamal-swoole-node-go", told(&findings("astamal-swoole-node-go")));
}

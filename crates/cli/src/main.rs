//! The `tolok` command: verbs, options, progress from events, exit codes. The only crate that prints or exits.

mod args;
mod bring;
mod busy;
mod choice;
mod closing;
mod exit;
mod interrupts;
mod json_lines;
mod laboratory;
mod made_study;
mod measuring;
mod mistaken;
mod output;
mod problems;
mod progress;
mod reports;
mod scaffold;
mod stored;
mod trust;
mod verbs;
mod watching;

use std::process::ExitCode;

use args::Verb;
use tolok_lab::run::start_again_in_an_own_group;

fn main() -> ExitCode {
    // This comes first: memory that this process uses to parse arguments would count towards every program that the timer starts.
    if let Some(options) = args::of_program_timer(std::env::args_os()) {
        return exit::code(verbs::boxes::program_timer(&options));
    }
    let args = match args::parse() {
        Ok(args) => args,
        Err(error) => return exit::of_clap(&error),
    };
    args.color.apply();
    if args.verb.opens_boxes() {
        tolok_host::guard::keep_only_what_is_used();
        if let Some(lack) = args.verb.starts_trials().then(tolok_host::machine::too_little_room).flatten() {
            return exit::code(Err(exit::CliError::new(exit::Exit::Internal, lack)));
        }
        start_again_in_an_own_group();
    }
    let ended = match args.verb {
        Verb::Quick(options) => verbs::quick::quick(&options),
        Verb::Run(options) => verbs::run::run(&options),
        Verb::Duel(options) => verbs::duel::duel(&options),
        Verb::Plan(options) => verbs::plan::plan(&options),
        Verb::Resume(options) => verbs::run::resume(&options),
        Verb::Report(options) => verbs::report::report(&options),
        Verb::Forecast(options) => verbs::forecast::forecast(&options),
        Verb::Compare(options) => verbs::compare::compare(&options),
        Verb::Replicate(options) => verbs::replicate::replicate(&options),
        Verb::Serve(options) => verbs::serve::serve(&options),
        Verb::Verify(options) => verbs::verify::verify(&options),
        Verb::Audit(options) => verbs::audit::audit(&options),
        Verb::Load(options) => verbs::load::load(&options),
        Verb::Fidelity(options) => verbs::fidelity::fidelity(&options),
        Verb::Pool(options) => verbs::pool::pool(&options),
        Verb::Setup(options) => verbs::setup::setup(&options),
        Verb::Doctor(options) => verbs::doctor::doctor(&options),
        Verb::List(options) => verbs::list::list(&options),
        Verb::New(options) => verbs::new::new(&options),
        Verb::Check(options) => verbs::check::check(&options),
        Verb::Help(options) => verbs::help::help(&options),
        Verb::Completions(options) => verbs::help::completions(&options),
        Verb::Man(options) => verbs::man::man(&options),
        Verb::Block(options) => verbs::boxes::block(&options),
        Verb::LoadPart => verbs::boxes::load_part(),
        Verb::Keeper(options) => verbs::boxes::keeper(&options),
        Verb::NamespaceProbe(options) => verbs::boxes::namespace_probe(&options),
        Verb::Init(options) => verbs::boxes::init(&options),
        Verb::Link(options) => verbs::boxes::link(&options),
        Verb::ProgramTimer(options) => verbs::boxes::program_timer(&options),
        Verb::Ceiling(options) => return tolok_ceiling::run(options.arguments),
    };
    exit::code(ended)
}

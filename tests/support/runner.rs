//! Tests that each run in their own process, because a process can have only one OCaml runtime.

use super::process::{output_within, patience, text_of, this_program};
use std::time::Duration;

/// The variable that names the test of a process.
const TEST: &str = "BOXROOT_TEST";

/// A test, as [`test!`] registers it.
pub struct Test {
    path: &'static str,
    run: fn(),
    version: Option<u8>,
    except: &'static [&'static str],
    variables: &'static [(&'static str, &'static str)],
}

inventory::collect!(Test);

impl Test {
    pub const fn new(path: &'static str, run: fn()) -> Test {
        Test { path, run, version: None, except: &[], variables: &[] }
    }

    /// The test is only for OCaml 4 or only for OCaml 5.
    pub const fn ocaml(self, version: u8) -> Test {
        Test { version: Some(version), ..self }
    }

    /// The test is left out on versions of OCaml that begin with this.
    pub const fn except(self, except: &'static [&'static str]) -> Test {
        Test { except, ..self }
    }

    /// Variables of the environment for the test's process.
    pub const fn environment(self, variables: &'static [(&'static str, &'static str)]) -> Test {
        Test { variables, ..self }
    }

    /// `file::function`
    fn name(&self) -> &'static str {
        self.path.split_once("::").expect("tests are in modules").1
    }

    fn applies(&self) -> bool {
        let ocaml = env!("OCAML_VERSION");
        self.version.is_none_or(|version| ocaml.starts_with(char::from(b'0' + version)))
            && !self.except.iter().any(|except| ocaml.starts_with(except))
    }

    fn run_in_a_process(&self, limit: Duration) -> Result<(), String> {
        let mut command = this_program();
        command.env(TEST, self.name()).envs(self.variables.iter().copied());
        match output_within(limit, &mut command) {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(text_of(&output)),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Runs the test as often as the variable RUNS says.
    fn run_repeatedly(&self, limit: Duration) -> Result<(), libtest_mimic::Failed> {
        let runs = std::env::var("RUNS").map_or(1, |n| n.parse().expect("RUNS is a number"));
        let failures: Vec<_> =
            (0..runs).filter_map(|_| self.run_in_a_process(limit).err()).collect();
        match failures.first() {
            None => Ok(()),
            Some(first) => Err(format!("{} of {runs} failed\n{first}", failures.len()).into()),
        }
    }
}

/// Registers a test: its name, then settings of [`Test`], then its body. With
/// `forbid(unsafe_code)`, the body has no unsafe code.
macro_rules! test {
    ($name:ident, forbid(unsafe_code), $($rest:tt)*) => {
        test!(@ [#[forbid(unsafe_code)]] $name, $($rest)*);
    };
    (@ [$($attribute:tt)*] $name:ident, $($setting:ident = $value:expr,)* || $body:block) => {
        $($attribute)*
        fn $name() $body

        inventory::submit! {
            $crate::support::runner::Test::new(
                concat!(module_path!(), "::", stringify!($name)),
                $name,
            )$(.$setting($value))*
        }
    };
    ($($test:tt)*) => {
        test!(@ [] $($test)*);
    };
}

/// The main function of a test program. In a process that was started for a test, it runs this
/// test. A process that takes longer than `limit` is killed, and its test fails.
pub fn run_tests_within(limit: Duration) -> ! {
    let mut tests: Vec<&'static Test> = inventory::iter::<Test>().collect();
    tests.sort_by_key(|test| test.name());
    if let Ok(name) = std::env::var(TEST) {
        let test = tests.iter().find(|test| test.name() == name).expect("there is no such test");
        (test.run)();
        std::process::exit(0);
    }
    let limit = patience(limit);
    let mut arguments = libtest_mimic::Arguments::from_args();
    // One at a time, because tests with several domains use all cores.
    arguments.test_threads.get_or_insert(1);
    let trials = tests.into_iter().map(|test| {
        libtest_mimic::Trial::test(test.name(), move || test.run_repeatedly(limit))
            .with_ignored_flag(!test.applies())
    });
    libtest_mimic::run(&arguments, trials.collect()).exit()
}

//! The driver in a process of its own, which may hang and die without harm.
//!
//! One process serves many texts, because starting the driver takes longer than compiling most of them. The
//! two talk over the standard streams in lines of JSON:
//!
//! * the process begins with a [`Greeting`];
//! * a [`Request`] is one line, and the bytes of the text after it;
//! * an answer is one line: the report, or why there is none.
//!
//! A process that does not answer in time is killed, one that has died is replaced for the next text. When
//! its input ends, the process ends too, whatever the driver is doing: so it never outlives its parent.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{Driver, own_target};
use crate::assemble::process::{Captured, capture, describe_end, take};
use crate::assemble::report::{Backend, Report};
use crate::assemble::target::Gpu;
use crate::assemble::{Assembly, Error, Helper, Options, Source};

/// How long the driver may take to start; a machine with many GPUs needs some seconds.
const START_TIMEOUT: Duration = Duration::from_secs(120);
/// How long a process that closed its output may take to end.
const END_TIMEOUT: Duration = Duration::from_secs(5);
/// An answer longer than this is no answer: the two logs have 8 MiB each.
const MAX_ANSWER: u64 = 256 << 20;
/// How much of what the process tells on standard error is kept.
const KEPT_OUTPUT: usize = 64 << 10;

/// What the process tells when it has started.
#[derive(Debug, Serialize, Deserialize)]
enum Greeting {
    Ready { gpu: String, version: Option<String> },
    Missing(Vec<String>),
}

/// What precedes a text.
#[derive(Debug, Serialize, Deserialize)]
struct Request {
    file: String,
    target: Option<String>,
    max_registers: Option<u32>,
    optimization: Option<u8>,
    line_info: bool,
    /// How many bytes the text has.
    bytes: usize,
}

/// What follows a text.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Report(Box<Report>),
    Missing(Vec<String>),
    TargetUnsupported { target: String, reason: String },
    Crashed { how: String, output: String },
}

/// Serves a [`DriverProcess`] over these streams until `input` ends, when the whole process ends. For the
/// `main` of the program that a [`Helper`] names.
///
/// # Errors
/// Where `output` cannot be written.
pub fn serve(input: impl Read + Send + 'static, mut output: impl Write) -> io::Result<()> {
    let (requests, next) = channel();
    thread::spawn(move || {
        read_requests(BufReader::new(input), &requests);
        drop(requests);
        end_process();
    });
    let driver = match Driver::open() {
        Ok(driver) => driver,
        Err(error) => return send(&mut output, &Greeting::Missing(reasons(error))),
    };
    send(
        &mut output,
        &Greeting::Ready { gpu: driver.target(), version: driver.version().map(str::to_owned) },
    )?;
    for (request, text) in next {
        let options = Options {
            target: request.target,
            max_registers: request.max_registers,
            optimization: request.optimization,
            line_info: request.line_info,
            ..Options::default()
        };
        let answer = match driver.assemble(&Source { file: &request.file, text: &text }, &options) {
            Ok(assembly) => Answer::Report(Box::new(assembly.report)),
            Err(Error::TargetUnsupported { target, reason, .. }) => {
                Answer::TargetUnsupported { target, reason }
            }
            Err(Error::Crashed { how, output, .. }) => Answer::Crashed { how, output },
            Err(error) => Answer::Missing(reasons(error)),
        };
        send(&mut output, &answer)?;
    }
    Ok(())
}

/// Hands on what is asked until the input ends or is no request.
fn read_requests(mut input: impl BufRead, requests: &Sender<(Request, Vec<u8>)>) {
    let mut line = String::new();
    while input.read_line(&mut line).is_ok_and(|length| length > 0) {
        let Ok(request) = serde_json::from_str::<Request>(&line) else { return };
        let mut text = vec![0; request.bytes];
        if input.read_exact(&mut text).is_err() || requests.send((request, text)).is_err() {
            return;
        }
        line.clear();
    }
}

/// Ends this process, also where the driver is busy or hangs.
fn end_process() {
    // An orderly end asks the driver to clean up, which one that hangs does not.
    thread::spawn(|| {
        thread::sleep(END_TIMEOUT);
        std::process::abort();
    });
    std::process::exit(0);
}

fn reasons(error: Error) -> Vec<String> {
    match error {
        Error::Missing { looked_for, .. } => looked_for,
        other => vec![other.to_string()],
    }
}

fn send(output: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    output.write_all(&line)?;
    output.flush()
}

/// The driver in a process of its own: like [`Driver`], but a text that makes the driver's compiler hang or
/// crash is an [`Error`] and nothing worse. Nothing can be launched in it.
#[derive(Debug)]
pub struct DriverProcess {
    helper: Helper,
    gpu: Gpu,
    version: Option<String>,
    /// `None` where the last one is gone.
    running: Mutex<Option<Running>>,
}

impl DriverProcess {
    /// Starts `helper`, which starts the driver.
    ///
    /// # Errors
    /// [`Error::Missing`] where there is no driver or no GPU, [`Error::Crashed`], [`Error::TimedOut`] and
    /// [`Error::Io`] where the process says nothing.
    pub fn open(helper: Helper) -> Result<Self, Error> {
        let (running, gpu, version) = Running::start(&helper)?;
        Ok(Self { helper, gpu, version, running: Mutex::new(Some(running)) })
    }

    /// Version of the driver's compiler, as [`Driver::version`].
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// As [`Driver::require_target`].
    ///
    /// # Errors
    /// [`Error::TargetUnsupported`] for every target that is not the GPU's.
    pub fn require_target(&self, target: Option<&str>) -> Result<(), Error> {
        target.map_or(Ok(()), |target| own_target(self.gpu, self.version(), target).map(drop))
    }

    /// Compiles `source` within `options.timeout`; there is never a cubin. A refused program is a report with
    /// `accepted: false`.
    ///
    /// # Errors
    /// As [`Driver::load`], and [`Error::TimedOut`].
    pub fn assemble(&self, source: &Source<'_>, options: &Options) -> Result<Assembly, Error> {
        let mut place = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let mut running = match place.take() {
            Some(running) => running,
            None => Running::start(&self.helper)?.0,
        };
        let request = Request {
            file: source.file.to_owned(),
            target: options.target.clone(),
            max_registers: options.max_registers,
            optimization: options.optimization,
            line_info: options.line_info,
            bytes: source.text.len(),
        };
        let answer = running.ask(&request, source.text, options.timeout)?;
        // What has answered serves the next text too.
        *place = Some(running);
        drop(place);
        match answer {
            Answer::Report(report) => Ok(Assembly { report: *report, cubin: None }),
            Answer::Missing(looked_for) => Err(missing(looked_for)),
            Answer::Crashed { how, output } => Err(Error::Crashed { backend: Backend::Driver, how, output }),
            Answer::TargetUnsupported { target, reason } => Err(Error::TargetUnsupported {
                backend: Backend::Driver,
                version: self.version.clone(),
                target,
                reason,
            }),
        }
    }
}

fn missing(looked_for: Vec<String>) -> Error {
    Error::Missing { backend: Some(Backend::Driver), looked_for }
}

/// A process, and the threads at its streams. It is killed when this is dropped.
#[derive(Debug)]
struct Running {
    child: Child,
    /// Texts on their way: a process that hangs may not even read.
    requests: Sender<Vec<u8>>,
    answers: Receiver<String>,
    stderr: Option<Arc<Mutex<Captured>>>,
}

impl Running {
    fn start(helper: &Helper) -> Result<(Self, Gpu, Option<String>), Error> {
        let mut command = Command::new(&helper.program);
        command.args(&helper.arguments).env("CUDA_CACHE_DISABLE", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .map_err(|error| Error::io(format!("run `{}`", helper.program.display()), error))?;
        let requests = writer(child.stdin.take());
        let (sender, answers) = channel();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || read_answers(BufReader::new(stdout), &sender));
        }
        let stderr = child.stderr.take().map(|pipe| capture(pipe, KEPT_OUTPUT, channel().0));
        let mut running = Self { child, requests, answers, stderr };
        match running.receive(START_TIMEOUT)? {
            Greeting::Ready { gpu, version } => match Gpu::parse(&gpu) {
                Some(gpu) => Ok((running, gpu, version)),
                None => Err(running.crashed(format!("told of a GPU `{gpu}`"))),
            },
            Greeting::Missing(looked_for) => Err(missing(looked_for)),
        }
    }

    /// Sends a text and waits for what comes of it.
    fn ask(&mut self, request: &Request, text: &[u8], timeout: Duration) -> Result<Answer, Error> {
        let line = serde_json::to_vec(request)
            .map_err(|error| Error::io("tell the driver's process what to do", io::Error::other(error)))?;
        // Where nobody reads any more, no answer comes.
        let _ = self.requests.send([&line, &b"\n"[..], text].concat());
        self.receive(timeout)
    }

    fn receive<T: for<'a> Deserialize<'a>>(&mut self, timeout: Duration) -> Result<T, Error> {
        match self.answers.recv_timeout(timeout) {
            Ok(line) => serde_json::from_str(&line)
                .map_err(|_| self.crashed("answered with something that is no report".to_owned())),
            Err(RecvTimeoutError::Timeout) => {
                Err(Error::TimedOut { backend: Backend::Driver, after: timeout })
            }
            Err(RecvTimeoutError::Disconnected) => {
                let how = self.end();
                Err(self.crashed(how))
            }
        }
    }

    /// How a process that has closed its output ends.
    fn end(&mut self) -> String {
        let deadline = Instant::now() + END_TIMEOUT;
        while Instant::now() < deadline {
            if let Ok(Some(status)) = self.child.try_wait() {
                return describe_end(status);
            }
            thread::sleep(Duration::from_millis(5));
        }
        "closed its output and did not end".to_owned()
    }

    fn crashed(&mut self, how: String) -> Error {
        let output = take(self.stderr.take()).last_lines();
        Error::Crashed { backend: Backend::Driver, how, output }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Writes to `stdin` in a thread of its own, until nobody sends any more.
fn writer(stdin: Option<ChildStdin>) -> Sender<Vec<u8>> {
    let (sender, requests) = channel::<Vec<u8>>();
    if let Some(mut stdin) = stdin {
        thread::spawn(move || {
            for request in requests {
                if stdin.write_all(&request).and_then(|()| stdin.flush()).is_err() {
                    break;
                }
            }
        });
    }
    sender
}

/// Hands on the lines of `stdout` until it ends.
fn read_answers(mut stdout: impl BufRead, answers: &Sender<String>) {
    loop {
        let mut line = String::new();
        match stdout.by_ref().take(MAX_ANSWER).read_line(&mut line) {
            Ok(1..) if line.ends_with('\n') && answers.send(line).is_ok() => {}
            _ => return,
        }
    }
}

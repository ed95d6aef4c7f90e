//! A GitHub that holds state, behind real HTTP. What it is asked that it does not know fails the test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

mod routes;
mod state;

pub(crate) use state::{Account, Comment, Issue, REPOSITORY, State, Viewer, pull};

/// What goes wrong with a request.
#[derive(Clone)]
enum Act {
    /// Nothing is done, and this is answered.
    Refuse,
    /// It is done, and this is answered all the same.
    DoAndRefuse,
    /// It is done, and the connection is closed without an answer.
    DoAndDrop,
    /// The connection is closed at once.
    Reset,
    /// No answer comes.
    Hang,
    /// The answer comes late.
    Delay(Duration),
    /// Something happens just before.
    Before(Arc<dyn Fn(&mut State) + Send + Sync>),
}

/// Something that goes wrong, a limited number of times.
#[derive(Clone)]
pub(crate) struct Fault {
    pub(crate) method: String,
    pub(crate) path: String,
    act: Act,
    status: u16,
    body: String,
    headers: Vec<(String, String)>,
    left: usize,
}

impl Fault {
    fn new(on: &str, act: Act) -> Self {
        let (method, path) = on.split_once(' ').unwrap();
        let (method, path) = (method.to_owned(), path.to_owned());
        Self { method, path, act, status: 0, body: String::new(), headers: Vec::new(), left: usize::MAX }
    }

    /// `on` is a method and a part of the path, with `$` its end: `POST /comments`.
    pub(crate) fn status(on: &str, status: u16, message: &str) -> Self {
        let body = json!({ "message": message, "documentation_url": "https://docs.example" }).to_string();
        Self { status, body, ..Self::new(on, Act::Refuse) }
    }

    /// It is carried out, but the answer says that it was not.
    pub(crate) fn done_but(on: &str, status: u16) -> Self {
        Self { act: Act::DoAndRefuse, ..Self::status(on, status, "Bad Gateway") }
    }

    pub(crate) fn done_but_dropped(on: &str) -> Self {
        Self::new(on, Act::DoAndDrop)
    }

    pub(crate) fn reset(on: &str) -> Self {
        Self::new(on, Act::Reset)
    }

    pub(crate) fn hang(on: &str) -> Self {
        Self::new(on, Act::Hang)
    }

    pub(crate) fn delay(on: &str, milliseconds: u64) -> Self {
        Self::new(on, Act::Delay(Duration::from_millis(milliseconds)))
    }

    pub(crate) fn before(on: &str, change: impl Fn(&mut State) + Send + Sync + 'static) -> Self {
        Self::new(on, Act::Before(Arc::new(change)))
    }

    /// The same elsewhere.
    pub(crate) fn on(self, path: &str) -> Self {
        Self { path: path.to_owned(), ..self }
    }

    pub(crate) fn times(self, left: usize) -> Self {
        Self { left, ..self }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Not JSON but this.
    pub(crate) fn body(self, body: &str) -> Self {
        Self { body: body.to_owned(), ..self }
    }
}

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Without the base of the API.
    pub(crate) path: String,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) token: String,
    pub(crate) body: Value,
    pub(crate) at: Instant,
}

impl Request {
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// `POST /repos/…`
    pub(crate) fn line(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

/// An answer on its way.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: String,
    pub(crate) headers: Vec<(String, String)>,
}

impl Reply {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        Self { status, body, headers: Vec::new() }
    }

    pub(crate) fn message(status: u16, message: &str) -> Self {
        Self::json(status, &json!({ "message": message }))
    }
}

/// Where the paths of the two interfaces are.
#[derive(Clone, Copy)]
struct Layout {
    rest: &'static str,
    graphql: &'static str,
}

struct Shared {
    state: Mutex<State>,
    stopped: AtomicBool,
    address: SocketAddr,
    layout: Layout,
}

/// The fake. When it goes, it fails the test over every request that it did not expect.
pub(crate) struct Fake(Arc<Shared>);

impl Fake {
    /// As github.com: nothing before the paths.
    pub(crate) fn new() -> Self {
        Self::laid_out(Layout { rest: "", graphql: "/graphql" })
    }

    /// As GitHub Enterprise Server.
    pub(crate) fn enterprise() -> Self {
        Self::laid_out(Layout { rest: "/api/v3", graphql: "/api/graphql" })
    }

    fn laid_out(layout: Layout) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (state, stopped) = (Mutex::default(), AtomicBool::new(false));
        let shared = Arc::new(Shared { state, stopped, address, layout });
        let server = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if server.stopped.load(Ordering::SeqCst) {
                    return;
                }
                let server = Arc::clone(&server);
                thread::spawn(move || server.serve(stream));
            }
        });
        Self(shared)
    }

    pub(crate) fn api_url(&self) -> String {
        format!("http://{}{}", self.0.address, self.0.layout.rest)
    }

    pub(crate) fn graphql_url(&self) -> String {
        format!("http://{}{}", self.0.address, self.0.layout.graphql)
    }

    /// What it holds.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(crate) fn fault(&self, fault: Fault) -> &Self {
        self.state().faults.push(fault);
        self
    }

    /// The bodies of the comments on a pull request or issue.
    pub(crate) fn bodies(&self, number: u64) -> Vec<String> {
        self.state().comments(number).iter().map(|comment| comment.body.clone()).collect()
    }

    pub(crate) fn issues(&self) -> Vec<Issue> {
        self.state().issues.clone()
    }

    /// The requests since it was asked last.
    pub(crate) fn take(&self) -> Vec<Request> {
        std::mem::take(&mut self.state().requests)
    }

    /// The lines of those requests that change something, GraphQL's question not among them.
    pub(crate) fn writes(&self) -> Vec<String> {
        let state = self.state();
        let writes = state.requests.iter().filter(|r| r.method != "GET" && r.path != "graphql");
        writes.map(Request::line).collect()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.0.stopped.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.0.address));
        if !thread::panicking() {
            assert_eq!(self.state().unexpected, Vec::<String>::new(), "requests nobody expected");
        }
    }
}

impl Shared {
    fn serve(&self, stream: TcpStream) {
        stream.set_nodelay(true).unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut stream = stream;
        while let Some(request) = self.read(&mut reader) {
            let Some(reply) = self.answer(request) else { return };
            let mut head = format!("HTTP/1.1 {} x\r\ncontent-length: {}\r\n", reply.status, reply.body.len());
            for (name, value) in &reply.headers {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
            head.push_str("content-type: application/json; charset=utf-8\r\n\r\n");
            if stream.write_all((head + &reply.body).as_bytes()).is_err() {
                return;
            }
        }
    }

    fn read(&self, reader: &mut BufReader<TcpStream>) -> Option<Request> {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let mut words = line.split_whitespace();
        let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
        let (mut length, mut token) = (0, String::new());
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).ok().filter(|read| *read > 0)?;
            let Some((name, value)) = header.trim_end().split_once(':') else { break };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().unwrap(),
                "authorization" => token = value.trim().to_owned(),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let body = serde_json::from_slice(&body).unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let path = match path {
            path if path == self.layout.graphql => "graphql".to_owned(),
            path => path.strip_prefix(self.layout.rest).unwrap_or(path).to_owned(),
        };
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (name.to_owned(), decode(value))
        };
        let query = query.split('&').filter(|pair| !pair.is_empty()).map(pair).collect();
        Some(Request { method, path: decode(&path), query, token, body, at: Instant::now() })
    }

    /// `None` closes the connection.
    fn answer(&self, request: Request) -> Option<Reply> {
        let lock = || self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let base = format!("http://{}{}{}", self.address, self.layout.rest, request.path);
        let (fault, latency) = {
            let mut state = lock();
            state.requests.push(request.clone());
            (state.fault(&request), state.latency())
        };
        thread::sleep(latency);
        let act = fault.as_ref().map(|fault| fault.act.clone());
        let refusal = |fault: Option<Fault>| {
            fault.map(|Fault { status, body, headers, .. }| Reply { status, body, headers })
        };
        match act {
            None => Some(lock().handle(&request, &base)),
            Some(Act::Refuse) => refusal(fault),
            Some(Act::DoAndRefuse) => {
                lock().handle(&request, &base);
                refusal(fault)
            }
            Some(Act::DoAndDrop) => {
                lock().handle(&request, &base);
                None
            }
            Some(Act::Reset) => None,
            Some(Act::Delay(time)) => {
                thread::sleep(time);
                Some(lock().handle(&request, &base))
            }
            Some(Act::Before(change)) => {
                change(&mut lock());
                Some(lock().handle(&request, &base))
            }
            Some(Act::Hang) => {
                while !self.stopped.load(Ordering::SeqCst) {
                    thread::sleep(Duration::from_millis(50));
                }
                None
            }
        }
    }
}

impl State {
    /// The first fault that fits, if it is not used up.
    fn fault(&mut self, request: &Request) -> Option<Fault> {
        let fits = |fault: &Fault| {
            let path = match fault.path.strip_suffix('$') {
                Some(end) => request.path.ends_with(end),
                None => request.path.contains(&fault.path),
            };
            fault.left > 0 && fault.method == request.method && path
        };
        let fault = self.faults.iter_mut().find(|fault| fits(fault))?;
        fault.left -= 1;
        Some(fault.clone())
    }
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let hex: Vec<u8> = rest.by_ref().take(2).collect();
            bytes.push(u8::from_str_radix(std::str::from_utf8(&hex).unwrap(), 16).unwrap());
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).unwrap()
}

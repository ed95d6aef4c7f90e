//! What kept the action from doing all that it was asked to do.

use crate::message::Message;

/// What went wrong so far. The first trouble is the `status` output.
#[derive(Default)]
pub(super) struct Troubles(pub(super) Vec<Message>);

impl Troubles {
    /// One more.
    pub(super) fn add(&mut self, template: &str, quotes: &[&str]) {
        self.0.push(Message::new(template, quotes));
    }

    /// The `status` output.
    pub(super) fn status(&self) -> String {
        self.0.first().map_or_else(|| "ok".to_owned(), Message::to_string)
    }
}

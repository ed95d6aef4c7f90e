//! `plan`: which deployment folders there are, or which of them were changed, and how they are spread over shards.

mod changes;
pub(super) mod command;
mod find;
pub(super) mod step;

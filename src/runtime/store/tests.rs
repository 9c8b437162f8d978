//! Saved chats as the runtime writes and reads them.

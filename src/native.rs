//! What native servers need that is pure: names for the model, URI templates, media. What a server holds and when its
//! functions run is Lua's business.

pub mod media;
pub mod names;
pub mod router;
pub mod uri;

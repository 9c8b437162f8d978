//! The engine as a whole: written conversations by theme, and a storm that does everything in random order.

mod answers;
mod calls;
mod ends;
mod gate;
mod hand;
mod restored;
mod rows;
mod storm;
mod storm_performers;
mod turns;

//! Stories of the hub on a driven clock, over a real store, with an agent that does as it is told.

mod clients;
mod faults;
mod refusals;
mod story;
mod turns;
mod world;

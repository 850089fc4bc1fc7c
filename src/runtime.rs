//! Every handle to the world, built once, lent to each command.

//! Configuration in layers; each value knows where it came from.

//! Serve's hub under any frames of any clients:
//!
//!     cargo +nightly fuzz run frames fuzz/corpus/frames fuzz/seeds/frames -- -dict=fuzz/frames.dict

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hermes::server::story(bytes));

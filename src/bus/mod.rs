//! The window on D-Bus: our own dialler, with a deadline for each stage, over zbus.

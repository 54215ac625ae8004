//! Disabling idle states: a sleeping virtual CPU answers some 20 us late, which is more than a
//! prepared look-up over a Unix socket takes in all.

use std::fs::{File, OpenOptions};
use std::io::Write;

const DEVICE: &str = "/dev/cpu_dma_latency";

/// While open, idle CPUs stay out of deep sleep states; the kernel forgets the wish on close.
#[derive(Debug)]
pub struct IdleStates {
    device: Option<File>,
    reason: String,
}

impl IdleStates {
    /// Request a wake-up latency of 0 us (Linux `Documentation/power/pm_qos_interface`).
    pub fn disable() -> Self {
        let opened = OpenOptions::new().write(true).open(DEVICE).and_then(|mut device| {
            device.write_all(&0_i32.to_ne_bytes())?;
            Ok(device)
        });
        match opened {
            Ok(device) => Self { device: Some(device), reason: String::new() },
            Err(error) => Self {
                device: None,
                reason: format!("{DEVICE}: {error}; run as root, or let this user write to it"),
            },
        }
    }

    /// Whether the wish is held now.
    pub const fn held(&self) -> bool {
        self.device.is_some()
    }

    /// Why it is not held; empty while it is.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Let the CPUs sleep again. Closing twice is harmless.
    pub fn close(&mut self) {
        if self.device.take().is_some() {
            "closed".clone_into(&mut self.reason);
        }
    }
}

//! Clients, and what they may cost.

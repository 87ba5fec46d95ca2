"""The loop IR: programs, their scalar expressions, and what simplifies and verifies them."""

"""What the package carries of ops, and what a call and a launch are."""

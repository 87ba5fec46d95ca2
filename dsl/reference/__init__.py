"""What a program means, in numpy."""

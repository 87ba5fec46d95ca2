"""What a call decides about its kernels before they are printed."""

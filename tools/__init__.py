"""What `./dev` runs beside the product itself."""

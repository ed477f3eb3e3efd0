"""The hall: every action of the product as one typed method; no widgets, no printing."""

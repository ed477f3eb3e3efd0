"""Services: every action of the product as one typed method, without widgets or printing."""

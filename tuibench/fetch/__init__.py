"""Models from elsewhere: fetched by a child into the cache, and into no other place."""

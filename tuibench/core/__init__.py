"""The vocabulary every room shares: plain frozen data and pure functions, nothing imported but the standard library."""

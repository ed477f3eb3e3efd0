"""Where the time of a model goes, measured: layer by layer, against the roofs of the machine, and in other forms."""

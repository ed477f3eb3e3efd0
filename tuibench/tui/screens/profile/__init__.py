"""The pages of profiles: one profile, a comparison, their list and their set-up."""

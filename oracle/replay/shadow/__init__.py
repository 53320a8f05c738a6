"""The same question under another control, out of the sight of users; and what such pairs say."""
